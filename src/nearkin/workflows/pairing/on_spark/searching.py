"""Vectors → pairs on a cluster, in rounds; the results are saved after each."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.stages import Stages
from nearkin.nouns import counted
from nearkin.planning.pairs.search import PairSearch
from nearkin.runs.files import published
from nearkin.runs.part_files import PartFiles
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import rows_of
from nearkin.stages.signatures.random_projection import RandomProjection
from nearkin.workflows.pairing.kept_search import SEARCH_FILE, check_same
from nearkin.workflows.pairing.on_spark.comparing import CompareChunkTask
from nearkin.workflows.pairing.on_spark.meeting import LeftMeetings, VerifyCandidatesTask
from nearkin.workflows.pairing.on_spark.signing import SignatureFiles, sign_all
from nearkin.workflows.pairing.on_spark.sorting import Cuts, SendSignaturesTask, SortChunkTask
from nearkin.workflows.pairing.on_spark.streams import CHUNKS, COSTS, FOUND, PAIRS, entries_of
from nearkin.workflows.pairing.on_spark.tiles import SearchTileTask
from nearkin.workflows.pairing.on_spark.vector_files import VectorFiles
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.pairing.verifying import FoundPairs, check_not_too_many

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
    """Return all pairs at the threshold that a method finds; see `workflows.pairing.searching.search`.

    Parameters
    ----------
    stages : Stages
    vectors : PairVectors
        Vectors whose arrays are in ``arrays``.
    way, threshold, top, seed
        As on one machine.
    arrays, work : Path
        Absolute paths of folders that every executor can access: of the vectors, and of saved results.

    Raises
    ------
    EngineError
        The cluster gave up.
    ParameterError, ResumeError
        As on one machine.
    """
    files = VectorFiles.of(vectors, arrays, PART)
    meetings = LeftMeetings(len(vectors.left), _ROWS_A_MEETING)
    rounds = _rounds(stages, files, way, threshold, top, seed, meetings, work)
    _remember(work / SEARCH_FILE, f"{way.stored_as}, on a cluster, in {counted(len(rounds), 'round')}")
    verifying = VerifyCandidatesTask(files, threshold, top)
    found: Blocks | None = None
    for number, begin in enumerate(rounds):
        found = stages.kept(f"pairs-{number:03d}", partial(_met, begin, found, len(meetings), verifying))
        shutil.rmtree(_chunks(work, number), ignore_errors=True)
        (n_pairs,) = FOUND.joined(found.of(FOUND.stream).collected())
        check_not_too_many(int(n_pairs.sum()), threshold)
    return _gathered(found)


def _met(begin: _Round, so_far: Blocks | None, n_meetings: int, verifying: VerifyCandidatesTask) -> Blocks:
    new = begin()
    if so_far is not None:
        new = new.and_those_of(so_far.of(PAIRS.stream, COSTS.stream))
    return new.shuffled(n_meetings, verifying)


def _gathered(found: Blocks | None) -> FoundPairs:
    """Collect all pairs on the driver."""
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
    """Yield the first stage of each round; the division into rounds does not depend on the cluster."""
    signatures = None
    if way.method != "vectors":
        signatures = sign_all(stages, files, work / "signatures", RandomProjection(way.bits, seed))
    if signatures is not None and way.method == "window":
        return _orders(stages, files, signatures, way, seed, meetings, work)
    tiling = partial(
        SearchTileTask,
        vectors=files,
        signatures=signatures,
        distance=way.distance,
        threshold=threshold,
        top=top,
        meetings=meetings,
    )
    n_tiles = files.parts.n_left_parts * files.parts.n_right_parts
    return [
        partial(stages.parts, min(_TILES_A_ROUND, n_tiles - first), tiling(first=first))
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
    """Yield rounds of some orders of a sliding window, which are sorted, then compared."""
    window, n_documents = SlidingWindow(way.permutations, way.window, seed), files.parts.n_documents
    row_bytes = entries_of(signatures.n_words).row_bytes
    cuts = Cuts.of(window, signatures, n_chunks_of(n_documents, way.window, row_bytes))
    step = orders_a_round(n_documents, row_bytes)

    def begin(number: int, orders: range) -> Blocks:
        chunks, n_chunks = PartFiles(_chunks(work, number)), len(orders) * cuts.n_chunks
        chunks.folder.mkdir(parents=True, exist_ok=True)
        sizes = _sort(stages, f"sort-{number:03d}", signatures, orders, cuts, chunks)
        comparing = CompareChunkTask(
            vectors=files,
            chunks=chunks,
            sizes=sizes,
            n_chunks=cuts.n_chunks,
            window=window,
            distance=way.distance,
            meetings=meetings,
        )
        return stages.parts(n_chunks, comparing)

    starts = range(0, way.permutations, step)
    return [
        partial(begin, number, range(first, min(first + step, way.permutations))) for number, first in enumerate(starts)
    ]


def orders_a_round(n_documents: int, row_bytes: int) -> int:
    """Return the maximum number of sorted orders whose chunks are in the work folder at the same time."""
    return max(1, _ROUND_BYTES // (n_documents * row_bytes))


def n_chunks_of(n_documents: int, window: int, row_bytes: int) -> int:
    """Return the number of chunks of an order."""
    return -(-n_documents // chunk_size(window, row_bytes))


def chunk_size(window: int, row_bytes: int) -> int:
    """Return the approximate number of signatures of a chunk, at least a window, which is repeated at its head."""
    return max(window, min(_CHUNK_BYTES // row_bytes, _CHUNK_COMPARISONS // window))


def _sort(
    stages: Stages, name: str, signatures: SignatureFiles, orders: range, cuts: Cuts, chunks: PartFiles
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Cut some orders into chunks; return the number of signatures of each chunk."""
    n_chunks = len(orders) * cuts.n_chunks
    sorting = SortChunkTask(cuts.window, cuts.n_bits, orders, cuts.n_chunks, chunks)
    emitting = SendSignaturesTask(signatures, orders, cuts)
    done = stages.kept(name, lambda: stages.parts(len(signatures.parts), emitting).shuffled(n_chunks, sorting))
    (sizes,) = CHUNKS.of_targets(done.collected(), n_chunks)
    return sizes


def _chunks(work: Path, number: int) -> Path:
    """Return the folder of the chunks of a round."""
    return work / "chunks" / f"{number:03d}"


def _remember(path: Path, way: str) -> None:
    """Record the method of saved results, or refuse to resume with another one."""
    if path.exists():
        check_same(path, path.read_text(encoding="utf-8"), way)
    else:
        with published(path, durable=False) as aside:
            aside.write_text(way, encoding="utf-8")
