"""Documents inside a file are named by their ids, not by their numbers in the file, where a user reads a place."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from functional.conftest import FAST, nearkin_here


@pytest.fixture
def archive(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("d.zip", "w") as file:
        file.writestr("letters/a.txt", FAST)
        file.writestr("bad.pdf", b"%PDF-1.4 broken")
    Path("rows.jsonl").write_text(f'{{"id": "r", "text": "{FAST} again"}}\n')
    return Path("d.zip")


@pytest.mark.parametrize("command", ["dedup d.zip --out out", "sign d.zip --out signed.parquet", "add matter d.zip"])
def test_the_document_that_stops_a_command_is_named(archive, command):
    ended = nearkin_here(*command.split(), "--on-error", "stop")
    assert "Error: d.zip!bad.pdf: damaged" in ended.err
    assert "d.zip:2" not in ended.err


def test_a_collection_lists_the_file_without_a_number(archive):
    nearkin_here("add", "matter", archive, "rows.jsonl")
    lines = {line.split()[-1] for line in nearkin_here("list", "matter").out.splitlines()[1:-1]}
    assert lines == {"d.zip", "rows.jsonl:1"}
    assert "from d.zip\n" in nearkin_here("show", "matter", "d.zip!letters/a.txt").out
    assert "d.zip:2" not in nearkin_here("info", "matter", "--problems").out
