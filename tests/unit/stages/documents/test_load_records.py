"""Records of load files: what is written is read, in blocks of any size, and damage costs single lines."""

from __future__ import annotations

import codecs
import csv
import io
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.stages.documents.readers.load_file import LoadRecord, dialect_of, records_of
from nearkin.stages.documents.streams import ByteStream

MARKED = [("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)]
ENCODINGS = [("cp1252", b""), ("utf-8", b""), *MARKED]
VALUES = st.text(st.sampled_from("abc Zé®,;\"'|^=0þ\x14\nx"), max_size=8)
PIECES = st.sampled_from(["þ", "\x14", "\r\n", "\n", "\r", "a", "þþ", "é", "\xfe", '"', "®", " "])
TABLES = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), max_size=6).map(lambda rows: (n, rows))
)


def dat(rows: list[list[str]], line_end: str) -> str:
    """Write a DAT in the plainest way: all fields quoted, qualifiers doubled."""
    return "".join("\x14".join(f"þ{v.replace('þ', 'þþ')}þ" for v in row) + line_end for row in rows)


def read(data: bytes, *, block: int = 1 << 20, most: int = 1 << 20) -> list[LoadRecord]:
    stream = ByteStream(io.BytesIO(data), "none", encoding="cp1252")
    stream.byte_order_mark()
    dialect = dialect_of(stream.peek(1 << 16))
    assert dialect is not None
    return list(records_of(stream, dialect, max_bytes=most, block_bytes=block))


def values(records: list[LoadRecord]) -> list[list[str]]:
    return [record.fields for record in records]


@given(TABLES, st.sampled_from(ENCODINGS), st.sampled_from(["\r\n", "\n"]), st.integers(1, 60))
def test_what_is_written_is_read(
    table: tuple[int, list[list[str]]], as_: tuple[str, bytes], end: str, block: int
) -> None:
    n, rows = table
    header = [f"COLUMN{i}" for i in range(n)]
    encoding, mark = as_
    data = mark + dat([header, *rows], end).encode(encoding)
    records = read(data, block=block)
    assert values(records) == [header, *rows]
    n_lines = [sum(value.count("\n") for value in row) + 1 for row in rows]
    assert [one.line for one in records] == [1, *(2 + sum(n_lines[:i]) for i in range(len(rows)))]
    assert not any(one.fault for one in records)


@given(TABLES, st.sampled_from(ENCODINGS), st.sampled_from(["\r\n", "\n"]), st.booleans())
def test_csv_is_read_as_python_reads_it(
    table: tuple[int, list[list[str]]], as_: tuple[str, bytes], end: str, is_quoted: bool
) -> None:
    n, rows = table
    header = ["BEGDOC", *(f"COLUMN{i}" for i in range(n))]
    file = io.StringIO()
    quoting = csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(file, lineterminator=end, quoting=quoting)
    writer.writerows([header, *([f"A{i}", *row] for i, row in enumerate(rows))])
    encoding, mark = as_
    records = read(mark + file.getvalue().encode(encoding))
    assert values(records) == list(csv.reader(io.StringIO(file.getvalue())))


@settings(max_examples=examples(200))
@given(st.lists(PIECES, max_size=40), st.booleans(), st.integers(1, 9))
def test_damaged_and_mixed_files_are_read_alike_in_all_blocks(parts: list[str], is_utf8: bool, block: int) -> None:
    check_alike(parts, block, is_utf8=is_utf8)


def check_alike(parts: list[str], block: int, *, is_utf8: bool) -> None:
    header = "þDOCIDþ\x14þTEXTþ\r\n".encode("cp1252")
    rest = b"".join(part.encode("utf-8" if is_utf8 or i % 3 else "cp1252") for i, part in enumerate(parts))
    data = header + rest
    records = read(data, block=block)
    whole = read(data)
    assert [(one.line, one.fields, str(one.fault)) for one in records] == [
        (one.line, one.fields, str(one.fault)) for one in whole
    ]
    n_lines = len(data.splitlines()) + 1
    assert [one.line for one in records] == sorted({one.line for one in records})
    assert all(one.line <= n_lines for one in records)
    for one in records:
        assert (one.fault is None) == (len(one.fields) == 2)


@pytest.mark.parametrize("line", ["þa\n", 'þa"\n', "þþ\n", "þ\x14\n", "\x14\n", "þ", "þþa", "þ\x14þ\n"])
def test_hostile_files_take_linear_time(line: str) -> None:
    data = "þDOCIDþ\x14þTEXTþ\x14þTHREEþ\r\n".encode() + (line * 20_000).encode() + "þ\n".encode()
    began = process_time()
    read(data, most=1 << 20)
    assert process_time() - began < 10


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("þDOCIDþ\x14þTEXTþ", ("\x14", "þ", "®")),
        ("DOCID\x14TEXT", ("\x14", "", "®")),
        ("^DOCID^|^TEXT^", ("|", "^", "")),
        ('"BEGDOC","TEXT"', (",", '"', "")),
        ("BEGDOC;TEXT", (";", '"', "")),
    ],
)
def test_delimiters_are_taken_from_the_header(header: str, told: tuple[str, str, str]) -> None:
    dialect = dialect_of(header.encode())
    assert dialect is not None
    assert (dialect.separator, dialect.qualifier, dialect.newline) == told


@pytest.mark.parametrize("line", ["It was a dark night", "", "þþ", "þDOCID", "(a) first", "# heading"])
def test_prose_is_no_header(line: str) -> None:
    assert dialect_of(line.encode()) is None


def test_a_record_that_is_too_long_is_one_problem() -> None:
    data = dat([["DOCID", "TEXT"], ["A-1", "x" * 5_000], ["A-2", "two"]], "\r\n").encode()
    for block in (100, 1 << 20):
        records = read(data, most=1_000, block=block)
        assert "--max-document-size" in str(records[1].fault)
        assert records[2].fields == ["A-2", "two"]
