"""Every pair of texts, compared exactly and without any search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.collections.documents import TRUE_JACCARD, LabelledTexts
from nearkin.collection.counting import DEFAULT_ALPHABET, NORMALISE, SHINGLES, TextCounting
from nearkin.collection.tolerance import Tolerance
from nearkin.kernels.overlap import n_common
from nearkin.records import F64, I64, Bool
from nearkin.runs.progress import Progress
from nearkin.stages.features.letters import LetterCounts

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
GAMMAS = (0.025, 0.05, 0.1)
SETTINGS = (*(Tolerance.of(threshold=one) for one in THRESHOLDS), *(Tolerance.of(gamma=one) for one in GAMMAS))
"""Settings that are compared, in the order of all tables."""
_ROWS_AT_A_TIME = 64


@dataclass(frozen=True, slots=True)
class BelongingPairs:
    """Pairs of texts that belong together.

    Parameters
    ----------
    left, right : int64 arrays, shape (n_pairs,)
        Rows, left before right.
    found : int64 array, shape (n_settings,)
        Number of pairs that each setting matches.
    right_found : int64 array, shape (n_settings,)
        Number of these that belong together.
    """

    left: I64
    right: I64
    found: I64
    right_found: I64

    def __len__(self) -> int:
        return len(self.left)


def compare_all(documents: LabelledTexts, progress: Progress) -> BelongingPairs:
    """Compare every pair: Jaccard similarity of word 5-grams, and relative distance of the letter counts.

    Letters are counted in the alphabet of a new collection.

    Pairs belong together if they have one label; without labels, if their Jaccard similarity is at least 0.5.
    """
    sets = SHINGLES.sets(NORMALISE.apply(documents.texts))
    offsets = np.asarray(sets.offsets, np.int64)
    counted = TextCounting(LetterCounts(DEFAULT_ALPHABET)).count(documents.texts)
    counts = counted.counts.astype(np.float64)
    squares = np.einsum("ij,ij->i", counts, counts)
    found, right_found = np.zeros(len(SETTINGS), np.int64), np.zeros(len(SETTINGS), np.int64)
    lefts, rights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    n = len(documents)
    progress.start("compare all pairs", n, "documents")
    for start in range(0, n, _ROWS_AT_A_TIME):
        rows = np.arange(start, min(start + _ROWS_AT_A_TIME, n))
        left, right = (side.ravel() for side in np.meshgrid(rows, np.arange(n), indexing="ij"))
        left, right = left[left < right], right[left < right]
        jaccard = _jaccards(sets.hashes, offsets, left, right)
        is_true: Bool = jaccard >= TRUE_JACCARD
        if documents.labels is not None:
            is_true = documents.labels[left] == documents.labels[right]
        gaps = np.maximum(squares[left] + squares[right] - 2 * (counts[rows] @ counts.T)[left - start, right], 0)
        relative = np.sqrt(gaps / np.maximum(np.maximum(squares[left], squares[right]), 1))
        relative[~(counted.is_counted[left] & counted.is_counted[right])] = np.inf
        for i, setting in enumerate(SETTINGS):
            is_match = jaccard >= setting.value if setting.method == "minhash" else relative <= setting.value
            found[i] += int(is_match.sum())
            right_found[i] += int((is_match & is_true).sum())
        lefts.append(left[is_true])
        rights.append(right[is_true])
        progress.advance(len(rows))
    progress.finish()
    return BelongingPairs(np.concatenate(lefts), np.concatenate(rights), found, right_found)


def _jaccards(hashes: np.ndarray, offsets: I64, left: I64, right: I64) -> F64:
    sizes = np.diff(offsets)
    both = n_common(hashes, offsets[:-1], offsets[1:], left.astype(np.uint32), right.astype(np.uint32))
    return np.asarray(both / np.maximum(sizes[left] + sizes[right] - both, 1), np.float64)
