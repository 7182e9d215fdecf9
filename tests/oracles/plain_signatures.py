"""Signatures by their plain definitions: one feature after another, with hashlib and Python's integers."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """The finaliser of SplitMix64."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def grams(text: str, n: int) -> list[str]:
    """Every window of n characters; a shorter text is one window."""
    return [text[i : i + min(n, len(text))] for i in range(max(1, len(text) - n + 1))] if text else []


def feature_hash(gram: str) -> int:
    """The 64-bit hash of a character n-gram: a polynomial of its code points."""
    value = 0
    for character in gram:
        value = (value * 0xD6E8FEB86659FD93 + ord(character)) & MASK
    return mix((value + len(gram)) & MASK)


def as_hex(bits: Sequence[bool]) -> str:
    """The first bit is the highest of the first digit."""
    return f"{int(''.join('01'[b] for b in bits), 2):0{len(bits) // 4}x}"


def simhash(text: str, n: int, bits: int) -> str:
    """SHAKE-256 of every occurrence; +1 or -1 for each bit."""
    sums = [0] * bits
    for gram, count in Counter(grams(text, n)).items():
        digest = hashlib.shake_256(gram.encode()).digest(bits // 8)
        for j in range(bits):
            sums[j] += count if digest[j // 8] >> (7 - j % 8) & 1 else -count
    return as_hex([s > 0 for s in sums])


def fast_simhash(text: str, n: int, bits: int, seed: int) -> str:
    """The same with bits drawn from the 64-bit hash: the lowest byte of a draw is the first."""
    sums = [0] * bits
    base = mix((seed + GOLDEN) & MASK)
    for gram, count in Counter(grams(text, n)).items():
        draws = b"".join(
            mix(feature_hash(gram) ^ ((base + j * GOLDEN) & MASK)).to_bytes(8, "little") for j in range(-(-bits // 64))
        )
        for j in range(bits):
            sums[j] += count if draws[j // 8] >> (7 - j % 8) & 1 else -count
    return as_hex([s > 0 for s in sums])


def sparse_vector(gram: str, bits: int, n_nonzero: int, seed: int) -> dict[int, int]:
    """Place → +1 or -1: one place in each of n_nonzero stretches."""
    base = mix((seed + GOLDEN) & MASK)
    vector = {}
    for j in range(n_nonzero):
        draw = mix(feature_hash(gram) ^ ((base + j // 2 * GOLDEN) & MASK)) >> (32 * (j % 2)) & 0xFFFFFFFF
        low, high = j * bits // n_nonzero, (j + 1) * bits // n_nonzero
        vector[low + ((draw >> 1) * (high - low) >> 31)] = 1 if draw & 1 else -1
    return vector


def topsig(text: str, n: int, bits: int, n_nonzero: int, seed: int) -> str:
    """The vectors of every occurrence."""
    sums = [0] * bits
    for gram, count in Counter(grams(text, n)).items():
        for place, sign in sparse_vector(gram, bits, n_nonzero, seed).items():
            sums[place] += sign * count
    return as_hex([s > 0 for s in sums])


def weighted_topsig(text: str, collection: Sequence[str], n: int, bits: int, n_nonzero: int, seed: int) -> str:
    """The vectors of each distinct feature times ln((tf / |d|) / (cf / |C|)), logarithms in units of 2**-20."""
    cf = Counter(gram for one in collection for gram in grams(one, n))
    tf = Counter(grams(text, n))
    sums = [0] * bits
    for gram, count in tf.items():
        weight = ln(count) - ln(tf.total()) - ln(cf[gram] or 1) + ln(cf.total())
        for place, sign in sparse_vector(gram, bits, n_nonzero, seed).items():
            sums[place] += sign * weight
    return as_hex([s > 0 for s in sums])


def ln(n: int) -> int:
    """The natural logarithm in units of 2**-20."""
    return round(math.log(n) * 2**20)
