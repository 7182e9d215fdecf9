"""Parquet files: each page is written with a checksum, and verified when it is read.

Arrow's part for Parquet is imported with the first file: it brings file systems and TLS, which most commands never use.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

import pyarrow as pa

if TYPE_CHECKING:
    import pyarrow.parquet as pq

UNREADABLE = (OSError, pa.ArrowException, UnicodeDecodeError)
"""Errors of reading a file that is damaged or not Parquet."""


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table to a file directly; use `nearkin.runs.files.published` to publish it whole."""
    import pyarrow.parquet as pq

    pq.write_table(table, _local(path), compression="zstd", write_page_checksum=True)


def table_writer(file: Path | IO[bytes], schema: pa.Schema) -> pq.ParquetWriter:
    """Open a writer for tables that come in parts; a context manager."""
    import pyarrow.parquet as pq

    return pq.ParquetWriter(_local(file), schema, compression="zstd", write_page_checksum=True)


def open_table(
    file: Path | str | BinaryIO,
    *,
    metadata: pq.FileMetaData | None = None,
    read_dictionary: Sequence[str] | None = None,
) -> pq.ParquetFile:
    """Open one file, verified as it is read; FileNotFoundError, or IsADirectoryError for a folder or a pipe."""
    import pyarrow.parquet as pq

    if isinstance(file, str | Path) and not stat.S_ISREG(os.stat(file).st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a pipe or a folder, not a file", str(file))
    return pq.ParquetFile(
        _local(file), metadata=metadata, read_dictionary=read_dictionary, page_checksum_verification=True
    )


def read_table(file: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file, or some of its columns, without mapping it, so that it may be removed."""
    with open_table(file) as opened:
        missing = set(columns or ()) - set(opened.schema_arrow.names)
        if missing:
            raise KeyError(sorted(missing)[0])
        return opened.read(None if columns is None else list(columns))


def _local(file: Path | str | IO[bytes]) -> Path | IO[bytes]:
    """Return a path from the root: Arrow takes a relative one with a colon for a URL."""
    return Path(file).absolute() if isinstance(file, str | Path) else file


def why_unreadable(path: Path, error: Exception) -> str:
    """Explain why a file could not be read."""
    if not path.exists():
        return "there is no such file"
    if "CRC checksum verification failed" in str(error):  # as far as the message of Arrow shows
        return "it is damaged: a checksum is wrong"
    return str(getattr(error, "strerror", None) or "it is not a Parquet file, or only a part of one")
