from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import os
from collections.abc import Callable
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearkin.errors import TruncatedInputError
from nearkin.formats import zstd
from nearkin.stages.documents.rules import problem_of
from nearkin.stages.documents.streams import ByteStream, StreamFault

Read = Callable[..., list[tuple[object, bytes | None, int, str | None]]]
LINES = b"".join(b'{"id": "k%d", "text": "%s"}\n' % (i, os.urandom(40).hex().encode()) for i in range(2000))


def drained(data: bytes, compression: str, step: int = 1000, encoding: str = "utf-8") -> bytes:
    stream = ByteStream(io.BytesIO(data), compression, encoding=encoding)  # type: ignore[arg-type]
    parts = []
    while part := stream.read(step):
        assert len(part) <= step
        parts.append(part)
    return b"".join(parts)


def small_blocks(data: bytes) -> bytes:
    """As dumps are packed: many streams, one after another."""
    return b"".join(bz2.compress(data[at : at + 5000]) for at in range(0, len(data), 5000)) or bz2.compress(b"")


def small_streams(data: bytes) -> bytes:
    """As `pixz` and `cat` make them: what stands before a cut can be read."""
    return b"".join(lzma.compress(data[at : at + 5000]) for at in range(0, len(data), 5000)) or lzma.compress(b"")


@pytest.mark.parametrize(
    ("compression", "pack"),
    [("gzip", gzip.compress), ("zstd", zstd.compress), ("bzip2", small_blocks), ("xz", small_streams)],
)
class TestCompressed:
    def test_the_same_rows_as_plain(self, read: Read, compression: str, pack: Callable[[bytes], bytes]) -> None:
        plain = read(LINES, "jsonl")
        packed = pack(LINES[:50_000]) + pack(LINES[50_000:])
        assert read(packed, "jsonl", compression=compression) == plain
        assert read(packed, "jsonl", compression=compression, batch_bytes=777) == plain

    @pytest.mark.parametrize("file_format", ["jsonl", "csv", "lines", "file"])
    def test_what_was_read_before_the_cut_is_there_and_then_a_problem(
        self, read: Read, compression: str, pack: Callable[[bytes], bytes], file_format: str
    ) -> None:
        lines = {
            "csv": b"id,text\n" + LINES.replace(b'", "', b",").replace(b'"', b"'"),
            "lines": LINES.replace(b":", b"\t", 1),
        }
        data = pack(lines.get(file_format, LINES))
        rows = read(data[:-4000], file_format, compression=compression, text="text", takes_damaged=True)
        assert rows[-1][1] is None
        fault = f"the {compression} stream is truncated"
        assert rows[-1][3] == problem_of("damaged" if file_format == "file" else "truncated", fault)
        assert [row[2] for row in rows] == list(range(rows[0][2], rows[0][2] + len(rows)))

    def test_an_empty_file_is_a_truncated_one(
        self, read: Read, compression: str, pack: Callable[[bytes], bytes]
    ) -> None:
        with pytest.raises(TruncatedInputError, match=f"the file is empty, not even an empty {compression} stream"):
            read(b"", "jsonl", compression=compression)
        assert read(pack(b""), "jsonl", compression=compression) == []

    def test_damage_inside(self, read: Read, compression: str, pack: Callable[[bytes], bytes]) -> None:
        data = pack(LINES[:80_000]) + b"this is no header"
        rows = read(data, "jsonl", compression=compression, takes_damaged=True)
        assert str(rows[-1][3]).startswith(f"truncated: the {compression} stream is damaged: ")
        assert len(rows) > 500


@example(cut=10, step=1)
@given(cut=st.integers(1, 3000), step=st.integers(1, 5000))
def test_bzip2_cut_anywhere_gives_what_stood_before(cut: int, step: int) -> None:
    packed = [bz2.compress(LINES[at : at + 5000]) for at in range(0, 30_000, 5000)]
    data = b"".join(packed)
    stream = ByteStream(io.BytesIO(data[:-cut]), "bzip2")
    parts: list[bytes] = []

    def read_on() -> None:
        while part := stream.read(step):
            parts.append(part)

    if len(data) - cut in accumulate(map(len, packed)):
        read_on()
    else:
        with pytest.raises(StreamFault, match=r"^the bzip2 stream is truncated$"):
            read_on()
    assert LINES.startswith(b"".join(parts))
    assert len(b"".join(parts)) % 5000 == 0


@pytest.mark.parametrize(
    ("compression", "pack"),
    [
        ("zstd", functools.partial(zstd.compress, level=1)), ("bzip2", bz2.compress),
        ("xz", lambda data: lzma.compress(data, preset=0)),
    ],
)  # fmt: skip
def test_a_bomb_passes_in_pieces(compression: str, pack: Callable[[bytes], bytes]) -> None:
    data = pack(bytes(80 << 20))  # more than may be held
    stream = ByteStream(io.BytesIO(data), compression)  # type: ignore[arg-type]
    room = memoryview(bytearray(1 << 20))
    n_bytes = 0
    while n := stream.read_into(room):
        n_bytes += n
        assert len(stream._left) <= 64 << 20
    assert n_bytes == 80 << 20


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 50))
def test_every_encoding_ends_in_utf8_and_goes_back(text: str, step: int) -> None:
    text = "a" + text
    for encoding in ("utf-8-sig", "utf-16", "utf-32", "utf-16-be", "gb18030"):
        data = text.encode(encoding)
        assert drained(data, "none", step, encoding) == text.encode()
        stream = ByteStream(io.BytesIO(data), "none", encoding=encoding)
        assert stream.byte_order_mark() + stream.as_it_was(stream.read(1 << 20)) == data


def test_a_reading_error_is_told_after_what_was_read() -> None:
    class Failing(io.RawIOBase):
        n_reads = 0

        def readinto(self, room: object) -> int:
            self.n_reads += 1
            if self.n_reads > 2:
                raise OSError(5, "Input/output error")
            memoryview(room)[:2] = b"ab"  # type: ignore[arg-type]
            return 2

    stream = ByteStream(Failing(), "none")  # type: ignore[arg-type]
    assert stream.read(10) == b"abab"
    with pytest.raises(StreamFault, match="reading failed: Input/output error"):
        stream.read(10)
