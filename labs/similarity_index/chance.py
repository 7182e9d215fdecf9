"""Influence of chance on a score: the same runs with odd multipliers other than the 31 of Java's hash.

A multiplier changes which shingles are low, high or divisible by 25, but nothing that matters for the method. So the
scores over many multipliers show the quality of a method, and their spread the effect of chance on a single run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from labs.similarity_index.published import K_AND_W
from labs.similarity_index.runs import FREQUENT_WORDS, SUPER_SHINGLE, all_methods
from labs.similarity_index.zones import Folder, count
from nearkin.engines.local import map_ordered
from nearkin.records import F64, I32, I64, U32
from nearkin.runs.progress import Progress
from nearkin.stages.signatures import similarity_index
from nearkin.stages.signatures.similarity_index import (
    STREAMS,
    VARIATIONS,
    SimilarityIndex,
    SimilarityIndexes,
    TextStream,
)


@dataclass(frozen=True, slots=True)
class Chance:
    """Scores with each multiplier.

    Parameters
    ----------
    methods : tuple of SimilarityIndex
        All methods except the super shingle, which takes many times as long as all others together.
    multipliers : tuple of int
    scores : float64 array, shape (n_multipliers, n_methods)
    n_as_expected : int64 array, shape (n_multipliers, n_methods)
        Number of pairs that agree with Tables 6 to 8.
    """

    methods: tuple[SimilarityIndex, ...]
    multipliers: tuple[int, ...]
    scores: F64
    n_as_expected: I64

    @property
    def n_over_one(self) -> I64:
        """Number of runs with a score above 1, shape (n_multipliers,)."""
        n_over_one: I64 = (self.scores > 1).sum(axis=1).astype(np.int64)
        return n_over_one

    @property
    def best(self) -> F64:
        """Highest score, shape (n_multipliers,)."""
        best: F64 = self.scores.max(axis=1)
        return best

    def of(self, method: SimilarityIndex) -> F64:
        """Return the scores of one method, shape (n_multipliers,)."""
        scores: F64 = self.scores[:, self.methods.index(method)]
        return scores

    def mean_frequency(self, tracking_number: int) -> float:
        """Return the mean number of runs of a tracking number with a score above 1."""
        chosen = [i for i, method in enumerate(self.methods) if method.tracking_number == tracking_number]
        return float((self.scores[:, chosen] > 1).sum(axis=1).mean()) if chosen else float("nan")

    def frequency_in_all_streams(self, number: int) -> I64:
        """Return the number of runs of a method with a score above 1 over all streams, shape (n_multipliers,)."""
        chosen = [i for i, method in enumerate(self.methods) if method.method == number]
        n_over_one: I64 = (self.scores[:, chosen] > 1).sum(axis=1).astype(np.int64)
        return n_over_one

    def at_least(self, method: SimilarityIndex, score: float) -> float:
        """Return the share of multipliers with at least this score, rounded to two places as in the paper."""
        return float((np.round(self.of(method), 2) >= score).mean())


def multipliers(n: int, seed: int) -> tuple[int, ...]:
    """Return random odd 32-bit numbers."""
    return tuple((np.random.default_rng(seed).integers(1 << 8, 1 << 31, n) * 2 + 1).tolist())


def measure(folder: Folder, n: int, *, seed: int, threads: int, progress: Progress) -> Chance:
    """Perform every run with each of some multipliers."""
    methods = tuple(method for method in all_methods() if method.method != SUPER_SHINGLE)
    streams = [Stream.of(folder, TextStream(name, variation)) for name in STREAMS for variation in VARIATIONS]
    by_stream = [[method for method in methods if stream.reads_for(method)] for stream in streams]
    place = {method: i for i, method in enumerate(methods)}
    drawn = multipliers(n, seed)
    progress.start("other multipliers", n, "steps")
    scores, n_as_expected = np.zeros((n, len(methods))), np.zeros((n, len(methods)), np.int64)

    def of_multiplier(multiplier: int) -> list[tuple[int, float, int]]:
        found = []
        for stream, own in zip(streams, by_stream, strict=True):
            for method, indexes in stream.indexes(own, multiplier):
                counted = count(indexes.similar(indexes), folder.zones)
                found.append((place[method], counted.score, counted.n_as_expected))
        return found

    for i, found in enumerate(map_ordered(of_multiplier, drawn, threads=threads)):
        for at, score, right in found:
            scores[i, at], n_as_expected[i, at] = score, right
        progress.advance(1)
    progress.finish()
    return Chance(methods, drawn, scores, n_as_expected)


@dataclass(frozen=True, slots=True)
class Stream:
    """Units of all files in one stream, and the positions of their tokens.

    Parameters
    ----------
    of_text : TextStream
    units : uint32 array
        UTF-16 units of the tokens, joined by spaces if they are words.
    starts, ends : tuple of int64 arrays
        Bounds of the tokens of each file.
    frequent : tuple of int64 arrays
        Positions of the most frequent tokens of each file; empty for characters.
    """

    of_text: TextStream
    units: U32
    starts: tuple[I64, ...]
    ends: tuple[I64, ...]
    frequent: tuple[I64, ...]

    @classmethod
    def of(cls, folder: Folder, stream: TextStream) -> Stream:
        """Read all files."""
        if stream.name == "characters":
            own_units, offsets = stream.shingles(folder.texts, 1)  # the hash of a unit is the unit
            starts = tuple(np.arange(a, b) for a, b in pairwise(offsets))
            return cls(stream, own_units.astype(np.uint32), starts, tuple(s + 1 for s in starts), ())
        tokens = stream.words(folder.texts)
        sizes = [np.array([len(token.encode("utf-16-le")) // 2 for token in own], np.int64) for own in tokens]
        joined = "".join(token + " " for own in tokens for token in own)
        lasts = np.cumsum(np.concatenate([*sizes, np.zeros(0, np.int64)]) + 1) - 1
        cuts = np.cumsum([len(own) for own in tokens])[:-1]
        ends = np.split(lasts, cuts)
        starts = tuple(last - size for last, size in zip(ends, sizes, strict=True))
        units = np.frombuffer(joined.encode("utf-16-le"), "<u2").astype(np.uint32)
        return cls(stream, units, starts, tuple(ends), tuple(_most_frequent(own) for own in tokens))

    def reads_for(self, method: SimilarityIndex) -> bool:
        """Whether a method uses this stream."""
        return (method.stream, method.variation) == (self.of_text.name, self.of_text.variation)

    def indexes(
        self, methods: Sequence[SimilarityIndex], multiplier: int
    ) -> list[tuple[SimilarityIndex, SimilarityIndexes]]:
        """Return the similarity indexes of all files by each method."""
        hashes = _Hashes.of(self.units, multiplier)
        found = []
        for k, _ in K_AND_W:
            runs = [self._run(k, starts, ends) for starts, ends in zip(self.starts, self.ends, strict=True)]
            shingles, offsets = hashes.shingles(runs)
            for method in methods:
                if method.k == k and method.method != FREQUENT_WORDS:
                    found.append((method, method.index_of_shingles(shingles, offsets)))
        runs = [(s[chosen], e[chosen]) for s, e, chosen in zip(self.starts, self.ends, self.frequent, strict=False)]
        for method in methods:
            if method.method == FREQUENT_WORDS:
                found.append((method, method.index_of_shingles(*hashes.shingles(runs))))
        return found

    @staticmethod
    def _run(k: int, starts: I64, ends: I64) -> tuple[I64, I64]:
        """Return the start and end of the k-grams of a file."""
        n = max(0, len(starts) - k + 1)
        return starts[:n], ends[k - 1 :][:n]


@dataclass(frozen=True, slots=True)
class _Hashes:
    """Hashes of all parts of a string: ``(sums[end] - sums[start]) * powers[end]``, modulo 2^32."""

    sums: U32
    powers: U32

    @classmethod
    def of(cls, units: U32, multiplier: int) -> _Hashes:
        """Compute the hashes; an odd multiplier has an inverse, so prefixes can be subtracted."""
        n = len(units)
        inverses = np.full(n + 1, pow(multiplier, -1, 1 << 32), np.uint32)
        powers = np.full(n + 1, multiplier, np.uint32)
        inverses[0] = powers[0] = 1
        inverses = np.multiply.accumulate(inverses, dtype=np.uint32)
        sums = np.zeros(n + 1, np.uint32)
        np.cumsum(units * inverses[1:], out=sums[1:], dtype=np.uint32)
        return cls(sums, np.multiply.accumulate(powers, dtype=np.uint32))

    def shingles(self, runs: Sequence[tuple[I64, I64]]) -> tuple[I32, I64]:
        """Return the hash of each part, and the start of those of each file."""
        offsets = np.cumsum([0, *(len(starts) for starts, _ in runs)], dtype=np.int64)
        if not len(runs):
            return np.zeros(0, np.int32), offsets
        starts, ends = (np.concatenate([run[i] for run in runs]) for i in (0, 1))
        return ((self.sums[ends] - self.sums[starts]) * self.powers[ends]).view(np.int32), offsets


def _most_frequent(tokens: list[str]) -> I64:
    """Return the first position of each of the most frequent tokens."""
    firsts = {token: i for i, token in reversed(list(enumerate(tokens)))}
    most = Counter(tokens).most_common(similarity_index.FREQUENT_WORDS)
    return np.array([firsts[token] for token, _ in most], np.int64)
