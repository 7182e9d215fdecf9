"""Groups of texts → results for each document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64, U8, U32, Bool, Matches
from nearkin.workflows.dedup.corpus import EMPTY, NO_NODE, ONLY_IGNORED, ONLY_NUMBERS, UNREADABLE, Corpus
from nearkin.workflows.dedup.grouping import GroupedTexts, Preference
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.searching import Sizes

UNIQUE, EXACT_COPY, NEAR_DUPLICATE, EMPTY_TEXT, TOO_SHORT = range(5)
UNREADABLE_TEXT, OVERLAP, NUMBERS_TEXT, IGNORED_TEXT = range(5, 9)
WITHOUT_TEXT = {
    UNREADABLE: UNREADABLE_TEXT, EMPTY: EMPTY_TEXT, ONLY_NUMBERS: NUMBERS_TEXT, ONLY_IGNORED: IGNORED_TEXT
}  # fmt: skip
"""Reasons of documents of which no text is compared, by their status."""
NO_ROW = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result for each document to clean; arrays of shape (n_inputs,).

    Parameters
    ----------
    principal : uint32 array
        Row of the principal; NO_ROW for documents without a text.
    similarity : float64 array
        Similarity to the principal; NaN if there is none or it is unknown.
    copy_of : uint32 array
        Row of the document that represents all copies of this text; NO_ROW for that document itself.
    reason : uint8 array
        Index into `manifests.dedup.REASONS`.
    keep : bool array
    """

    principal: U32
    similarity: F64
    copy_of: U32
    reason: U8
    keep: Bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTable:
    """Groups of at least two documents; arrays of shape (n_groups,), in order of the principals' rows.

    ``n_bridges`` counts the matches between a group and other groups.
    """

    principal: U32
    size: I64
    lowest: F64
    is_lowest_exact: Bool
    bridges_refused: I64
    n_exact_copies: I64
    n_bridges: int


@dataclass(frozen=True, slots=True)
class OtherTable:
    """Documents of another set for which documents were dropped; arrays of shape (n_others,).

    Parameters
    ----------
    result : uint8 array
        Index into OTHER_RESULTS.
    n_documents : int64 array
        Documents of the input that were dropped because of it; each may count for several documents here.
    document : uint32 array
        Row of the most similar of them; NO_ROW if there is none.
    similarity : float64 array
        Similarity of that document; NaN if there is none.
    n_short_matches : int
        Documents with the result "match" that are too short to be found inside a longer document.
    """

    result: U8
    n_documents: I64
    document: U32
    similarity: F64
    n_short_matches: int


@dataclass(frozen=True, slots=True)
class Judged:
    """All results for documents.

    Parameters
    ----------
    outcome : Outcome
    groups : GroupTable
        Empty for a run against another set, whose documents are not grouped.
    matches : Matches
        Sorted matches of rows, including exact copies.
    is_copy : bool array, shape (n_matches,)
        Whether each match is an exact copy.
    others : OtherTable or None
        Results for the other set, if there is one.
    """

    outcome: Outcome
    groups: GroupTable
    matches: Matches
    is_copy: Bool
    others: OtherTable | None = None


def judge_groups(
    corpus: Corpus,
    options: DedupOptions,
    sizes: Sizes,
    preference: Preference,
    matches: Matches,
    grouping: GroupedTexts,
) -> Judged:
    """Judge the documents by groups of texts, which are built from ``matches``."""
    outcome = judge(corpus, options, sizes, preference, grouping)
    groups = tabulate(corpus, preference, grouping, outcome)
    return Judged(outcome, groups, *row_matches(preference.best_row, matches, outcome.copy_of))


def judge(
    corpus: Corpus, options: DedupOptions, sizes: Sizes, preference: Preference, grouping: GroupedTexts
) -> Outcome:
    """Keep the principal of each group and every document outside groups."""
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
    is_principal = principal == rows
    n_in_group = np.bincount(principal[has_node], minlength=len(corpus))
    is_alone = is_principal & (n_in_group == 1)
    reason = reasons(corpus, options, sizes, is_principal=is_principal, is_alone=is_alone, copy_of=copy_of)
    return Outcome(principal, similarity, copy_of, reason, is_principal)


def reasons(
    corpus: Corpus, options: DedupOptions, sizes: Sizes, *, is_principal: Bool, is_alone: Bool, copy_of: U32
) -> U8:
    """Return the index into REASONS for each of the first ``len(copy_of)`` documents."""
    status, node = corpus.status[: len(copy_of)], corpus.node[: len(copy_of)]
    n_units = np.append(sizes.n_units, np.uint32(0))[np.minimum(node, np.uint32(corpus.n_nodes))]
    is_short = n_units < options.shingle.length
    without_text = [status == one for one in WITHOUT_TEXT]
    conditions = [*without_text, is_alone & is_short, is_principal, copy_of != NO_ROW]
    choices = [*WITHOUT_TEXT.values(), TOO_SHORT, UNIQUE, EXACT_COPY]
    return np.select(conditions, choices, NEAR_DUPLICATE).astype(np.uint8)


def tabulate(corpus: Corpus, preference: Preference, grouping: GroupedTexts, outcome: Outcome) -> GroupTable:
    """Return the groups of at least two documents."""
    has_node = corpus.node != NO_NODE
    size = np.bincount(outcome.principal[has_node], minlength=len(corpus))
    n_copies = np.bincount(outcome.principal[has_node & (outcome.copy_of != NO_ROW)], minlength=len(corpus))
    principal = np.flatnonzero(size >= 2).astype(np.uint32)
    nodes = corpus.node[principal]
    return GroupTable(
        principal=principal,
        size=size[principal],
        lowest=grouping.lowest[nodes],
        is_lowest_exact=grouping.is_lowest_exact[nodes],
        bridges_refused=grouping.groups.n_bridges_refused[nodes],
        n_exact_copies=n_copies[principal],
        n_bridges=int(grouping.groups.n_bridges_refused.sum()) // 2,
    )


def row_matches(best_row: U32, matches: Matches, copy_of: U32) -> tuple[Matches, Bool]:
    """Return matches of rows instead of texts, with a match for each exact copy, sorted.

    The second array marks the exact copies.
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
