"""Candidates → pairs: the candidates of a left document meet in one task, and each is verified once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.records import I64, U64
from nearkin.workflows.pairing.on_spark.vector_files import CANDIDATES, COSTS, FOUND, PAIRS, VectorFiles
from nearkin.workflows.pairing.verifying import Verified, Verifier


@dataclass(frozen=True, slots=True)
class LeftMeetings:
    """Tasks in which the pairs of a document on the left meet.

    Parameters
    ----------
    n_rows : int
        Number of rows on the left.
    size : int
        Number of rows per task.
    """

    n_rows: int
    size: int

    def __len__(self) -> int:
        return max(1, -(-self.n_rows // self.size))

    def at(self, keys: U64) -> I64:
        """Return the task of each pair."""
        return (keys >> np.uint64(32)).astype(np.int64) // self.size


@dataclass(frozen=True, slots=True)
class VerifyCandidatesTask:
    """Verify the candidates of this task, and merge them with the known pairs.

    Parameters
    ----------
    vectors : VectorFiles
    threshold : float
    top : int or None
        Maximum number of pairs kept per document on the left, the most similar ones.
    """

    vectors: VectorFiles
    threshold: float
    top: int | None

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        verifier = Verifier(self.vectors.opened(), self.threshold, 1, self.top)
        keys, cosines = PAIRS.joined(blocks)
        order = np.argsort(keys)
        n_comparisons, n_candidates = (int(counts.sum()) for counts in COSTS.joined(blocks))
        verifier.go_on(Verified(keys[order], cosines[order], n_candidates))
        for block in blocks:
            if block.stream == CANDIDATES.stream:
                verifier.add(*CANDIDATES.joined([block]))
        yield from sent(target, verifier.verified)
        yield from COSTS.packed(0, np.array([n_comparisons]), np.array([verifier.n_candidates]))


def sent(target: int, found: Verified) -> Iterator[Block]:
    """Yield the known pairs, and their number."""
    yield from PAIRS.packed(target, found.keys, found.cosines)
    yield from FOUND.packed(target, np.array([len(found.keys)]))
