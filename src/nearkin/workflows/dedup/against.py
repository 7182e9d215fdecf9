"""What of one collection is already in another."""

from __future__ import annotations

import numpy as np

from nearkin.records import F64, U32, Bool, Matches
from nearkin.workflows.dedup.corpus import NO_NODE, THEIRS, Corpus
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import NO_ROW, GroupTable, Judged, Outcome, reasons
from nearkin.workflows.dedup.searching import Sizes


def first_in_other(corpus: Corpus) -> U32:
    """For each text its first row in the other collection, NO_ROW if it is not there; shape (n_nodes,)."""
    first = np.full(corpus.n_nodes, NO_ROW)
    rows = np.flatnonzero(corpus.node[corpus.n_inputs :] != NO_NODE)[::-1] + corpus.n_inputs
    first[corpus.node[rows]] = rows  # backwards, so that the first one stays
    return first


def others_first(corpus: Corpus, order: U32) -> U32:
    """The texts of the other collection before those to clean, in the given order otherwise.

    Where very many texts share a key, each is compared with the first of them only: that must be the other collection.
    """
    is_mine = (corpus.sides[order] & THEIRS) == 0
    return order[np.argsort(is_mine, kind="stable")]


def judge_across(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches) -> Judged:
    """What matches between the two collections say of the documents to clean, which are not grouped."""
    return Judged(judge_against(corpus, options, sizes, matches), no_groups(), *matches_across(corpus, matches))


def judge_against(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches) -> Outcome:
    """Drop what the other collection already has: each document's principal is the one there that is most like it."""
    n = corpus.n_inputs
    nodes = corpus.node[:n]
    has_node = nodes != NO_NODE
    mine = nodes[has_node]
    first = first_in_other(corpus)
    twin, likeness = _most_similar(matches, options, first)
    rows = np.arange(n, dtype=np.uint32)
    principal, copy_of, similarity = np.full(n, NO_ROW), np.full(n, NO_ROW), np.full(n, np.nan)
    copy_of[has_node] = first[mine]
    found = np.where(first[mine] != NO_ROW, first[mine], twin[mine])
    principal[has_node] = np.where(found != NO_ROW, found, rows[has_node])
    similarity[has_node] = np.where((found == NO_ROW) | (first[mine] != NO_ROW), 1.0, likeness[mine])
    is_free = principal == rows
    reason = reasons(corpus, options, sizes, is_principal=is_free, is_alone=is_free, copy_of=copy_of)
    return Outcome(principal, similarity, copy_of, reason, is_free)


def matches_across(corpus: Corpus, matches: Matches) -> tuple[Matches, Bool]:
    """Matches of rows, each of a document to clean with one of the other collection; and which are exact copies.

    Every document to clean is named; of several copies of a text in the other collection the first is.
    """
    n = corpus.n_inputs
    first = first_in_other(corpus)
    rows = np.flatnonzero(corpus.node[:n] != NO_NODE).astype(np.uint32)
    by_node = rows[np.argsort(corpus.node[rows], kind="stable")]
    starts = np.searchsorted(corpus.node[by_node], np.arange(corpus.n_nodes + 1))

    def across(mine: U32, theirs: U32, n_common: U32, n_mine: U32, n_theirs: U32) -> list[U32]:
        """Columns of `Matches`, a row for each document that has the text ``mine``."""
        is_there = first[theirs] != NO_ROW
        n_rows = np.where(is_there, starts[mine + 1] - starts[mine], 0)
        place = np.arange(n_rows.sum()) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
        left = by_node[np.repeat(starts[mine], n_rows) + place]
        return [left, *(np.repeat(column, n_rows) for column in (first[theirs], n_common, n_mine, n_theirs))]

    ones = np.ones(corpus.n_nodes, np.uint32)
    everywhere = np.arange(corpus.n_nodes, dtype=np.uint32)
    parts = [
        across(matches.left, matches.right, matches.n_common, matches.n_left, matches.n_right),
        across(matches.right, matches.left, matches.n_common, matches.n_right, matches.n_left),
        across(everywhere, everywhere, ones, ones, ones),
    ]
    columns = [np.concatenate(column).astype(np.uint32) for column in zip(*parts, strict=True)]
    order = np.lexsort((columns[1], columns[0]))
    is_copy = np.arange(len(order)) >= len(order) - len(parts[2][0])
    return Matches(*(column[order] for column in columns)), is_copy[order]


def no_groups() -> GroupTable:
    """Documents are held against the other collection and not grouped among themselves."""
    none = np.zeros(0, np.int64)
    return GroupTable(none.astype(np.uint32), none, none.astype(np.float64), none.astype(np.bool_), none, none, 0)


def _most_similar(matches: Matches, options: DedupOptions, first_other: U32) -> tuple[U32, F64]:
    """For each node the row in the other collection most similar to it, and how similar that is.

    Among equals it is the first row.
    """
    mine = np.concatenate([matches.left, matches.right])
    theirs = first_other[np.concatenate([matches.right, matches.left])]
    if options.measure == "jaccard":
        likeness = np.concatenate([matches.jaccard, matches.jaccard])
    else:  # of the document to clean: one that quotes a short text of the other collection is not in it
        likeness = np.concatenate([matches.containment_left_in_right, matches.containment_right_in_left])
    crosses = (theirs != NO_ROW) & (likeness >= options.threshold)
    mine, theirs, likeness = mine[crosses], theirs[crosses], likeness[crosses]
    best_last = np.lexsort((-theirs.astype(np.int64), likeness))
    twin, best = np.full(len(first_other), NO_ROW), np.full(len(first_other), np.nan)
    twin[mine[best_last]] = theirs[best_last]
    best[mine[best_last]] = likeness[best_last]
    return twin, best
