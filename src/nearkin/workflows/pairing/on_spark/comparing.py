"""Second job: the signatures of each chunk are compared with those near them, independently of other tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.records import I64, U32, U64
from nearkin.runs.part_files import PartFiles
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import Stretches
from nearkin.workflows.pairing.on_spark.meeting import LeftMeetings
from nearkin.workflows.pairing.on_spark.sorting import CHUNK_DOCUMENTS, CHUNK_WORDS
from nearkin.workflows.pairing.on_spark.streams import CANDIDATES, COSTS
from nearkin.workflows.pairing.on_spark.vector_files import VectorFiles

_SENT_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CompareChunkTask:
    """Compare the signatures of a chunk with one another, and with the last signatures of the chunks before it.

    Parameters
    ----------
    vectors : VectorFiles
    chunks : PartFiles
    sizes : int64 array, shape (n_orders * n_chunks,)
        Signatures of each chunk.
    n_chunks : int
        Chunks of each order.
    window : SlidingWindow
    distance : int
        Maximum number of bits in which candidates differ.
    meetings : LeftMeetings
        Tasks that receive candidates.
    """

    vectors: VectorFiles
    chunks: PartFiles
    sizes: I64
    n_chunks: int
    window: SlidingWindow
    distance: int
    meetings: LeftMeetings

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        if not self.sizes[target]:
            return
        documents, words, n_before = self._with_those_before(target)
        n_left = self.vectors.parts.n_left
        is_left = documents < n_left
        sides = [is_left, ~is_left]
        stretches = Stretches.of(
            [words[own] for own in sides],
            [self.vectors.rows(side)[documents[own] - side * n_left] for side, own in enumerate(sides)],
            [np.arange(int(own.sum())) for own in sides],
            *self.window.reach(is_left, n_before),
        )
        yield from COSTS.packed(0, np.array([stretches.n_comparisons]), np.zeros(1))
        found, n_found = [np.zeros(0, np.uint64)], 0
        for piece in stretches.pieces:
            found.append(stretches.near(piece, self.distance).keys)
            n_found += len(found[-1])
            if n_found >= _SENT_AT_ONCE:  # sending more at once gives larger blocks
                yield from self._sent(np.concatenate(found))
                found, n_found = found[:1], 0
        yield from self._sent(np.concatenate(found))

    def _with_those_before(self, chunk: int) -> tuple[U32, U64, int]:
        """Return the documents and signatures of a chunk, preceded by a window of those before it, and their number.

        If chunks are smaller than a window, those before it are from several chunks.
        """
        parts, n_before = [(chunk, 0)], 0
        first = chunk - chunk % self.n_chunks
        while chunk > first and n_before < self.window.window:
            chunk -= 1
            n_taken = min(int(self.sizes[chunk]), self.window.window - n_before)
            n_before += n_taken
            if n_taken:
                parts.insert(0, (chunk, int(self.sizes[chunk]) - n_taken))
        documents = np.concatenate([self.chunks.array(one, CHUNK_DOCUMENTS)[start:] for one, start in parts])
        return (
            documents,
            np.concatenate([self.chunks.array(one, CHUNK_WORDS)[start:] for one, start in parts]),
            n_before,
        )

    def _sent(self, keys: U64) -> Iterator[Block]:
        yield from CANDIDATES.scattered(self.meetings.at(keys), keys)
