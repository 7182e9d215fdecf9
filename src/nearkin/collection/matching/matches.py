"""Matches of stored texts, by their wording or by their letters, for groups and conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.matching.constraints import Forest
from nearkin.collection.matching.word_links import WordLinks
from nearkin.collection.stored.segment_files import Segment
from nearkin.collection.stored.word_sets import WordSets
from nearkin.collection.tolerance import Tolerance
from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.planning.neighbour_recall import distance_for
from nearkin.records import F64, I64, U32, U64, Bool, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.index import RangeQueries
from nearkin.stages.search.ranges.segment import squared_lengths

_AT_A_TIME = 1 << 14
_MAX_PROMISING = 16
"""Maximum number of texts with which one is compared to find its nearest match."""


@dataclass(frozen=True, slots=True)
class Similarities:
    """Jaccard similarities of word 5-grams, and distances of letter counts as shares of the longer vector's length."""

    jaccard: F64
    relative_distance: F64


@dataclass(frozen=True, slots=True)
class PairMeasures:
    """Compares stored texts."""

    counting: TextCounting
    segments: Sequence[Segment]
    sets: WordSets

    def of(self, left: I64, right: I64) -> Similarities:
        """Return the similarities of pairs of contents."""
        return Similarities(self.sets.jaccards(left, right), self.relative_distances(left, right))

    def relative_distances(self, left: I64, right: I64) -> F64:
        """Return the distances of letter counts, as shares of the longer vector's length."""
        relative, n_dimensions = np.zeros(len(left)), self.counting.letters.n_dimensions
        for start in range(0, len(left), _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            counts, other = (counts_of(self.segments, column[part], n_dimensions) for column in (left, right))
            gaps = counts.astype(np.int64) - other
            longest = np.maximum(np.maximum(squared_lengths(counts), squared_lengths(other)), 1)
            relative[part] = np.sqrt(np.einsum("ij,ij->i", gaps, gaps) / longest)
        return relative


class Matching(Protocol):
    """A measure, applied to the texts of a snapshot."""

    @property
    def is_comparable(self) -> Bool:
        """Whether each content has enough letters or words; copies of others form no group."""

    def link(self, forest: Forest, queries: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect the asked contents with all live matches; return the number of pairs left uncompared."""

    def is_match(self, similarities: Similarities) -> Bool:
        """Whether each pair of contents matches."""

    def promising(self, content: int, others: I64) -> I64:
        """Return the others that are worth comparing, the most promising first."""


@dataclass(frozen=True, slots=True)
class LetterMatching:
    """Matches by letter counts; see `Matching`."""

    measures: PairMeasures
    gamma: float
    is_comparable: Bool

    def link(self, forest: Forest, queries: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect all matches; none is left uncompared."""
        measures = self.measures
        clusters = RangePairs(measures.counting, measures.segments, queries, is_live, self.gamma)
        queries = link_clusters(clusters, self.gamma, forest)
        search = RangePairs(measures.counting, measures.segments, queries, is_live, self.gamma)
        n_queries = _PAIRS_AT_A_TIME // (threads * max(1, len(is_live)))
        n_queries = min(_MAX_QUERIES, max(_FEWEST_QUERIES, n_queries))
        parts = [slice(start, start + n_queries) for start in range(0, len(queries), n_queries)]
        progress.start("compare", len(queries), "documents")
        for part, (left, right) in zip(parts, map_ordered(search.pairs_of, parts, threads=threads)):
            progress.advance(len(queries[part]))
            forest.connect(left, right)
        progress.finish()
        return 0

    def is_match(self, similarities: Similarities) -> Bool:
        """Whether either is within gamma of the other."""
        return similarities.relative_distance <= self.gamma

    def promising(self, content: int, others: I64) -> I64:
        """Return the others, the nearest first."""
        distances = self.measures.relative_distances(np.full(len(others), content), others)
        return others[np.argsort(distances, kind="stable")[:_MAX_PROMISING]]


class WordMatching:
    """Matches by wording; see `Matching`."""

    def __init__(self, segments: Sequence[Segment], threshold: float, sets: WordSets) -> None:
        self._threshold, self._sets = threshold, sets
        self._reach = distance_for(threshold, SIGNATURE.bits)
        no_words, no_contents = np.zeros((0, SIGNATURE.bits // 64), np.uint64), np.zeros(0, np.bool_)
        self._words: U64 = np.concatenate([no_words, *(segment.words for segment in segments)])
        self._is_comparable = np.concatenate([no_contents, *(segment.has_features for segment in segments)])

    @property
    def is_comparable(self) -> Bool:
        """Whether each content has words."""
        return self._is_comparable

    def link(self, forest: Forest, queries: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect all matches, except of components and hot texts whose nearest pairs do not match."""
        is_live = is_live & self._is_comparable
        links = WordLinks(self._words, self._sets, self._threshold, self._reach)
        return links.link(forest, queries[is_live[queries]], is_live, threads=threads, progress=progress)

    def is_match(self, similarities: Similarities) -> Bool:
        """Whether the Jaccard similarity reaches the threshold."""
        return similarities.jaccard >= self._threshold

    def promising(self, content: int, others: I64) -> I64:
        """Return the others with the nearest signatures."""
        bits = np.bitwise_count(self._words[others] ^ self._words[content]).sum(axis=1, dtype=np.int64)
        return others[np.argsort(bits, kind="stable")[:_MAX_PROMISING]]


def matching_of(
    connection: Connection, counting: TextCounting, segments: Sequence[Segment], tolerance: Tolerance
) -> tuple[Matching, PairMeasures]:
    """Return the matching by a tolerance, and the measures of a snapshot."""
    if not tolerance.has_groups:
        raise ParameterError.of("measure", "'jaccard' or 'letters'", tolerance.measure)
    sets = WordSets(connection, counting, segments[-1].end if segments else 0)
    measures = PairMeasures(counting, segments, sets)
    if tolerance.measure == "jaccard":
        return WordMatching(segments, tolerance.value, sets), measures
    return LetterMatching(measures, tolerance.value, are_counted(segments)), measures


_MAX_GAMMA = 0.25
"""Above it, the wide search reaches nearly everything."""
_CENTRES = 64
"""Number of texts that are tried as centres at a time."""
_MIN_CLUSTER = 256
"""Minimum number of matches of a centre: it spares as many searches."""
_MIN_SETTLED = 1 / 8
"""Minimum share of the texts that a round must settle for another round to follow."""
_MAX_COMPARED = 1 << 22
"""Maximum number of pairs compared around one centre."""
_ROUNDING = 1e-9


def link_clusters(search: RangePairs, gamma: float, forest: Forest) -> I64:
    """Connect all matches of texts in dense clusters; return the asked contents that are left to be searched for."""
    left = search.asked
    if gamma > _MAX_GAMMA:
        return left
    is_open = np.zeros(len(search.is_live), np.bool_)
    is_open[left] = True
    chance = np.random.default_rng(0)
    while len(left) > _MIN_CLUSTER:
        for centre in chance.choice(left, min(_CENTRES, len(left)), replace=False).tolist():
            if is_open[centre]:
                _settle_around(search, gamma, forest, centre, is_open)
        before, left = len(left), left[is_open[left]]
        if before - len(left) < _MIN_SETTLED * before:
            break
    return left


def _settle_around(search: RangePairs, gamma: float, forest: Forest, centre: int, is_open: Bool) -> None:
    """Connect all matches of the open texts within half of gamma of a centre, if there are many, and close them."""
    length = search.length_of(centre)
    matches, squares = search.reached(centre, gamma)
    if len(matches) < _MIN_CLUSTER:
        return
    forest.connect(np.full(len(matches), centre), matches)
    half = gamma / 2 * length * (1 - _ROUNDING)
    near = matches[is_open[matches] & (squares <= half * half)]
    reach = gamma / 2 + gamma * (1 + gamma / 2) / (1 - gamma)
    around, _ = search.reached(centre, reach * (1 + _ROUNDING))
    others = around[forest.are_apart(np.full(len(around), centre), around)]
    if len(near) * len(others) > _MAX_COMPARED:
        return
    if len(others):
        a, b = np.nonzero(search.are_pairs(near, others))
        forest.connect(near[a], others[b])
    is_open[near] = False


_PAIRS_AT_A_TIME = 1 << 22
"""Maximum number of pairs held by all threads together if all texts are similar to one another."""
_FEWEST_QUERIES, _MAX_QUERIES = 8, 64
_CONTENTS_AT_A_TIME = 1 << 14
_UNKNOWN = -2


class RangePairs:
    """Search settings, which threads may share."""

    def __init__(
        self, counting: TextCounting, segments: Sequence[Segment], asked: I64, is_live: Bool, gamma: float
    ) -> None:
        self.asked, self.is_live = asked, is_live
        self._counting, self._segments, self._gamma = counting, segments, gamma
        self._reach, self._is_counted = _widened(gamma), are_counted(segments)
        self._is_asked = np.zeros(len(is_live), np.bool_)
        self._is_asked[asked] = True
        self._limits = np.full(len(is_live), _UNKNOWN, np.int64)

    def pairs_of(self, part: slice) -> tuple[I64, I64]:
        """Return the pairs of some queries, those of two queries only from the lower one."""
        queries = self.asked[part]
        vectors = self._vectors_of(queries)
        # a text that finds the query is at most this far from it, relative to the query's own length
        wide = self._queries(vectors, self._reach)
        limits = self._limits_of(queries)
        survivors = np.zeros((len(queries), 3), np.int64)
        pairs: list[tuple[I64, I64]] = [(queries[:0],) * 2]
        for segment in self._segments:
            for query, place, square in segment.vectors.matches(vectors.counts, wide.lengths, wide.limits, survivors):
                left, right = queries[query], place.astype(np.int64) + segment.first
                is_pair = self.is_live[right] & ((left < right) | ~self._is_asked[right])
                is_pair &= left != right
                far = np.flatnonzero(is_pair & (square > limits[query]))
                is_pair[far] = square[far] <= self._limits_of(right[far])
                pairs.append((left[is_pair], right[is_pair]))
        lefts, rights = (np.concatenate(column) for column in zip(*pairs, strict=True))
        return lefts, rights

    def length_of(self, content: int) -> float:
        """Return the length of a content's vector."""
        counts = self._vectors_of(np.array([content])).counts[0].astype(np.float64)
        return float(np.sqrt(counts @ counts))

    def reached(self, content: int, gamma: float) -> tuple[I64, I64]:
        """Return the live contents within another gamma, and their squared distances."""
        vectors = self._vectors_of(np.array([content]))
        wide, survivors = self._queries(vectors, gamma), np.zeros((1, 3), np.int64)
        parts: list[tuple[I64, I64]] = [(self.asked[:0],) * 2]
        for segment in self._segments:
            for _, place, square in segment.vectors.matches(vectors.counts, wide.lengths, wide.limits, survivors):
                parts.append((place.astype(np.int64) + segment.first, square))
        contents, squares = (np.concatenate(column) for column in zip(*parts, strict=True))
        is_it = self.is_live[contents]
        return contents[is_it], squares[is_it]

    def are_pairs(self, left: I64, right: I64) -> Bool:
        """Whether each left content matches each right one, shape (n_left, n_right)."""
        a, b = (self._vectors_of(contents).counts.astype(np.int64) for contents in (left, right))
        squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * (a @ b.T)
        is_pair: Bool = squares <= np.maximum(self._limits_of(left)[:, None], self._limits_of(right))
        return is_pair

    def _limits_of(self, contents: I64) -> I64:
        limits = self._limits[contents]
        unknown = np.unique(contents[limits == _UNKNOWN])
        for start in range(0, len(unknown), _CONTENTS_AT_A_TIME):
            block = unknown[start : start + _CONTENTS_AT_A_TIME]
            self._limits[block] = self._queries(self._vectors_of(block), self._gamma).limits
        return self._limits[contents] if len(unknown) else limits

    def _vectors_of(self, contents: I64) -> LetterVectors:
        counts = counts_of(self._segments, contents, self._counting.letters.n_dimensions)
        return self._counting.vectors_of_counts(counts, self._is_counted[contents])

    def _queries(self, vectors: LetterVectors, gamma: float) -> RangeQueries:
        return RangeQueries.of(self._counting.letters.fingerprint, vectors, gamma)


def _widened(gamma: float) -> float:
    """Return the gamma with which a query finds all texts that find it: gamma / (1 - gamma), rounded up."""
    part = Fraction(repr(float(gamma)))
    nearest = float(part / (1 - part))
    # one step up rounds up; the second allows for the decimal number as which a float is written
    return float(np.nextafter(np.nextafter(nearest, np.inf), np.inf))


def are_counted(segments: Sequence[Segment]) -> Bool:
    """Return which contents have enough letters; copies of others are reported separately."""
    is_counted = [np.zeros(0, np.bool_)]
    for segment in segments:
        taking_part = np.zeros(len(segment), np.bool_)
        taking_part[segment.vectors.rows] = True
        is_counted.append(taking_part)
    return np.concatenate(is_counted)


def counts_of(segments: Sequence[Segment], contents: I64, n_dimensions: int) -> U32:
    """Return the letter counts of some contents, shape (n_contents, n_dimensions)."""
    counts = np.zeros((len(contents), n_dimensions), np.uint32)
    for segment in segments:
        is_here = (contents >= segment.first) & (contents < segment.end)
        counts[is_here] = segment.vectors.counts[contents[is_here] - segment.first]
    return counts
