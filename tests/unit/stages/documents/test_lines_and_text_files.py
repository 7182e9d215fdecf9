from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents import blocks
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import Source

shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]
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
        (None, None, 2, "the line has no tab between an id and a text"),
        (None, b"no id", 5, None),
        (2, b"", 6, None),
        (3, b"\xff", 7, None),
        (4, b"x", 8, None),
    ]
    assert [row[1:] for row in read(b"1\ta\nx\ty\n", "lines", batch_bytes=1)] == [(b"a", 1, None), (b"y", 2, None)]


@shared_folder
@given(st.binary(max_size=200), st.sampled_from(["none", "gzip", "zstd"]))
def test_a_text_file_is_one_document_byte_for_byte(read: Read, data: bytes, compression: str) -> None:
    import gzip

    import zstandard

    pack = {"none": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}[compression]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:3] == b"\xef\xbb\xbf":
        data = b"a" + data
    assert read(pack(data), "file", compression=compression) == [("input", data, 1, None)]


def test_text_files_in_other_encodings(read: Read) -> None:
    assert read("née".encode("utf-16"), "file")[0][1] == "née".encode()
    assert read("née".encode("utf-8-sig"), "file")[0][1] == "née".encode()
    assert read(b"n\xe9e", "file", encoding="latin-1")[0][1] == "née".encode()
    half = read("née".encode("utf-16-le") + b"\x41", "file", encoding="utf-16-le")[0][1]
    assert half == "née".encode() + b"\xff"
    with pytest.raises(
        ParameterError, match="The 'encoding' parameter of read_batches must be the name of a character"
    ):
        read(b"", "file", encoding="utf-9")
    with pytest.raises(ParameterError):
        read(b"", "file", encoding="hex")


def test_a_text_file_over_the_limit_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_RECORD_BYTES", 1 << 20)
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * (5 << 20))
    (batch,) = read_batches(Source(str(path), "long.txt", "file", "none", None, None, 5 << 20))
    assert batch["problem"].to_pylist() == ["the record is longer than 1 MiB"]


def test_a_file_that_is_gone_is_named_with_what_to_do(tmp_path: Path) -> None:
    source = Source(str(tmp_path / "gone.txt"), "gone.txt", "file", "none", None, None, 0)
    with pytest.raises(SourceError, match=r"^gone.txt: cannot be opened: No such file or directory. Check the path.$"):
        next(read_batches(source))


def test_what_has_no_columns_has_no_column_to_keep_by(read: Read) -> None:
    with pytest.raises(SourceError, match="lines has no columns"):
        read(b"1\ta\n", "lines", keep_column="n")
