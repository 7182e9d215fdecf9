"""Batches of documents from many files: an Arrow batch for each file would cost more than its text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from nearkin.records import I64
from nearkin.stages.documents.members import InnerDocument
from nearkin.stages.documents.rows import IdType, RowList, one_batch

_DOCUMENTS_A_BATCH = 2048
_ROW_BYTES = 200
"""About the size of a row without its text."""


class JoinedBatches:
    """Documents of the next batch, in order, each with the index of its file.

    Parameters
    ----------
    batch_bytes : int
        Approximate maximum of a batch.
    """

    def __init__(self, batch_bytes: int) -> None:
        self._batch_bytes = batch_bytes
        self._batches: list[pa.RecordBatch] = []
        self._rows = RowList()
        self._owners: list[int] = []
        self._n_bytes = 0
        self._n_to_skip = 0

    def __len__(self) -> int:
        return len(self._owners)

    @property
    def is_full(self) -> bool:
        """Whether the batch is large enough to be taken."""
        return self._n_bytes >= self._batch_bytes or len(self) >= _DOCUMENTS_A_BATCH

    def skip(self, n: int) -> None:
        """Leave out the next ``n`` documents."""
        self._n_to_skip = n

    def add_batch(self, batch: pa.RecordBatch, index: int) -> None:
        """Add a batch of documents."""
        n_skipped = min(self._n_to_skip, batch.num_rows)
        self._n_to_skip -= n_skipped
        batch = batch.slice(n_skipped)
        if not batch.num_rows:
            return
        self._settle()
        self._batches.append(batch)
        self._owners += [index] * batch.num_rows
        self._n_bytes += batch.nbytes

    def add(self, number: int, one: InnerDocument, index: int) -> None:
        """Add a document with its number in its file."""
        if self._n_to_skip:
            self._n_to_skip -= 1
            return
        self._rows.add(number, one.doc_id, one.text, one.problem, parent=one.parent, origin=one.origin)
        self._owners.append(index)
        self._n_bytes += len(one.text or b"") + _ROW_BYTES

    def take(self) -> tuple[pa.RecordBatch, I64]:
        """Return all documents as one batch, with the index of the file of each."""
        self._settle()
        joined, owners = _joined(self._batches), np.array(self._owners)
        self._batches, self._owners, self._n_bytes = [], [], 0
        return joined, owners

    def _settle(self) -> None:
        """Make a batch of the rows."""
        if self._rows.lines:
            self._batches.append(one_batch([self._rows.piece()], IdType()))
            self._rows = RowList()


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
