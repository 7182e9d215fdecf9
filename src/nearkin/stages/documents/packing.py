"""Compression of output, reproducible for the same content."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from nearkin.formats import zstd
from nearkin.stages.documents.streams import Compression

_GZIP_LEVEL = 6


@contextmanager
def packed(file: IO[bytes], compression: Compression) -> Iterator[IO[bytes]]:
    """Compress what is written to the yielded file into ``file``, which stays open."""
    if compression == "gzip":
        # without time and name, which gzip would otherwise write into the file
        with gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0) as packer:
            yield cast(IO[bytes], packer)
    elif compression == "zstd":
        with zstd.ZstdFile(file, "w") as writer:
            yield cast(IO[bytes], writer)
    elif compression == "bzip2":
        with bz2.BZ2File(file, "wb") as archive:
            yield cast(IO[bytes], archive)
    elif compression == "xz":
        with lzma.LZMAFile(file, "wb") as xz:
            yield cast(IO[bytes], xz)
    else:
        yield file
