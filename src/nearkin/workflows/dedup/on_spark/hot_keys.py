"""Keys with too many texts for one task, and the most preferred texts of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nearkin.engines.spark.layout import Block, Column
from nearkin.kernels.mixing import GOLDEN
from nearkin.records import I64, U8, U32, U64
from nearkin.stages.search.linking import FOLLOWS, SkewedRuns
from nearkin.workflows.dedup.corpus import MINE, THEIRS
from nearkin.workflows.dedup.on_spark.streams import HOT, HOT_RESTS, RANKED


@dataclass(frozen=True, slots=True)
class HotKeys:
    """Keys, each of a band.

    Parameters
    ----------
    bands, keys : uint32 and uint64 arrays, shape (n_keys,)
        Sorted by `_codes`.
    runs : SkewedRuns
        Number of texts of each key.
    n_pivots : int64 array, shape (n_keys,)
        Number of its texts with which all others are compared.
    pivots : tuple of arrays
        Columns of `RANKED` of those texts, once known; the most preferred text of a key first.
    """

    bands: U32
    keys: U64
    runs: SkewedRuns
    n_pivots: I64
    pivots: tuple[Column, ...] = ()

    @classmethod
    def of(cls, blocks: Sequence[Block], max_pivots: Mapping[int, int]) -> HotKeys:
        """Make the keys from blocks of `HOT`; ``max_pivots`` by band."""
        bands, keys, lengths, n_leads = HOT.joined(blocks)
        order = np.argsort(_codes(bands, keys))
        bands, keys, runs = bands[order], keys[order], SkewedRuns(lengths[order], n_leads[order])
        most = np.array([max_pivots[band] for band in bands.tolist()], np.int64)
        return cls(bands, keys, runs, runs.pivots(most))

    def rest(self, target: int, i: int, sides: U8) -> Iterator[Block]:
        """Yield counts by side of the texts of a key that are compared with its pivots only."""
        own, follows = sides & (MINE | THEIRS), (sides & FOLLOWS) != 0
        is_first, is_second = own == MINE, own == THEIRS
        counted = (np.ones(len(sides), np.bool_), is_first, is_second, follows, is_first & follows, is_second & follows)
        counts = np.array([[is_one.sum()] for is_one in counted], np.int64)
        yield from HOT_RESTS.packed(target, np.array([i], np.uint32), *counts)

    def n_not_compared(self, blocks: Sequence[Block]) -> int:
        """Return the number of skipped pairs, from blocks of `HOT_RESTS`, as `link_runs` counts them."""
        of_key, *counted = HOT_RESTS.joined(blocks)
        totals = [np.bincount(of_key, n, len(self.keys)).astype(np.int64) for n in counted]
        n, n_first, n_second, *following = (total * (total - 1) // 2 for total in totals)
        n_following, n_first_following, n_second_following = following
        n_among_following = n_following - n_first_following - n_second_following
        return int((n - n_first - n_second - n_among_following).sum())

    def index_of(self, bands: U32, keys: U64) -> I64:
        """Return the index of the key of each entry; -1 if it is not among them."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        at = np.searchsorted(_codes(self.bands, self.keys), _codes(bands, keys))
        at = np.minimum(at, len(self.keys) - 1)
        return np.where((self.bands[at] == bands) & (self.keys[at] == keys), at, -1)

    def foremost(self, entries: tuple[Column, ...]) -> Iterator[Block]:
        """Yield the most preferred entries of each key, as many as its pivots."""
        bands, keys, _, _, sides, codes, best = entries
        of_key = self.index_of(bands, keys)
        order = np.lexsort((*by_preference(best, codes, sides), of_key))
        order = order[of_key[order] >= 0]
        of_key = of_key[order]
        is_first = np.ones(len(of_key), np.bool_)
        is_first[1:] = of_key[1:] != of_key[:-1]
        starts = np.flatnonzero(is_first)
        place = np.arange(len(of_key)) - np.repeat(starts, np.diff(np.append(starts, len(of_key))))
        chosen = order[place < self.n_pivots[of_key]]
        yield from RANKED.packed(0, *(column[chosen] for column in entries))

    def with_pivots(self, blocks: Sequence[Block]) -> HotKeys:
        """Return the keys with the entries chosen from all partitions."""
        return replace(self, pivots=RANKED.joined(blocks))

    def with_members(self, i: int, members: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the pivots of a key, followed by other entries of it."""
        is_pivot = self.index_of(*self.pivots[:2]) == i
        pivots = tuple(column[is_pivot] for column in self.pivots)
        is_other = ~np.isin(members[2], pivots[2])
        return tuple(np.concatenate([a, b[is_other]]) for a, b in zip(pivots, members, strict=True))


def by_preference(best: Column, codes: Column, sides: Column) -> tuple[Column, ...]:
    """Return keys of `np.lexsort`: leading entries come first, then texts of the other set, if there is one.

    Others are compared with the first entries.
    """
    return best, codes, (sides & (MINE | THEIRS)) == MINE, sides & FOLLOWS


def _codes(bands: U32, keys: U64) -> U64:
    """Return one number for band and key."""
    return keys ^ (bands + np.uint64(1)) * GOLDEN
