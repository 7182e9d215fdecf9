"""Overlays for review tools: a row for each control number, with the fields of each tool, for each command."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from functional.conftest import nearkin_here
from nearkin.collection.collection import Collection
from nearkin.workflows.overlay import OVERLAY, TOOLS, write_overlay

TEXTS = {
    "A-001": "The tenant pays the rent on the first day of each month to the landlord.",
    "A-002": "The tenant pays the rent on the first day of each month to the landlord!",
    "A-003": "The tenant pays the rent on the first day of each month to the new landlord.",
    "=A-4": "Something else is written here about the weather and the sea in winter.",
    "A-005": "",
    "A-006": "12 34 56",
}


def production(folder: Path, encoding: str = "cp1252") -> Path:
    """Write a load file in an encoding, with its texts in a folder."""
    (folder / "TEXT").mkdir()
    lines = ["þControl Numberþ\x14þTEXTPATHþ"]
    for number, (control, text) in enumerate(TEXTS.items()):
        (folder / "TEXT" / f"{number}.txt").write_text(text)
        lines.append(f"þ{control}þ\x14þTEXT\\{number}.TXTþ")
    path = folder / "load.dat"
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))
    return path


def rows_of(path: Path) -> list[list[str]]:
    """Read an overlay: its fields, then its rows."""
    text = path.read_bytes().decode("utf-8")
    if path.suffix == ".csv":
        return list(csv.reader(text.splitlines()))
    assert text.startswith("\ufeff")
    assert text.endswith("þ\r\n")
    return [line[1:-1].split("þ\x14þ") for line in text[1:].removesuffix("\r\n").split("\r\n")]


def test_percentages_and_shares_are_rounded_down(tmp_path: Path) -> None:
    similarities = [0.999_999_9, 1.0, 0.29, 0.2]
    rows = [
        {"doc_id": f"{i}þ", "group": "0", "is_principal": False, "similarity": similarity, "measure": "m"}
        for i, similarity in enumerate(similarities)
    ]
    table = pa.Table.from_pylist(rows, OVERLAY)
    write_overlay(table, "purview", tmp_path / "overlay.dat")
    assert [row[4] for row in rows_of(tmp_path / "overlay.dat")[1:]] == ["99", "100", "29", "20"]
    assert [row[0] for row in rows_of(tmp_path / "overlay.dat")[1:]] == ["0þþ", "1þþ", "2þþ", "3þþ"]
    write_overlay(table, "plain", tmp_path / "overlay.csv")
    assert [row[3] for row in rows_of(tmp_path / "overlay.csv")[1:]] == ["0.999999", "1", "0.29", "0.2"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_an_overlay_has_the_control_numbers_of_the_load_file(tmp_path: Path, encoding: str) -> None:
    load, out = production(tmp_path, encoding), tmp_path / "out"
    nearkin_here("dedup", load, "--out", out, "--overlay", "relativity", "--ignore-numbers", "--no-report")
    rows = rows_of(out / "overlay.dat")
    assert rows == [
        ["DOCID", *TOOLS["relativity"]],
        ["A-001", "A-003", "No", rows[1][3]],
        ["A-002", "A-003", "No", rows[1][3]],
        ["A-003", "A-003", "Yes", "100"],
        ["=A-4", "", "No", "0"],
        ["A-005", "Empty", "No", "0"],
        ["A-006", "Numbers Only", "No", "0"],
    ]
    assert 70 <= int(rows[1][3]) < 100


def test_families_and_groups_write_overlays_and_a_second_run_replaces_them(tmp_path: Path) -> None:
    load, out, matter = production(tmp_path), tmp_path / "out", tmp_path / "matter"
    nearkin_here("families", load, "--out", out, "--overlay", "purview")
    assert "Pivot_ID" in rows_of(out / "overlay.dat")[0]
    nearkin_here("families", load, "--out", out, "--overwrite")
    assert not (out / "overlay.dat").exists()
    nearkin_here("add", matter, load)
    load.unlink()
    for name, escaped in (("g.dat", "=A-4"), ("g.csv", "'=A-4")):
        nearkin_here("groups", matter, "--overlay", "plain", "--out", tmp_path / name)
        assert {row[0].replace(escaped, "=A-4") for row in rows_of(tmp_path / name)[1:]} == set(TEXTS)


def test_groups_of_a_collection_tell_copies_from_near_duplicates(tmp_path: Path) -> None:
    one, other = TEXTS["A-001"], TEXTS["=A-4"]
    texts = {"a": one, "b": one, "near": f"{one} Signed.", "c": other, "d": other, "alone": "Nothing is like it."}
    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add(texts.items())
    nearkin_here("groups", tmp_path / "matter", "--overlay", "plain", "--out", tmp_path / "g.csv")
    header, *rows = rows_of(tmp_path / "g.csv")
    reasons = {row[0]: row[header.index("NEAR_DUP_REASON")] for row in rows}
    assert {reasons["a"], reasons["b"]} in ({"near-duplicate"}, {"unique", "exact copy"})
    assert sorted((reasons["c"], reasons["d"])) == ["exact copy", "unique"]
    assert reasons["alone"] == "unique"


def test_documents_that_a_folder_holds_beside_records_are_in_the_overlay(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    production(tmp_path / "in", "utf-8")
    (tmp_path / "in" / "note.txt").write_text("a loose note")
    files = tmp_path / "in" / "load.dat", tmp_path / "in" / "note.txt"
    nearkin_here("dedup", *files, "--out", tmp_path / "out", "--overlay", "plain", "--no-report")
    assert [row[0] for row in rows_of(tmp_path / "out" / "overlay.dat")[1:]] == [*TEXTS, str(files[1])]
    nearkin_here(
        "dedup", tmp_path / "in" / "note.txt", "--out", tmp_path / "out", "--overlay", "plain", "--overwrite"
    ).assert_done()
    assert not (tmp_path / "out" / "overlay.dat").exists()
    assert len(rows_of(tmp_path / "out" / "overlay.csv")) == 2


def test_an_existing_overlay_is_refused(tmp_path: Path) -> None:
    nearkin_here("add", tmp_path / "matter", production(tmp_path))
    command = "groups", tmp_path / "matter", "--overlay", "plain", "--out", tmp_path / "g.dat"
    (tmp_path / "g.dat").write_text("mine")
    assert nearkin_here(*command).code != 0
    assert (tmp_path / "g.dat").read_text() == "mine"
    nearkin_here(*command, "--overwrite").assert_done()
    assert nearkin_here(*command[:-1], tmp_path / "g.txt").code != 0
    assert nearkin_here(*command[:-1], tmp_path / "h.dat", "--since", "x").code != 0
