"""Candidates → pairs: those of a document on the left meet, and each is verified once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.records import I64, U64
from nearkin.workflows.pairing.on_spark.streams import CANDIDATES, COSTS, FOUND, PAIRS
from nearkin.workflows.pairing.on_spark.vector_files import VectorFiles
from nearkin.workflows.pairing.verifying import Verified, Verifier


@dataclass(frozen=True, slots=True)
class LeftMeetings:
    """Which task the pairs of a document on the left meet in.

    Parameters
    ----------
    n_rows : int
        On the left.
    size : int
        Rows of a task.
    """

    n_rows: int
    size: int

    def __len__(self) -> int:
        return max(1, -(-self.n_rows // self.size))

    def at(self, keys: U64) -> I64:
        """The task of each pair."""
        return (keys >> np.uint64(32)).astype(np.int64) // self.size


@dataclass(frozen=True, slots=True)
class VerifyCandidatesTask:
    """Verify the candidates that are here, and keep them with the pairs that are known already.

    Parameters
    ----------
    vectors : VectorFiles
    threshold : float
    top : int or None
        Of each document on the left so many pairs at most, the most similar ones.
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
    """Pairs that are known, and how many there are."""
    yield from PAIRS.packed(target, found.keys, found.cosines)
    yield from FOUND.packed(target, np.array([len(found.keys)]))
