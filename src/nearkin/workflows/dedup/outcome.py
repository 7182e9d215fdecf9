"""Matches → groups of texts → results for each document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from nearkin.options.dedup import DedupOptions
from nearkin.records import F64, I64, U8, U32, U64, Bool, Candidates, Groups, Matches
from nearkin.stages.documents.normalisation import NUMBERS_COLUMN
from nearkin.stages.grouping import group
from nearkin.stages.verification.what_differs import NOTHING, NUMBERS, UNKNOWN
from nearkin.workflows.dedup.corpus import EMPTY, NO_NODE, ONLY_IGNORED, ONLY_NUMBERS, UNREADABLE, Corpus
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
        NO_ROW for documents without a text.
    similarity : float64 array
        Similarity to the principal; NaN if there is none or it is unknown.
    differs : uint8 array
        What differs from the principal: an index into `DIFFERENCES`, or UNKNOWN; of the principal itself, UNKNOWN.
    copy_of : uint32 array
        Row of the document that represents all copies of this text; NO_ROW for that document itself.
    reason : uint8 array
        Index into `manifests.dedup.REASONS`.
    """

    principal: U32
    similarity: F64
    differs: U8
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
    """

    result: U8
    n_documents: I64
    document: U32
    similarity: F64
    n_short_matches: int


@dataclass(frozen=True, slots=True)
class Judged:
    """All results for documents; against another set, whose documents are not grouped, ``groups`` is empty.

    ``matches`` are sorted, of rows, with exact copies, which ``is_copy`` marks.
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
    groups = tabulate(corpus, grouping, outcome)
    return Judged(outcome, groups, *row_matches(preference.best_row, matches, outcome.copy_of))


def ignored_numbers(corpus: Corpus, options: DedupOptions) -> U64 | None:
    """Return a hash of the numbers of each document if numbers are ignored."""
    if not options.normalise.ignored.numbers or not len(corpus):
        return None
    hashes: U64 = np.concatenate([chunk.column(NUMBERS_COLUMN).to_numpy() for chunk in corpus.chunks])
    return hashes


def with_numbers(judged: Judged, numbers: U64 | None) -> Judged:
    """Tell texts with other ignored numbers from exact copies."""
    if numbers is None:
        return judged
    matches, outcome = judged.matches, judged.outcome
    rows = np.arange(len(outcome.principal), dtype=np.uint32)

    def have_others(of: U32, than: U32 = rows) -> Bool:
        are_others: Bool = numbers[than] != numbers[np.where(of == NO_ROW, than, of)]
        return are_others

    differs = difference_with_numbers(differences_of(matches), have_others(matches.left, matches.right))
    outcome = replace(
        outcome,
        differs=difference_with_numbers(outcome.differs, have_others(outcome.principal)),
        reason=reason_with_numbers(outcome.reason, have_others(outcome.copy_of)),
    )
    matches = replace(matches, differs=differs)
    return replace(judged, outcome=outcome, matches=matches, is_copy=judged.is_copy & (differs == NOTHING))


def difference_with_numbers(differs: U8, have_others: Bool) -> U8:
    """Return what differs, where texts that are equal without their numbers ``have_others``."""
    return np.where((differs == NOTHING) & have_others, NUMBERS, differs)


def reason_with_numbers(reason: U8, have_others: Bool) -> U8:
    """Return the reasons, where documents ``have_others`` than the text of which they would be copies."""
    return np.where((reason == EXACT_COPY) & have_others, NEAR_DUPLICATE, reason)


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
    differs = np.full(len(corpus), UNKNOWN)
    differs[has_node] = grouping.differs[nodes]
    differs[principal == rows] = UNKNOWN
    copy_of[has_node] = np.where(best == rows[has_node], NO_ROW, best)
    is_principal = principal == rows
    n_in_group = np.bincount(principal[has_node], minlength=len(corpus))
    is_alone = is_principal & (n_in_group == 1)
    reason = reasons(corpus, options, sizes, is_principal=is_principal, is_alone=is_alone, copy_of=copy_of)
    return Outcome(principal, similarity, differs, copy_of, reason, is_principal)


def reasons(
    corpus: Corpus, options: DedupOptions, sizes: Sizes, *, is_principal: Bool, is_alone: Bool, copy_of: U32
) -> U8:
    """Return the index into REASONS for each of the first ``len(copy_of)`` documents."""
    status, node = corpus.status[: len(copy_of)], corpus.node[: len(copy_of)]
    n_units = np.append(sizes.n_units, np.uint32(0))[np.minimum(node, np.uint32(corpus.n_nodes))]
    is_short = n_units < options.shingle.length
    reason = reasons_of_texts(is_short=is_alone & is_short, is_principal=is_principal, copy_of=copy_of)
    return np.where(np.isin(status, list(WITHOUT_TEXT)), reasons_without_text(status), reason)


def reasons_of_texts(*, is_short: Bool, is_principal: Bool, copy_of: U32) -> U8:
    """Return the index into REASONS of documents with a text; ``is_short``: too short to be compared, and alone."""
    conditions = [is_short, is_principal, copy_of != NO_ROW]
    return np.select(conditions, [TOO_SHORT, UNIQUE, EXACT_COPY], NEAR_DUPLICATE).astype(np.uint8)


def reasons_without_text(status: U8) -> U8:
    """Return the index into REASONS of documents without a text, by their status; 0 for others."""
    return np.select(
        [status == status_without_text for status_without_text in WITHOUT_TEXT], list(WITHOUT_TEXT.values()), 0
    ).astype(np.uint8)


def tabulate(corpus: Corpus, grouping: GroupedTexts, outcome: Outcome) -> GroupTable:
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
    """Return sorted matches of rows instead of texts, with one for each exact copy, and which these are."""
    of_rows = replace(matches, left=best_row[matches.left], right=best_row[matches.right])
    copies = np.flatnonzero(copy_of != NO_ROW).astype(np.uint32)
    rows = with_copies(of_rows, copies, copy_of[copies])
    order = np.lexsort((rows.right, rows.left))
    return rows.where(order), order >= len(matches)


def with_copies(matches: Matches, copies: U32, originals: U32) -> Matches:
    """Return matches of rows, the lower row on the left, followed by one for each exact copy."""
    ones = np.ones(len(copies), np.uint32)
    left, right, n_common, n_left, n_right = (
        np.concatenate(pair)
        for pair in (
            (matches.left, copies),
            (matches.right, originals),
            (matches.n_common, ones),
            (matches.n_left, ones),
            (matches.n_right, ones),
        )
    )
    differs = np.concatenate([differences_of(matches), np.full(len(copies), NOTHING)])
    swap = left > right
    return Matches(
        np.where(swap, right, left),
        np.where(swap, left, right),
        n_common,
        np.where(swap, n_right, n_left),
        np.where(swap, n_left, n_right),
        differs,
    )


def differences_of(matches: Matches) -> U8:
    """Return what differs in each match, UNKNOWN if it was not determined."""
    return np.full(len(matches), UNKNOWN) if matches.differs is None else matches.differs


MAX_FOR_ALL_PAIRS = 50
"""Maximum number of distinct texts of a group of which every pair is verified for the lowest similarity."""
_BLOCK_PAIRS = 1 << 12


@dataclass(frozen=True, slots=True)
class Preference:
    """Preference among documents: which are kept.

    Parameters
    ----------
    node_order : uint32 array, shape (n_nodes,)
        Most preferred text first.
    best_row : uint32 array, shape (n_nodes,)
        Copy of each text to keep.
    """

    node_order: U32
    best_row: U32


@dataclass(frozen=True, slots=True)
class GroupedTexts:
    """Groups of nodes, with similarities.

    Parameters
    ----------
    to_principal : float64 array, shape (n_nodes,)
        NaN if unknown.
    differs : uint8 array, shape (n_nodes,)
        NOTHING for the principal, UNKNOWN if the pair is no verified one.
    lowest : float64 array, shape (n_nodes,)
        Lowest similarity of two texts of a group, at its principal.
    """

    groups: Groups
    to_principal: F64
    differs: U8
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
    """Groups of texts, and the known pairs within them; ``order`` has the most preferred text first."""

    def __init__(self, matches: Matches, order: U32, options: DedupOptions) -> None:
        self._measure = options.measure
        together = matches.where(~options.is_apart(matches))
        self.groups = group(together, options.measure.similarity(together), order, rule=options.group)
        principal = self.groups.principal
        self.to_principal = np.where(principal == np.arange(len(order)), 1.0, np.nan)
        self.differs = np.where(principal == np.arange(len(order)), NOTHING, UNKNOWN)
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
            if inside.differs is not None:
                self.differs[member[is_principal]] = inside.differs[is_principal]

    def learn_stored(self, others: Matches) -> None:
        """Record the other known pairs, before groups are asked for."""
        self.learn(others)
        self.is_incomplete = self._lacks_pairs()

    def _lacks_pairs(self) -> Bool:
        lacks: Bool = self._n_inside < self._n_members * (self._n_members - 1) // 2
        return lacks

    def unknown(self) -> Iterator[Candidates]:
        """Return pairs that are no matches: all of a small group; each member with its principal of a large one."""
        only_principals = self.is_incomplete & ~self.can_be_looked_at
        return _pairs_inside(self.groups.principal, self.can_be_looked_at, only_principals, self._n_members)

    def grouping(self, *, is_looked_at: bool) -> GroupedTexts:
        """Return the known facts; ``is_looked_at``: the pairs of `unknown` have been learnt."""
        is_exact = ~self.is_incomplete | (self.can_be_looked_at if is_looked_at else False)
        return GroupedTexts(self.groups, self.to_principal, self.differs, self.lowest, is_exact)


Compare = Callable[[Iterator[Candidates]], Iterable[Matches]]
"""Returns the similarity of pairs of texts, without a threshold."""


def group_texts(matches: Matches, order: U32, options: DedupOptions, compare: Compare) -> GroupedTexts:
    """Group the texts by the rule of ``--group``, and compare pairs within groups that are no matches."""
    inside = Inside(matches, order, options)
    for compared in compare(inside.unknown()):
        inside.learn(compared)
    return inside.grouping(is_looked_at=True)


def group_again(matches: Matches, others: Matches, order: U32, options: DedupOptions) -> GroupedTexts:
    """Group the texts at another threshold; ``others`` are the stored pairs below it."""
    inside = Inside(matches, order, options)
    inside.learn_stored(others)
    return inside.grouping(is_looked_at=False)


def _pairs_inside(principal: U32, all_pairs: Bool, to_principal: Bool, n_members: I64) -> Iterator[Candidates]:
    """Return all pairs of the groups that the first mask marks, pairs with the principal of those of the second."""
    nodes = np.flatnonzero(all_pairs[principal]).astype(np.uint32)
    nodes = nodes[np.argsort(principal[nodes], kind="stable")]  # members of a group side by side, ascending
    size_of = n_members[principal[nodes]]
    for size in np.flatnonzero(np.bincount(size_of)).tolist():
        members = nodes[size_of == size].reshape(-1, size)
        i, j = np.triu_indices(size, 1)
        step = max(1, _BLOCK_PAIRS // len(i))
        for start in range(0, len(members), step):
            block = members[start : start + step]
            yield Candidates(block[:, i].ravel(), block[:, j].ravel())
    nodes = np.flatnonzero(to_principal[principal]).astype(np.uint32)
    nodes = nodes[principal[nodes] != nodes]
    for start in range(0, len(nodes), _BLOCK_PAIRS):
        block = nodes[start : start + _BLOCK_PAIRS]
        yield Candidates(np.minimum(block, principal[block]), np.maximum(block, principal[block]))
