"""Rows that are read as a text because nobody named their format: the command says so after its work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from functional.conftest import Ended, nearkin_here

CSV = "id,text\n1,It was a dark night and the rain fell on the boats.\n2,It was a clear day.\n"
TSV = CSV.replace(",", "\t")
JSON_LINES = '{"id": 1, "text": "It was a dark night."}\n{"id": 2, "text": "It was a clear day."}\n'
OF_CSV = "Warning: Standard input looks like CSV and was read as one text; for rows use --format csv.\n"
OF_TSV = (
    "Warning: Standard input looks like TSV with a header and was read as lines of ID<TAB>TEXT; for rows use --format "
    "tsv.\n"
)


def piped(text: str, *arguments: str | Path) -> Ended:
    return nearkin_here(*arguments, stdin=text.encode())


def n_stored(place: Path) -> int:
    return int(json.loads(nearkin_here("info", place, "--json").out)["n_documents"])


@pytest.mark.parametrize(
    ("text", "options", "said", "n"),
    [
        (CSV, [], OF_CSV, 1),
        (CSV.replace(",", ";"), [], OF_CSV, 1),
        (CSV, ["--json"], OF_CSV, 1),
        (CSV, ["-q"], OF_CSV, 1),
        (CSV, ["--format", "csv"], "", 2),
        (CSV, ["--format", "file"], "", 1),
        (TSV, [], OF_TSV, 3),
        (TSV, ["--format", "tsv"], "", 2),
        (TSV, ["--format", "lines"], "", 3),
        (TSV.partition("\n")[2], [], "", 2),
        (JSON_LINES, [], "", 2),
        ("Dear Ada,\nit was a dark night, and cold.\nYours, Bo\n", [], "", 1),
        ("id,text\n", [], "", 1),
    ],
)
def test_rows_in_a_pipe_that_are_added(tmp_path, text, options, said, n) -> None:
    ended = piped(text, "add", tmp_path / "matter", "-", *options)
    assert ended.code == 0, ended
    assert said in ended.err
    assert ("Warning" in ended.err) == bool(said)
    assert n_stored(tmp_path / "matter") == n


@pytest.mark.parametrize("name", ["export", "export.txt"])
def test_rows_in_a_file_whose_name_says_nothing(tmp_path, name) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / name
    path.write_text(CSV)
    said = f"Warning: {path} looks like CSV and was read as one text; for rows use --format csv.\n"
    assert nearkin_here("add", tmp_path / "matter", path).err.endswith(said)
    # the files of a folder are documents
    assert "Warning" not in nearkin_here("add", tmp_path / "matter", path.parent).err
