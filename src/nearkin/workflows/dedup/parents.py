"""Documents contained in other documents: attachments of a mail, files of an archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.records import I32, U32
from nearkin.runs.spool import Chunk
from nearkin.stages.documents.preparing import PARENT
from nearkin.workflows.dedup.outcome import NO_ROW


@dataclass(frozen=True, slots=True)
class Parents:
    """Container of each document; arrays of shape (n_documents,).

    Parameters
    ----------
    ids : LargeStringArray
        Null if a document is not in a container.
    rows : uint32 array
        NO_ROW there, and if the container is not itself a document: an archive has no text.
    """

    ids: pa.LargeStringArray
    rows: U32


def find_parents(chunks: Sequence[Chunk], names: pa.LargeStringArray, source: I32) -> Parents | None:
    """Find the containers of the documents of a spool; None if there are none.

    Parameters
    ----------
    chunks : sequence of Chunk
    names : LargeStringArray, shape (n_documents,)
        Original ids of the documents.
    source : int32 array, shape (n_documents,)
    """
    columns = [(chunk.batch(), chunk.n_documents) for chunk in chunks]
    if not any(PARENT in batch.schema.names for batch, _ in columns):
        return None
    kind = pa.large_string()
    found = [batch[PARENT] if PARENT in batch.schema.names else pa.nulls(n, kind) for batch, n in columns]
    ids = pa.chunked_array(found, kind).combine_chunks()
    rows = np.full(len(ids), NO_ROW, np.uint32)
    has_parent = ids.is_valid().to_numpy(zero_copy_only=False)
    some = np.flatnonzero(np.isin(source, np.unique(source[has_parent])))
    taken = pa.array(some)
    before: dict[tuple[int, str], int] = {}
    for row, place, name, parent in zip(
        some.tolist(), source[some].tolist(), names.take(taken).to_pylist(), ids.take(taken).to_pylist(), strict=True
    ):
        if parent is not None:
            rows[row] = before.get((place, parent), NO_ROW)
        before[place, name] = row
    return Parents(ids, rows)
