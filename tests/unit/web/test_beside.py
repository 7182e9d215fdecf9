"""A process beside the service computes for it, and never outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from nearkin.collection.measuring import compare
from nearkin.collection.opened import OpenedCollection
from nearkin.errors import UnavailableCollectionError, UnknownDocumentError
from nearkin.web.beside import ProcessBeside


def process_id(_: OpenedCollection) -> int:
    return os.getpid()


def die(_: OpenedCollection) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(_: OpenedCollection, mark: Path) -> int:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def work_for_long(_: OpenedCollection) -> None:
    time.sleep(600)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_answers_fails_and_begins_again(tmp_path: Path) -> None:
    with OpenedCollection.open(tmp_path / "matter", create=True) as opened:
        beside = ProcessBeside(opened)
        process = beside.compute(process_id)
        assert process != os.getpid()
        with pytest.raises(UnknownDocumentError):
            beside.compute(partial(compare, a="a", b="b"))
        assert beside.compute(process_id) == process
        other = beside.compute(partial(die_once, mark=tmp_path / "dead"))
        assert other not in (process, os.getpid())
        with pytest.raises(UnavailableCollectionError):
            beside.compute(die)
        again = beside.compute(process_id)
        assert again not in (process, other, os.getpid())
        beside.close()
        assert not is_running(again)


_SERVICE = """
import sys
import test_beside
from nearkin.collection.opened import OpenedCollection
from nearkin.web.beside import ProcessBeside
beside = ProcessBeside(OpenedCollection.open(sys.argv[1], create=True))
print(beside.compute(test_beside.process_id), flush=True)
beside.compute(test_beside.work_for_long)
"""


def test_it_ends_with_a_service_that_is_killed_while_it_works(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(Path(__file__).parent), *sys.path))}
    command = [sys.executable, "-c", _SERVICE, str(tmp_path / "matter")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as service:
        assert service.stdout is not None
        process = int(service.stdout.readline())
        assert is_running(process)
        service.kill()
    end = time.monotonic() + 20
    while is_running(process) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(process)
