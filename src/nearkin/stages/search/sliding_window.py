"""Pairs of signatures near each other in one of many sorted orders, for thresholds too low for tables.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011, section 4.3; the idea is that of Moses S. Charikar, "Similarity
estimation techniques from rounding algorithms", STOC 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import ParameterError, is_int
from nearkin.kernels.signatures import leading_bits, order_of
from nearkin.records import I64, U32, U64, BitSignatures, Bool
from nearkin.stages.search.stretches import NearPairs, Stretches, check_search, rows_of, sides_of

_LEADING, _MORE = 32, 64
_HELD = 1 << 22  # pairs, including repeated ones, before they are made distinct


@dataclass(frozen=True, slots=True)
class WindowPairs:
    """Pairs found by a sliding window, each once, in order of left and right rows."""

    left: U32
    right: U32
    distance: NDArray[np.uint16]
    n_comparisons: int

    @classmethod
    def of(cls, pairs: NearPairs, n_comparisons: int) -> WindowPairs:
        """Make the record from distinct, sorted pairs."""
        left, right = (rows.astype(np.uint32) for rows in rows_of(pairs.keys))
        return cls(left, right, pairs.distance, n_comparisons)

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """Sorts signatures by their bits in many random orders, and compares each with those near it.

    Parameters
    ----------
    seed
        In [0, 2**64). A different seed gives other orders.
    """

    permutations: int
    window: int
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("permutations", 1), ("window", 1), ("seed", 0)):
            value, most = getattr(self, name), 2**64 if name == "seed" else 2**31
            if not is_int(value) or not least <= value < most:
                raise ParameterError.of(name, f"an int >= {least} and below {most}", value)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the signatures and the distance."""
        return f"sliding-window;permutations={self.permutations};window={self.window};seed={self.seed}"

    def orders(self, n_bits: int) -> Iterator[I64]:
        """Yield the order of the bits for each permutation, shape (n_bits,); the same on every machine."""
        return (self.order(number, n_bits) for number in range(self.permutations))

    def order(self, number: int, n_bits: int) -> I64:
        """Return one of the orders."""
        return np.random.Generator(np.random.PCG64([self.seed, number])).permutation(n_bits)

    def pairs(
        self, left: BitSignatures, right: BitSignatures | None = None, *, distance: int, threads: int = 1
    ) -> WindowPairs:
        """Find pairs whose signatures differ in at most ``distance`` bits and share a window at least once.

        Parameters
        ----------
        right
            Another corpus: then a pair has one document of each. Windows extend over both corpora together.
        """
        check_search(left, right, distance=distance, threads=threads)
        held, n_comparisons, n_new = [NearPairs(np.zeros(0, np.uint64), np.zeros(0, np.uint16))], 0, 0
        for stretches in self.stretches(left, right):
            n_comparisons += stretches.n_comparisons
            for near in stretches.all_near(distance, threads):
                held.append(near)
                n_new += len(near)
                if n_new > max(_HELD, len(held[0])):
                    held, n_new = [distinct(held)], 0
        return WindowPairs.of(distinct(held), n_comparisons)

    def stretches(self, left: BitSignatures, right: BitSignatures | None = None) -> Iterator[Stretches]:
        """Yield the comparisons for each order: work that can be divided among machines."""
        return (sort() for sort in self.sorts(left, right))

    def sorts(self, left: BitSignatures, right: BitSignatures | None = None) -> Iterator[Callable[[], Stretches]]:
        """Yield a function for each order that sorts it and returns its work, so that sorting and searching overlap."""
        words, rows = sides_of(left, right)
        joined = np.concatenate(words) if len(words) > 1 else words[0]
        documents = np.arange(len(joined))

        def sort(number: int) -> Stretches:
            return self._stretches(words, rows, self.places(number, left.n_bits, joined, documents))

        return (partial(sort, number) for number in range(self.permutations))

    def places(self, number: int, n_bits: int, words: U64, documents: I64) -> I64:
        """Return the positions of some signatures in one of the orders of bits, shape (n,).

        Parameters
        ----------
        documents : int64 array, shape (n,)
            Numbers of their documents in both corpora, those on the left first, counting only documents with features:
            the order of equal signatures.
        """

        def ties(rows: I64) -> U64:
            return self.tie_breaks(number, documents[rows])

        return _sorted(words, _bit_places(self.order(number, n_bits)), ties)

    def tie_breaks(self, number: int, documents: I64) -> U64:
        """Return the keys by which documents with equal signatures are sorted in one order of bits."""
        return _mixed(documents.astype(np.uint64) + np.uint64(np.random.PCG64([self.seed, number, 1]).random_raw()))

    def positions(self, left: BitSignatures, right: BitSignatures) -> Iterator[tuple[I64, I64]]:
        """Yield, for each order, the positions of the documents of both corpora; -1 for those without features."""
        words, rows = sides_of(left, right)
        joined = np.concatenate(words)
        for number in range(self.permutations):
            places = np.empty(len(joined), np.int64)
            places[self.places(number, left.n_bits, joined, np.arange(len(joined)))] = np.arange(len(joined))
            sides = np.full(len(left), -1, np.int64), np.full(len(right), -1, np.int64)
            sides[0][rows[0]], sides[1][rows[1]] = places[: len(rows[0])], places[len(rows[0]) :]
            yield sides

    def reach(self, is_left: Bool, n_before: int = 0) -> tuple[I64, I64]:
        """Return the range of right documents with which each left one is compared, in a part of a sorted order.

        Parameters
        ----------
        n_before
            Initial documents that belong to the previous part, where they were compared with one another.

        Returns
        -------
        starts, ends : int64 arrays, shape (n_left,)
            First document, and one after the last, counted among those on the right.
        """
        n_right = np.concatenate([[0], np.cumsum(~is_left)])
        at = np.flatnonzero(is_left)
        starts = n_right[np.where(at < n_before, n_before, np.maximum(at - self.window, 0))]
        return starts, n_right[np.minimum(at + self.window + 1, len(is_left))]

    def _stretches(self, words: list[U64], rows: list[I64], order: I64) -> Stretches:
        n = len(order)
        if len(words) == 1:
            ends = np.minimum(np.arange(n) + self.window + 1, n)
            return Stretches.of(words, rows, [order], np.arange(1, n + 1), ends)
        is_left = order < len(words[0])
        sides = [order[is_left], order[~is_left] - len(words[0])]
        return Stretches.of(words, rows, sides, *self.reach(is_left))


@dataclass(frozen=True, slots=True)
class SignatureScan:
    """Compares every signature with every other: the truth for `SlidingWindow`, and faster if that would find most."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint: only the signatures and the distance determine the result."""
        return "signature-scan"

    def pairs(
        self, left: BitSignatures, right: BitSignatures | None = None, *, distance: int, threads: int = 1
    ) -> WindowPairs:
        """Find pairs whose signatures differ in at most ``distance`` bits; see `SlidingWindow.pairs`."""
        check_search(left, right, distance=distance, threads=threads)
        (stretches,) = self.stretches(left, right)
        return WindowPairs.of(distinct(list(stretches.all_near(distance, threads))), stretches.n_comparisons)

    def stretches(self, left: BitSignatures, right: BitSignatures | None = None) -> Iterator[Stretches]:
        """Yield the comparisons."""
        return (sort() for sort in self.sorts(left, right))

    def sorts(self, left: BitSignatures, right: BitSignatures | None = None) -> Iterator[Callable[[], Stretches]]:
        """Yield the work as `SlidingWindow` does; there is only one order, the original."""
        words, rows = sides_of(left, right)
        places = [np.arange(len(row)) for row in rows]
        n_left, n_right = len(places[0]), len(places[-1])
        starts = np.arange(1, n_left + 1) if right is None else np.zeros(n_left, np.int64)
        yield partial(Stretches.of, words, rows, places, starts, np.full(n_left, n_right))


def _bit_places(order: I64) -> I64:
    """Return the positions of an order's bits in 64-bit words: the first bit of a signature's byte is the highest."""
    return (order // 8) * 8 + 7 - order % 8


def _sorted(words: U64, places: I64, ties: Callable[[I64], U64]) -> I64:
    leading = leading_bits(words, places[:_LEADING])
    order = order_of(leading)
    is_tied = np.zeros(len(order) + 1, np.bool_)  # with the previous one
    is_tied[1:-1] = leading[order[1:]] == leading[order[:-1]]
    among = np.flatnonzero(is_tied[:-1] | is_tied[1:])  # positions tied with a neighbour, usually few
    if len(among):
        rows = order[among]
        rest = [leading_bits(words[rows], bits) for bits in _pieces(places[_LEADING:])]
        order[among] = rows[np.lexsort((ties(rows), *rest[::-1], leading[rows]))]
    return order


def _mixed(numbers: U64) -> U64:
    """Apply a pseudo-random bijection to 64 bits; see ``kernels.plain.mixing``."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _pieces(places: I64) -> Iterator[I64]:
    return (places[first : first + _MORE] for first in range(0, len(places), _MORE))


def distinct(parts: Sequence[NearPairs]) -> NearPairs:
    """Return each pair once, in order of its rows."""
    keys = np.concatenate([np.zeros(0, np.uint64), *(part.keys for part in parts)])
    distances = np.concatenate([np.zeros(0, np.uint16), *(part.distance for part in parts)])
    order = np.argsort(keys)  # not stable, and so several times faster: a pair has the same distance in all parts
    keys = keys[order]
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return NearPairs(keys[is_first], distances[order[is_first]])
