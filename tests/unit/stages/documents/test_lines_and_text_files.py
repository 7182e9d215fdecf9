from __future__ import annotations

import gzip
from collections.abc import Callable

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nearkin.formats import zstd
from nearkin.stages.documents.encodings import looks_like_utf16

shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]
NOT_UTF8 = (
    "wrong encoding: not valid UTF-8 at byte {place}; "
    "if it is older Western text, repeat the command and add --encoding cp1252"
)
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r")


@shared_folder
@given(
    st.lists(
        st.tuples(st.text(characters, max_size=5).map(lambda t: t.replace("\t", "")), st.text(characters)), max_size=9
    ),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
    st.integers(1, 40),
)
def test_lines_come_back_the_same(
    read: Read, written: list[tuple[str, str]], line_end: str, ends: bool, batch_bytes: int
) -> None:
    data = line_end.join(f"{doc_id}\t{text}" for doc_id, text in written) + (line_end if ends else "")
    data = data.removeprefix("\ufeff")
    rows = read(data.encode(), "lines", batch_bytes=batch_bytes)
    step = line_end.count("\n")
    # A line of white space alone, here a tab between nothing and nothing, is no record only where it has no tab.
    expected = [(text.encode(), 1 + step * i) for i, (_, text) in enumerate(written)]
    assert [row[1:3] for row in rows] == expected
    assert [None if row[0] is None else str(row[0]) for row in rows[1:]] == [
        doc_id or None for doc_id, _ in written[1:]
    ]
    assert [row[1:] for row in read(data.encode(), "lines")] == [row[1:] for row in rows]


def test_bad_lines_are_rows_of_their_own(read: Read) -> None:
    rows = read(b"1\ta\tb\nno tab\n\n   \n\tno id\n2\t\n3\t\xff\r\n4\tx", "lines")
    assert rows == [
        (1, b"a\tb", 1, None),
        (None, None, 2, "damaged: the line has no tab between an id and a text"),
        (None, b"no id", 5, None),
        (2, b"", 6, None),
        (3, None, 7, NOT_UTF8.format(place="0 (0xff)")),
        (4, b"x", 8, None),
    ]
    assert [row[1:] for row in read(b"1\ta\nx\ty\n", "lines", batch_bytes=1)] == [(b"a", 1, None), (b"y", 2, None)]


@shared_folder
@given(st.text(max_size=200), st.sampled_from(["none", "gzip", "zstd"]))
def test_a_text_file_is_one_document_byte_for_byte(read: Read, text: str, compression: str) -> None:
    pack = {"none": bytes, "gzip": gzip.compress, "zstd": zstd.compress}[compression]
    data = text.encode()
    assume(looks_like_utf16(data) is None)
    rows = read(pack(data), "file", compression=compression)
    assert rows == [("input", data.removeprefix(b"\xef\xbb\xbf"), 1, None)]


@shared_folder
@given(st.binary(max_size=200))
def test_any_bytes_are_a_text_or_a_problem(read: Read, data: bytes) -> None:
    ((_, text, _, problem),) = read(data, "file")
    assert (text is None) != (problem is None)
    if text is not None:
        text.decode()
