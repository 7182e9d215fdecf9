"""Tests of the files of attempts at a task, and of what killed attempts leave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nearkin.runs.attempt_folders import published_together, remove_unpublished


def left_by_killed_attempt(folder: Path, name: str) -> Path:
    """Start an attempt in a process that ends within it."""
    if not (pid := os.fork()):
        with published_together(folder, name) as aside:
            (aside / "a").write_text("half")
            os._exit(0)
    os.waitpid(pid, 0)
    [left] = folder.glob(f".{name}.{pid}-*.part")
    return left


def test_the_next_attempt_removes_what_a_killed_one_left(tmp_path):
    left, of_another_task = left_by_killed_attempt(tmp_path, "7"), left_by_killed_attempt(tmp_path, "77")
    with published_together(tmp_path, "7") as running:
        assert not left.exists()
        with published_together(tmp_path, "7") as aside:  # a second copy of a task that runs
            (aside / "a").write_text("whole")
        assert running.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"a", of_another_task.name}
    assert (tmp_path / "a").read_text() == "whole"
    remove_unpublished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_folder_of_another_machine_is_removed_when_it_has_not_changed_for_some_time(has_lock, tmp_path):
    left = left_by_killed_attempt(tmp_path, "7")
    (left / ".lock").write_text("another machine")
    if not has_lock:
        (left / ".lock").unlink()
    with published_together(tmp_path, "7"):
        assert left.exists()
    for path in (*left.iterdir(), left):
        os.utime(path, (0, 0))
    with published_together(tmp_path, "7"):
        assert not left.exists()
