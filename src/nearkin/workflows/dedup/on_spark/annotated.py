"""Verdicts and names → the rows of the user's data frame, with annotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Block
from nearkin.manifests.dedup import REASONS
from nearkin.records import U8, Bool, Matches
from nearkin.runs.spool import Chunk
from nearkin.stages.verification.measures import MEASURE_COLUMNS, measured
from nearkin.workflows.dedup.corpus import facts_of
from nearkin.workflows.dedup.on_spark.frames import rows_of_chunk
from nearkin.workflows.dedup.on_spark.names import Names
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.streams import ROW_PAIRS, VERDICTS
from nearkin.workflows.dedup.outcome import NO_ROW, WITHOUT_TEXT

ID = "ID"
ANNOTATIONS = (
    ("group", ID), ("is_principal", "boolean"), ("similarity_to_principal", "double"), ("copy_of", ID),
    ("keep", "boolean"), ("reason", "string"),
)  # fmt: skip
"""Columns added to each row; ID stands for the type of the user's ids."""
PAIR_COLUMNS = (("id_a", ID), ("id_b", ID), *((name, "double") for name in MEASURE_COLUMNS))
_ARROW = {"boolean": pa.bool_(), "double": pa.float64(), "string": pa.string(), "long": pa.int64()}


@dataclass(frozen=True, slots=True)
class AnnotateRowsTask:
    """Return the rows of a partition, in their order, with annotations.

    Parameters
    ----------
    partitions : Partitions
    rows : Path
        Folder of the rows.
    id_type : str
        Spark's name of the type.
    prefix : str
        Prefix of the added columns.
    """

    partitions: Partitions
    rows: Path
    id_type: str
    prefix: str
    has_ids: bool

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each chunk of the partition."""
        names = Names.in_partition(self.partitions, target, blocks, has_ids=self.has_ids)
        rows, *columns = VERDICTS.joined(blocks)
        order = np.argsort(rows)
        rows, columns = rows[order], [column[order] for column in columns]
        for chunk in self.partitions.chunks(target):
            here = slice(*np.searchsorted(rows, [chunk.start, chunk.end]).tolist())
            added = self._told(chunk, rows[here], [column[here] for column in columns], names)
            whole = rows_of_chunk(self.rows, chunk)
            yield pa.RecordBatch.from_arrays(
                [*whole.columns, *added], [*whole.schema.names, *(self.prefix + name for name, _ in ANNOTATIONS)]
            )

    def _told(self, chunk: Chunk, rows: np.ndarray, columns: Sequence[np.ndarray], names: Names) -> list[pa.Array]:
        """Return the annotations of the rows of a chunk."""
        at = rows - np.uint32(chunk.start)
        principal, copy_of = np.full(chunk.n_documents, NO_ROW), np.full(chunk.n_documents, NO_ROW)
        similarity, reason = np.full(chunk.n_documents, np.nan), _without_text(chunk)
        principal[at], copy_of[at], similarity[at], reason[at] = columns
        is_principal: Bool = principal == np.arange(chunk.start, chunk.end, dtype=np.uint32)
        return [
            names.at(principal).cast(_ARROW[self.id_type]),
            pa.array(is_principal),
            pa.array(similarity, mask=np.isnan(similarity)),
            names.at(copy_of).cast(_ARROW[self.id_type]),
            pa.array(is_principal),
            pa.array(REASONS).take(pa.array(reason)),
        ]


def _without_text(chunk: Chunk) -> U8:
    """Return the reasons of documents without a text; other values are overwritten."""
    status = facts_of(chunk).status
    return np.select([status == one for one in WITHOUT_TEXT], list(WITHOUT_TEXT.values()), 0).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class ListPairsTask:
    """Return the pairs whose left document is in this partition, sorted."""

    partitions: Partitions
    id_type: str
    has_ids: bool

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[pa.RecordBatch]:
        """Yield one batch."""
        names = Names.in_partition(self.partitions, target, blocks, has_ids=self.has_ids)
        left, right, n_common, n_left, n_right = ROW_PAIRS.joined(blocks)
        order = np.lexsort((right, left))
        left, right, n_common, n_left, n_right = (column[order] for column in (left, right, n_common, n_left, n_right))
        matches = Matches(left, right, n_common, n_left, n_right)
        columns = [
            *(names.at(column).cast(_ARROW[self.id_type]) for column in (left, right)),
            *map(pa.array, measured(matches)),
        ]
        yield pa.RecordBatch.from_arrays(columns, [name for name, _ in PAIR_COLUMNS])
