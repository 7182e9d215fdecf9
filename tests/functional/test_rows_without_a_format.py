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


def test_rows_in_a_pipe_of_the_system(tmp_path) -> None:
    assert nearkin_here("add", tmp_path / "matter", "-", stdin=CSV.encode()).err.endswith(OF_CSV)


@pytest.mark.parametrize("command", ["dedup", "sign", "index", "statistics"])
def test_rows_in_a_pipe_of_other_commands(tmp_path, command) -> None:
    out = {"dedup": ["--out", tmp_path / "run"], "sign": ["--out", tmp_path / "s.parquet"], "index": []}
    asked = out.get(command, ["--out", tmp_path / "s.npz"])
    assert OF_CSV in piped(CSV, command, "-", *asked).err


@pytest.mark.parametrize("name", ["export", "export.txt"])
def test_rows_in_a_file_whose_name_says_nothing(tmp_path, name) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / name
    path.write_text(CSV)
    said = f"Warning: {path} looks like CSV and was read as one text; for rows use --format csv.\n"
    assert nearkin_here("add", tmp_path / "matter", path).err.endswith(said)
    # the files of a folder are documents
    assert "Warning" not in nearkin_here("add", tmp_path / "matter", path.parent).err


def test_commands_that_read_one_text(tmp_path) -> None:
    place = tmp_path / "matter"
    assert piped(CSV, "add", place, "-", "--format", "csv").code == 0
    said = (
        "Warning: Standard input looks like JSON Lines and was read as one text; for one document per line use --jsonl."
    )
    assert said in piped(JSON_LINES, "check", place, "-").err
    assert "Warning" not in piped(JSON_LINES, "check", place, "-", "--jsonl").err
    assert "Warning" not in piped("It was a dark night, and cold.\n", "check", place, "-").err
    (tmp_path / "rows.csv").write_text(CSV)
    said = f"Warning: {tmp_path / 'rows.csv'} looks like CSV and was read as one text.\n"
    assert said in nearkin_here("similar", place, "--file", tmp_path / "rows.csv").err


LONG = "It was a dark night and the rain fell on the boats. " * 3


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("first", ["1,It was a clear day.", f"T-1,{LONG}", "2026-01-31,It was a clear day."])
def test_a_first_record_is_not_taken_for_a_header(tmp_path, form, first) -> None:
    rows = f"{first}\n2,It was another day.\n".replace(",", "," if form == "csv" else "\t")
    ended = piped(rows, "add", tmp_path / "matter", "-", "--format", form)
    assert (ended.code, (tmp_path / "matter").exists()) == (3, False)
    assert "Error: Standard input has no header: its first line" in ended.err
    assert "FORMAT csv, HEADER" in ended.err
    assert LONG not in ended.err
    number, _, text = first.partition(",")
    named = piped(rows, "add", tmp_path / "matter", "-", "--format", form, "--text", text, "--id", number)
    assert (named.code, n_stored(tmp_path / "matter")) == (0, 1)


@pytest.mark.parametrize("header", ["1,text", "number,wording", "#,wording", ",wording", "id,2024,2025 words"])
def test_an_odd_header_is_one(tmp_path, header) -> None:
    rows = f"{header}\n" + "7,It was a clear day.\n,".replace(",", "," * header.count(","))
    (tmp_path / "rows.csv").write_text(rows)
    ended = nearkin_here("add", tmp_path / "matter", tmp_path / "rows.csv")
    assert ended.code == 0, ended.err
