"""Vectors → pairs on a cluster, in rounds; the results are saved after each."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks, Task
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import I64, U32, U64, WeightedVectors
from nearkin.runs.spool import PartFiles
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import Stretches, rows_of
from nearkin.stages.signatures.random_projection import RandomProjection
from nearkin.workflows.pairing.on_spark.vector_files import (
    CANDIDATES,
    CHUNKS,
    COSTS,
    FOUND,
    PAIRS,
    Parts,
    VectorFiles,
    entries_of,
)
from nearkin.workflows.pairing.searching import (
    FoundPairs,
    Verified,
    Verifier,
    candidates_by_vectors,
    check_not_too_many,
)
from nearkin.workflows.pairing.vectors import PairVectors

PART = 1 << 15
"""Number of documents that one task signs and sends; a tile is a part of each side."""
_ROWS_A_MEETING = 1 << 11
_TILES_A_ROUND = 1 << 12
_CHUNK_BYTES = 64 << 20
_CHUNK_COMPARISONS = 1 << 31
_ROUND_BYTES = 32 << 30
"""Maximum bytes of the chunks of a round, which stay in the work folder until it is done."""
_Round = Callable[[], Blocks]


def search_all(
    stages: Stages,
    vectors: PairVectors,
    way: PairSearch,
    threshold: float,
    *,
    top: int | None = None,
    seed: int,
    arrays: Path,
    work: Path,
) -> FoundPairs:
    """Return all pairs at the threshold that a method finds; see `workflows.pairing.searching.search`."""
    files = VectorFiles.of(vectors, arrays, PART)
    meetings = LeftMeetings(len(vectors.left), _ROWS_A_MEETING)
    rounds = _rounds(stages, files, way, threshold, top, seed, meetings, work)
    verifying = partial(verify_candidates, files, threshold, top)
    blocks: Blocks | None = None
    for number, begin in enumerate(rounds):
        blocks = stages.kept(f"pairs-{number:03d}", partial(_met, begin, blocks, len(meetings), verifying))
        shutil.rmtree(_chunks(work, number), ignore_errors=True)
        (n_pairs,) = FOUND.joined(blocks.of(FOUND.stream).collected())
        check_not_too_many(int(n_pairs.sum()), threshold)
    return _gathered(blocks)


def _met(begin: _Round, so_far: Blocks | None, n_meetings: int, verifying: Task) -> Blocks:
    new = begin()
    if so_far is not None:
        new = new.and_those_of(so_far.of(PAIRS.stream, COSTS.stream))
    return new.shuffled(n_meetings, verifying)


def _gathered(found: Blocks | None) -> FoundPairs:
    blocks = [] if found is None else found.of(PAIRS.stream, COSTS.stream).collected()
    keys, cosines = PAIRS.joined(blocks)
    n_comparisons, n_candidates = COSTS.joined(blocks)
    order = np.argsort(keys)
    left, right = rows_of(keys[order])
    return FoundPairs(left, right, cosines[order], int(n_comparisons.sum()), int(n_candidates.sum()))


def _rounds(
    stages: Stages,
    files: VectorFiles,
    way: PairSearch,
    threshold: float,
    top: int | None,
    seed: int,
    meetings: LeftMeetings,
    work: Path,
) -> Sequence[_Round]:
    signatures = None
    if way.method != "vectors":
        signatures = sign_all(stages, files, work / "signatures", RandomProjection(way.bits, seed))
    if signatures is not None and way.method == "window":
        return _orders(stages, files, signatures, way, seed, meetings, work)
    n_tiles = files.parts.n_left_parts * files.parts.n_right_parts
    searching = partial(search_tile, files, signatures, way.distance, threshold, top, meetings)
    return [
        partial(stages.parts, min(_TILES_A_ROUND, n_tiles - first), partial(searching, first))
        for first in range(0, n_tiles, _TILES_A_ROUND)
    ]


def _orders(
    stages: Stages,
    files: VectorFiles,
    signatures: SignatureFiles,
    way: PairSearch,
    seed: int,
    meetings: LeftMeetings,
    work: Path,
) -> Sequence[_Round]:
    window, n_documents = SlidingWindow(way.permutations, way.window, seed), files.parts.n_documents
    row_bytes = entries_of(signatures.n_words).row_bytes
    cuts = Cuts.of(window, signatures, n_chunks_of(n_documents, way.window, row_bytes))
    step = orders_a_round(n_documents, row_bytes)

    def begin(number: int, orders: range) -> Blocks:
        chunks, n_chunks = PartFiles(_chunks(work, number)), len(orders) * cuts.n_chunks
        chunks.folder.mkdir(parents=True, exist_ok=True)
        sizes = _sort(stages, f"sort-{number:03d}", signatures, orders, cuts, chunks)
        comparing = partial(compare_chunk, files, chunks, sizes, cuts.n_chunks, window, way.distance, meetings)
        return stages.parts(n_chunks, comparing)

    starts = range(0, way.permutations, step)
    return [
        partial(begin, number, range(first, min(first + step, way.permutations))) for number, first in enumerate(starts)
    ]


def orders_a_round(n_documents: int, row_bytes: int) -> int:
    """Return the maximum number of sorted orders whose chunks are kept at the same time."""
    return max(1, _ROUND_BYTES // (n_documents * row_bytes))


def n_chunks_of(n_documents: int, window: int, row_bytes: int) -> int:
    """Return the number of chunks of an order."""
    return -(-n_documents // chunk_size(window, row_bytes))


def chunk_size(window: int, row_bytes: int) -> int:
    """Return the number of signatures of a chunk, at least a window, which is repeated at its head."""
    return max(window, min(_CHUNK_BYTES // row_bytes, _CHUNK_COMPARISONS // window))


def _sort(
    stages: Stages, name: str, signatures: SignatureFiles, orders: range, cuts: Cuts, chunks: PartFiles
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    n_chunks = len(orders) * cuts.n_chunks
    sorting = partial(sort_chunk, cuts, orders, chunks)
    emitting = partial(send_signatures, signatures, orders, cuts)
    done = stages.kept(name, lambda: stages.parts(len(signatures.parts), emitting).shuffled(n_chunks, sorting))
    (sizes,) = CHUNKS.of_targets(done.collected(), n_chunks)
    return sizes


def _chunks(work: Path, number: int) -> Path:
    return work / "chunks" / f"{number:03d}"


_SENT_AT_ONCE = 1 << 21


def compare_chunk(
    vectors: VectorFiles,
    chunks: PartFiles,
    sizes: I64,
    n_chunks: int,
    window: SlidingWindow,
    distance: int,
    meetings: LeftMeetings,
    target: int,
    blocks: Sequence[Block],
) -> Iterator[Block]:
    """Compare the signatures of a chunk with one another, and with the last signatures of the chunks before it.

    ``sizes`` are the numbers of signatures of the chunks, ``n_chunks`` of each order.
    """
    if not sizes[target]:
        return
    documents, words, n_before = _with_those_before(target, chunks, sizes, n_chunks, window)
    n_left = vectors.parts.n_left
    is_left = documents < n_left
    sides = [is_left, ~is_left]
    stretches = Stretches.of(
        [words[side] for side in sides],
        [vectors.rows(side)[documents[own] - side * n_left] for side, own in enumerate(sides)],
        [np.arange(int(side.sum())) for side in sides],
        *window.reach(is_left, n_before),
    )
    yield from COSTS.packed(0, np.array([stretches.n_comparisons]), np.zeros(1))
    found, n_found = [np.zeros(0, np.uint64)], 0
    for piece in stretches.pieces:
        found.append(stretches.near(piece, distance).keys)
        n_found += len(found[-1])
        if n_found >= _SENT_AT_ONCE:  # sending more at once gives larger blocks
            keys = np.concatenate(found)
            yield from CANDIDATES.scattered(meetings.at(keys), keys)
            found, n_found = found[:1], 0
    keys = np.concatenate(found)
    yield from CANDIDATES.scattered(meetings.at(keys), keys)


def _with_those_before(
    chunk: int, chunks: PartFiles, sizes: I64, n_chunks: int, window: SlidingWindow
) -> tuple[U32, U64, int]:
    """Return a chunk preceded by a window of the signatures before it, and their number."""
    parts, n_before = [(chunk, 0)], 0
    first = chunk - chunk % n_chunks
    while chunk > first and n_before < window.window:
        chunk -= 1
        n_taken = min(int(sizes[chunk]), window.window - n_before)
        n_before += n_taken
        if n_taken:
            parts.insert(0, (chunk, int(sizes[chunk]) - n_taken))
    documents, words = (
        np.concatenate([chunks.array(one, suffix)[start:] for one, start in parts])
        for suffix in (CHUNK_DOCUMENTS, CHUNK_WORDS)
    )
    return documents, words, n_before


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """Vectors of a part of each side, mapped into memory."""

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


def search_tile(
    vectors: VectorFiles,
    signatures: SignatureFiles | None,
    distance: int,
    threshold: float,
    top: int | None,
    meetings: LeftMeetings,
    first: int,
    target: int,
    blocks: Sequence[Block],
) -> Iterator[Block]:
    """Find and verify the pairs of a tile; ``first`` is the number of the first tile of the round.

    Candidates differ in at most ``distance`` bits of their signatures; without signatures, their vectors have a large
    product.
    """
    left, right = vectors.parts.tile(first + target)
    tile = Tile.of(vectors, left, right)
    verifier = Verifier(tile.vectors, threshold, 1, top)
    if signatures is None:
        candidates = candidates_by_vectors(tile.vectors, tile.rows[0], threshold, threads=1, advance=_unseen)
    else:
        candidates = _by_signatures(signatures, distance, tile, left, right)
    for keys in candidates:
        verifier.add(keys)
    verified = verifier.verified
    keys = tile.keys_in_full(verified.keys)
    yield from PAIRS.scattered(meetings.at(keys), keys, verified.cosines)
    yield from COSTS.packed(0, np.array([tile.n_pairs]), np.array([verified.n_candidates]))


def _by_signatures(signatures: SignatureFiles, distance: int, tile: Tile, left: int, right: int) -> Iterator[U64]:
    n_left, n_right = (len(rows) for rows in tile.rows)
    stretches = Stretches.of(
        [np.array(signatures.words(part)) for part in (left, right)],  # kernels do not accept read-only arrays
        tile.rows,
        [np.arange(n_left), np.arange(n_right)],
        np.zeros(n_left, np.int64),
        np.full(n_left, n_right),
    )
    return (stretches.near(piece, distance).keys for piece in stretches.pieces)


def _unseen(n_pairs: int) -> None:
    """Ignore the progress: the driver sees only that tasks end."""


@dataclass(frozen=True, slots=True)
class LeftMeetings:
    """Tasks in which the pairs of a document on the left meet, ``size`` rows per task."""

    n_rows: int
    size: int

    def __len__(self) -> int:
        return max(1, -(-self.n_rows // self.size))

    def at(self, keys: U64) -> I64:
        """Return the task of each pair."""
        return (keys >> np.uint64(32)).astype(np.int64) // self.size


def verify_candidates(
    vectors: VectorFiles, threshold: float, top: int | None, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Verify the candidates of this task, and merge them with the known pairs."""
    verifier = Verifier(vectors.opened(), threshold, 1, top)
    keys, cosines = PAIRS.joined(blocks)
    order = np.argsort(keys)
    n_comparisons, n_candidates = (int(counts.sum()) for counts in COSTS.joined(blocks))
    verifier.go_on(Verified(keys[order], cosines[order], n_candidates))
    for block in blocks:
        if block.stream == CANDIDATES.stream:
            verifier.add(*CANDIDATES.joined([block]))
    found = verifier.verified
    yield from PAIRS.packed(target, found.keys, found.cosines)
    yield from FOUND.packed(target, np.array([len(found.keys)]))
    yield from COSTS.packed(0, np.array([n_comparisons]), np.array([verifier.n_candidates]))


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
        words = [np.zeros((0, self.n_words), np.uint64)]
        for part in range(len(self.parts)):
            own = self.parts.documents(part)
            here = documents[slice(*np.searchsorted(documents, [own.start, own.stop]))]
            if len(here):
                words.append(self.words(part)[here - own.start])
        return np.concatenate(words)


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
