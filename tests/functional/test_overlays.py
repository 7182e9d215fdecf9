"""Overlays for review tools: control numbers identical, in the dialect of the load file, for each tool and command."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functional.conftest import nearkin_here
from nearkin.collection.collection import Collection
from nearkin.stages.documents.load_files.dialect import Dialect, dialect_of
from nearkin.stages.documents.load_files.records import RecordReader
from nearkin.stages.documents.load_files.vendors import VENDORS, OverlayRow
from nearkin.stages.documents.load_files.writing import LoadFileWriter, controls_of
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import ByteStream

CHARACTERS = "abcÄé-_.,;\"'0 =+þ\n"
CONTROLS = st.lists(st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=9), min_size=1, max_size=5)
DAT = Dialect(encoding="cp1252")
CSV = Dialect(separator=",", qualifier='"', newline="", line_end="\n")
DIALECTS = st.builds(
    lambda base, told, end, quotes: Dialect(
        separator=base.separator, qualifier=base.qualifier, newline=base.newline, encoding=told[0], has_mark=told[1],
        line_end=end, quotes_all=quotes or not base.is_csv,
    ),
    st.sampled_from([DAT, CSV, Dialect(separator="|", qualifier="^", newline="")]),
    st.sampled_from([("cp1252", False), ("utf-8", False), ("utf-8", True), ("utf-16-le", True), ("utf-16-be", True)]),
    st.sampled_from(["\r\n", "\n"]),
    st.booleans(),
)  # fmt: skip


def written(dialect: Dialect, records: list[list[str]]) -> bytes:
    sink = io.BytesIO()
    writer = LoadFileWriter(sink, dialect)
    for record in records:
        writer.write(record)
    return sink.getvalue()


@given(DIALECTS, CONTROLS)
def test_what_is_read_and_written_unchanged_has_the_same_bytes(dialect: Dialect, controls: list[str]) -> None:
    data = written(dialect, [["BEGDOC", "TEXTPATH"], ["Ä-1", "é"], *([one, f"{one}.txt"] for one in controls)])
    stream = ByteStream(io.BytesIO(data), "none")
    mark = stream.byte_order_mark()
    marked = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(mark)
    found = dialect_of(stream.peek(1 << 20), mark=mark, encoding=marked)
    assert found is not None
    told = "utf-8" if mark else found.encoding
    records = [[one.decode(told) for one in record.fields] for record in RecordReader(stream, found).records()]
    assert written(found, records) == data
    file = io.BytesIO(data)
    again = controls_of(file, Source(path="x", name="x", format="load-file"), "utf-8")
    assert list(again) == ["Ä-1", *controls]
    assert again.dialect == found


def test_only_equal_texts_have_a_hundred_percent() -> None:
    assert OverlayRow(similarity=0.999_999_9).percent == "99"
    assert OverlayRow(similarity=0.999_999_9).share == "0.999999"
    assert (OverlayRow(similarity=1.0).percent, OverlayRow(similarity=0.29).percent) == ("100", "29")


TEXTS = {
    "A-001": "The tenant pays the rent on the first day of each month to the landlord.",
    "A-002": "The tenant pays the rent on the first day of each month to the landlord!",
    "A-003": "The tenant pays the rent on the first day of each month to the new landlord.",
    "=A-4": "Something else is written here about the weather and the sea in winter.",
    "A-005": "",
    "A-006": "12 34 56",
}


def production(folder: Path, encoding: str) -> Path:
    """Write a load file in an encoding, with its texts in a folder."""
    (folder / "TEXT").mkdir()
    lines = ["þControl Numberþ\x14þTEXTPATHþ"]
    for number, (control, text) in enumerate(TEXTS.items()):
        (folder / "TEXT" / f"{number}.txt").write_text(text)
        lines.append(f"þ{control}þ\x14þTEXT\\{number}.TXTþ")
    path = folder / "load.dat"
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_an_overlay_has_the_control_numbers_of_the_load_file(tmp_path: Path, encoding: str) -> None:
    load = production(tmp_path, encoding)
    out = tmp_path / "out"
    nearkin_here("dedup", str(load), "--out", str(out), "--overlay", "relativity", "--ignore-numbers", "--no-report")
    data = (out / "overlay.dat").read_bytes()
    assert data.decode(encoding).encode(encoding) == data
    lines = data.decode(encoding).split("\r\n")
    assert lines.pop() == ""
    rows = [line.strip("þ").split("þ\x14þ") for line in lines]
    assert rows == [
        ["Control Number", "Textual Near Duplicate Group", "Textual Near Duplicate Principal",
         "Textual Near Duplicate Similarity"],
        ["A-001", "A-003", "No", rows[1][3]],
        ["A-002", "A-003", "No", rows[1][3]],
        ["A-003", "A-003", "Yes", "100"],
        ["=A-4", "", "No", "0"],
        ["A-005", "Empty", "No", "0"],
        ["A-006", "Numbers Only", "No", "0"],
    ]  # fmt: skip
    assert 70 <= int(rows[1][3]) < 100


@pytest.mark.parametrize("tool", list(VENDORS))
def test_every_tool_gets_its_fields(tmp_path: Path, tool: str) -> None:
    load = production(tmp_path, "utf-8")
    nearkin_here("dedup", str(load), "--out", str(tmp_path / "out"), "--overlay", tool, "--no-report")
    lines = (tmp_path / "out" / "overlay.dat").read_text().splitlines()
    assert lines[0].strip("þ").split("þ\x14þ") == ["Control Number", *VENDORS[tool].fields]
    assert [line.strip("þ").split("þ\x14þ")[0] for line in lines[1:]] == list(TEXTS)


def test_families_and_groups_write_overlays_and_a_second_run_replaces_them(tmp_path: Path) -> None:
    load, out = production(tmp_path, "cp1252"), tmp_path / "out"
    nearkin_here("families", str(load), "--out", str(out), "--overlay", "purview")
    assert b"Pivot_ID" in (out / "overlay.dat").read_bytes()
    nearkin_here("families", str(load), "--out", str(out), "--overwrite")
    assert not (out / "overlay.dat").exists()
    nearkin_here("add", str(tmp_path / "matter"), str(load))
    nearkin_here("groups", str(tmp_path / "matter"), "--overlay", "plain", "--out", str(tmp_path / "g.dat"))
    rows = (tmp_path / "g.dat").read_bytes().decode("cp1252").splitlines()
    assert {row.strip("þ").split("þ\x14þ")[0] for row in rows[1:]} == set(TEXTS)
    nearkin_here("groups", str(tmp_path / "matter"), "--overlay", "plain", "--out", str(tmp_path / "g.csv"))
    assert "\n'=A-4," in (tmp_path / "g.csv").read_text()


def test_groups_of_a_collection_tell_copies_from_near_duplicates(tmp_path: Path) -> None:
    one, other = TEXTS["A-001"], TEXTS["=A-4"]
    texts = {"a": one, "b": one, "near": f"{one} Signed.", "c": other, "d": other, "alone": "Nothing is like it."}
    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add(texts.items())
    out = tmp_path / "g.csv"
    nearkin_here("groups", str(tmp_path / "matter"), "--overlay", "plain", "--out", str(out))
    with open(out, encoding="utf-8", newline="") as file:
        rows = {row["DOCID"]: row for row in csv.DictReader(file)}
    reasons = {doc_id: row["NEAR_DUP_REASON"] for doc_id, row in rows.items()}
    assert {reasons["a"], reasons["b"]} in ({"near-duplicate"}, {"unique", "exact copy"})
    assert sorted((reasons["c"], reasons["d"])) == ["exact copy", "unique"]
    assert reasons["alone"] == "unique"


def load_file(folder: Path, name: str, key: str, dialect: Dialect, documents: dict[str, str]) -> Path:
    """Write a load file with the texts in a column."""
    path = folder / name
    records = [[key, "CUSTODIAN", "EXTRACTEDTEXT", "PARENTDOCID"]]
    path.write_bytes(written(dialect, [*records, *([one, "Ada", text, ""] for one, text in documents.items())]))
    return path


def overlaid(path: Path) -> tuple[str, Dialect, list[str]]:
    """Read an overlay as a load file: its key, its dialect, its control numbers."""
    with path.open("rb", buffering=0) as raw:
        found = controls_of(raw, Source(path="x", name="x", format="load-file"), "utf-8")
        return found.column, found.dialect, [str(one) for one in found]


def test_load_files_of_several_dialects_and_keys_get_an_overlay_each(tmp_path: Path) -> None:
    text, matter, out = TEXTS["A-001"], tmp_path / "matter", tmp_path / "g.dat"
    piped = Dialect(separator="|", qualifier="^", newline="", encoding="utf-8", has_mark=True)
    commas = Dialect(separator=",", qualifier='"', newline="", line_end="\n")
    first = load_file(tmp_path, "one.dat", "BEGDOC", DAT, {"Ä-1": text, "Ä-2": "Nothing is like it at all here."})
    second = load_file(tmp_path, "two.dat", "BEGDOC", DAT, {"B-1": f"{text} Signed."})
    other = load_file(tmp_path, "three.dat", "Control Number", piped, {"Ω-1": f"{text} Dated."})
    sheet = load_file(tmp_path, "zero.csv", "BEGDOC", commas, {"=D-1": text})
    (tmp_path / "five.jsonl").write_text(json.dumps({"id": "e", "text": text}) + "\n")
    nearkin_here("add", str(matter), *map(str, (first, second, other, sheet, tmp_path / "five.jsonl")))
    told = nearkin_here("groups", str(matter), "--overlay", "plain", "--out", str(out))
    assert told.code == 0, told.err
    assert f"overlay {out}: 3 rows, for documents of {first}, {second}; key BEGDOC" in " ".join(told.err.split())
    assert "1 row, for documents that came from no load file; key DOCID" in " ".join(told.err.split())
    names = ["g.dat", "g-2.dat", "g-3.csv", "g-4.dat"]
    found = [overlaid(tmp_path / name) for name in names]
    assert [(key, sorted(controls)) for key, _, controls in found] == [
        ("BEGDOC", ["B-1", "Ä-1", "Ä-2"]), ("Control Number", ["Ω-1"]), ("BEGDOC", ["=D-1"]), ("DOCID", ["e"]),
    ]  # fmt: skip
    assert [dialect for _, dialect, _ in found[:3]] == [DAT, piped, commas]
    assert (tmp_path / "g-2.dat").read_bytes().decode("utf-8-sig").startswith("^Control Number^|^NEAR_DUP_GROUP^|")
    of_csv = nearkin_here("groups", str(matter), "--overlay", "plain", "--out", str(tmp_path / "h.csv"))
    assert of_csv.code == 0
    assert overlaid(tmp_path / "h.csv")[2] == ["=D-1"]
    out.unlink()
    refused = nearkin_here("groups", str(matter), "--overlay", "plain", "--out", str(out))
    assert refused.code != 0
    assert "g-2.dat already exists" in " ".join(refused.err.split())
    assert not out.exists()
    again = nearkin_here("groups", str(matter), "--overlay", "plain", "--out", str(out), "--overwrite", "--json")
    assert [one["n_documents"] for one in json.loads(again.out)["overlays"]] == [3, 1, 1, 1]


def test_an_overlay_in_another_format_than_the_load_file_has_its_key(tmp_path: Path) -> None:
    matter, text = tmp_path / "matter", TEXTS["A-001"]
    load = load_file(tmp_path, "one.csv", "BEGDOC", CSV, {"A-1": text, "A-2": f"{text} Signed."})
    (tmp_path / "five.jsonl").write_text(json.dumps({"id": "e", "text": text}) + "\n")
    nearkin_here("add", str(matter), str(load), str(tmp_path / "five.jsonl"))
    told = nearkin_here("groups", str(matter), "--overlay", "relativity", "--out", str(tmp_path / "g.dat"))
    words = " ".join(told.err.split())
    assert f"2 rows, for documents of {load}; key BEGDOC, Concordance DAT in UTF-8" in words
    assert "1 row, for documents that came from no load file; key DOCID" in words
    assert [overlaid(tmp_path / name)[0::2] for name in ("g.dat", "g-2.dat")] == [
        ("BEGDOC", ["A-1", "A-2"]), ("DOCID", ["e"]),
    ]  # fmt: skip


def test_overlays_need_the_load_files_that_documents_came_from(tmp_path: Path) -> None:
    text = TEXTS["A-001"]
    load_file(tmp_path, "one.dat", "BEGDOC", DAT, {"A-1": text})
    packed = load_file(tmp_path, "two.dat", "BEGDOC", DAT, {"B-1": text})
    (tmp_path / "two.dat.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    (tmp_path / "plain.csv").write_text("id,text\nc,It was\n")
    sources = "one.dat", "two.dat.gz", "plain.csv"
    nearkin_here("add", "matter", *sources, cwd=tmp_path).assert_done()
    command = "groups", "matter", "--overlay", "plain", "--out", "g.dat", "--overwrite"
    nearkin_here(*command, cwd=tmp_path).assert_done()
    assert overlaid(tmp_path / "g.dat")[0::2] == ("BEGDOC", ["A-1", "B-1"])
    (tmp_path / "other").mkdir()
    refused = nearkin_here(command[0], tmp_path / "matter", *command[2:], cwd=tmp_path / "other")
    assert refused.code != 0
    assert "2 load files are missing: one.dat, two.dat.gz." in " ".join(refused.err.split())
    assert "the paths are relative" in " ".join(refused.err.split())
    assert not any((tmp_path / "other").iterdir())
    (tmp_path / "plain.csv").unlink()
    told = " ".join(nearkin_here(*command, cwd=tmp_path).err.split())
    assert "1 row, for documents without a known load file, such as those of plain.csv; key DOCID" in told
    assert "Warning: plain.csv is missing. If it was a load file, " in told


def test_records_and_documents_of_a_folder_get_an_overlay_each(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    load = production(tmp_path / "in", "utf-8")
    (load.parent / "timeline.csv").write_text("day,event\n1,It was\n")
    (load.parent / "note.txt").write_text("a loose note")
    given = "--out", str(tmp_path / "out"), "--overlay", "plain", "--no-report"
    nearkin_here("dedup", str(tmp_path / "in"), *given)
    nearkin_here("dedup", str(load), "--out", str(tmp_path / "alone"), "--overlay", "plain", "--no-report")
    of_records = (tmp_path / "alone" / "overlay.dat").read_bytes()
    assert (tmp_path / "out" / "overlay.dat").read_bytes() == of_records
    of_documents = (tmp_path / "out" / "overlay.csv").read_text()
    assert "timeline.csv" in of_documents
    assert "note.txt" in of_documents


def test_a_run_that_is_grouped_again_writes_its_overlays_again(tmp_path: Path) -> None:
    load = production(tmp_path, "cp1252")
    (tmp_path / "b.txt").write_text(TEXTS["A-001"])
    given = (str(tmp_path / "b.txt"), str(load))
    for threshold in ("0.5", "0.95"):
        out = tmp_path / threshold
        done = nearkin_here("dedup", *given, "--out", out, "--threshold", threshold, "--overlay", "plain", "-q")
        assert done.code == 0, done.err
    again = tmp_path / "again"
    asked = ("regroup", tmp_path / "0.5", "--threshold", "0.95", "--overlay", "plain", "--overwrite", "-q")
    assert nearkin_here(*asked, "--out", again).code == 0
    for name in ("overlay.dat", "overlay.csv"):
        assert (again / name).read_bytes() == (tmp_path / "0.95" / name).read_bytes()
        assert (again / name).read_bytes() != (tmp_path / "0.5" / name).read_bytes()
    assert "overlay.dat" in json.loads((again / "manifest.json").read_text())["files"]
    load.write_bytes(load.read_bytes() + b"\r\n")
    told = nearkin_here(*asked, "--out", again)
    assert told.code == 3
    assert "load.dat" in told.err
