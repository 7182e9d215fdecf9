"""Matches → groups of texts, with the lowest similarity within each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64, U32, Bool, Candidates, Groups, Matches
from nearkin.stages.grouping import group
from nearkin.workflows.dedup.corpus import NO_NODE, Corpus
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.verifying import SetStore, verify_blocks

MAX_FOR_ALL_PAIRS = 50
"""Maximum number of distinct texts of a group of which every pair is verified for the lowest similarity."""
_BLOCK_PAIRS = 1 << 12


@dataclass(frozen=True, slots=True)
class Preference:
    """Preference among documents: which are kept.

    Parameters
    ----------
    node_order : uint32 array, shape (n_nodes,)
        Distinct texts, most preferred first.
    best_row : uint32 array, shape (n_nodes,)
        Copy of each text to keep.
    """

    node_order: U32
    best_row: U32


@dataclass(frozen=True, slots=True)
class GroupedTexts:
    """Groups of texts, with similarities.

    Parameters
    ----------
    groups : Groups
        Groups of nodes.
    to_principal : float64 array, shape (n_nodes,)
        Similarity of each text to its principal; NaN if unknown.
    lowest : float64 array, shape (n_nodes,)
        Lowest similarity of two texts of a group, at its principal.
    is_lowest_exact : bool array, shape (n_nodes,)
        Whether all pairs of a group were verified, at its principal.
    """

    groups: Groups
    to_principal: F64
    lowest: F64
    is_lowest_exact: Bool


def prefer(corpus: Corpus, options: DedupOptions) -> Preference:
    """Order the texts by the rule of ``--keep``."""
    row_order = options.keep.order(corpus.n_characters, corpus.keep_value)
    backwards = row_order[::-1]
    nodes = corpus.node[backwards]
    has_node = nodes != NO_NODE
    best_row = np.zeros(corpus.n_nodes, np.uint32)
    best_row[nodes[has_node]] = backwards[has_node]  # the last write, the most preferred row, remains
    rank = np.empty(len(corpus), np.uint32)
    rank[row_order] = np.arange(len(corpus), dtype=np.uint32)
    return Preference(np.argsort(rank[best_row], kind="stable").astype(np.uint32), best_row)


class Inside:
    """Groups of texts, and the known pairs within them.

    Parameters
    ----------
    matches : Matches
        Matches at or above the threshold, from which the groups are made.
    order : uint32 array, shape (n_nodes,)
        All texts, most preferred first.
    options : DedupOptions
    """

    def __init__(self, matches: Matches, order: U32, options: DedupOptions) -> None:
        self._measure = options.measure
        self.groups = group(matches, options.measure.similarity(matches), order, rule=options.group)
        principal = self.groups.principal
        self.to_principal = np.where(principal == np.arange(len(order)), 1.0, np.nan)
        self.lowest = np.ones(len(order))
        self._n_inside = np.zeros(len(order), np.int64)
        self.learn(matches)
        self._n_members = np.bincount(principal, minlength=len(order))
        self.is_incomplete = self._lacks_pairs()
        self.can_be_looked_at = self.is_incomplete & (self._n_members <= MAX_FOR_ALL_PAIRS)

    def learn(self, known: Matches) -> None:
        """Record pairs whose similarity is known."""
        principal = self.groups.principal
        inside = known.where(principal[known.left] == principal[known.right])
        of_group, similarity = principal[inside.left], self._measure.similarity(inside)
        np.minimum.at(self.lowest, of_group, similarity)
        np.add.at(self._n_inside, of_group, 1)
        for member, other in ((inside.left, inside.right), (inside.right, inside.left)):
            is_principal = other == of_group
            self.to_principal[member[is_principal]] = similarity[is_principal]

    def learn_stored(self, others: Matches) -> None:
        """Record all other pairs that are known, before groups are asked for: those of a search below the threshold."""
        self.learn(others)
        self.is_incomplete = self._lacks_pairs()

    def _lacks_pairs(self) -> Bool:
        lacks: Bool = self._n_inside < self._n_members * (self._n_members - 1) // 2
        return lacks

    def unknown(self) -> Iterator[Candidates]:
        """Return pairs that are not matches: all of a small group; each member with its principal of a large one."""
        only_principals = self.is_incomplete & ~self.can_be_looked_at
        return _pairs_inside(self.groups.principal, self.can_be_looked_at, only_principals, self._n_members)

    def grouping(self, *, is_looked_at: bool) -> GroupedTexts:
        """Return the known facts; ``is_looked_at``: the pairs of `unknown` have been learnt."""
        is_exact = ~self.is_incomplete | (self.can_be_looked_at if is_looked_at else False)
        return GroupedTexts(self.groups, self.to_principal, self.lowest, is_exact)


def group_texts(matches: Matches, order: U32, options: DedupOptions, store: SetStore, *, threads: int) -> GroupedTexts:
    """Group the texts by the rule of ``--group``, and verify the pairs within groups that are not among the matches."""
    inside = Inside(matches, order, options)
    for verified in verify_blocks(inside.unknown(), store, threads=threads):
        inside.learn(verified)
        store.release()
    return inside.grouping(is_looked_at=True)


def group_again(matches: Matches, others: Matches, order: U32, options: DedupOptions) -> GroupedTexts:
    """Group the texts of a run at another threshold; ``others`` are the stored pairs below it."""
    inside = Inside(matches, order, options)
    inside.learn_stored(others)
    return inside.grouping(is_looked_at=False)


def _pairs_inside(principal: U32, all_pairs: Bool, to_principal: Bool, n_members: I64) -> Iterator[Candidates]:
    """Return pairs within groups, whose principals the masks mark.

    All pairs where the first mask is set; each member with its principal where the second is.
    """
    nodes = np.flatnonzero(all_pairs[principal]).astype(np.uint32)
    nodes = nodes[np.argsort(principal[nodes], kind="stable")]  # members of a group side by side, ascending
    size_of = n_members[principal[nodes]]
    for size in np.flatnonzero(np.bincount(size_of)).tolist():
        members = nodes[size_of == size].reshape(-1, size)
        i, j = np.triu_indices(size, 1)
        step = max(1, _BLOCK_PAIRS // len(i))
        for start in range(0, len(members), step):
            some = members[start : start + step]
            yield Candidates(some[:, i].ravel(), some[:, j].ravel())
    nodes = np.flatnonzero(to_principal[principal]).astype(np.uint32)
    nodes = nodes[principal[nodes] != nodes]
    for start in range(0, len(nodes), _BLOCK_PAIRS):
        some = nodes[start : start + _BLOCK_PAIRS]
        yield Candidates(np.minimum(some, principal[some]), np.maximum(some, principal[some]))
