"""Vectors of both corpora in files that tasks map, so that only their places are pickled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Column, Layout
from nearkin.manifests.pairs import SIDES, SideFacts
from nearkin.records import I64, WeightedVectors
from nearkin.runs.spool import mapped_array, mapped_batch, save_array, save_batch, saved_array
from nearkin.workflows.pairing.vectors import PairVectors, vector_place


@dataclass(frozen=True, slots=True)
class VectorFiles:
    """Files of the vectors."""

    folder: Path
    fingerprint: str
    facts: tuple[SideFacts, SideFacts]
    parts: Parts

    @classmethod
    def of(cls, vectors: PairVectors, folder: Path, part_size: int) -> VectorFiles:
        """Write the other data that tasks need beside the terms and the weights."""
        rows_of_sides = np.flatnonzero(vectors.left.sizes), np.flatnonzero(vectors.right.sizes)
        for side, vectors_of_side, rows in zip(SIDES, (vectors.left, vectors.right), rows_of_sides):
            save_array(_place(folder, f"{side}-vector-offsets"), vectors_of_side.offsets)
            save_array(_place(folder, f"{side}-vector-rows"), rows)
        save_array(_place(folder, "hashes"), vectors.hashes)
        save_batch(folder / "words.arrow", pa.record_batch({"word": vectors.words}))
        facts = vectors.left_facts, vectors.right_facts
        n_left, n_right = (len(rows) for rows in rows_of_sides)
        return cls(folder, vectors.fingerprint, facts, Parts(n_left, n_right, part_size))

    def opened(self) -> PairVectors:
        """Map all vectors."""
        words = mapped_batch(self.folder / "words.arrow")["word"]
        left, right = (self._side(side) for side in SIDES)
        left_facts, right_facts = self.facts
        return PairVectors(
            left=left,
            right=right,
            words=words,
            hashes=self._array("hashes"),
            fingerprint=self.fingerprint,
            left_facts=left_facts,
            right_facts=right_facts,
        )

    def rows(self, side: int) -> I64:
        """Return the rows of the documents of a side that have a vector."""
        return self._array(f"{SIDES[side]}-vector-rows")

    def _side(self, side: str) -> WeightedVectors:
        terms = mapped_array(vector_place(self.folder, side, "terms"), np.int32)
        weights = mapped_array(vector_place(self.folder, side, "weights"), np.float32)
        # not mapped: kernels are compiled for writable offsets, as on one machine
        offsets = saved_array(_place(self.folder, f"{side}-vector-offsets")).copy()
        return WeightedVectors(terms, weights, offsets)  # type: ignore[arg-type]

    def _array(self, name: str) -> Column:
        return saved_array(_place(self.folder, name))


def _place(folder: Path, name: str) -> Path:
    return folder / f"{name}.arrow"


@dataclass(frozen=True, slots=True)
class Parts:
    """Documents with a vector, in parts of at most ``size``: those on the left, then those on the right.

    Examples
    --------
    >>> parts = Parts(n_left=5, n_right=3, size=2)
    >>> [(parts.side(part), parts.documents(part)) for part in range(len(parts))]
    [(0, range(0, 2)), (0, range(2, 4)), (0, range(4, 5)), (1, range(5, 7)), (1, range(7, 8))]
    """

    n_left: int
    n_right: int
    size: int

    def __len__(self) -> int:
        return self.n_left_parts + self.n_right_parts

    @property
    def n_documents(self) -> int:
        """Number of documents of both sides."""
        return self.n_left + self.n_right

    @property
    def n_left_parts(self) -> int:
        """Number of parts of the left side, which come first."""
        return -(-self.n_left // self.size)

    @property
    def n_right_parts(self) -> int:
        """Number of parts of the right side."""
        return -(-self.n_right // self.size)

    def side(self, part: int) -> int:
        """Return 0 for the left side, 1 for the right one."""
        return int(part >= self.n_left_parts)

    def documents(self, part: int) -> range:
        """Return the numbers of the documents of a part."""
        if part < self.n_left_parts:
            return range(part * self.size, min((part + 1) * self.size, self.n_left))
        start = self.n_left + (part - self.n_left_parts) * self.size
        return range(start, min(start + self.size, self.n_documents))

    def within(self, part: int) -> slice:
        """Return the documents of a part, numbered within its side."""
        documents = self.documents(part)
        before = self.side(part) * self.n_left
        return slice(documents.start - before, documents.stop - before)

    def tile(self, number: int) -> tuple[int, int]:
        """Return the left and the right part of a tile."""
        left, right = divmod(number, self.n_right_parts)
        return left, self.n_left_parts + right


READ = Layout("read", (("files", "<u4"), ("id_kind", "|u1")))
"""Number of the files of a task that has read an input."""
"""Results for an input."""
CHUNKS = Layout("chunks", (("n_signatures", "<i8"),))
"""Number of a chunk's own signatures in a sorted order."""
CANDIDATES = Layout("candidates", (("key", "<u8"),))
"""Pairs to verify: the left row in the upper 32 bits, the right row in the lower; some are repeated."""
PAIRS = Layout("pairs", (("key", "<u8"), ("cosine", "<f8")))
"""Pairs at or above the threshold, each once."""
COSTS = Layout("costs", (("n_comparisons", "<i8"), ("n_candidates", "<i8")))
"""Counts of the work; see `workflows.pairing.searching.FoundPairs`. All counts meet in target 0."""
FOUND = Layout("found", (("n_pairs", "<i8"),))
"""Number of pairs of a meeting so far."""


def entries_of(n_words: int) -> Layout:
    """Signatures sent into a sorted order, with the numbers of their documents."""
    return Layout("entries", (("document", "<u4"), ("words", f"V{8 * n_words}")))
