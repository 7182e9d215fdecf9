"""Pairs of stored texts whose signatures differ in few bits: candidates for a comparison by words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from nearkin.engines.local import map_ordered
from nearkin.kernels.signature_tiles import near_in_tiles, tiled
from nearkin.records import I64, U64, Bool
from nearkin.runs.progress import Progress

Near = tuple[I64, I64, I64]
_PAIRS_AT_A_TIME = 1 << 25
"""Maximum number of pairs held if all texts are similar to one another."""
_FEWEST_QUERIES, _MAX_QUERIES = 8, 512
_ROOM = 1 << 17


def near_signatures(
    words: U64,
    asked: I64,
    is_live: Bool,
    reach: int,
    *,
    is_wanted: Callable[[I64, I64], Bool],
    threads: int,
    progress: Progress,
) -> Iterator[Near]:
    """Yield batches of pairs with their number of different bits; every pair occurs once, and none is missed.

    Parameters
    ----------
    words : uint64 array, shape (n_contents, n_words)
        Signatures.
    asked : int64 array, shape (n_asked,)
        Contents to compare with all others; live.
    is_live : bool array, shape (n_contents,)
        Whether each content takes part.
    reach : int
        Maximum number of different bits.
    is_wanted : callable
        Whether pairs are still wanted when they are found, from threads: others are dropped at once.
    threads : int
    progress : Progress
    """
    asked = np.unique(asked)
    others = is_live.copy()
    others[asked] = False
    order = np.concatenate([asked, np.flatnonzero(others)])
    tiles = tiled(words, order)

    def pairs_of(part: slice) -> Near:
        starts = np.arange(part.start + 1, part.stop + 1)
        ends = np.full(len(starts), len(order))
        room = np.empty(_ROOM, np.uint64), np.empty(_ROOM, np.uint16)
        found: list[Near] = [(asked[:0],) * 3]
        for n in near_in_tiles(
            words[order[part]], tiles, starts, ends, distance=reach, pairs=room[0], distances=room[1]
        ):
            left = order[part.start + (room[0][:n] >> np.uint64(32)).astype(np.int64)]
            right = order[(room[0][:n] & np.uint64(0xFFFFFFFF)).astype(np.int64)]
            is_new = is_wanted(left, right)
            found.append((left[is_new], right[is_new], room[1][:n][is_new].astype(np.int64)))
        lefts, rights, bits = (np.concatenate(column) for column in zip(*found, strict=True))
        return lefts, rights, bits

    parts = _parts(len(asked), _PAIRS_AT_A_TIME // max(1, len(order) * threads))
    progress.start("compare", len(asked), "documents")
    for part, found in zip(parts, map_ordered(pairs_of, parts, threads=threads), strict=True):
        progress.advance(part.stop - part.start)
        yield found
    progress.finish()


def _parts(n_asked: int, most: int) -> Sequence[slice]:
    """Divide the queries; the first parts are short, as what they find spares the others work."""
    parts, start, size = list[slice](), 0, _FEWEST_QUERIES
    most = min(_MAX_QUERIES, max(_FEWEST_QUERIES, most))
    while start < n_asked:
        parts.append(slice(start, min(start + size, n_asked)))
        start, size = parts[-1].stop, min(2 * size, most)
    return parts
