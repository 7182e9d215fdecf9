"""Compressed files: how each compression is recognised, and how its stream is unpacked in pieces."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable
from typing import Literal, Protocol

import zstandard

Compression = Literal["none", "gzip", "zstd", "bzip2", "xz"]
COMPRESSION_OF_SUFFIX: dict[str, Compression] = {
    ".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bzip2", ".xz": "xz",
}  # fmt: skip
SUFFIX_OF_COMPRESSION: dict[Compression, str] = {
    "none": "", "gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz",
}  # fmt: skip
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# "BZh", the size of its blocks, and half of what a block or the end begins with: "BZh9" alone could begin a text.
_BZIP2_MAGIC = re.compile(rb"BZh[1-9](?:1AY&|\x17rE8)")
_XZ_MAGIC = b"\xfd7zXZ\0"
MAGIC_BYTES = 8
READ_BYTES = 1 << 18
# A zstd block of 4 bytes can stand for 128 KiB, and the decoder hands out all that a piece stands for at once: a piece
# of 1 KiB unpacks to 32 MiB at most. Larger pieces are no faster.
_ZSTD_PIECE_BYTES = 1 << 10
_ZSTD_WINDOW_BYTES = 1 << 31
_XZ_MEMORY_BYTES = 256 << 20
"""xz -9 needs 65 MiB to unpack; a file may ask for 4 GiB."""


class StreamFault(Exception):
    """The rest of a file cannot be read; the message says why.

    Parameters
    ----------
    message : str
    line : int or None
        The line, or the row of a table, at which reading ended; set by the reader that counts them.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Pull(Protocol):
    """The next bytes, about as many as asked for; none at the end."""

    def __call__(self, n_bytes: int, /) -> bytes:
        """StreamFault where there are no more to be had."""


def compression_of(magic: bytes) -> Compression:
    r"""The compression of a file that begins with these bytes.

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
    """The bytes that a compressed stream stands for.

    Raises
    ------
    StreamFault
        From the pull: the stream is truncated or damaged, or needs too much memory to unpack.
    """
    if compression == "gzip":
        return _gunzipped(pull)
    if compression == "zstd":
        return _unzstd(pull)
    if compression == "bzip2":
        return _unblocked(pull, "bzip2", bz2.BZ2Decompressor)
    if compression == "xz":
        return _unblocked(pull, "xz", _xz_decoder)
    return pull


def _truncated(compression: str) -> StreamFault:
    return StreamFault(f"the {compression} stream is truncated")


def _empty(compression: str) -> StreamFault:
    return StreamFault(f"the file is empty, not even an empty {compression} stream")


def _gunzipped(pull: Pull) -> Pull:
    """Gzip members one after another; zero bytes after the last are padding, as for gzip itself."""
    decoder = zlib.decompressobj(wbits=31)
    packed = b""
    between_members, is_empty = True, True

    def pull_out(n_bytes: int) -> bytes:
        nonlocal decoder, packed, between_members, is_empty
        while True:
            if not packed:
                packed = pull(READ_BYTES)
                if not packed:
                    if is_empty:
                        raise _empty("gzip")
                    if between_members:
                        return b""
                    raise _truncated("gzip")
            is_empty = False
            if between_members:
                packed = packed.lstrip(b"\0")
                if not packed:
                    continue
                decoder = zlib.decompressobj(wbits=31)
                between_members = False
            try:
                piece = decoder.decompress(packed, n_bytes)
            except zlib.error as error:
                raise StreamFault(f"the gzip stream is damaged: {error}") from error
            between_members = decoder.eof
            packed = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
            if piece:
                return piece

    return pull_out


def _unzstd(pull: Pull) -> Pull:
    """Zstandard frames one after another."""
    # Not stream_reader: it takes a file that is cut short for a whole one.
    factory = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    decoder = factory.decompressobj()
    packed = memoryview(b"")
    between_frames, is_empty = True, True

    def pull_out(n_bytes: int) -> bytes:
        nonlocal decoder, packed, between_frames, is_empty
        while True:
            if not packed:
                packed = memoryview(pull(READ_BYTES))
                if not packed:
                    if is_empty:
                        raise _empty("zstd")
                    if between_frames:
                        return b""
                    raise _truncated("zstd")
            is_empty = False
            if between_frames:
                decoder = factory.decompressobj()
                between_frames = False
            head, packed = packed[:_ZSTD_PIECE_BYTES], packed[_ZSTD_PIECE_BYTES:]
            try:
                piece = decoder.decompress(head)
            except zstandard.ZstdError as error:
                raise StreamFault(f"the zstd stream is damaged: {error}") from error
            if decoder.eof:
                between_frames = True
                packed = memoryview(decoder.unused_data + bytes(packed)) if decoder.unused_data else packed
            if piece:
                return piece

    return pull_out


def _xz_decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)


def _unblocked(
    pull: Pull, compression: str, new_decoder: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
) -> Pull:
    """Streams one after another, of which dumps have thousands; zero bytes between are padding, as for xz itself."""
    decoder = new_decoder()
    packed = b""
    between_streams, is_empty = True, True

    def pull_out(n_bytes: int) -> bytes:
        nonlocal decoder, packed, between_streams, is_empty
        while True:
            if not packed and (between_streams or decoder.needs_input):
                packed = pull(READ_BYTES)
                if not packed:
                    if is_empty:
                        raise _empty(compression)
                    if between_streams:
                        return b""
                    raise _truncated(compression)
            is_empty = False
            if between_streams:
                packed = packed.lstrip(b"\0")
                if not packed:
                    continue
                decoder = new_decoder()
                between_streams = False
            try:
                piece = decoder.decompress(packed, n_bytes)
            except (OSError, lzma.LZMAError, MemoryError) as error:
                raise StreamFault(_why(compression, error)) from error
            between_streams = decoder.eof
            packed = decoder.unused_data if decoder.eof else b""
            if piece:
                return piece

    return pull_out


def _why(compression: str, error: Exception) -> str:
    if "memory" in str(error).lower() or isinstance(error, MemoryError):
        return f"the {compression} stream needs more than {_XZ_MEMORY_BYTES >> 20} MiB of memory to unpack"
    return f"the {compression} stream is damaged: {str(error) or type(error).__name__}"
