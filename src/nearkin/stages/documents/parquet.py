"""Parquet: only the columns needed, a batch of rows at a time."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from nearkin.errors import SourceError
from nearkin.stages.documents.columns import Sample, sample_of_table
from nearkin.stages.documents.sniffing import unreadable


def sample_of_parquet(path: str, name: str) -> Sample:
    """The columns of the first rows; SourceError where this is no Parquet file."""
    try:
        with pq.ParquetFile(path) as file:
            first = next(file.iter_batches(batch_size=20), None)
            schema = file.schema_arrow
    except OSError as error:
        raise unreadable(name, error) from error
    except pa.ArrowException as error:
        raise SourceError(f"{name}: not a Parquet file that can be read: {error}.") from error
    return sample_of_table(schema.empty_table() if first is None else pa.Table.from_batches([first]))
