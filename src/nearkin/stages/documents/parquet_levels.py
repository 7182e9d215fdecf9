"""Compression levels of a Parquet file, so that a copy of some rows is compressed as well as the original.

Parquet stores the codec of each column but not its level. The level is found by trial: rows of the file are compressed
at increasing levels, until they are as small as in the file.
"""

from __future__ import annotations

import io
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from nearkin.formats import parquet as files

_LEVELS: Mapping[str, tuple[int, ...]] = {
    "ZSTD": (1, 3, 6, 9, 12, 15, 19, 22),
    "GZIP": (1, 3, 6, 9),
    "BROTLI": (1, 3, 5, 8, 9, 11),
}
"""Levels in common use; those in between differ by less than the tolerance."""
_SLOW = (11, 12, 15, 19, 22)
_TOLERATED = 1.01
_SAMPLE_BYTES = 8 << 20
_SMALL_SAMPLE_BYTES = 1 << 20  # for the slow levels, which take a second for each megabyte
_MAX_ROWS = 1 << 16


def codecs_of(metadata: pq.FileMetaData) -> dict[str, str]:
    """Return the codec of each column."""
    if not metadata.num_row_groups:
        return {}
    group = metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    return {c.path_in_schema: "NONE" if c.compression == "UNCOMPRESSED" else c.compression for c in columns}


def levels_of(file: pq.ParquetFile) -> dict[str, int]:
    """Return the level of each column whose codec has levels, estimated from the first row group.

    Returns
    -------
    dict
        By column; the lower one if two levels fit.
    """
    codecs = codecs_of(file.metadata)
    columns_of: dict[str, list[str]] = {}
    for column, codec in codecs.items():
        if codec in _LEVELS:
            columns_of.setdefault(codec, []).append(column)
    return {column: level for codec, columns in columns_of.items() for level in [_level(file, codec, columns)]
            for column in columns}  # fmt: skip


def _level(file: pq.ParquetFile, codec: str, columns: list[str]) -> int:
    """Return the lowest level at which some rows become as small as in the file."""
    lowest, *higher = _LEVELS[codec]
    names = sorted({column.partition(".")[0] for column in columns})
    rows = _first_rows(file, names)
    if not len(rows):
        return lowest
    wanted = _ratio(file.metadata, set(columns)) * _TOLERATED
    best, level = _written(rows, codec, lowest), lowest
    few, at_few = rows, best
    for candidate in higher:
        if best <= wanted:
            break
        if candidate in _SLOW and few is rows:
            few = rows.slice(0, max(1, len(rows) * _SMALL_SAMPLE_BYTES // max(rows.nbytes, 1)))
            at_few = _written(few, codec, level)
        found = best / at_few * _written(few, codec, candidate)
        if found < best:
            best, at_few, level = found, at_few * found / best, candidate
    return level


def _first_rows(file: pq.ParquetFile, names: list[str]) -> pa.Table:
    """Return rows of the first group, as many as a sample needs."""
    group = file.metadata.row_group(0)
    n_rows = max(1, min(_SAMPLE_BYTES * group.num_rows // max(group.total_byte_size, 1), group.num_rows, _MAX_ROWS))
    batch = next(file.iter_batches(n_rows, row_groups=[0], columns=names), None)
    return pa.table({}) if batch is None else pa.Table.from_batches([batch])


def _written(rows: pa.Table, codec: str, level: int) -> float:
    """Return the compression ratio of rows at a level."""
    sink = io.BytesIO()
    with files.table_writer(sink, rows.schema, compression=codec.lower(), compression_level=level) as writer:
        writer.write_table(rows)
    return _ratio(pq.read_metadata(io.BytesIO(sink.getvalue())))


def _ratio(metadata: pq.FileMetaData, columns: set[str] | None = None) -> float:
    """Return the compression ratio of the columns of the first group."""
    group = metadata.row_group(0)
    chosen = [group.column(i) for i in range(group.num_columns)]
    chosen = [one for one in chosen if columns is None or one.path_in_schema in columns]
    whole = sum(one.total_uncompressed_size for one in chosen)
    return float(sum(one.total_compressed_size for one in chosen) / max(whole, 1))
