"""A document over the limit is one problem with its size; nothing of it is held, whatever it comes in."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nearkin.formats import zstd
from nearkin.stages.documents.readers.jsonl import JsonLines
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream
from unit.stages.documents.conftest import rows_of

Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]
LIMIT = 200
shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def too_long(n_bytes: int, limit: int = LIMIT) -> str:
    return f"too large: longer than --max-document-size ({n_bytes:,} bytes; the maximum is {limit:,})"


def as_line(file_format: str, text: str) -> str:
    if file_format == "jsonl":
        return json.dumps({"id": "d", "text": text})
    return {"lines": f"d\t{text}", "csv": f"d,{text}", "tsv": f"d\t{text}", "text-lines": text}[file_format]


@shared_folder
@given(
    st.sampled_from(["jsonl", "lines", "csv", "tsv", "text-lines"]),
    st.lists(st.integers(1, 3 * LIMIT), min_size=1, max_size=12),
    st.integers(1, 900),
    st.booleans(),
)
def test_lines_over_the_limit_and_no_others(
    read: Read, file_format: str, lengths: list[int], batch_bytes: int, ends: bool
) -> None:
    texts = ["x" * n for n in lengths]
    lines = [as_line(file_format, text) for text in texts]
    header = {"csv": ["id,text"], "tsv": ["id\ttext"]}.get(file_format, [])
    data = "\n".join([*header, *lines]) + "\n" * ends
    rows = read(data.encode(), file_format, batch_bytes=batch_bytes, max_document_bytes=LIMIT)
    assert rows == read(data.encode(), file_format, max_document_bytes=LIMIT)
    extra = file_format in ("csv", "tsv")  # their records have a line end
    for row, text, line in zip(rows, texts, lines, strict=True):
        if len(line) + extra < LIMIT:
            assert row[1] == text.encode()
        elif len(line) > LIMIT + extra:
            assert row[1] is None
            assert str(row[3]).startswith("too large: longer than --max-document-size (")
    assert [row[2] for row in rows] == [1 + len(header) + i for i in range(len(rows))]


@pytest.mark.parametrize("file_format", ["csv", "tsv"])
@pytest.mark.parametrize("batch_bytes", [7, 150, 1 << 20])
def test_a_record_of_many_lines_over_the_limit_is_one_problem(read: Read, file_format: str, batch_bytes: int) -> None:
    """Not a problem for its first line, and its other lines as records."""
    sign = "," if file_format == "csv" else "\t"
    long = "Dear all\n" * 100 if file_format == "csv" else "Dear all " * 100
    records = [("a", "short"), ("b", f'"{long}"'), ("c", "short"), ("d", f'"{long}"'), ("e", "last")]
    data = "".join(f"{name}{sign}{text}\n" for name, text in [("id", "text"), *records])
    rows = read(data.encode(), file_format, batch_bytes=batch_bytes, max_document_bytes=LIMIT)
    size = too_long(len(long) + len('b,""'))
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("a", b"short", None), (None, None, size), ("c", b"short", None), (None, None, size), ("e", b"last", None)
    ]  # fmt: skip
    n_lines = 1 + long.count("\n")
    assert [row[2] for row in rows] == [2, 3, 3 + n_lines, 4 + n_lines, 4 + 2 * n_lines]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "gb18030"])
def test_a_bomb_of_one_line_is_passed_over(encoding: str) -> None:
    """200 MB of one line, of which a few pieces are held at a time."""
    packer = zstd.ZstdCompressor(level=1)
    packed = [packer.compress(b'{"text": "first"}\n{"text": "')]
    packed += [packer.compress(b"a" * (1 << 20)) for _ in range(200)]
    packed += [packer.compress(b'"}\n{"text": "last"}\n'), packer.flush()]
    raw = io.BytesIO(b"".join(packed))
    held: list[int] = []

    class Watched(ByteStream):
        def skip(self, end_in: Callable[[bytes], int]) -> int:
            n = super().skip(end_in)
            held.append(len(self._left))
            return n

    source = Source(path="", name="", format="jsonl", text="text", max_document_bytes=1 << 20)
    stream = Watched(raw, "zstd", encoding=encoding, max_line_bytes=1 << 20)
    batches = list(JsonLines().read(stream, OpenedSource(source=source, raw=raw, batch_bytes=1 << 16)))
    assert [row[1] for row in rows_of(batches)] == [b"first", None, b"last"]
    assert len(held) == 1
    assert held[0] < 64 << 20
    assert rows_of(batches)[1][3] == too_long((200 << 20) + len('{"text": ""}'), 1 << 20)
