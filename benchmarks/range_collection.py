"""The collection that range search is measured on: vectors in a file, the index stored and opened again, queries."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from letter_vectors import read_profiles, write_vectors
from nearkin.records import U32, LetterVectors
from nearkin.stages.features.letters import MIN_LETTERS
from nearkin.stages.search.ranges.index import RangeIndex
from nearkin.stages.search.ranges.segment import RangeSegment

I64 = NDArray[np.int64]
WAVE = 10_000
SEED = 1


@dataclass(frozen=True, slots=True)
class Collection:
    """The vectors, the rows that are asked, and the index."""

    path: Path
    vectors: U32
    rows: I64
    index: RangeIndex


def record_of(counts: U32) -> LetterVectors:
    """A record of vectors, of which those with too few letters are not counted."""
    sums = counts.sum(axis=1, dtype=np.int64)
    return LetterVectors(counts, sums >= MIN_LETTERS, sums, np.zeros(len(counts), np.int64), "letters=latin")


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def prepared(data: Path, n_documents: int, n_queries: int, out: Path, console: Console) -> Collection:
    """Vectors on disk, mapped; the index built, stored, opened again; a wave added."""
    path = out / f"vectors-{n_documents}.npy"
    if not path.is_file():
        console.print(f"growing {n_documents:,} vectors")
        write_vectors(path, n_documents, read_profiles(data), seed=SEED)
    vectors = np.load(path, mmap_mode="r")
    sums = vectors.sum(axis=1, dtype=np.int64)
    built: list[RangeIndex] = []
    RangeIndex.of(record_of(np.asarray(vectors[: 2 * WAVE])))  # kernels compiled
    build_s = timed(lambda: built.append(RangeIndex.of(record_of(vectors))))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    segment = built[0].segments[0]
    names = [name for name in RangeSegment.array_names() if name != "counts"]
    for name in names:
        np.save(out / f"{name}.npy", getattr(segment, name))
    size = sum((out / f"{name}.npy").stat().st_size for name in names)

    def opened() -> RangeIndex:
        arrays = {name: np.load(out / f"{name}.npy", mmap_mode="r") for name in names}
        return RangeIndex((RangeSegment(counts=np.load(path, mmap_mode="r"), **arrays),), "letters=latin")

    index = opened()
    wave = record_of(np.asarray(vectors[:WAVE]))
    console.print(
        f"{len(vectors):,} vectors, {sums.mean():,.0f} letters on average, {np.median(sums):,.0f} in the median, "
        f"{sums.max():,} at most. Built in {build_s:.1f} s, {peak / 2**30:.2f} GiB at the peak with the pages of the "
        f"mapped vectors; {size / len(vectors):.0f} bytes a document beside the vectors. Opened in "
        f"{1000 * timed(opened):.1f} ms; a wave of {WAVE:,} added in {timed(lambda: index.extended(wave)):.3f} s."
    )
    chance = np.random.default_rng(SEED)
    long_enough = np.flatnonzero(sums > MIN_LETTERS)
    rows = chance.choice(long_enough, min(n_queries, len(long_enough)), replace=False)
    return Collection(path, vectors, rows, index)
