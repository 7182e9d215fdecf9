"""All runs of the paper: each method on each stream, in each variation, with each k and w."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.similarity_index.published import K_AND_W
from labs.similarity_index.zones import CountedPairs, Folder, count
from nearkin.engines.local import map_ordered
from nearkin.records import Bool
from nearkin.runs.progress import Progress
from nearkin.stages.signatures.similarity_index import METHODS, STREAMS, VARIATIONS, SimilarityIndex, SimilarityIndexes

FREQUENT_WORDS, SUPER_SHINGLE = 13, 14


@dataclass(frozen=True, slots=True)
class IndexRun:
    """A run: its method, the number of each file, and the resulting score."""

    method: SimilarityIndex
    indexes: SimilarityIndexes
    counted: CountedPairs

    @property
    def label(self) -> str:
        """Short name for tables and figures."""
        return label(self.method)

    @property
    def hits(self) -> Bool:
        """Whether the second file is similar to the first, shape (n_files, n_files)."""
        return self.indexes.similar(self.indexes)


def label(method: SimilarityIndex) -> str:
    """Return the name and k.

    Examples
    --------
    >>> label(SimilarityIndex())
    '43B, k 40'
    """
    return f"{method.name}, k {method.k}"


def all_methods() -> tuple[SimilarityIndex, ...]:
    """Return all methods in the order of their tracking numbers.

    Examples
    --------
    >>> len(all_methods())
    656
    """
    return tuple(
        SimilarityIndex(method=method, stream=stream, variation=variation, k=k, w=w)
        for stream in STREAMS
        for method in METHODS
        if method != FREQUENT_WORDS or stream != "characters"
        for variation in VARIATIONS
        for k, w in K_AND_W
    )


def run_all(folder: Folder, *, threads: int, progress: Progress) -> tuple[IndexRun, ...]:
    """Run all methods on the files of a folder."""
    methods = all_methods()
    progress.start("run every method", len(methods), "steps")
    runs = []
    for run in map_ordered(lambda method: run_one(folder, method), methods, threads=threads):
        runs.append(run)
        progress.advance(1)
    progress.finish()
    return tuple(runs)


def run_one(folder: Folder, method: SimilarityIndex) -> IndexRun:
    """Run one method."""
    indexes = method.index(folder.texts)
    return IndexRun(method, indexes, count(indexes.similar(indexes), folder.zones))


def best(runs: tuple[IndexRun, ...], n: int) -> tuple[IndexRun, ...]:
    """Return the runs with the highest scores; in a tie those with more pairs as expected, then the first."""
    return tuple(sorted(runs, key=lambda run: (-run.counted.score, -run.counted.n_as_expected))[:n])


def frequencies(runs: tuple[IndexRun, ...], *, above: float = 1.0) -> dict[int, int]:
    """Count how often each tracking number scores above a value, the most frequent first."""
    counts = dict[int, int]()
    for run in runs:
        if run.counted.score > above:
            counts[run.method.tracking_number] = counts.get(run.method.tracking_number, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def by_length(folder: Folder) -> IndexRun:
    """Score the length of a file in characters as its number, by the same rule."""
    lengths = np.array(folder.n_characters, np.int64)
    indexes = SimilarityIndexes(lengths, lengths > 0, "characters")
    return IndexRun(SimilarityIndex(), indexes, count(indexes.similar(indexes), folder.zones))
