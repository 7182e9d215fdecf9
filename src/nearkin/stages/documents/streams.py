"""Bytes of a file as they should have been: counted, unpacked, in UTF-8, without a byte order mark.

Nothing here holds more of a file than what was asked for: a compressed file that unpacks to terabytes passes through
in pieces.
"""

from __future__ import annotations

import bz2
import codecs
import re
import zlib
from collections.abc import Callable
from typing import BinaryIO, Literal, Protocol

import zstandard

from nearkin.stages.documents.encodings import (
    BYTE_ORDER_MARKS,
    WINDOW_BYTES,
    back_from_utf8,
    escape,
    is_taken_as_utf8,
    is_told_by_line,
    is_utf8,
    lines_into_utf8,
    with_byte_order,
)

Compression = Literal["none", "gzip", "zstd", "bzip2"]
Progress = Callable[[int], None]

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# "BZh", the size of its blocks, and half of what a block or the end begins with: "BZh9" alone could begin a text.
BZIP2_MAGIC = re.compile(rb"BZh[1-9](?:1AY&|\x17rE8)")
_READ_BYTES = 1 << 18
# A zstd block of 4 bytes can stand for 128 KiB, and the decoder hands out all that a piece stands for at once: a piece
# of 1 KiB unpacks to 32 MiB at most. Larger pieces are no faster.
_ZSTD_PIECE_BYTES = 1 << 10
_ZSTD_WINDOW_BYTES = 1 << 31


class StreamFault(Exception):
    """The rest of a file cannot be read; the message says why."""


def no_progress(n_bytes: int) -> None:
    """Tell nobody."""


class _Pull(Protocol):
    """The next bytes, about as many as asked for; none at the end."""

    def __call__(self, n_bytes: int, /) -> bytes: ...


def _counted(raw: BinaryIO, progress: Progress) -> _Pull:
    """The bytes of ``raw`` as they are, each told to ``progress`` once."""

    def pull(n_bytes: int) -> bytes:
        try:
            piece = raw.read(n_bytes)
        except OSError as error:
            raise StreamFault(f"reading failed: {error.strerror or error}") from error
        progress(len(piece))
        return piece

    return pull


def _gunzipped(pull: _Pull) -> _Pull:
    """Gzip members one after another; zero bytes after the last are padding, as for gzip itself."""
    decoder = zlib.decompressobj(wbits=31)
    packed = b""
    between_members = True

    def pull_out(n_bytes: int) -> bytes:
        nonlocal decoder, packed, between_members
        while True:
            if not packed:
                packed = pull(_READ_BYTES)
                if not packed:
                    if between_members:
                        return b""
                    raise StreamFault("the gzip data ends before its end: the file is cut short")
            if between_members:
                packed = packed.lstrip(b"\0")
                if not packed:
                    continue
                decoder = zlib.decompressobj(wbits=31)
                between_members = False
            try:
                piece = decoder.decompress(packed, n_bytes)
            except zlib.error as error:
                raise StreamFault(f"the gzip data is damaged: {error}") from error
            between_members = decoder.eof
            packed = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
            if piece:
                return piece

    return pull_out


def _unzstd(pull: _Pull) -> _Pull:
    """Zstandard frames one after another."""
    # Not stream_reader: it takes a file that is cut short for a whole one.
    factory = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    decoder = factory.decompressobj()
    packed = memoryview(b"")
    between_frames = True

    def pull_out(n_bytes: int) -> bytes:
        nonlocal decoder, packed, between_frames
        while True:
            if not packed:
                packed = memoryview(pull(_READ_BYTES))
                if not packed:
                    if between_frames:
                        return b""
                    raise StreamFault("the zstd data ends before its end: the file is cut short")
            if between_frames:
                decoder = factory.decompressobj()
                between_frames = False
            head, packed = packed[:_ZSTD_PIECE_BYTES], packed[_ZSTD_PIECE_BYTES:]
            try:
                piece = decoder.decompress(head)
            except zstandard.ZstdError as error:
                raise StreamFault(f"the zstd data is damaged: {error}") from error
            if decoder.eof:
                between_frames = True
                packed = memoryview(decoder.unused_data + bytes(packed)) if decoder.unused_data else packed
            if piece:
                return piece

    return pull_out


def _unbzip2(pull: _Pull) -> _Pull:
    """Bzip2 streams one after another, of which dumps have thousands; zero bytes between are padding, as for gzip."""
    decoder = bz2.BZ2Decompressor()
    packed = b""
    between_streams = True

    def pull_out(n_bytes: int) -> bytes:
        nonlocal decoder, packed, between_streams
        while True:
            if not packed and (between_streams or decoder.needs_input):
                packed = pull(_READ_BYTES)
                if not packed:
                    if between_streams:
                        return b""
                    raise StreamFault("the bzip2 data ends before its end: the file is cut short")
            if between_streams:
                packed = packed.lstrip(b"\0")
                if not packed:
                    continue
                decoder = bz2.BZ2Decompressor()
                between_streams = False
            try:
                piece = decoder.decompress(packed, n_bytes)
            except OSError as error:
                raise StreamFault(f"the bzip2 data is damaged: {error}") from error
            between_streams = decoder.eof
            packed = decoder.unused_data if decoder.eof else b""
            if piece:
                return piece

    return pull_out


def _in_utf8(pull: _Pull, encoding: str) -> _Pull:
    """Characters of another encoding in UTF-8; what does not decode becomes bytes that are not UTF-8 either."""
    # The escape becomes a lone surrogate, which no UTF-8 check lets pass: only the record that holds it suffers.
    decoder = codecs.getincrementaldecoder(encoding)(escape(encoding))
    at_end = False

    def pull_out(n_bytes: int) -> bytes:
        nonlocal at_end
        while not at_end:
            piece = pull(n_bytes)
            at_end = not piece
            try:
                text = decoder.decode(piece, final=at_end)
            except UnicodeDecodeError as error:
                if at_end:
                    return b"\xff"  # half a character at the end of the file
                raise StreamFault(f"not valid {encoding}: {error.reason}") from error
            if text:
                return text.encode("utf-8", "surrogatepass")
        return b""

    return pull_out


def _lines_in_utf8(pull: _Pull, encoding: str) -> _Pull:
    """Whole lines, those in UTF-8 as they are and the others decoded."""
    waiting: list[bytes] = []  # the beginning of a line whose end has not come yet
    fault: StreamFault | None = None

    def pull_out(n_bytes: int) -> bytes:
        nonlocal fault
        while fault is None:
            try:
                piece = pull(max(n_bytes, _READ_BYTES))
            except StreamFault as broken:
                piece, fault = b"", broken
            cut = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1 if piece else 0
            if cut or not piece:
                waiting.append(piece[:cut])
                lines = b"".join(waiting)
                waiting[:] = [piece[cut:]]
                if lines or fault is None:
                    return lines_into_utf8(lines, encoding)
            else:
                waiting.append(piece)
        raise fault

    return pull_out


class ByteStream:
    """A file's bytes as they should have been.

    Parameters
    ----------
    raw : binary file
        Read from where it stands.
    compression : {"none", "gzip", "zstd", "bzip2"}
    encoding : str
        Of the characters inside where they are not UTF-8 (see :mod:`.encodings`).
    progress : callable
        Told the bytes of the file itself that were consumed since the last call.
    """

    def __init__(
        self, raw: BinaryIO, compression: Compression, *, encoding: str = "utf-8", progress: Progress = no_progress
    ) -> None:
        pull = _counted(raw, progress)
        if compression == "gzip":
            pull = _gunzipped(pull)
        elif compression == "zstd":
            pull = _unzstd(pull)
        elif compression == "bzip2":
            pull = _unbzip2(pull)
        self._pull: _Pull = pull
        self._bytes_of_file: _Pull = pull
        self._raw = raw if compression == "none" else None  # where the bytes need no change: read in place
        self._progress = progress
        self._encoding = with_byte_order(encoding)
        self._left = b""
        self._fault: StreamFault | None = None
        self._started = False
        self._mark = b""

    def byte_order_mark(self) -> bytes:
        """What was taken off the beginning of the file."""
        if not self._started:
            self._start()
        return self._mark

    def as_it_was(self, data: bytes) -> bytes:
        """Whole characters that were read, in the encoding of the file again.

        Not where the encoding is told line by line; a stream that is to be written again reads such a file as UTF-8.
        """
        if self._pull is self._bytes_of_file:
            return data
        return back_from_utf8(data, self._encoding)

    def read(self, n_bytes: int) -> bytes:
        """Exactly ``n_bytes``, less only at the end; a fault is raised once all before it was handed out."""
        room = bytearray(n_bytes)
        n_read = self.read_into(memoryview(room))
        return bytes(room[:n_read])

    def read_into(self, room: memoryview) -> int:
        """Fill ``room``, less only at the end, and return how far; faults as in :meth:`read`."""
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
        """The next bytes, as :meth:`read` gives them, without taking them."""
        data = self.read(n_bytes)
        self._left = data + self._left
        return data

    def _give(self, room: memoryview, piece: bytes) -> int:
        """Put a piece into the room; what does not fit waits."""
        n_given = min(len(piece), len(room))
        room[:n_given] = piece[:n_given]
        self._left = piece[n_given:]
        return n_given

    def _read_raw(self, room: memoryview) -> int:
        """Bytes of the file straight into the room."""
        try:
            n_read: int = self._raw.readinto(room)  # type: ignore[union-attr]
        except OSError as error:
            raise StreamFault(f"reading failed: {error.strerror or error}") from error
        self._progress(n_read)
        return n_read

    def _start(self) -> None:
        """Take the byte order mark off and put the decoding in."""
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
        decoded = _lines_in_utf8 if is_by_line and not self._mark else _in_utf8
        self._left, self._encoding = b"", encoding
        self._pull, self._raw = decoded(_with_head(head, self._pull), encoding), None


def _with_head(head: bytes, pull: _Pull) -> _Pull:
    """``head`` once, then the rest."""
    waiting = [head] if head else []

    def pull_out(n_bytes: int) -> bytes:
        return waiting.pop() if waiting else pull(n_bytes)

    return pull_out
