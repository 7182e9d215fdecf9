"""Tiles of all pairs: a part of the left side and a part of the right side. Pairs are verified in their tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.records import I64, U64, WeightedVectors
from nearkin.stages.search.stretches import Stretches
from nearkin.workflows.pairing.on_spark.meeting import LeftMeetings
from nearkin.workflows.pairing.on_spark.signing import SignatureFiles
from nearkin.workflows.pairing.on_spark.streams import COSTS, PAIRS
from nearkin.workflows.pairing.on_spark.vector_files import VectorFiles
from nearkin.workflows.pairing.searching import candidates_by_vectors
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.pairing.verifying import Verifier


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """Vectors of a part of each side, mapped into memory.

    Parameters
    ----------
    vectors : PairVectors
        Vectors from the first to the last of each part; rows are counted from the first.
    rows : (int64 array, int64 array)
        Rows of the documents that have a vector.
    firsts : (int, int)
        First row of each part.
    """

    vectors: PairVectors
    rows: tuple[I64, I64]
    firsts: tuple[int, int]

    @classmethod
    def of(cls, files: VectorFiles, left: int, right: int) -> Tile:
        """Load two parts."""
        vectors = files.opened()
        rows = tuple(files.rows(side)[files.parts.within(part)] for side, part in enumerate((left, right)))
        firsts = int(rows[0][0]), int(rows[1][0])
        own, other = (
            WeightedVectors(all_.terms, all_.weights, all_.offsets[first : int(some[-1]) + 2])
            for all_, first, some in zip((vectors.left, vectors.right), firsts, rows, strict=True)
        )
        return cls(replace(vectors, left=own, right=other), (rows[0] - firsts[0], rows[1] - firsts[1]), firsts)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of documents that have a vector."""
        return len(self.rows[0]) * len(self.rows[1])

    def keys_in_full(self, keys: U64) -> U64:
        """Return keys of rows of the tile as keys of all rows."""
        return keys + np.uint64((self.firsts[0] << 32) + self.firsts[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTileTask:
    """Find and verify the pairs of a tile.

    Parameters
    ----------
    vectors : VectorFiles
    signatures : SignatureFiles or None
        If given, candidates are pairs of signatures that differ in few bits; else vectors with a large product.
    distance : int
        Maximum number of bits in which signatures differ.
    threshold : float
    top : int or None
    first : int
        Number of the first tile of the round.
    meetings : LeftMeetings
        Tasks that receive pairs.
    """

    vectors: VectorFiles
    signatures: SignatureFiles | None
    distance: int
    threshold: float
    top: int | None
    first: int
    meetings: LeftMeetings

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        left, right = self.vectors.parts.tile(self.first + target)
        tile = Tile.of(self.vectors, left, right)
        verifier = Verifier(tile.vectors, self.threshold, 1, self.top)
        if self.signatures is None:
            candidates = candidates_by_vectors(tile.vectors, tile.rows[0], self.threshold, threads=1, advance=_unseen)
        else:
            candidates = self._by_signatures(self.signatures, tile, left, right)
        for keys in candidates:
            verifier.add(keys)
        found = verifier.verified
        keys = tile.keys_in_full(found.keys)
        yield from PAIRS.scattered(self.meetings.at(keys), keys, found.cosines)
        yield from COSTS.packed(0, np.array([tile.n_pairs]), np.array([found.n_candidates]))

    def _by_signatures(self, signatures: SignatureFiles, tile: Tile, left: int, right: int) -> Iterator[U64]:
        n_left, n_right = (len(rows) for rows in tile.rows)
        stretches = Stretches.of(
            [np.array(signatures.words(part)) for part in (left, right)],  # kernels do not accept read-only arrays
            tile.rows,
            [np.arange(n_left), np.arange(n_right)],
            np.zeros(n_left, np.int64),
            np.full(n_left, n_right),
        )
        near = map(partial(stretches.near, distance=self.distance), stretches.pieces)
        return (found.keys for found in near)


def _unseen(n_pairs: int) -> None:
    """Ignore the progress: the driver sees only that tasks end."""
