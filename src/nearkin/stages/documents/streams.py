"""Bytes of a file made readable: counted, decompressed, in UTF-8, without a byte order mark."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import IO, Any, BinaryIO, Literal

from nearkin.formats import zstd
from nearkin.stages.documents.encodings import (
    BYTE_ORDER_MARKS,
    ESCAPE,
    WINDOW_BYTES,
    back_from_utf8,
    is_taken_as_utf8,
    is_told_by_line,
    is_utf8,
    lines_into_utf8,
    with_byte_order,
)
from nearkin.stages.documents.rules import StreamFault

Progress = Callable[[int], None]
Pull = Callable[[int], bytes]
"""Returns about the requested number of further bytes; none at the end; StreamFault if the rest cannot be read."""
MAX_LINE_BYTES = 1 << 30
_SKIP_BYTES = 1 << 20


def unreported(what: object) -> None:
    """Ignore progress, a note, or what else is reported."""


def _counted(raw: BinaryIO, progress: Progress) -> Pull:
    def pull(n_bytes: int) -> bytes:
        try:
            piece = raw.read(n_bytes)
        except OSError as error:
            raise StreamFault(f"reading failed: {error.strerror or error}") from error
        progress(len(piece))
        return piece

    return pull


def _in_utf8(pull: Pull, encoding: str) -> Pull:
    """Undecodable bytes become bytes that are not UTF-8 either."""
    # they become unpaired surrogates, which the UTF-8 check rejects, so only the record that contains them is lost
    decoder = codecs.getincrementaldecoder(encoding)(ESCAPE)
    at_end = False

    def pull_out(n_bytes: int) -> bytes:
        nonlocal at_end
        while not at_end:
            piece = pull(n_bytes)
            if not piece and decoder.getstate()[0]:
                raise StreamFault(f"not valid {encoding}")
            at_end = not piece
            if text := decoder.decode(piece, final=at_end):
                return text.encode("utf-8", "surrogatepass")
        return b""

    return pull_out


def _lines_in_utf8(pull: Pull, encoding: str, max_line_bytes: int) -> Iterator[bytes]:
    """Decode the whole lines that are not UTF-8."""
    waiting, fault = bytearray(), None  # the beginning of an incomplete line
    is_over = False
    while not is_over:
        try:
            piece = pull(READ_BYTES)
        except StreamFault as broken:
            piece, fault = b"", broken
        is_over = not piece
        cut = len(piece) if is_over else max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if cut or is_over:
            waiting += piece[:cut]
            yield lines_into_utf8(bytes(waiting), encoding)
            waiting.clear()
        waiting += piece[cut:]
        if len(waiting) > max_line_bytes:
            yield bytes(waiting)
            waiting.clear()
    if fault is not None:
        raise fault


class ByteStream:
    """The readable bytes of a file.

    Parameters
    ----------
    progress
        Receives the number of bytes of the file itself consumed since the last call.
    max_line_bytes
        Longer lines are not decoded; readers of lines skip them.
    """

    def __init__(
        self,
        raw: BinaryIO,
        compression: Compression,
        *,
        encoding: str = "utf-8",
        progress: Progress = unreported,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self.compression: Compression = compression
        pull = unpacked(_counted(raw, progress), compression)
        self._pull: Pull = pull
        self._bytes_of_file: Pull = pull
        self._raw = raw if compression == "none" else None  # bytes that need no change are read in place
        self._progress = progress
        self._encoding = with_byte_order(encoding)
        self._max_line_bytes = max_line_bytes
        self._left = b""
        self._fault: StreamFault | None = None
        self._started = False
        self._mark = b""

    def byte_order_mark(self) -> bytes:
        """Return the byte order mark that was removed from the beginning of the file."""
        if not self._started:
            self._start()
        return self._mark

    def as_it_was(self, data: bytes) -> bytes:
        """Convert complete characters back to the encoding of the file, if that is not judged line by line."""
        if self._pull is self._bytes_of_file:
            return data
        return back_from_utf8(data, self._encoding)

    def read(self, n_bytes: int) -> bytes:
        """Read exactly ``n_bytes``, less only at the end; a fault is raised after all earlier bytes."""
        room = bytearray(n_bytes)
        n_read = self.read_into(memoryview(room))
        return bytes(room[:n_read])

    def read_into(self, room: memoryview) -> int:
        """Fill ``room``, less only at the end, and return the number of bytes; faults as in :meth:`read`."""
        if not self._started:
            self._start()
        n_have = self._give(room, self._left)
        while n_have < len(room) and self._fault is None:
            try:
                if self._raw is not None:
                    n_more = self._read_raw(room[n_have:])
                else:
                    piece = self._pull(len(room) - n_have)
                    n_more = self._give(room[n_have:], piece)
            except StreamFault as fault:
                self._fault = fault
                break
            if not n_more:
                break
            n_have += n_more
        if not n_have and len(room) and self._fault is not None:
            raise self._fault
        return n_have

    def peek(self, n_bytes: int) -> bytes:
        """Return the next bytes, as :meth:`read` would, without consuming them."""
        data = self.read(n_bytes)
        self._left = data + self._left
        return data

    def skip(self, end_in: Callable[[bytes], int]) -> int:
        r"""Skip to the last byte of a line or record, without holding it; return the number of bytes before it.

        Examples
        --------
        >>> import io
        >>> stream = ByteStream(io.BytesIO(b"a long line\nthe next"), "none")
        >>> stream.read(2), stream.skip(lambda piece: piece.find(b"\n")), stream.read(99)
        (b'a ', 9, b'the next')
        """
        n_passed = 0
        while True:
            piece, self._left = self._left, b""
            if not piece and self._fault is None:
                try:
                    piece = self._pull(_SKIP_BYTES)
                except StreamFault as fault:
                    self._fault = fault
            end = end_in(piece)
            if end >= 0:
                self._left = piece[end + 1 :]
                return n_passed + end
            if not piece:
                return n_passed
            n_passed += len(piece)

    def _give(self, room: memoryview, piece: bytes) -> int:
        n_given = min(len(piece), len(room))
        room[:n_given] = piece[:n_given]
        self._left = piece[n_given:]
        return n_given

    def _read_raw(self, room: memoryview) -> int:
        try:
            n_read: int = self._raw.readinto(room)  # type: ignore[union-attr]
        except OSError as error:
            raise StreamFault(f"reading failed: {error.strerror or error}") from error
        self._progress(n_read)
        return n_read

    def _start(self) -> None:
        self._started = True
        encoding = self._encoding
        is_by_line = is_told_by_line(encoding)
        n_bytes = 4 if is_by_line or is_utf8(encoding) else WINDOW_BYTES
        head = self.read(n_bytes)
        for mark, marked in BYTE_ORDER_MARKS:
            if head.startswith(mark):
                self._mark, encoding, head = mark, marked, head[len(mark) :]
                break
        else:
            if not is_by_line and is_taken_as_utf8(head, encoding, is_all=len(head) < n_bytes):
                encoding = "utf-8"
        head += self._left
        if is_utf8(encoding):
            self._left = head
            return
        pull = _with_head(head, self._pull)
        if is_by_line and not self._mark:
            pull = _pulled(_lines_in_utf8(pull, encoding, self._max_line_bytes))
        else:
            pull = _in_utf8(pull, encoding)
        self._left, self._encoding = b"", encoding
        self._pull, self._raw = pull, None


def _with_head(head: bytes, pull: Pull) -> Pull:
    waiting = [head] if head else []

    def pull_out(n_bytes: int) -> bytes:
        return waiting.pop() if waiting else pull(n_bytes)

    return pull_out


def _pulled(pieces: Iterator[bytes]) -> Pull:
    def pull_out(n_bytes: int) -> bytes:
        return next(filter(None, pieces), b"")

    return pull_out


Compression = Literal["none", "gzip", "zstd", "bzip2", "xz"]
COMPRESSION_OF_SUFFIX: dict[str, Compression] = {
    ".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bzip2", ".xz": "xz",
}  # fmt: skip
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# "BZh", the block size, and half of the magic number of a block or the end: "BZh9" alone could begin a text.
_BZIP2_MAGIC = re.compile(rb"BZh[1-9](?:1AY&|\x17rE8)")
_XZ_MAGIC = b"\xfd7zXZ\0"
MAGIC_BYTES = 8
READ_BYTES = 1 << 18
_STEP_BYTES = 1 << 16
_ZSTD_WINDOW_LOG = 31
_XZ_MEMORY_BYTES = 256 << 20
"""Memory limit for decompressing xz: xz -9 needs 65 MiB; a file may request 4 GiB."""


def compression_of(magic: bytes) -> Compression:
    r"""Return the compression of a file that begins with these bytes.

    Examples
    --------
    >>> compression_of(b"\x1f\x8b\x08"), compression_of(b"BZh9 is how bzip2 begins")
    ('gzip', 'none')
    """
    if magic.startswith(_GZIP_MAGIC):
        return "gzip"
    # A zstd file may begin with a skippable frame, whose magic number has sixteen values.
    is_skippable = magic[1:4] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50
    if magic.startswith(_ZSTD_MAGIC) or is_skippable:
        return "zstd"
    if magic.startswith(_XZ_MAGIC):
        return "xz"
    return "bzip2" if _BZIP2_MAGIC.match(magic) else "none"


def unpacked(pull: Pull, compression: Compression) -> Pull:
    """Return the decompressed bytes; the pull raises StreamFault if they are damaged or need too much memory."""
    return pull if compression == "none" else _pulled(_unframed(pull, compression))


@dataclass(frozen=True, slots=True)
class _Frames:
    """Decompression of the frames of a file, which may have thousands."""

    new: Callable[[], Any]
    step: Callable[[Any, memoryview, int], tuple[bytes, memoryview]]
    is_padded: bool = True


def _step_gzip(decoder: Any, packed: memoryview, n_bytes: int) -> tuple[bytes, memoryview]:
    part = packed[: n_bytes // 4]  # zlib copies what it leaves of it
    piece = decoder.decompress(part, n_bytes)
    return piece, packed[len(part) - len(decoder.unused_data if decoder.eof else decoder.unconsumed_tail) :]


def _step_blocks(decoder: Any, packed: memoryview, n_bytes: int) -> tuple[bytes, memoryview]:
    return decoder.decompress(packed, n_bytes), memoryview(decoder.unused_data)


def _new_zstd() -> zstd.ZstdDecompressor:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})


def _new_xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)


_FRAMES: dict[Compression, _Frames] = {
    "gzip": _Frames(partial(zlib.decompressobj, wbits=31), _step_gzip),
    "zstd": _Frames(_new_zstd, _step_blocks, is_padded=False),
    "bzip2": _Frames(bz2.BZ2Decompressor, _step_blocks),
    "xz": _Frames(_new_xz, _step_blocks),
}


def _unframed(pull: Pull, compression: Compression) -> Iterator[bytes]:
    frames, is_empty = _FRAMES[compression], True
    decoder: Any = None  # between frames
    packed = memoryview(b"")
    while True:
        if not packed and (decoder is None or getattr(decoder, "needs_input", True)):
            packed = memoryview(pull(READ_BYTES))
            if not packed:
                break
        is_empty = False
        if decoder is None and frames.is_padded and packed[0] == 0:
            packed = memoryview(bytes(packed).lstrip(b"\0"))
            continue
        decoder = frames.new() if decoder is None else decoder
        try:  # steps of one size, so that as much is read before damage whoever asks
            piece, packed = frames.step(decoder, packed, _STEP_BYTES)
        except (OSError, lzma.LZMAError, MemoryError, zlib.error, zstd.ZstdError) as error:
            raise StreamFault(_why(compression, error)) from error
        decoder = None if decoder.eof else decoder
        yield piece
    if is_empty:
        raise StreamFault(f"the file is empty, not even an empty {compression} stream")
    if decoder is not None:
        while piece := frames.step(decoder, packed, _STEP_BYTES)[0]:  # bzip2 holds most of a block back
            yield piece
        raise StreamFault(f"the {compression} stream is truncated")


def _why(compression: str, error: Exception) -> str:
    if "memory" in str(error).lower() or isinstance(error, MemoryError):
        return f"the {compression} stream needs more than {_XZ_MEMORY_BYTES >> 20} MiB of memory to unpack"
    return f"the {compression} stream is damaged: {str(error) or type(error).__name__}"


_KEPT_BYTES = 16 << 20


@cache  # it stays so; a second piece of this size would come from memory that is kept, and be filled with zeros
def keep_memory() -> None:
    """Let glibc keep memory that texts have left.

    Else each page comes again by a page fault, a fifth of the time of a short file.
    """
    bytes(_KEPT_BYTES)  # not a bytearray, which would be filled with zeros, page by page


_PACKERS: dict[Compression, Callable[[IO[bytes]], Any]] = {
    "none": nullcontext,
    # without time and name, which gzip would otherwise write into the file
    "gzip": lambda file: gzip.GzipFile("", "wb", 6, file, 0),
    "zstd": partial(zstd.ZstdFile, mode="w"), "bzip2": partial(bz2.BZ2File, mode="wb"),
    "xz": partial(lzma.LZMAFile, mode="wb"),
}  # fmt: skip


def packed(file: IO[bytes], compression: Compression) -> AbstractContextManager[IO[bytes]]:
    """Compress what is written to the returned file into ``file``, which stays open."""
    packer: AbstractContextManager[IO[bytes]] = _PACKERS[compression](file)
    return packer
