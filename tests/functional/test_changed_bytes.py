"""Inputs with other bytes behind the same size and time: no run goes on with them, and none ends with them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import Ended, nearkin_here
from nearkin.workflows.dedup import job

LINES = [
    {"id": f"d{i}", "text": f"the tenant shall pay the rent of flat {i} on the first day of month {i % 5}"}
    for i in range(12)
]


@pytest.fixture(params=["a.jsonl", "a.parquet", "texts"])
def source(request, tmp_path: Path) -> Path:
    """A file of lines, a table, or a folder of text files."""
    path = tmp_path / request.param
    if request.param == "texts":
        path.mkdir()
        for one in LINES:
            (path / f"{one['id']}.txt").write_text(one["text"])
    elif request.param == "a.parquet":
        table = pa.Table.from_pylist(LINES)
        pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
    else:
        path.write_text("".join(json.dumps(one) + "\n" for one in LINES))
    return path


def edit(source: Path) -> None:
    """Change a word of a text, and give the file its size and its time of modification again."""
    path = source / "d3.txt" if source.is_dir() else source
    before = path.stat()
    data = path.read_bytes()
    changed = data.replace(b"rent of flat 3", b"loan of flat 3")
    assert changed != data
    path.write_bytes(changed)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def dedup(source: Path, *options: str) -> Ended:
    ended = nearkin_here("dedup", source, "--out", source.parent / "o", "--no-report", "-q", "--write-kept", *options)
    ended.assert_clean()
    return ended


def interrupted(source: Path, name: str, *options: str) -> None:
    """A run that ends when it calls a function of the job."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(job, name, lambda *asked, **named: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            dedup(source, *options)


@pytest.mark.parametrize(("name", "moment"), [("survey", None), ("write_tables", None), ("write_tables", 9)])
def test_a_resumed_run_refuses_them(source: Path, name: str, moment: int | None) -> None:
    interrupted(source, name)
    edit(source)
    path = source / "d3.txt" if source.is_dir() else source
    if moment is not None:
        os.utime(path, (moment, moment))
    ended = dedup(source, "--resume")
    assert (ended.code, ended.out) == (5, "")
    told = " ".join(ended.err.split())
    file = "d3.txt" if source.is_dir() else source.name
    assert f"{file} has other bytes" in told
    assert not (source.parent / "o/manifest.json").exists()
    assert dedup(source, "--overwrite").code == 0


def test_a_file_that_was_only_touched_is_no_other(source: Path) -> None:
    """A copy has another time of modification; with other permissions only the change that the system notes differs."""
    interrupted(source, "write_tables")
    path = source / "d3.txt" if source.is_dir() else source
    os.utime(path, (9, 9))
    if source.is_file():
        assert dedup(source, "--resume", "--text", "id").code == 5  # other columns, too
    ended = dedup(source, "--resume")
    assert ended.code == 0, ended.err
    interrupted(source, "survey", "--overwrite")
    path.chmod(0o600)
    assert dedup(source, "--resume").code == 0


def while_writing(source: Path, change: Callable[[Path], None], *options: str) -> Ended:
    """A run during which the input is changed, once all of it was searched."""
    write = job.write_tables

    def changing(*asked: object, **named: object) -> None:
        change(source)
        write(*asked, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(job, "write_tables", changing)
        return dedup(source, *options)


@pytest.mark.parametrize("source", ["a.jsonl", "a.parquet"], indirect=True)
def test_a_file_that_is_edited_while_the_tables_are_written(source: Path) -> None:
    """Files of one document are not looked at again: there may be millions."""
    ended = while_writing(source, edit)
    assert ended.code == 3
    assert f"{source.name} changed while it was read" in ended.err
    assert not (source.parent / "o/manifest.json").exists()
    assert while_writing(source, lambda path: path.chmod(0o600), "--overwrite").code == 0
