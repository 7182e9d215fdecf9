"""Tables for other programs, in the format that the name of their file ends in: CSV, TSV, JSON Lines or Parquet."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.formats import parquet
from nearkin.formats.delimited import SheetWriter

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_suffix(out: Path, option: str, *, may_have_none: bool = False) -> None:
    """Refuse a file name without a known format, before any work is done.

    Parameters
    ----------
    out : Path
    option : str
    may_have_none : bool
        Whether a name without a suffix is a Parquet file.

    Raises
    ------
    ParameterError
    """
    if out.suffix.lower() not in SUFFIXES and (out.suffix or not may_have_none):
        other = ", or has no suffix (Parquet)" if may_have_none else ""
        raise ParameterError.of(option, f"a file that ends in {', '.join(SUFFIXES)}{other}", str(out))


@contextlib.contextmanager
def table_writer(path: Path, schema: pa.Schema, suffix: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Open a file for a table, and yield what writes a batch of it; the suffix is that of the final name."""
    suffix = suffix.lower() or ".parquet"
    if suffix == ".parquet":
        with parquet.table_writer(path, schema) as into:
            yield into.write_batch
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        if suffix not in _DELIMITERS:
            yield lambda batch: file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
            return
        writer = SheetWriter(file, delimiter=_DELIMITERS[suffix])
        writer.write(schema.names)
        yield lambda batch: writer.write_all(zip(*(column.to_pylist() for column in batch.columns), strict=True))
