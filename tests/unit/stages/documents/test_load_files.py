"""Load files as sources: recognised, their columns, texts and families."""

from __future__ import annotations

from pathlib import Path

import pytest

from nearkin.errors import SourceError
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.readers.load_file import columns_of, parent_in
from nearkin.stages.documents.sources import SourceSet, resolve_sources

Q, S = "þ", "\x14"
NAMES = ["BEGDOC", "BEGATTACH", "TEXTPATH"]


def dat(*rows: list[str], end: str = "\r\n") -> str:
    return "".join(Q + f"{Q}{S}{Q}".join(row) + Q + end for row in rows)


@pytest.fixture
def vol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a production: a load file, its texts, a list of images, and a loose note."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "vol"
    (root / "TEXT").mkdir(parents=True)
    rows = [["A-1", "A-1", r"TEXT\A-1.txt"], ["A-2", "A-1", r"TEXT\A-2.TXT"], ["A-3", "", r"TEXT\none.txt"]]
    (root / "load.dat").write_bytes(dat(NAMES, *rows).encode("cp1252"))
    (root / "TEXT" / "A-1.txt").write_text("the first text")
    (root / "TEXT" / "a-2.txt").write_text("the second text")
    (root / "images.opt").write_text("A-1,V,I\\A-1.tif,Y,,,1\nA-2,V,I\\A-2.tif,Y,,,1\n")
    return root


def rows_of(found: SourceSet) -> list[dict[str, object]]:
    return [row for source in found.sources for batch in read_batches(source) for row in batch.to_pylist()]


def test_texts_come_from_files_and_a_missing_one_is_one_row(vol: Path) -> None:
    found = resolve_sources(["vol/load.dat"])
    assert found.guesses[1:] == ("control number: 'BEGDOC'", "text files: named by the column 'TEXTPATH'")
    first, second, third = rows_of(found)
    assert (first["doc_id"], first["text"], first["parent"]) == ("A-1", b"the first text", None)
    assert (second["doc_id"], second["text"], second["parent"]) == ("A-2", b"the second text", "A-1")
    assert (third["text"], third["line"]) == (None, 4)
    assert third["problem"].startswith(r"damaged: its text file 'TEXT\none.txt' is missing")


def test_a_record_with_too_few_fields_is_one_row(vol: Path) -> None:
    rows = [NAMES, ["A-1", "A-1", r"TEXT\A-1.txt"], ["A-2", r"TEXT\A-2.txt"], ["some text, 12", "x"]]
    (vol / "load.dat").write_bytes(dat(*rows).encode())
    found = rows_of(resolve_sources(["vol/load.dat"]))
    assert [(one["doc_id"], one["problem"]) for one in found] == [
        ("A-1", None),
        (None, "damaged: 2 fields where the header has 3"),
        (None, "damaged: 2 fields where the header has 3")
    ]  # fmt: skip


def test_texts_in_a_column_have_their_line_ends_back(vol: Path) -> None:
    data = dat(["DOCID", "EXTRACTEDTEXT"], ["A-1", "Dear Ada,®it rains.®® Übrigens"])
    for encoding in ("cp1252", "utf-8", "utf-8-sig", "utf-16"):
        (vol / "own.dat").write_bytes(data.encode(encoding))
        (row,) = rows_of(resolve_sources(["vol/own.dat"]))
        assert row["text"] == "Dear Ada,\nit rains.\n\n Übrigens".encode()


def test_a_text_that_is_not_in_its_column_is_read_from_its_file(vol: Path) -> None:
    rows = [["A-1", "in the column", ""], ["A-2", "", r"TEXT\A-2.TXT"], ["A-3", "", ""]]
    (vol / "own.dat").write_bytes(dat(["DOCID", "EXTRACTEDTEXT", "TEXTPATH"], *rows).encode())
    found = rows_of(resolve_sources(["vol/own.dat"]))
    assert [row["text"] for row in found] == [b"in the column", b"the second text", b""]


def test_csv_or_tsv_with_control_numbers_and_paths_is_a_load_file(vol: Path) -> None:
    (vol / "own.csv").write_text(
        '"BEGBATES","TEXTPATH","PARENTDOCID"\n"7","TEXT\\A-1.txt",""\n"8","TEXT/a-2.txt","7"\n'
    )
    found = resolve_sources(["vol/own.csv"])
    assert found.sources[0].format == "load-file"
    assert "CSV load file" in found.guesses[0]
    assert [(row["doc_id"], row["text"], row["parent"]) for row in rows_of(found)] == [
        (7, b"the first text", None), (8, b"the second text", "7"),
    ]  # fmt: skip
    for header in ("DOCID\tCUSTODIAN\tTEXTPATH", "\ufeffBEGBATES\tENDBATES\tTEXTPATH"):
        (vol / "own.tsv").write_text(f"{header}\n7\tAda Orlov of Port\tTEXT\\A-1.txt\n", encoding="utf-8")
        found = resolve_sources(["vol/own.tsv"])
        assert [(row["doc_id"], row["text"]) for row in rows_of(found)] == [(7, b"the first text")]
    for name, text, plain in (
        ("csv", "id,text\n1,It was\n", "csv"), ("tsv", "id\ttext\n1\tIt was\n", "tsv"), ("tsv", "a\tIt was\n", "lines"),
    ):  # fmt: skip
        (vol / f"plain.{name}").write_text(text)
        assert resolve_sources([f"vol/plain.{name}"]).sources[0].format == plain


def test_a_mixture_of_encodings_is_read_line_by_line(vol: Path) -> None:
    lines = dat(["DOCID", "EXTRACTEDTEXT"]).encode("cp1252")
    lines += dat(["Ä-1", "Grüße"]).encode("cp1252") + dat(["Ä-2", "Grüße"]).encode()
    (vol / "own.dat").write_bytes(lines)
    found = resolve_sources(["vol/own.dat"])
    assert [(row["doc_id"], row["text"]) for row in rows_of(found)] == [
        (f"Ä-{number}", "Grüße".encode()) for number in (1, 2)
    ]


def test_a_load_file_without_texts_is_refused(vol: Path) -> None:
    (vol / "own.dat").write_bytes(dat(["BEGDOC", "ENDDOC"], ["A1", "A2"]).encode())
    with pytest.raises(SourceError, match=r"no column of texts.*The columns are: BEGDOC, ENDDOC"):
        resolve_sources(["vol/own.dat"])


def test_another_dat_file_is_a_text_of_its_folder(vol: Path) -> None:
    Path("in").mkdir()
    Path("in/measures.dat").write_text("12 13 14\n15 16 17\n")
    Path("in/a.txt").write_text("It was")
    assert [(one.name, one.format) for one in resolve_sources(["in"]).sources] == [
        ("a.txt", "file"), ("measures.dat", "file"),
    ]  # fmt: skip
    for content in ("12 13 14\n15 16 17\n", "# x #\n1 2\n", "*a*b*\n", '"a"\n"b"\n', ""):
        Path("in/measures.dat").write_text(content)
        assert resolve_sources(["in/measures.dat"]).sources[0].format == "file"


def test_in_a_folder_a_load_file_is_an_unreadable_document_that_is_named(vol: Path) -> None:
    problems = {row["doc_id"]: row["problem"] for row in rows_of(resolve_sources(["vol"]))}
    assert problems.keys() == {"load.dat", "images.opt", "TEXT/A-1.txt", "TEXT/a-2.txt"}
    assert [name for name, problem in problems.items() if (problem or "").startswith("unsupported: a")] == [
        "images.opt", "load.dat",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "rows", "parents"),
    [
        (["DOCID", "PARENTDOCID"], [["A", ""], ["B", "A"]], [None, "A"]),
        (["DOCID", "BEGATTACH", "ENDATTACH"], [["A", "A", "B"], ["B", "A", "B"], ["C", "", ""]], [None, "A", None]),
        (["DOCID", "ATTACHRANGE"], [["A", "A - B"], ["B", "A - B"]], [None, "A"]),
    ],
)
def test_families(columns: list[str], rows: list[list[str]], parents: list[str | None]) -> None:
    known = columns_of(columns)
    places = [columns.index(known[kind]) for kind in ("parent", "family") if kind in known]
    assert [parent_in(row[0], [row[place] for place in places]) for row in rows] == parents
