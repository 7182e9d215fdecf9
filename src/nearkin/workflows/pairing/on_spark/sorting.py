"""First job: signatures are sorted by their bits in many orders, and each order is cut into chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.records import I64, U64
from nearkin.runs.arrays import PartFiles
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.signatures.random_projection import RandomProjection
from nearkin.workflows.pairing.on_spark.vector_files import CHUNKS, Parts, VectorFiles, entries_of

CHUNK_DOCUMENTS, CHUNK_WORDS = "-documents.arrow", "-words.arrow"
"""Files of a chunk: its documents in sorted order, and their signatures, shape (n, n_words)."""
_SAMPLED_A_CHUNK = 64


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Boundaries of the chunks of each order, from a sample, so that chunks have similar sizes."""

    window: SlidingWindow
    n_bits: int
    n_chunks: int
    documents: I64
    words: U64

    @classmethod
    def of(cls, window: SlidingWindow, signatures: SignatureFiles, n_chunks: int) -> Cuts:
        """Sample documents at equal distances."""
        n_documents = signatures.parts.n_documents
        n = min(n_documents, _SAMPLED_A_CHUNK * n_chunks) if n_chunks > 1 else 0
        documents = np.arange(n) * n_documents // max(n, 1)
        return cls(window, signatures.n_bits, n_chunks, documents, signatures.some(documents))

    def chunks(self, number: int, words: U64, documents: I64) -> I64:
        """Return the chunk of each of some signatures in one of the orders, shape (n,)."""
        if not len(self.documents):
            return np.zeros(len(words), np.int64)
        order = self.window.places(number, self.n_bits, self.words, self.documents)
        cuts = order[np.arange(1, self.n_chunks) * len(order) // self.n_chunks]
        # they are sorted together so that ties are broken as elsewhere; a boundary precedes its own document
        together = self.window.places(
            number,
            self.n_bits,
            np.concatenate([self.words[cuts], words]),
            np.concatenate([self.documents[cuts], documents]),
        )
        n_before = np.empty(len(together), np.int64)
        n_before[together] = np.cumsum(together < len(cuts))
        return n_before[len(cuts) :]


def send_signatures(
    signatures: SignatureFiles, orders: range, cuts: Cuts, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Send the signatures of a part into each of the orders."""
    own = signatures.parts.documents(target)
    words, documents = signatures.words(target), np.arange(own.start, own.stop)
    entries = entries_of(signatures.n_words)
    rows = words.view(entries.columns[1][1]).ravel()
    for place, number in enumerate(orders):
        chunks = place * cuts.n_chunks + cuts.chunks(number, words, documents)
        yield from entries.scattered(chunks, documents, rows)


def sort_chunk(cuts: Cuts, orders: range, files: PartFiles, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Sort the signatures of a chunk, and write them."""
    n_words = -(-cuts.n_bits // 64)
    documents, rows = entries_of(n_words).joined(blocks)
    words = rows.view(np.uint64).reshape(-1, n_words)
    number = orders[target // cuts.n_chunks]
    order = cuts.window.places(number, cuts.n_bits, words, documents.astype(np.int64))
    files.save(target, CHUNK_DOCUMENTS, documents[order])
    files.save(target, CHUNK_WORDS, words[order])
    yield from CHUNKS.packed(target, np.array([len(order)]))


@dataclass(frozen=True, slots=True)
class SignatureFiles:
    """Files of the signatures."""

    files: PartFiles
    parts: Parts
    n_bits: int

    @property
    def n_words(self) -> int:
        """Number of 64-bit words in each signature."""
        return -(-self.n_bits // 64)

    def words(self, part: int) -> U64:
        """Map the signatures of a part, shape (n, n_words)."""
        return self.files.array(part, ".arrow")

    def some(self, documents: I64) -> U64:
        """Return the signatures of some documents in ascending order."""
        found = [np.zeros((0, self.n_words), np.uint64)]
        for part in range(len(self.parts)):
            own = self.parts.documents(part)
            here = documents[slice(*np.searchsorted(documents, [own.start, own.stop]))]
            if len(here):
                found.append(self.words(part)[here - own.start])
        return np.concatenate(found)


def sign_all(stages: Stages, vectors: VectorFiles, folder: Path, projection: RandomProjection) -> SignatureFiles:
    """Sign the documents that have a vector."""
    folder.mkdir(exist_ok=True)
    files = SignatureFiles(PartFiles(folder), vectors.parts, projection.bits)
    signing = partial(sign_part, vectors, files, projection)
    stages.kept("sign", lambda: stages.parts(len(vectors.parts), signing))
    return files


def sign_part(
    vectors: VectorFiles, files: SignatureFiles, projection: RandomProjection, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Sign the documents of a part, and write their signatures; nothing is sent."""
    opened, side = vectors.opened(), files.parts.side(target)
    rows = vectors.rows(side)[files.parts.within(target)]
    between = slice(int(rows[0]), int(rows[-1]) + 1)
    signed = opened.sign_rows(projection, (opened.left, opened.right)[side], between)
    files.files.save(target, ".arrow", np.ascontiguousarray(signed.words[signed.has_features]))
    yield from ()
