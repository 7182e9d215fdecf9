"""Texts in partitions → matches: the steps shared by runs over files and over data frames."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.session import Voice
from nearkin.engines.spark.stages import Stages
from nearkin.planning.search import Sample
from nearkin.records import I64
from nearkin.runs.spool import texts_of
from nearkin.workflows.dedup.on_spark.linking import link_all
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.streams import CANDIDATES
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.on_spark.verifying import verify_all
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.plans import Plan, plan_in_words, plan_search
from nearkin.workflows.dedup.sampling import chosen_nodes, compared, sample_of


@dataclass(frozen=True, slots=True)
class ClusterMatches:
    """Matches found on a cluster, with the plan and the counts of the search.

    Parameters
    ----------
    plan : Plan
    blocks : Blocks
        `MATCHES`, each in the partition of one of its texts, and `CANDIDATES`.
    n_candidates : int
        Number of verified pairs.
    n_not_compared : int
        See `workflows.dedup.searching.Runs`.
    """

    plan: Plan
    blocks: Blocks
    n_candidates: int
    n_not_compared: int


def match_texts(
    stages: Stages,
    partitions: Partitions,
    counted: Sequence[I64],
    folders: tuple[Path, Path],
    options: DedupOptions,
    *,
    is_against: bool,
    planning: AbstractContextManager[Voice],
) -> ClusterMatches:
    """Plan the search, pair the texts that share a key, and verify the pairs.

    Parameters
    ----------
    stages : Stages
    partitions : Partitions
    counted : sequence of two int64 arrays, shape (n_partitions,)
        Columns of `COUNTED`.
    folders : tuple of two Paths
        Folder of the texts of the partitions, and folder for their sizes and keys.
    options : DedupOptions
    is_against : bool
        Whether pairs go across only.
    planning : context manager
        Entered while the search is planned; its progress receives the plan.

    Raises
    ------
    EngineError
        The cluster gave up.
    """
    texts, keys = folders
    with planning as progress:
        sample = look(partitions, counted, texts, options, is_against=is_against)
        plan = plan_search(sample, options)
        progress.say(plan_in_words(plan, options))
    linked = link_all(stages, partitions, texts, keys, options, plan, sample)
    blocks = verify_all(stages, "matches", linked.pairs, partitions, folders, options)
    (n_pairs,) = CANDIDATES.joined(blocks.of(CANDIDATES.stream).collected())
    return ClusterMatches(plan, blocks, int(n_pairs.sum()), linked.n_not_compared)


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
