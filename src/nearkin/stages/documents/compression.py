"""Compressed files: recognition of each compression, and incremental decompression."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

from nearkin.formats import zstd
from nearkin.stages.documents.faults import StreamFault

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
_ZSTD_WINDOW_LOG = 31
_XZ_MEMORY_BYTES = 256 << 20
"""Memory limit for decompressing xz: xz -9 needs 65 MiB; a file may request 4 GiB."""


class Pull(Protocol):
    """Returns about the requested number of further bytes; none at the end."""

    def __call__(self, n_bytes: int, /) -> bytes:
        """Raise StreamFault if the rest cannot be read."""


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
    """Return the decompressed bytes of a stream.

    Raises
    ------
    StreamFault
        Raised by the pull: the stream is truncated or damaged, or needs too much memory.
    """
    return pull if compression == "none" else _unframed(pull, compression)


@dataclass(frozen=True, slots=True)
class _Frames:
    """Decompression of the frames of a format, of which a file may have thousands."""

    new: Callable[[], Any]
    step: Callable[[Any, memoryview, int], tuple[bytes, memoryview]]
    is_padded: bool = True


def _step_gzip(decoder: Any, packed: memoryview, n_bytes: int) -> tuple[bytes, memoryview]:
    piece = decoder.decompress(packed, n_bytes)
    return piece, memoryview(b"" if decoder.eof else decoder.unconsumed_tail)


def _step_blocks(decoder: Any, packed: memoryview, n_bytes: int) -> tuple[bytes, memoryview]:
    """Decompress; the decoder keeps input that it has not processed yet."""
    return decoder.decompress(packed, n_bytes), memoryview(b"")


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


def _unframed(pull: Pull, compression: Compression) -> Pull:
    """Return the bytes of consecutive frames."""
    frames = _FRAMES[compression]
    decoder: Any = None  # between frames
    packed = memoryview(b"")
    is_empty = True

    def pull_out(n_bytes: int) -> bytes:
        nonlocal decoder, packed, is_empty
        while True:
            if not packed and (decoder is None or getattr(decoder, "needs_input", True)):
                packed = memoryview(pull(READ_BYTES))
                if not packed:
                    if is_empty:
                        raise StreamFault(f"the file is empty, not even an empty {compression} stream")
                    if decoder is None:
                        return b""
                    if piece := frames.step(decoder, packed, n_bytes)[0]:  # bzip2 holds most of a block back
                        return piece
                    raise StreamFault(f"the {compression} stream is truncated")
            is_empty = False
            if decoder is None:
                if frames.is_padded and packed[0] == 0:
                    packed = memoryview(bytes(packed).lstrip(b"\0"))
                    if not packed:
                        continue
                decoder = frames.new()
            try:
                piece, packed = frames.step(decoder, packed, n_bytes)
            except (OSError, lzma.LZMAError, MemoryError, zlib.error, zstd.ZstdError) as error:
                raise StreamFault(_why(compression, error)) from error
            if decoder.eof:
                packed = memoryview(decoder.unused_data + bytes(packed)) if decoder.unused_data else packed
                decoder = None
            if piece:
                return piece

    return pull_out


def _why(compression: str, error: Exception) -> str:
    if "memory" in str(error).lower() or isinstance(error, MemoryError):
        return f"the {compression} stream needs more than {_XZ_MEMORY_BYTES >> 20} MiB of memory to unpack"
    return f"the {compression} stream is damaged: {str(error) or type(error).__name__}"
