"""Vectors → signatures, part by part, in files that tasks map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.records import I64, U64
from nearkin.runs.part_files import PartFiles
from nearkin.stages.signatures.random_projection import RandomProjection
from nearkin.workflows.pairing.on_spark.parts import Parts
from nearkin.workflows.pairing.on_spark.vector_files import VectorFiles


@dataclass(frozen=True, slots=True)
class SignatureFiles:
    """Files of the signatures.

    Parameters
    ----------
    files : PartFiles
    parts : Parts
        One file per part.
    n_bits : int
    """

    files: PartFiles
    parts: Parts
    n_bits: int

    @property
    def n_words(self) -> int:
        """Number of 64-bit words in each signature."""
        return -(-self.n_bits // 64)

    def words(self, part: int) -> U64:
        """Return the signatures of a part, shape (n, n_words), mapped into memory."""
        return self.files.array(part, ".npy")

    def some(self, documents: I64) -> U64:
        """Return the signatures of some documents in ascending order."""
        found = [np.zeros((0, self.n_words), np.uint64)]
        for part in range(len(self.parts)):
            own = self.parts.documents(part)
            here = documents[slice(*np.searchsorted(documents, [own.start, own.stop]))]
            if len(here):
                found.append(self.words(part)[here - own.start])
        return np.concatenate(found)

    def save(self, part: int, words: U64) -> None:
        """Write the signatures of a part."""
        self.files.save(part, ".npy", words)


def sign_all(stages: Stages, vectors: VectorFiles, folder: Path, projection: RandomProjection) -> SignatureFiles:
    """Sign the documents that have a vector."""
    folder.mkdir(exist_ok=True)
    files = SignatureFiles(PartFiles(folder), vectors.parts, projection.bits)
    stages.kept("sign", lambda: stages.parts(len(vectors.parts), SignPartTask(vectors, files, projection)))
    return files


@dataclass(frozen=True, slots=True)
class SignPartTask:
    """Sign the documents of a part, and write their signatures; nothing is sent."""

    vectors: VectorFiles
    files: SignatureFiles
    projection: RandomProjection

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        vectors, side = self.vectors.opened(), self.files.parts.side(target)
        rows = self.vectors.rows(side)[self.files.parts.within(target)]
        between = slice(int(rows[0]), int(rows[-1]) + 1)
        signed = vectors.sign_rows(self.projection, (vectors.left, vectors.right)[side], between)
        self.files.save(target, np.ascontiguousarray(signed.words[signed.has_features]))
        yield from ()
