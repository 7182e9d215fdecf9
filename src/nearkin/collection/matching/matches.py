"""Matches of stored texts, by their wording or by their letters, for groups and conflicts.

By wording, two texts match if the Jaccard similarity of their word 5-grams reaches a threshold. Candidates are pairs
of signatures with few different bits, and each is compared exactly. By letters, they match if either is within gamma of
the other; that is complete and exact, but texts with the same letters may be unrelated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.matching.forest import Forest
from nearkin.collection.matching.pairs import RangePairs, are_counted, counts_of, pairs_within
from nearkin.collection.matching.word_links import WordLinks
from nearkin.collection.stored.segment_files import Segment
from nearkin.collection.stored.word_sets import WordSets
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.planning.neighbour_recall import distance_for
from nearkin.records import F64, I64, U64, Bool
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.segment import squared_lengths

_AT_A_TIME = 1 << 14
_MAX_PROMISING = 16
"""Maximum number of texts with which one is compared to find its nearest match."""


@dataclass(frozen=True, slots=True)
class Similarities:
    """Similarities of pairs of texts.

    Parameters
    ----------
    jaccard : float64 array, shape (n_pairs,)
        Exact Jaccard similarity of the word 5-grams.
    relative_distance : float64 array, shape (n_pairs,)
        Distance of the letter counts, as a share of the longer vector's length.
    """

    jaccard: F64
    relative_distance: F64


@dataclass(frozen=True, slots=True)
class PairMeasures:
    """Compares stored texts.

    Parameters
    ----------
    counting : TextCounting
    segments : sequence of Segment
    sets : WordSets
    """

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
            one, other = (counts_of(self.segments, column[part], n_dimensions) for column in (left, right))
            gaps = one.astype(np.int64) - other
            longest = np.maximum(np.maximum(squared_lengths(one), squared_lengths(other)), 1)
            relative[part] = np.sqrt(np.einsum("ij,ij->i", gaps, gaps) / longest)
        return relative


class Matching(Protocol):
    """A measure, applied to the texts of a snapshot."""

    @property
    def is_comparable(self) -> Bool:
        """Whether each content has enough letters or words, shape (n_contents,); copies of others form no group."""

    def link(self, forest: Forest, asked: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect the asked contents with all live ones that match; return the number of pairs left uncompared."""

    def is_match(self, found: Similarities) -> Bool:
        """Whether each pair of contents matches."""

    def promising(self, content: int, others: I64) -> I64:
        """Return the others that are worth comparing with a content, the most promising first."""


@dataclass(frozen=True, slots=True)
class LetterMatching:
    """Matches by letter counts; see `Matching`.

    Parameters
    ----------
    measures : PairMeasures
    gamma : float
    is_comparable : bool array, shape (n_contents,)
    """

    measures: PairMeasures
    gamma: float
    is_comparable: Bool

    def link(self, forest: Forest, asked: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect all matches; none is left uncompared."""
        measures = self.measures
        clusters = RangePairs(measures.counting, measures.segments, asked, is_live, self.gamma)
        asked = link_clusters(clusters, self.gamma, forest)
        for found in pairs_within(
            measures.counting, measures.segments, asked, is_live, self.gamma, threads=threads, progress=progress
        ):
            forest.connect(found.left, found.right)
        return 0

    def is_match(self, found: Similarities) -> Bool:
        """Whether either is within gamma of the other."""
        return found.relative_distance <= self.gamma

    def promising(self, content: int, others: I64) -> I64:
        """Return the others, the nearest first."""
        distances = self.measures.relative_distances(np.full(len(others), content), others)
        return others[np.argsort(distances, kind="stable")[:_MAX_PROMISING]]


class WordMatching:
    """Matches by wording; see `Matching`.

    Parameters
    ----------
    segments : sequence of Segment
    threshold : float
        Minimum Jaccard similarity of the word 5-grams.
    sets : WordSets
    """

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

    def link(self, forest: Forest, asked: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect all matches, except of components and of hot texts of which the nearest pairs do not match."""
        is_live = is_live & self._is_comparable
        links = WordLinks(self._words, self._sets, self._threshold, self._reach)
        return links.link(forest, asked[is_live[asked]], is_live, threads=threads, progress=progress)

    def is_match(self, found: Similarities) -> Bool:
        """Whether the Jaccard similarity reaches the threshold."""
        return found.jaccard >= self._threshold

    def promising(self, content: int, others: I64) -> I64:
        """Return the others with the nearest signatures."""
        bits = np.bitwise_count(self._words[others] ^ self._words[content]).sum(axis=1, dtype=np.int64)
        return others[np.argsort(bits, kind="stable")[:_MAX_PROMISING]]


def matching_of(
    connection: Connection, counting: TextCounting, segments: Sequence[Segment], tolerance: Tolerance
) -> tuple[Matching, PairMeasures]:
    """Return the matching by a tolerance, and the measures of a snapshot.

    Raises
    ------
    ParameterError
        The method has no pairs: it is neither by wording nor by letters.
    """
    if not tolerance.has_groups:
        raise ParameterError.of("measure", "'words' or 'letters'", tolerance.measure)
    sets = WordSets(connection, counting, segments[-1].end if segments else 0)
    measures = PairMeasures(counting, segments, sets)
    if tolerance.method == "minhash":
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
    """Connect all matches of texts in dense clusters, and return the asked contents that are left to be searched for.

    Parameters
    ----------
    search : RangePairs
    gamma : float
    forest : Forest
    """
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
