"""Signatures as skewed as real ones, as many as are wanted: signed texts, then their like.

Signatures of real texts are not random bits: most bits lean to one side, bits go together, many documents share one
signature, and families of near-duplicates stand a few bits apart. `signatures_of` signs a corpus; `grown` makes more of
the same kind from the signatures it gets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]

EQUAL_SHARE = 0.05  # of all: one form letter, word for word
FAMILY_EXPONENT = 2.2  # families of s members are so much rarer than families of one: s**-2.2
LARGEST_FAMILY = 2_000
STRANGER_BITS = 0.35  # of the bits of an unrelated signature are drawn again, each with its own bias
UNCHANGED = 0.5  # of the members of a family have its very signature
FLIP_STOP = 0.4  # chance that a changed member has no further bit flipped
GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def signatures_of(texts: list[str], n_bits: int) -> U8:
    """Simhash of the character 4-grams of each text, every occurrence counted; packed, shape (n_texts, n_bits // 8).

    Source: Moses S. Charikar, "Similarity estimation techniques from rounding algorithms", 2002.
    """
    packed = np.zeros((len(texts), n_bits // 8), np.uint8)
    seeds = [_mix(np.array([(word + 1) * GOLDEN & MASK], np.uint64)) for word in range(-(-n_bits // 64))]
    for row, text in enumerate(texts):
        characters = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
        if len(characters) < 4:
            continue
        grams = characters[:-3]
        for later in range(1, 4):
            grams = _mix(grams) ^ characters[later : len(characters) - 3 + later]
        features, counts = np.unique(grams, return_counts=True)
        ones = np.concatenate([_bits_of(_mix(features ^ seed)) for seed in seeds], axis=1)[:, :n_bits]
        packed[row] = np.packbits(counts.astype(np.float32) @ ones > counts.sum() / 2)
    return packed


def grown(real: U8, n: int, seed: int) -> U8:
    """``n`` signatures of the kind of the real ones, shape (n, n_bytes), the same for the same seed."""
    chance = np.random.default_rng(seed)
    sizes = _family_sizes(chance, n - int(EQUAL_SHARE * n))
    bases = _strangers(chance, real, len(sizes))
    grown_ones = np.repeat(bases, sizes, axis=0)
    is_first = np.zeros(len(grown_ones), bool)
    is_first[np.cumsum(sizes) - sizes] = True
    changed = np.flatnonzero(~is_first & (chance.random(len(grown_ones)) >= UNCHANGED))
    n_flips = chance.geometric(FLIP_STOP, len(changed))
    n_bits = 8 * real.shape[1]
    while len(changed):
        bits = chance.integers(0, n_bits, len(changed))
        grown_ones[changed, bits // 8] ^= (128 >> (bits % 8)).astype(np.uint8)
        n_flips -= 1
        changed, n_flips = changed[n_flips > 0], n_flips[n_flips > 0]
    form = np.repeat(bases[:1], n - len(grown_ones), axis=0)
    return np.concatenate([grown_ones, form])[chance.permutation(n)]


def _family_sizes(chance: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Sizes of families that add up to ``n``."""
    possible = np.arange(1, LARGEST_FAMILY + 1)
    weights = possible**-FAMILY_EXPONENT
    sizes = chance.choice(possible, n, p=weights / weights.sum())
    ends = np.cumsum(sizes)
    n_families = int(np.searchsorted(ends, n)) + 1
    sizes = sizes[:n_families]
    sizes[-1] -= ends[n_families - 1] - n
    return sizes


def _strangers(chance: np.random.Generator, real: U8, n: int) -> U8:
    """Return real signatures while there are any, then real ones of which some bits are drawn again."""
    leaning = np.unpackbits(real, axis=1).mean(axis=0)
    strangers = real[chance.integers(0, len(real), n)]
    strangers[: min(n, len(real))] = real[:n]
    for start in range(len(real), n, 1 << 16):
        part = slice(start, min(start + (1 << 16), n))
        shape = (part.stop - part.start, len(leaning))
        is_redrawn = np.packbits(chance.random(shape, np.float32) < STRANGER_BITS, axis=1)
        redrawn = np.packbits(chance.random(shape, np.float32) < leaning, axis=1)
        strangers[part] = (strangers[part] & ~is_redrawn) | (redrawn & is_redrawn)
    return strangers


def _bits_of(numbers: U64) -> NDArray[np.float32]:
    return np.unpackbits(numbers.view(np.uint8).reshape(-1, 8), axis=1).astype(np.float32)


def _mix(x: U64) -> U64:
    """The finaliser of SplitMix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
