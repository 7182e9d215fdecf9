"""Directories of workers: what a killed run leaves is removed by the next one, and nothing else is."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.worker_process import PrivateDirectory, Worker, remove_abandoned

RUN = """
import os, sys
from nearkin.stages.documents.extraction.limits import ExtractionLimits
from nearkin.stages.documents.extraction.worker_process import Worker
worker = Worker(ExtractionLimits())
print(os.readlink(f"/proc/{worker.process.pid}/cwd"), flush=True)
sys.stdin.read()
worker.close()
"""


@pytest.fixture
def place(tmp_path, monkeypatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    remove_abandoned.cache_clear()
    yield tmp_path
    remove_abandoned.cache_clear()


def run_in(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """Another process with a worker, and the directory of the worker."""
    environment = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", RUN], **pipes, env=environment, text=True)
    return process, Path(process.stdout.readline().strip())


def test_the_next_run_removes_what_a_killed_one_left_and_not_what_is_in_use(place):
    killed, left = run_in(place)
    running, used = run_in(place)
    try:
        killed.kill()
        killed.communicate()
        assert left.is_dir(), "nobody was there to remove it"
        other, link = place / f"{left.name}-of-another", place / f"{left.name}-link"
        outside = place / "outside"
        outside.mkdir()
        (outside / "a.txt").write_text("It was.")
        link.symlink_to(outside)
        (place / f"{left.name}-file").write_text("")
        other.mkdir()
        if is_root := os.geteuid() == 0:
            os.chown(other, 65534, -1)
        worker = Worker(ExtractionLimits())
        worker.close()
        assert not left.exists()
        assert (used / "stderr").exists()
        assert (outside / "a.txt").exists()
        assert (place / f"{left.name}-file").exists()
        assert link.is_symlink()
        assert other.exists() == is_root
    finally:
        running.communicate("")
    assert not used.exists()


def test_a_new_directory_that_was_taken_for_an_abandoned_one_is_made_again(place, monkeypatch):
    """The other process holds the lock between the making of the directory and its own lock."""
    made, make = list[str](), tempfile.mkdtemp

    def seized(prefix: str) -> str:
        path = make(prefix=prefix)
        made.append(path)
        if len(made) == 1:
            held = os.open(path, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)
            threading.Timer(0.1, lambda: (os.rmdir(path), os.close(held))).start()
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", seized)
    directory = PrivateDirectory()
    assert [directory.path] == made[1:]
    assert os.path.isdir(directory.path)
    directory.remove()
    assert os.listdir(place) == []
