"""Pairs of bit strings that differ in few bits, found in tables of strings that agree in some blocks of bits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

CHUNK = 64
"""Number of strings compared with one other at a time."""


def sort_by_block(words: NDArray[np.uint64], mask: NDArray[np.uint64], *, key_bits: int) -> NDArray[np.uint64]:
    """Bring together the strings that agree in all bits of the mask; others may come together by chance.

    Parameters
    ----------
    key_bits
        From 1 to 32: strings that differ under the mask have the same key with probability ``2**-key_bits``.

    Returns
    -------
    entries : uint64 array, shape (n_strings,)
        The key in the upper 32 bits, the row in the lower; sorted.
    """
    entries: NDArray[np.uint64] = loops("hamming_tables", words.nbytes).sort_by_block(*frozen(words, mask), key_bits)
    return entries


def near_in_table(
    entries: NDArray[np.uint64],
    words: NDArray[np.uint64],
    blocks: NDArray[np.uint64],
    is_key: NDArray[np.bool_],
    *,
    distance: int,
    n_queries: int,
    room: int = 1 << 16,
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint16]]]:
    """Yield the pairs within the distance that share the key of this table and of no earlier one.

    Parameters
    ----------
    blocks : uint64 array, shape (n_blocks, n_words)
        Masks that share no bit.
    is_key : bool array, shape (n_blocks,)
        Blocks in which strings with the same key agree. Tables are in the order in which ``itertools.combinations``
        chooses blocks, so the first table with a pair is that of the first blocks in which the pair agrees.
    n_queries
        0: compare all rows. Otherwise only rows below it with rows from it on.

    Yields
    ------
    pairs, distances : uint64 and uint16 arrays, shape (n_pairs,)
        Lower row in the upper 32 bits of a pair.
    """
    leads = words[(entries & np.uint64(0xFFFFFFFF)).astype(np.int64), 0]
    kernel = loops("hamming_tables", words.nbytes)
    own = *frozen(entries, leads, words, blocks, is_key), np.uint64(distance), n_queries
    pairs, distances = np.empty(room, np.uint64), np.empty(room, np.uint16)
    i = j = 0
    while i < len(entries):
        n_pairs, i, j = kernel.link_many(*own, i, j, pairs, distances)
        if n_pairs:
            yield pairs[:n_pairs].copy(), distances[:n_pairs].copy()
