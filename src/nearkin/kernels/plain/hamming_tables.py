"""The twin of ``compiled.hamming_tables``."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.mixing import mix

CHUNK = 64
_ROW = 0xFFFFFFFF


def sort_by_block(words: NDArray[np.uint64], mask: NDArray[np.uint64], *, key_bits: int) -> NDArray[np.uint64]:
    """See ``compiled.hamming_tables.sort_by_block``.

    Examples
    --------
    >>> words, mask = np.array([[0x12], [0x32], [0x14]], np.uint64), np.array([0x0F], np.uint64)
    >>> (sort_by_block(words, mask, key_bits=8) & np.uint64(0xFF)).tolist()  # 0x12 and 0x32 come together
    [2, 0, 1]
    """
    entries = []
    for row, string in enumerate((words & mask).tolist()):
        key = 0
        for word in string:
            key = mix(key ^ word)
        entries.append(key >> (64 - key_bits) << 32 | row)
    return np.array(sorted(entries), np.uint64)


def link_table(
    entries: NDArray[np.uint64],
    leads: NDArray[np.uint64],
    words: NDArray[np.uint64],
    blocks: NDArray[np.uint64],
    is_key: NDArray[np.bool_],
    *,
    distance: int,
    n_queries: int,
    start: tuple[int, int],
    pairs: NDArray[np.uint64],
    distances: NDArray[np.uint16],
) -> tuple[int, tuple[int, int]]:
    """See ``compiled.hamming_tables.link_table``."""
    n_pairs = 0
    rows = [int(entry) & _ROW for entry in entries]
    strings = [_as_int(words[row]) for row in rows]
    masks = [_as_int(mask) for mask in blocks]
    for _, run in groupby(range(start[0], len(entries)), key=lambda i: int(entries[i]) >> 32):
        places = list(run)
        rights = [i for i in places if rows[i] >= n_queries]
        lefts = [i for i in places if rights and (not n_queries or rows[i] < n_queries)]
        for i in lefts:
            first = max(start[1] if i == start[0] else 0, i + 1, rights[0])
            for chunk in range(first, places[-1] + 1, CHUNK):
                stop = min(chunk + CHUNK, places[-1] + 1)
                if n_pairs + stop - chunk > len(pairs):
                    return n_pairs, (i, chunk)
                for j in range(chunk, stop):
                    differing = strings[i] ^ strings[j]
                    if differing.bit_count() <= distance and _is_first_table(differing, masks, is_key.tolist()):
                        left, right = sorted((rows[i], rows[j]))
                        pairs[n_pairs], distances[n_pairs] = (left << 32) | right, differing.bit_count()
                        n_pairs += 1
    return n_pairs, (len(entries), 0)


def _as_int(words: NDArray[np.uint64]) -> int:
    """A string as one number."""
    return sum(word << (64 * w) for w, word in enumerate(words.tolist()))


def _is_first_table(differing: int, masks: list[int], is_key: list[bool]) -> bool:
    """Whether the first blocks in which two strings agree are the key's, and all of the key's."""
    agree = [block for block, mask in enumerate(masks) if not differing & mask]
    return agree[: sum(is_key)] == [block for block, of_key in enumerate(is_key) if of_key]
