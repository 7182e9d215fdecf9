"""A search for pairs on a cluster reads the files that the driver has, in an interrupted run as well."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from contract.test_engines_pairs import BY_VECTORS, ONE, Case, ToldOf, assert_same_tables, tables_of
from nearkin.engines.local import LOCAL
from nearkin.engines.spark.session import Cluster
from nearkin.errors import ResumeError, SourceError
from nearkin.workflows.pairing.on_spark import job

CASE, CLUSTER = Case(BY_VECTORS, **ONE), Cluster("local[1]")


class Changing(ToldOf):
    """Stages of this process that leave their marks in a folder; something happens before one begins."""

    name, then = "", staticmethod(lambda: None)

    def kept(self, name, make):
        (self.folder / name).mkdir(parents=True)
        (self.folder / name / "_SUCCESS").touch()
        if name == self.name:
            self.then()
        return super().kept(name, make)


@pytest.fixture
def before(monkeypatch, tmp_path) -> Callable[[str, Callable[[], object]], None]:
    """Choose what happens before a stage of the run in ``tasks``."""
    stages = Changing(folder=tmp_path / "tasks/.work/cluster/stages")
    monkeypatch.setattr(job, "stages_on", lambda *_: contextlib.nullcontext(stages))

    def choose(name: str, then: Callable[[], object]) -> None:
        stages.name, stages.then = name, then

    return choose


def other_bytes(path: Path) -> None:
    """Change a file, and give it its size and its time of modification again."""
    seen, content = path.stat(), path.read_bytes()
    path.write_bytes(content.replace(b"end", b"END"))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def interrupt() -> None:
    raise KeyboardInterrupt


def test_a_resumed_run_compares_bytes(before, tmp_path, monkeypatch):
    given, out = CASE.given(tmp_path), tmp_path / "tasks"
    expected = tables_of(CASE, given, tmp_path / "local", LOCAL)
    before("read-right", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tables_of(CASE, given, out, CLUSTER)
    path = tmp_path / "left/0.jsonl"
    content = path.read_bytes()
    other_bytes(path)
    for moment in (path.stat().st_mtime_ns, 9):
        os.utime(path, ns=(moment, moment))
        with pytest.raises(ResumeError, match=r"0\.jsonl has other bytes"):
            tables_of(CASE, given, out, CLUSTER, resume=True)
    path.write_bytes(content)
    os.utime(path, (9, 9))
    monkeypatch.setattr(job, "stages_on", lambda *_: contextlib.nullcontext(ToldOf()))
    assert_same_tables(tables_of(CASE, given, out, CLUSTER, resume=True), expected)


@pytest.mark.parametrize(
    ("stage", "rule"),
    [
        ("read-right", "is not the same file on the worker .*: its content differs"),
        ("weigh-left", "changed while it was read"),
    ],
)
def test_files_that_change(stage, rule, before, tmp_path):
    """Behind the size and the time of before."""
    given = CASE.given(tmp_path)
    before(stage, lambda: other_bytes(tmp_path / "right/0.jsonl"))
    with pytest.raises(SourceError, match=rule):
        tables_of(CASE, given, tmp_path / "tasks", CLUSTER)
