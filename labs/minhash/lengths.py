"""Effect of the shingle length on similarities in the corpus: of near-duplicates, and of unrelated pairs.

The article shows the effect on two sentences. The distance between the two kinds of pairs matters for the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from labs.minhash.truth import KeptPairs
from nearkin.records import U32, Candidates
from nearkin.stages.features.shingles import Characters, Shingling, Words
from nearkin.stages.verification.overlap import verify

SHINGLES: tuple[Shingling, ...] = (
    *(Characters(n) for n in (2, 3, 4, 5, 6, 8, 12, 16, 24)),
    *(Words(n) for n in (1, 2, 3, 4, 5, 7)),
)
_N_UNRELATED = 20_000
_MAX_NEAR = 5_000


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """Similarities for one kind of shingle; the pairs are the same for every kind.

    Parameters
    ----------
    shingle : str
        ``chars:5``, ``words:3``.
    mean_near, low_near : float
        Mean and 10th percentile over the near-duplicates found with the article's shingles; NaN if there are none.
    median_unrelated, high_unrelated : float
        Median and 99.9th percentile over a sample of all other pairs; NaN if there are none.
    """

    shingle: str
    mean_near: float
    low_near: float
    median_unrelated: float
    high_unrelated: float


@dataclass(frozen=True, slots=True)
class LengthEffects:
    """The effect of every kind of shingle, and the number of pairs."""

    effects: tuple[LengthEffect, ...]
    n_near: int
    n_unrelated: int


def compare_lengths(texts: pa.LargeStringArray, similar: KeptPairs, threshold: float) -> LengthEffects:
    """Compare near-duplicates (pairs at or above ``threshold``) and a seeded sample of the other pairs."""
    is_near = similar.similarity >= threshold
    near = _spread(similar.left[is_near], similar.right[is_near])
    unrelated = _sample_unrelated(len(texts), similar, threshold)
    effects = []
    for shingle in SHINGLES:
        sets = shingle.sets(texts)
        s_near, s_unrelated = (
            verify(pairs, sets.hashes, sets.offsets[:-1], sets.offsets[1:]).jaccard
            if len(pairs)
            else np.array([np.nan])
            for pairs in (near, unrelated)
        )
        effects.append(
            LengthEffect(
                str(shingle),
                float(s_near.mean()),
                float(np.quantile(s_near, 0.1)),
                float(np.median(s_unrelated)),
                float(np.quantile(s_unrelated, 0.999)),
            )
        )
    return LengthEffects(tuple(effects), len(near), len(unrelated))


def _spread(left: U32, right: U32) -> Candidates:
    """Return all pairs, or a limited number at equal distances."""
    step = 1 + (len(left) - 1) // _MAX_NEAR if len(left) else 1
    return Candidates(left[::step], right[::step])


def _sample_unrelated(n_rows: int, similar: KeptPairs, threshold: float) -> Candidates:
    """Draw distinct pairs below the threshold with a fixed seed, sorted."""
    drawn = np.random.default_rng(0).integers(0, n_rows, (2, _N_UNRELATED), np.uint32)
    left, right = drawn.min(axis=0), drawn.max(axis=0)
    codes = np.unique((left.astype(np.uint64) << np.uint64(32) | right)[left < right])
    is_near = similar.similarity >= threshold
    near = similar.left[is_near].astype(np.uint64) << np.uint64(32) | similar.right[is_near]
    codes = codes[~np.isin(codes, near)]
    return Candidates((codes >> np.uint64(32)).astype(np.uint32), codes.astype(np.uint32))
