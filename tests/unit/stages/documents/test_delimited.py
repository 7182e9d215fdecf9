from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]

odd = st.text(st.sampled_from("ab\",\t\n\r é字'\x00"), max_size=8)
rows_of_text = st.lists(st.tuples(odd, odd, odd), max_size=10)


@shared_folder
@given(rows_of_text, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.integers(1, 60))
def test_what_csv_writes_comes_back_the_same(
    read: Read, written: list[tuple[str, str, str]], line_end: str, quotes_all: bool, batch_bytes: int
) -> None:
    file = io.StringIO()
    # Python before 3.13 leaves out the quotes around a line end other than its own, and cannot read it back.
    has_breaks = any(set("\r\n") & set(value) for record in written for value in record)
    quoting = csv.QUOTE_ALL if quotes_all or has_breaks else csv.QUOTE_MINIMAL
    writer = csv.writer(file, lineterminator=line_end, quoting=quoting)
    writer.writerows([("id", "text", "other"), *written])
    data = file.getvalue().encode()
    rows = read(data, "csv", batch_bytes=batch_bytes)
    assert [(row[0], row[1], row[3]) for row in rows] == [(i or None, t.encode(), None) for i, t, _ in written]
    starts = [1 + len(breaks(file.getvalue()[:n])) for n in record_starts(file.getvalue())]
    assert [row[2] for row in rows] == starts[1:]
    assert read(data, "csv") == rows


def breaks(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[1:]


def record_starts(text: str) -> list[int]:
    """Where each record begins: outside quotes, after a line end."""
    starts, is_quoted = [0], False
    for i, c in enumerate(text):
        is_quoted ^= c == '"'
        if not is_quoted and (c == "\n" or (c == "\r" and text[i + 1 : i + 2] != "\n")):
            starts.append(i + 1)
    return [s for s in starts if s < len(text)]


@shared_folder
@given(st.text(st.sampled_from('a",\n\r'), max_size=80), st.integers(1, 20))
@example('"', 1)
@example('a,"b', 20)
@example('a"b,c\n"d\ne",f\n', 3)
@example('""""\r', 2)
@example('"a"bcd,e\nf,g\n', 1)
def test_any_bytes_read_as_csv_reads_them_and_blocks_do_not_matter(read: Read, body: str, size: int) -> None:
    data = ("id,text\n" + body).encode()
    rows = read(data, "csv")
    assert rows == read(data, "csv", batch_bytes=size)
    assert [(row[1], row[2], row[3] is None) for row in rows] == rows_by_csv(body)


def rows_by_csv(body: str) -> list[tuple[bytes | None, int, bool]]:
    """Text, line and whether it is good by Python's csv; after a record that breaks the rule, the next line."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", body)
    found: list[tuple[bytes | None, int, bool]] = []
    place = 0
    while place < len(lines):
        reader = csv.reader(iter(lines[place:]), strict=True)
        try:
            fields = next(reader)
        except csv.Error:
            found.append((None, place + 2, False))
            place += 1
            continue
        if fields:
            found.append((fields[1].encode(), place + 2, True) if len(fields) == 2 else (None, place + 2, False))
        place += reader.line_num
    return found


def test_stray_quotes_hurt_only_their_own_records(read: Read) -> None:
    body = b'1,5" pipe\n2,"a ""quoted"" word"\n3,"never, closed\n4,fine\n5,"He said "hi""\n6,"two\nlines"\n7,end\n'
    rows = read(b"id,text\n" + body * 1, "csv")
    assert [(row[0], row[1], row[2]) for row in rows if row[3] is None] == [
        (1, b'5" pipe', 2), (2, b'a "quoted" word', 3), (4, b"fine", 5), (6, b"two\nlines", 7), (7, b"end", 9)
    ]  # fmt: skip
    assert [row[2:] for row in rows if row[3] is not None] == [
        (4, "damaged: more characters follow the closing quote of a field"),
        (6, "damaged: more characters follow the closing quote of a field"),
    ]


def test_ids_are_integers_only_when_written_as_integers_are(read: Read) -> None:
    def ids(*written: str) -> list[object]:
        return [row[0] for row in read("".join(["id,text\n", *(f"{i},t\n" for i in written)]).encode(), "csv")]

    assert ids("1", "-2", "30") == [1, -2, 30]
    assert ids("1", "", "3") == [1, None, 3]
    assert ids("1", "007") == ["1", "007"]
    assert ids("+1") == ["+1"]
    assert ids("9223372036854775808") == ["9223372036854775808"]
    assert ids("") == [None]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig", "shift_jis"])
def test_other_encodings_end_in_utf8(read: Read, encoding: str) -> None:
    text = {"cp1252": "née “quoted” €", "shift_jis": "こんにちは"}.get(encoding, "née 字 😀")
    data = f'id,text\nk,"{text},\nb"\n'.encode(encoding)
    assert read(data, "csv", encoding=encoding) == [("k", f"{text},\nb".encode(), 2, None)]


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_lines_of_utf8_and_of_an_older_encoding_in_one_file(read: Read, size: int, line_end: bytes) -> None:
    lines = [b"id,text", "a,née".encode(), "b,née".encode("cp1252"), '"ß,",né€'.encode("cp1252"), "d,字".encode()]
    rows = read(line_end.join(lines), "csv", encoding="cp1252", batch_bytes=size)
    assert [(row[0], (row[1] or b"").decode()) for row in rows] == [
        ("a", "née"), ("b", "née"), ("ß,", "né€"), ("d", "字")
    ]  # fmt: skip
