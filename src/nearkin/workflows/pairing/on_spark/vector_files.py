"""Vectors of both corpora in files that tasks map, so that only their places are pickled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Column
from nearkin.manifests.pairs import SIDES, SideFacts
from nearkin.records import I64, WeightedVectors
from nearkin.runs.arrays import mapped_array, save_array, saved_array
from nearkin.runs.batches import mapped_batch, save_batch
from nearkin.workflows.pairing.on_spark.parts import Parts
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.pairing.weighing import vector_place


@dataclass(frozen=True, slots=True)
class VectorFiles:
    """Files of the vectors.

    Parameters
    ----------
    folder : Path
        Folder of the vectors; every executor can access it.
    fingerprint : str
    facts : (SideFacts, SideFacts)
    parts : Parts
        Parts of the documents that have a vector.
    """

    folder: Path
    fingerprint: str
    facts: tuple[SideFacts, SideFacts]
    parts: Parts

    @classmethod
    def of(cls, vectors: PairVectors, folder: Path, part_size: int) -> VectorFiles:
        """Write the other data that tasks need beside the terms and the weights, which exist already."""
        rows_of_sides = np.flatnonzero(vectors.left.sizes), np.flatnonzero(vectors.right.sizes)
        for side, own, rows in zip(SIDES, (vectors.left, vectors.right), rows_of_sides):
            save_array(_place(folder, f"{side}-vector-offsets"), own.offsets)
            save_array(_place(folder, f"{side}-vector-rows"), rows)
        save_array(_place(folder, "hashes"), vectors.hashes)
        save_batch(folder / "words.arrow", pa.record_batch({"word": vectors.words}))
        facts = vectors.left_facts, vectors.right_facts
        n_left, n_right = (len(rows) for rows in rows_of_sides)
        return cls(folder, vectors.fingerprint, facts, Parts(n_left, n_right, part_size))

    def opened(self) -> PairVectors:
        """Return all vectors; terms, weights and words are mapped into memory and not copied."""
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
    return folder / f"{name}.npy"
