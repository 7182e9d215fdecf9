"""Reads a generated corpus: one JSONL file, or a folder of Parquet files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq


def read_columns(corpus: Path, columns: list[str]) -> pa.Table:
    """The named columns of the corpus, in reading order."""
    if corpus.is_dir():
        tables = [pq.read_table(part, columns=columns) for part in sorted(corpus.glob("*.parquet"))]
        if not tables:
            raise SystemExit(f"{corpus}: must hold Parquet files of a generated corpus; none is there.")
        return pa.concat_tables(tables)
    options = pyarrow.json.ReadOptions(block_size=16 << 20)
    return pyarrow.json.read_json(corpus, read_options=options).select(columns).combine_chunks()
