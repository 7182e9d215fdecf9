"""Pairs of stored texts whose signatures differ in few bits: candidates for a comparison by words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from nearkin.collection.matching.forest import Forest
from nearkin.engines.local import map_ordered
from nearkin.kernels.signature_tiles import near_in_tiles, tiled
from nearkin.records import I64, U64, Bool
from nearkin.runs.progress import Progress

Near = tuple[I64, I64, I64]
_PAIRS_AT_A_TIME = 1 << 20
"""Maximum number of pairs that a batch holds if all texts are similar to one another."""
_FEWEST_QUERIES, _MAX_QUERIES = 8, 512
_ROOM = 1 << 17
_MAX_CONNECTED = 1 << 22
"""Minimum number of pairs found although they were connected meanwhile, before the rest is laid out again."""


def near_signatures(
    words: U64,
    asked: I64,
    is_live: Bool,
    reach: int,
    *,
    forest: Forest,
    threads: int,
    progress: Progress,
) -> Iterator[Near]:
    """Yield batches of pairs with their number of different bits; every pair occurs at most once.

    None is missed of two texts that the forest does not connect yet. Texts of one component lie side by side, and
    neither is compared with the other, so that n near-equal texts do not cost n * n comparisons. A batch has the pairs
    that are apart when it is yielded, so the batches are the same for every number of threads.

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
    forest : Forest
        Components; the caller connects more of them while pairs are yielded. Pairs that are connected when they are
        found, in threads, are dropped at once.
    threads : int
    progress : Progress
    """
    asked = np.unique(asked)
    others = is_live.copy()
    others[asked] = False
    ordered = _SignatureOrders(words, np.flatnonzero(others), forest)
    progress.start("compare", len(asked), "documents")
    while len(asked):
        texts, n_done, n_connected = ordered(asked), 0, 0

        def pairs_of(part: slice, texts: _SignatureOrder = texts) -> tuple[Near, int]:
            return texts.pairs_of(part, reach, forest.are_apart)

        parts = _parts(len(asked), _PAIRS_AT_A_TIME // max(1, len(texts.order)))
        with closing(map_ordered(pairs_of, parts, threads=threads)) as found:
            for part, (pairs, n_dropped) in zip(parts, found, strict=False):
                progress.advance(part.stop - part.start)
                # more or fewer were dropped, depending on the batches that the caller had connected by then
                is_apart = forest.are_apart(*pairs[:2])
                n_dropped += len(is_apart) - int(is_apart.sum())
                left, right, bits = (column[is_apart] for column in pairs)
                yield left, right, bits
                n_done, n_connected = part.stop, n_connected + n_dropped
                if n_connected > max(_MAX_CONNECTED, len(texts.order)):
                    break
        asked = np.sort(texts.order[n_done : len(asked)])
    progress.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _SignatureOrder:
    """Texts in the order in which they are compared: those asked for, by component, then all others, by component."""

    words: U64
    tiles: U64
    order: I64
    n_asked: int
    after_own: I64
    others_start: I64
    others_end: I64

    def pairs_of(self, part: slice, reach: int, is_wanted: Callable[[I64, I64], Bool]) -> tuple[Near, int]:
        """Return the wanted pairs of some texts with later ones of other components, and the number of other pairs."""
        own = self.words[self.order[part]]
        room = np.empty(_ROOM, np.uint64), np.empty(_ROOM, np.uint16)
        found: list[Near] = [(self.order[:0],) * 3]
        n_dropped = 0
        ends = np.full(len(own), len(self.order))
        for starts, stops in ((self.after_own[part], self.others_start[part]), (self.others_end[part], ends)):
            for n in near_in_tiles(own, self.tiles, starts, stops, distance=reach, pairs=room[0], distances=room[1]):
                left = self.order[part.start + (room[0][:n] >> np.uint64(32)).astype(np.int64)]
                right = self.order[(room[0][:n] & np.uint64(0xFFFFFFFF)).astype(np.int64)]
                is_new = is_wanted(left, right)
                n_dropped += n - int(is_new.sum())
                found.append((left[is_new], right[is_new], room[1][:n][is_new].astype(np.int64)))
        lefts, rights, bits = (np.concatenate(column) for column in zip(*found, strict=True))
        return (lefts, rights, bits), n_dropped


@dataclass(frozen=True, slots=True)
class _SignatureOrders:
    """Makes orders of the texts that are left to be asked for, and of all others."""

    words: U64
    others: I64
    forest: Forest

    def __call__(self, asked: I64) -> _SignatureOrder:
        own, own_roots = self._by_component(asked)
        others, roots = self._by_component(self.others)
        order = np.concatenate([own, others])
        return _SignatureOrder(
            words=self.words,
            tiles=tiled(self.words, order),
            order=order,
            n_asked=len(own),
            after_own=np.searchsorted(own_roots, own_roots, side="right").astype(np.int64),
            others_start=len(own) + np.searchsorted(roots, own_roots, side="left").astype(np.int64),
            others_end=len(own) + np.searchsorted(roots, own_roots, side="right").astype(np.int64),
        )

    def _by_component(self, contents: I64) -> tuple[I64, I64]:
        roots = self.forest.roots(contents)
        order = np.argsort(roots, kind="stable")
        return contents[order], roots[order]


def _parts(n_asked: int, most: int) -> Sequence[slice]:
    """Divide the queries; the first parts are short, as what they find spares the others work."""
    parts, start, size = list[slice](), 0, _FEWEST_QUERIES
    most = min(_MAX_QUERIES, max(_FEWEST_QUERIES, most))
    while start < n_asked:
        parts.append(slice(start, min(start + size, n_asked)))
        start, size = parts[-1].stop, min(2 * size, most)
    return parts
