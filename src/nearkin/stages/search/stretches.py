"""Comparison of signatures with ranges of others, shared by a sliding window and an exhaustive scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import FingerprintError, check_int
from nearkin.kernels.hamming import UNIT, near_in_tiles, tiled
from nearkin.records import I64, U64, BitSignatures

U16 = NDArray[np.uint16]
_CHUNK = 1 << 12
"""Number of left signatures in one piece of work; the result does not depend on it."""
_ROOM = 1 << 14


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Pairs of near rows (see `keys_of`), in any order; a pair may occur again in another piece of work."""

    keys: U64
    distance: U16

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretches:
    """Left signatures, right signatures in tiles, and the range with which each left one is compared."""

    left: U64
    tiles: U64
    left_rows: I64
    right_rows: I64
    starts: I64
    ends: I64
    is_one_set: bool

    @classmethod
    def of(cls, words: Sequence[U64], rows: Sequence[I64], places: Sequence[I64], starts: I64, ends: I64) -> Stretches:
        """Make the work for signatures of one or two corpora; ``places`` is the order of each side."""
        return cls(
            left=_filled(words[0][places[0]], UNIT),
            tiles=tiled(words[-1], places[-1]),
            left_rows=rows[0][places[0]],
            right_rows=rows[-1][places[-1]],
            starts=starts,
            ends=ends,
            is_one_set=len(words) == 1,
        )

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons for all ranges."""
        return int(np.maximum(self.ends - self.starts, 0).sum())

    @property
    def pieces(self) -> Sequence[slice]:
        """Parts of the left side that can be compared independently."""
        return [slice(first, first + _CHUNK) for first in range(0, len(self.left), _CHUNK)]

    def n_comparisons_of(self, piece: slice) -> int:
        """Return the number of comparisons for a part."""
        return int(np.maximum(self.ends[piece] - self.starts[piece], 0).sum())

    def near(self, piece: slice, distance: int) -> NearPairs:
        """Return the pairs of a part that differ in at most ``distance`` bits."""
        words, starts, ends = self.left[piece], self.starts[piece], self.ends[piece]
        pairs, distances = np.empty(_ROOM, np.uint64), np.empty(_ROOM, np.uint16)
        blocks: list[tuple[U64, U16]] = []
        for n in near_in_tiles(words, self.tiles, starts, ends, distance=distance, pairs=pairs, distances=distances):
            if n:
                blocks.append((pairs[:n].copy(), distances[:n].copy()))
        if not blocks:
            return NearPairs(np.zeros(0, np.uint64), np.zeros(0, np.uint16))
        places = np.concatenate([keys for keys, _ in blocks])
        of_left, of_right = rows_of(places)
        left, right = self.left_rows[piece.start + of_left], self.right_rows[of_right]
        if self.is_one_set:
            left, right = np.minimum(left, right), np.maximum(left, right)
        return NearPairs(keys_of(left, right), np.concatenate([keys for _, keys in blocks]))

    def all_near(self, distance: int, threads: int) -> Iterator[NearPairs]:
        """Yield the pairs of all parts; at most four parts per thread are held."""
        pieces = self.pieces
        if threads == 1 or len(pieces) < 2:
            yield from (self.near(piece, distance) for piece in pieces)
            return
        with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
            for first in range(0, len(pieces), 4 * threads):
                yield from pool.map(lambda piece: self.near(piece, distance), pieces[first : first + 4 * threads])


def keys_of(left: I64, right: I64) -> U64:
    """Return both rows of each pair in one number."""
    return np.asarray((left.astype(np.uint64) << np.uint64(32)) | right.astype(np.uint64))


def rows_of(keys: U64) -> tuple[I64, I64]:
    """Return the left and the right row of each pair."""
    return (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


def n_pieces_of(n_left: int) -> int:
    """Return the number of pieces into which the left signatures are cut."""
    return -(-n_left // _CHUNK)


def sides_of(left: BitSignatures, right: BitSignatures | None) -> tuple[list[U64], list[I64]]:
    """Return the signatures of documents that have features, and their rows, for one corpus or two."""
    sides = [left] if right is None else [left, right]
    rows = [np.flatnonzero(side.has_features).astype(np.int64) for side in sides]
    words = [
        side.words if len(side_rows) == len(side) else side.words[side_rows] for side, side_rows in zip(sides, rows)
    ]
    return [np.ascontiguousarray(word) for word in words], rows


def check_search(left: BitSignatures, right: BitSignatures | None, *, distance: int, threads: int) -> None:
    """Refuse signatures of two methods, and an invalid distance or number of threads."""
    if right is not None and left.fingerprint != right.fingerprint:
        both = ("left", left.fingerprint), ("right", right.fingerprint)
        raise FingerprintError.of("Signatures", "be compared", *both)
    check_int("distance", distance, 0, left.n_bits)
    check_int("threads", threads, 1)


def _filled(words: U64, unit: int) -> U64:
    n_over = -words.shape[1] % unit
    return np.pad(words, ((0, 0), (0, n_over))) if n_over else words
