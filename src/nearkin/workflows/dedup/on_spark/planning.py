"""Sample of texts by which a run on a cluster is planned, the same as on one machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nearkin.planning.search import Sample
from nearkin.records import I64
from nearkin.runs.spool import texts_of
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.sampling import chosen_nodes, compared, sample_of


def look(
    partitions: Partitions, counted: Sequence[I64], texts: Path, options: DedupOptions, *, is_against: bool
) -> Sample:
    """Compare some texts with one another; see `workflows.dedup.sampling.look`.

    Parameters
    ----------
    partitions : Partitions
    counted : sequence of two int64 arrays, shape (n_partitions,)
        Columns of `COUNTED`.
    texts : Path
        Folder of the texts of the partitions.
    options : DedupOptions
    is_against : bool
        Whether pairs go across only.
    """
    n_texts, n_mine = counted
    n_nodes, n_of_mine = int(n_texts.sum()), int(n_mine.sum())
    nodes = chosen_nodes(n_of_mine, n_nodes - n_of_mine)
    ends = np.cumsum(n_texts)
    partition = np.searchsorted(ends, nodes, side="right")
    rows = np.zeros(len(nodes), np.int64)
    for one in np.unique(partition).tolist():
        here = partition == one
        rows[here] = PartitionTexts.load(texts, one).first[nodes[here].astype(np.int64) - int(ends[one] - n_texts[one])]
    chunks = partitions.chunks()
    n_characters = np.array([_value_at(partitions, "n_characters", row) for row in rows.tolist()], np.int64)
    is_compared = np.isin(nodes, compared(nodes, n_characters))
    nodes, rows = nodes[is_compared], rows[is_compared]
    return sample_of(texts_of(chunks, rows), nodes < n_of_mine, n_of_mine, n_nodes, options, is_against=is_against)


def _value_at(partitions: Partitions, column: str, row: int) -> int:
    i = int(np.searchsorted(partitions.starts, row, side="right")) - 1
    [chunk] = partitions.chunks_between(i, i + 1)
    return int(chunk.column(column)[row - chunk.start].as_py())
