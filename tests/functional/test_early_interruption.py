"""Ctrl-C in the first moments of a command, while it imports its modules."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

INTERRUPTED_AT = """
import os, signal, sys

def interrupt(event, arguments):
    if event == "import" and arguments[0] == {module!r}:
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(interrupt)
sys.argv = ["nearkin", "info", "missing"]
signal.signal(signal.SIGINT, signal.{handler})  # a process in the background begins with an ignored one
from nearkin.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["nearkin.cli.main", "click"])
@pytest.mark.parametrize("is_ignored", [False, True])
def test_an_interruption_while_the_modules_are_imported_prints_no_traceback(
    module: str, is_ignored: bool, tmp_path: Path
) -> None:
    program = INTERRUPTED_AT.format(module=module, handler="SIG_IGN" if is_ignored else "default_int_handler")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    if is_ignored:
        assert (done.returncode, "no collection at missing" in done.stderr) == (7, True)
    else:
        assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_an_interruption_as_a_command_begins_is_said(tmp_path: Path) -> None:
    program = INTERRUPTED_AT.format(module="nearkin.store.store", handler="default_int_handler")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "Interrupted.")
