"""Groups of texts → what is said of each document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64, U8, U32, Bool, Matches
from nearkin.workflows.dedup.corpus import EMPTY, NO_NODE, UNREADABLE, Corpus
from nearkin.workflows.dedup.grouping import Grouping, Preference
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.searching import Sizes

REASONS = ("unique", "exact copy", "near-duplicate", "empty", "too short", "unreadable")
_UNIQUE, _EXACT_COPY, _NEAR_DUPLICATE, _EMPTY, _TOO_SHORT, _UNREADABLE = range(6)
NO_ROW = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on each document that was to be cleaned; arrays of shape (n_inputs,).

    Parameters
    ----------
    principal : uint32 array
        Row of the principal; NO_ROW for documents without a text.
    similarity : float64 array
        To the principal; NaN if there is none or it is not known.
    copy_of : uint32 array
        Row of the document with the same text that stands for all its copies; NO_ROW if this is it.
    reason : uint8 array
        Index into REASONS.
    keep : bool array
    """

    principal: U32
    similarity: F64
    copy_of: U32
    reason: U8
    keep: Bool


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The groups of two documents and more; arrays of shape (n_groups,), in order of the principals' rows."""

    principal: U32
    size: I64
    lowest: F64
    is_lowest_exact: Bool
    bridges_refused: I64
    n_exact_copies: I64


def judge(corpus: Corpus, options: DedupOptions, sizes: Sizes, preference: Preference, grouping: Grouping) -> Outcome:
    """Keep the principal of each group, and whatever is in none."""
    node = corpus.node
    has_node = node != NO_NODE
    rows = np.arange(len(corpus), dtype=np.uint32)
    principal = np.full(len(corpus), NO_ROW)
    copy_of = np.full(len(corpus), NO_ROW)
    similarity = np.full(len(corpus), np.nan)
    nodes = node[has_node]
    best = preference.best_row[nodes]
    principal[has_node] = preference.best_row[grouping.groups.principal[nodes]]
    similarity[has_node] = grouping.to_principal[nodes]
    copy_of[has_node] = np.where(best == rows[has_node], NO_ROW, best)
    n_in_group = np.bincount(principal[has_node], minlength=len(corpus))
    is_short = np.zeros(len(corpus), np.bool_)
    is_short[has_node] = sizes.n_units[nodes] < options.shingle.length
    is_principal = principal == rows
    reason = np.select(
        [
            corpus.status == UNREADABLE,
            corpus.status == EMPTY,
            is_principal & is_short & (n_in_group == 1),
            is_principal,
            copy_of != NO_ROW,
        ],
        [_UNREADABLE, _EMPTY, _TOO_SHORT, _UNIQUE, _EXACT_COPY],
        _NEAR_DUPLICATE,
    ).astype(np.uint8)
    return Outcome(principal, similarity, copy_of, reason, is_principal)


def judge_against(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches) -> Outcome:
    """Drop what the other collection already has: each document's principal is the one there that is most like it."""
    n = corpus.n_inputs
    node = corpus.node
    first_other = np.full(corpus.n_nodes, NO_ROW)
    others = np.flatnonzero(node[n:] != NO_NODE)[::-1] + n
    first_other[node[others]] = others  # backwards, so that the first one stays
    twin, likeness = _most_similar(matches, options, first_other, corpus.n_nodes)
    rows = np.arange(n, dtype=np.uint32)
    nodes = node[:n]
    has_node = nodes != NO_NODE
    principal, copy_of, similarity = np.full(n, NO_ROW), np.full(n, NO_ROW), np.full(n, np.nan)
    mine = nodes[has_node]
    copy_of[has_node] = first_other[mine]
    found = np.where(first_other[mine] != NO_ROW, first_other[mine], twin[mine])
    principal[has_node] = np.where(found != NO_ROW, found, rows[has_node])
    similarity[has_node] = np.where((found == NO_ROW) | (first_other[mine] != NO_ROW), 1.0, likeness[mine])
    is_short = np.zeros(n, np.bool_)
    is_short[has_node] = sizes.n_units[mine] < options.shingle.length
    is_free = principal == rows
    status = corpus.status[:n]
    reason = np.select(
        [status == UNREADABLE, status == EMPTY, is_free & is_short, is_free, copy_of != NO_ROW],
        [_UNREADABLE, _EMPTY, _TOO_SHORT, _UNIQUE, _EXACT_COPY],
        _NEAR_DUPLICATE,
    ).astype(np.uint8)
    return Outcome(principal, similarity, copy_of, reason, is_free)


def _most_similar(matches: Matches, options: DedupOptions, first_other: U32, n_nodes: int) -> tuple[U32, F64]:
    """For each node the row in the other collection most similar to it, and how similar that is.

    Among equals it is the first row.
    """
    similarity = matches.similarity(options.measure)
    mine = np.concatenate([matches.left, matches.right])
    theirs = first_other[np.concatenate([matches.right, matches.left])]
    likeness = np.concatenate([similarity, similarity])
    crosses = theirs != NO_ROW
    mine, theirs, likeness = mine[crosses], theirs[crosses], likeness[crosses]
    best_last = np.lexsort((-theirs.astype(np.int64), likeness))
    twin, best = np.full(n_nodes, NO_ROW), np.full(n_nodes, np.nan)
    twin[mine[best_last]] = theirs[best_last]
    best[mine[best_last]] = likeness[best_last]
    return twin, best


def tabulate(corpus: Corpus, preference: Preference, grouping: Grouping, outcome: Outcome) -> GroupTable:
    """The groups of two documents and more."""
    has_node = corpus.node != NO_NODE
    size = np.bincount(outcome.principal[has_node], minlength=len(corpus))
    n_copies = np.bincount(outcome.principal[has_node & (outcome.copy_of != NO_ROW)], minlength=len(corpus))
    principal = np.flatnonzero(size >= 2).astype(np.uint32)
    nodes = corpus.node[principal]
    return GroupTable(
        principal,
        size[principal],
        grouping.lowest[nodes],
        grouping.is_lowest_exact[nodes],
        grouping.groups.n_bridges_refused[nodes],
        n_copies[principal],
    )


def row_matches(corpus: Corpus, best_row: U32, matches: Matches, copy_of: U32) -> tuple[Matches, Bool]:
    """Matches of rows instead of texts, with a match for each exact copy, sorted.

    The second array tells which of them are exact copies.
    """
    a, b = best_row[matches.left], best_row[matches.right]
    swap = a > b
    copies = np.flatnonzero(copy_of != NO_ROW).astype(np.uint32)
    originals = copy_of[copies]
    ones = np.ones(len(copies), np.uint32)
    left = np.concatenate([np.where(swap, b, a), np.minimum(copies, originals)]).astype(np.uint32)
    right = np.concatenate([np.where(swap, a, b), np.maximum(copies, originals)]).astype(np.uint32)
    n_left = np.concatenate([np.where(swap, matches.n_right, matches.n_left), ones]).astype(np.uint32)
    n_right = np.concatenate([np.where(swap, matches.n_left, matches.n_right), ones]).astype(np.uint32)
    n_common = np.concatenate([matches.n_common, ones])
    is_copy = np.arange(len(left)) >= len(matches)
    order = np.lexsort((right, left))
    return Matches(left[order], right[order], n_common[order], n_left[order], n_right[order]), is_copy[order]
