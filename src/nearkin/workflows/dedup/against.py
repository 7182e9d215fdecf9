"""Documents that another set already has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.manifests.dedup import OTHER_RESULTS, REASONS
from nearkin.options.dedup import DedupOptions
from nearkin.records import F64, U8, U32, Bool, Matches
from nearkin.stages.verification.what_differs import NOTHING, UNKNOWN
from nearkin.workflows.dedup.corpus import NO_NODE, THEIRS, Corpus
from nearkin.workflows.dedup.outcome import (
    NEAR_DUPLICATE,
    NO_ROW,
    OVERLAP,
    WITHOUT_TEXT,
    GroupTable,
    Judged,
    OtherTable,
    Outcome,
    differences_of,
    reasons,
)
from nearkin.workflows.dedup.searching import Sizes


def first_in_other(corpus: Corpus) -> U32:
    """Return the first row of each text in the other set, NO_ROW if it is not there; shape (n_nodes,)."""
    first = np.full(corpus.n_nodes, NO_ROW)
    rows = np.flatnonzero(corpus.node[corpus.n_inputs :] != NO_NODE)[::-1] + corpus.n_inputs
    first[corpus.node[rows]] = rows  # backwards, so that the first row remains
    return first


def others_first(corpus: Corpus, order: U32) -> U32:
    """Put the texts of the other set first: with skewed keys, each text is compared with the first texts only."""
    is_mine = (corpus.sides[order] & THEIRS) == 0
    return order[np.argsort(is_mine, kind="stable")]


def judge_across(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches) -> Judged:
    """Judge the documents to clean by the matches between the two sets; they are not grouped."""
    outcome = judge_against(corpus, options, sizes, matches)
    of_rows, is_copy = matches_across(corpus, matches)
    others = judge_others(corpus, options, sizes, of_rows, is_copy)
    return Judged(outcome, no_groups(), of_rows, is_copy, others)


def judge_against(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches) -> Outcome:
    """Drop what the other set already has; a document's principal is the most similar document there."""
    n = corpus.n_inputs
    nodes = corpus.node[:n]
    has_node = nodes != NO_NODE
    mine = nodes[has_node]
    first = first_in_other(corpus)
    best = _most_similar(matches, options, first)
    rows = np.arange(n, dtype=np.uint32)
    principal, copy_of, similarity = np.full(n, NO_ROW), np.full(n, NO_ROW), np.full(n, np.nan)
    copy_of[has_node] = first[mine]
    found = np.where(first[mine] != NO_ROW, first[mine], best.row[mine])
    principal[has_node] = np.where(found != NO_ROW, found, rows[has_node])
    similarity[has_node] = np.where((found == NO_ROW) | (first[mine] != NO_ROW), 1.0, best.likeness[mine])
    is_free = principal == rows
    reason = reasons(corpus, options, sizes, is_principal=is_free, is_alone=is_free, copy_of=copy_of)
    is_overlap = np.zeros(n, np.bool_)
    is_overlap[has_node] = best.is_overlap[mine]
    reason[is_overlap & (reason == NEAR_DUPLICATE)] = OVERLAP
    differs = np.full(n, UNKNOWN)
    differs[has_node] = np.where(first[mine] != NO_ROW, NOTHING, best.differs[mine])
    return Outcome(principal, similarity, differs, copy_of, reason, is_free)


def matches_across(corpus: Corpus, matches: Matches) -> tuple[Matches, Bool]:
    """Return the matches of rows, one to clean with one of the other set, and which are exact copies."""
    n = corpus.n_inputs
    first = first_in_other(corpus)
    rows = np.flatnonzero(corpus.node[:n] != NO_NODE).astype(np.uint32)
    by_node = rows[np.argsort(corpus.node[rows], kind="stable")]
    starts = np.searchsorted(corpus.node[by_node], np.arange(corpus.n_nodes + 1))

    def across(mine: U32, theirs: U32, *columns: U32 | U8) -> list[U32 | U8]:
        is_there = first[theirs] != NO_ROW
        n_rows = np.where(is_there, starts[mine + 1] - starts[mine], 0)
        place = np.arange(n_rows.sum()) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
        left = by_node[np.repeat(starts[mine], n_rows) + place]
        return [left, *(np.repeat(column, n_rows) for column in (first[theirs], *columns))]

    ones = np.ones(corpus.n_nodes, np.uint32)
    everywhere = np.arange(corpus.n_nodes, dtype=np.uint32)
    both = _from_both_sides(matches)
    parts = [
        across(both.left, both.right, both.n_common, both.n_left, both.n_right, differences_of(both)),
        across(everywhere, everywhere, ones, ones, ones, np.full(corpus.n_nodes, NOTHING)),
    ]
    left, right, *counts, differs = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((right, left))
    is_copy = np.arange(len(order)) >= len(order) - len(parts[1][0])
    return Matches(left, right, counts[0], counts[1], counts[2], differs).where(order), is_copy[order]


def judge_others(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches, is_copy: Bool) -> OtherTable:
    """Return which documents of the other set caused documents to be dropped."""
    n = len(corpus) - corpus.n_inputs
    likeness, drops = judge_pairs(matches, options)
    drops |= is_copy
    left, place, likeness = (
        matches.left[drops],
        matches.right[drops].astype(np.int64) - corpus.n_inputs,
        likeness[drops],
    )
    best_last = np.lexsort((-left.astype(np.int64), likeness))
    document, similarity = np.full(n, NO_ROW), np.full(n, np.nan)
    document[place[best_last]], similarity[place[best_last]] = left[best_last], likeness[best_last]
    n_documents = np.bincount(place, minlength=n).astype(np.int64)
    nodes = corpus.node[corpus.n_inputs :]
    has_node = nodes != NO_NODE
    # only the first copy of a text is in the matches: its result holds for all copies
    stands_for = np.arange(n)
    stands_for[has_node] = first_in_other(corpus)[nodes[has_node]].astype(np.int64) - corpus.n_inputs
    document, similarity, n_documents = document[stands_for], similarity[stands_for], n_documents[stands_for]
    status = corpus.status[corpus.n_inputs :]
    is_match, is_short = has_node & (document != NO_ROW), _cannot_be_found(nodes, corpus, options, sizes)
    conditions = [*(status == one for one in WITHOUT_TEXT), is_match, is_short]
    names = [*(REASONS[one] for one in WITHOUT_TEXT.values()), "match", "too short"]
    choices = [OTHER_RESULTS.index(name) for name in names]
    result = np.select(conditions, choices, OTHER_RESULTS.index("no match")).astype(np.uint8)
    return OtherTable(result, n_documents, document, similarity, int((is_match & is_short).sum()))


def _cannot_be_found(nodes: U32, corpus: Corpus, options: DedupOptions, sizes: Sizes) -> Bool:
    at = np.minimum(nodes, np.uint32(corpus.n_nodes))
    n_units, n_shingles = (np.append(counted, np.uint32(0))[at] for counted in (sizes.n_units, sizes.n_shingles))
    return np.less(n_units, options.shingle.length) | np.less(n_shingles, options.min_shared or 1)


def no_groups() -> GroupTable:
    """Return an empty table."""
    none = np.zeros(0, np.int64)
    return GroupTable(
        principal=none.astype(np.uint32),
        size=none,
        lowest=none.astype(np.float64),
        is_lowest_exact=none.astype(np.bool_),
        bridges_refused=none,
        n_exact_copies=none,
        n_bridges=0,
    )


@dataclass(frozen=True, slots=True)
class _MostSimilar:
    """Row in the other set for which each node is dropped, the first of the most similar; NO_ROW if none is."""

    row: U32
    likeness: F64
    is_overlap: Bool
    differs: U8


def _most_similar(matches: Matches, options: DedupOptions, first_other: U32) -> _MostSimilar:
    across = _from_both_sides(matches)
    theirs = first_other[across.right]
    likeness, drops = judge_pairs(across, options)
    drops &= theirs != NO_ROW
    across, theirs, likeness = across.where(drops), theirs[drops], likeness[drops]
    best_last = np.lexsort((-theirs.astype(np.int64), likeness))
    mine = across.left[best_last]
    twin, best = np.full(len(first_other), NO_ROW), np.full(len(first_other), np.nan)
    is_overlap = np.zeros(len(first_other), np.bool_)
    twin[mine], best[mine] = theirs[best_last], likeness[best_last]
    is_overlap[mine] = ~_lies_inside(across, options)[best_last]
    differs = np.full(len(first_other), UNKNOWN)
    differs[mine] = differences_of(across)[best_last]
    return _MostSimilar(twin, best, is_overlap, differs)


def judge_pairs(across: Matches, options: DedupOptions) -> tuple[F64, Bool]:
    """Return the similarity of documents to clean (left) to the other set's, and whether they are dropped."""
    in_theirs, in_mine = options.measure.directions(across)
    if options.min_shared is not None or options.drop == "containing":
        likeness = in_mine
    elif options.drop == "either":
        likeness = options.measure.similarity(across)
    else:
        likeness = in_theirs
    drops = options.is_match(across) if options.min_shared is not None else likeness >= options.threshold
    return likeness, drops & ~options.is_apart(across)


def _lies_inside(across: Matches, options: DedupOptions) -> Bool:
    if options.drop in (None, "contained") and options.min_shared is None:
        return np.ones(len(across), np.bool_)
    if options.drop == "either":
        return np.greater_equal(options.measure.directions(across)[0], options.threshold)
    return np.zeros(len(across), np.bool_)


def _from_both_sides(matches: Matches) -> Matches:
    """Return every pair twice, in both directions."""
    there = (matches.left, matches.right, matches.n_common, matches.n_left, matches.n_right)
    back = (matches.right, matches.left, matches.n_common, matches.n_right, matches.n_left)
    left, right, n_common, n_left, n_right = (np.concatenate(pair) for pair in zip(there, back, strict=True))
    return Matches(left, right, n_common, n_left, n_right, np.tile(differences_of(matches), 2))
