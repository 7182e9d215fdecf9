"""Pairs of signatures that stand near each other in one of many sorted orders: for thresholds too low for tables.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011, section 4.3; the idea is that of Moses S. Charikar, "Similarity
estimation techniques from rounding algorithms", STOC 2002.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin import kernels
from nearkin.errors import FingerprintError, ParameterError
from nearkin.records import I64, U32, U64, BitSignatures

_LEADING = 64
_CHUNK = 1 << 14
"""Left rows that one piece of work compares; the answer does not depend on it."""
_HELD = 1 << 22  # pairs, with those that were found again, before they are made distinct


@dataclass(frozen=True, slots=True)
class WindowPairs:
    """What a sliding window found, each pair once, in order of left and right rows.

    Parameters
    ----------
    left, right : uint32 arrays, shape (n_pairs,)
        Rows; of one collection the left is the lower one.
    distance : uint16 array, shape (n_pairs,)
        Bits in which the two differ.
    n_comparisons : int
        That were made, those of pairs that were compared before among them.
    """

    left: U32
    right: U32
    distance: NDArray[np.uint16]
    n_comparisons: int

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """Sort signatures by their bits in many random orders, and compare each with those near it.

    Parameters
    ----------
    permutations : int
        Orders of the bits, at least 1: Q of the article.
    window : int
        Signatures on either side that one is compared with, at least 1: B of the article.
    seed : int
        In [0, 2**64): other orders.

    Examples
    --------
    >>> packed = np.random.default_rng(1).integers(0, 256, (40, 16), np.uint8)
    >>> packed[30] = packed[4]
    >>> packed[30, 0] ^= 1
    >>> signatures = BitSignatures(packed, np.ones(40, bool), "example")
    >>> found = SlidingWindow(permutations=5, window=3).pairs(signatures, distance=9)
    >>> found.left.tolist(), found.right.tolist(), found.distance.tolist()
    ([4], [30], [1])
    """

    permutations: int
    window: int
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("permutations", 1), ("window", 1), ("seed", 0)):
            value, most = getattr(self, name), 2**64 if name == "seed" else 2**31
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value < most:
                raise ParameterError.of(name, "SlidingWindow", f"an int >= {least} and below {most}", value)

    @property
    def fingerprint(self) -> str:
        """What decides what is found, but for the signatures and the distance."""
        return f"sliding-window;permutations={self.permutations};window={self.window};seed={self.seed}"

    def orders(self, n_bits: int) -> Iterator[I64]:
        """The order of the bits for each permutation, shape (n_bits,); the same on every machine."""
        for number in range(self.permutations):
            yield np.random.Generator(np.random.PCG64([self.seed, number])).permutation(n_bits)

    def pairs(
        self, left: BitSignatures, right: BitSignatures | None = None, *, distance: int, threads: int = 1
    ) -> WindowPairs:
        """Pairs whose signatures differ in at most so many bits, and that stand in one window at least once.

        Parameters
        ----------
        left : BitSignatures
            Documents without features are nobody's neighbours.
        right : BitSignatures, optional
            Of another collection: then a pair is of one document of each. Windows go over both collections together.
        distance : int
            From 0 to the number of bits.
        threads : int
            The answer does not depend on it.

        Raises
        ------
        FingerprintError
            The signatures were made by different methods.
        ParameterError
        """
        _check(left, right, distance, threads)
        sides = [left] if right is None else [left, right]
        rows = [np.flatnonzero(side.has_features) for side in sides]
        words = [np.ascontiguousarray(side.words[own]) for side, own in zip(sides, rows)]
        held, n_comparisons, n_new = [np.zeros((0, 3), np.int64)], 0, 0
        for order in self.orders(left.n_bits):
            windows = _Windows.of(words, _bit_places(order), self.window)
            n_comparisons += windows.n_comparisons
            for found in windows.near(distance, threads):
                held.append(found)
                n_new += len(found)
                if n_new > max(_HELD, len(held[0])):
                    held, n_new = [_distinct(held)], 0
        pairs = _distinct(held)
        own_left, own_right = rows[0], rows[-1]
        return WindowPairs(
            own_left[pairs[:, 0]].astype(np.uint32),
            own_right[pairs[:, 1]].astype(np.uint32),
            pairs[:, 2].astype(np.uint16),
            n_comparisons,
        )


@dataclass(frozen=True, slots=True)
class _Windows:
    """Signatures in one order: those on the left one by one, those on the right side by side, and who sees whom."""

    left: U64
    right: U64
    left_rows: I64
    right_rows: I64
    starts: I64
    ends: I64

    @classmethod
    def of(cls, words: Sequence[U64], places: I64, window: int) -> _Windows:
        """Sort them; of two collections together, so that a window is as wide for both."""
        joined = np.concatenate(words) if len(words) > 1 else words[0]
        order = _sorted(joined, places)
        if len(words) == 1:
            n = len(order)
            ends = np.minimum(np.arange(n) + window + 1, n)
            ordered = joined[order]
            return cls(ordered, np.ascontiguousarray(ordered.T), order, order, np.arange(1, n + 1), ends)
        is_left = order < len(words[0])
        n_right = np.concatenate([[0], np.cumsum(~is_left)])
        at = np.flatnonzero(is_left)
        starts = n_right[np.maximum(at - window, 0)]
        ends = n_right[np.minimum(at + window + 1, len(order))]
        left_rows, right_rows = order[is_left], order[~is_left] - len(words[0])
        return cls(
            words[0][left_rows], np.ascontiguousarray(words[1][right_rows].T), left_rows, right_rows, starts, ends
        )

    @property
    def n_comparisons(self) -> int:
        """That a look into every window takes."""
        return int(np.maximum(self.ends - self.starts, 0).sum())

    def near(self, distance: int, threads: int) -> Iterator[NDArray[np.int64]]:
        """Pairs of rows and their distances, shape (n, 3), some at a time."""
        kernel = kernels.twin("sliding_window", 8 * self.n_comparisons)

        def work(first: int) -> list[NDArray[np.int64]]:
            part = slice(first, first + _CHUNK)
            ends = np.maximum(self.starts[part], self.ends[part])
            room = max(1 << 12, int((ends - self.starts[part]).max(initial=0)))
            found, parts, at = np.empty((room, 3), np.int64), list[NDArray[np.int64]](), 0
            own = self.left[part]
            while at < len(own):
                n, at = kernel.near_in_order(
                    own, self.right, self.starts[part], ends, distance=distance, first=at, found=found
                )
                parts.append(self._rows(found[:n], first))
            return parts

        firsts = range(0, len(self.left), _CHUNK)
        if threads == 1 or len(firsts) < 2:
            for first in firsts:
                yield from work(first)
            return
        with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
            for parts in pool.map(work, firsts):
                yield from parts

    def _rows(self, found: NDArray[np.int64], first: int) -> NDArray[np.int64]:
        """Places in the order as rows, the lower one left if both are of one collection."""
        pairs = np.stack(
            [self.left_rows[first + found[:, 0]], self.right_rows[found[:, 1]], found[:, 2]], axis=1
        ).astype(np.int64)
        if self.left_rows is self.right_rows:
            pairs[:, :2].sort(axis=1)
        return pairs


def _bit_places(order: I64) -> I64:
    """Where the bits of an order are in 64-bit words: in the bytes of a signature the first bit is the highest."""
    return (order // 8) * 8 + 7 - order % 8


def _sorted(words: U64, places: I64) -> I64:
    """The order of signatures whose bits are read in another order; equal ones stay in their own."""
    kernel = kernels.twin("sliding_window", words.nbytes)
    leading = kernel.leading_bits(words, places[:_LEADING])
    order = np.argsort(leading, kind="stable")
    is_tied = np.zeros(len(order) + 1, np.bool_)  # with the one before it
    is_tied[1:-1] = leading[order[1:]] == leading[order[:-1]]
    among = np.flatnonzero(is_tied[:-1] | is_tied[1:])  # few: places of those who are tied with a neighbour
    if len(among):
        own = order[among]
        rest = [kernel.leading_bits(words[own], some) for some in _pieces(places[_LEADING:])]
        order[among] = own[np.lexsort((own, *rest[::-1], leading[own]))]
    return order.astype(np.int64)


def _pieces(places: I64) -> Iterator[I64]:
    return (places[first : first + _LEADING] for first in range(0, len(places), _LEADING))


def _distinct(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Each pair once, in order of its rows."""
    pairs = np.concatenate(parts)
    _, firsts = np.unique((pairs[:, 0] << 32) | pairs[:, 1], return_index=True)
    return pairs[firsts]


def _check(left: BitSignatures, right: BitSignatures | None, distance: int, threads: int) -> None:
    if right is not None and left.fingerprint != right.fingerprint:
        raise FingerprintError(
            f"Signatures of different methods cannot be compared: {left.fingerprint!r} and {right.fingerprint!r}."
        )
    if not isinstance(distance, int) or isinstance(distance, bool) or not 0 <= distance <= left.n_bits:
        raise ParameterError.of("distance", "SlidingWindow.pairs", f"an int from 0 to {left.n_bits}", distance)
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ParameterError.of("threads", "SlidingWindow.pairs", "an int >= 1", threads)
