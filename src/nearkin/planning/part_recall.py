"""Probability that sampled shingles find a text that contains another one, or is contained in it.

The number of sampled shingles among those that two texts share is hypergeometric (Feller, An Introduction to
Probability Theory and Its Applications, volume 1, 1968, section II.6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nearkin.planning.sketch_recall import hypergeometric
from nearkin.records import F64, I64
from nearkin.wording import rounded_down

PART_WORDS = 100
"""Length of the parts for which the recall is stated."""
_NOT_OF_A_SHINGLE = 4
"""Words at the end of a text at which no word 5-gram begins."""


@dataclass(frozen=True, slots=True)
class PartRecall:
    """Expected recall of a search for parts, for pairs exactly at the containment; more are found above it.

    Parameters
    ----------
    containing_texts
        Share in [0, 1]: of the stored texts that contain the text, those that are expected to be found.
    parts
        Share in [0, 1]: of the stored texts with ``n_words`` words that are parts of the text, those that are expected
        to be found.
    """

    containing_texts: float
    parts: float
    n_words: int


@dataclass(slots=True)
class MeanPartRecall:
    """Mean of the expected recalls of several texts."""

    n_texts: int = 0
    n_long_texts: int = 0
    containing_texts: float = 0.0
    parts: float = 0.0

    def take(self, recall: PartRecall) -> None:
        """Add the recall of a text; that of its parts only if they have `PART_WORDS` words."""
        self.n_texts += 1
        self.containing_texts += recall.containing_texts
        if recall.n_words == PART_WORDS:
            self.n_long_texts += 1
            self.parts += recall.parts

    @property
    def means(self) -> dict[str, float | int | None]:
        """The means, with the meanings of `PartRecall`; None without a text."""
        return {
            "containing_texts": _mean(self.containing_texts, self.n_texts),
            "parts": _mean(self.parts, self.n_long_texts),
            "n_words": PART_WORDS,
        }


def _mean(total: float, n: int) -> float | None:
    return rounded_down(total / n + 1e-9, 4) if n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledSearch:
    """A search for texts that share sampled shingles with a text.

    Parameters
    ----------
    least : int64 array, shape (n_counted + 1,)
        Minimum number of shared ones, by the number of sampled shingles of the shorter text; the last entry also serves
        for all larger numbers.
    """

    n_shingles: int
    n_samples: int
    n_asked: int
    rate: float
    least: I64
    min_common: int

    def recall(self, containment: float) -> PartRecall | None:
        """Return the expected recall; None if the text is too short to have a part or to be one."""
        n_of_part = min(PART_WORDS - _NOT_OF_A_SHINGLE, self.n_shingles)
        if n_of_part < self.min_common:
            return None
        contained = self._contained(n_of_part, self._n_common(containment, n_of_part))
        containing = self._containing(containment)
        return PartRecall(rounded_down(containing, 4), rounded_down(contained, 4), n_of_part + _NOT_OF_A_SHINGLE)

    def _n_common(self, containment: float, n_shingles: int) -> int:
        return max(self.min_common, math.ceil(containment * n_shingles - 1e-9))

    def _min_of(self, n_samples: I64) -> I64:
        return self.least[np.minimum(np.minimum(n_samples, self.n_samples), len(self.least) - 1)]

    def _containing(self, containment: float) -> float:
        n_common = np.array([self._n_common(containment, self.n_shingles)], np.float64)
        shared = hypergeometric(self.n_asked, n_common, self.n_shingles)[0]
        return float(shared[int(self._min_of(np.array(self.n_samples))) :].sum())

    def _contained(self, n_shingles: int, n_common: int) -> float:
        shared = hypergeometric(self.n_samples, np.array([n_common], np.float64), self.n_shingles)[0][: n_common + 1]
        sampled_left = _binomial(n_shingles - n_common, self.rate)
        n_shared, is_enough = np.arange(len(shared)), self._looked_up(len(shared) - 1)
        recall = 0.0
        for n_own, chance in enumerate(sampled_left.tolist()):
            least = np.minimum(self._min_of(n_shared + n_own), len(shared))
            recall += chance * float(shared @ is_enough[n_shared, least])
        return recall

    def _looked_up(self, n_shared: int) -> F64:
        """Return the probability that at least so many shared sampled shingles are looked up, by numbers of both."""
        part = self.n_asked / self.n_samples if self.n_samples else 1.0
        drawn, chances = np.zeros(n_shared + 2), np.zeros((n_shared + 1, n_shared + 2))
        drawn[0] = 1.0
        for n in range(n_shared + 1):
            chances[n, : n + 1] = drawn[n::-1].cumsum()[::-1]
            drawn[1:] = drawn[1:] * (1 - part) + drawn[:-1] * part
            drawn[0] *= 1 - part
        return chances


def _binomial(n: int, chance: float) -> F64:
    return np.array([math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)])
