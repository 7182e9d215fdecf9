"""Texts → candidates: shingle every distinct text once, write its keys, sort and link them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.formats.sealed import Sealing
from nearkin.options.dedup import DedupOptions
from nearkin.records import U8, U32, U64, Bool, ShingleSets
from nearkin.runs.files import make_work_folder, published, read_work_json, sealed, write_checked_json, writing
from nearkin.runs.progress import Meter
from nearkin.runs.spool import Chunk, array_in, kept_arrays, load_arrays, mapped_array, mapped_batch, save_arrays
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.search.linking import FOLLOWS, Linking, SkewedRuns, sort_entries, sorted_distinct
from nearkin.workflows.dedup.corpus import NO_NODE, Corpus
from nearkin.workflows.resources import Resources

BYTES_PER_ENTRY = 48
"""Bytes of a key and a row, sorted into a second pair of arrays, and of the pairs that they make."""
_PAIRS_OF_A_BAND = 5_000_000
_PAIRS_OF_LOOSE_ENTRIES = 50_000_000
Written = TypeVar("Written")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of distinct shingles, and of words or characters, of each distinct text."""

    n_shingles: U32
    n_units: U32


@dataclass(frozen=True, slots=True)
class Runs:
    """Candidates on disk.

    Parameters
    ----------
    path
        Sorted runs of uint64, one after another: the lower node in the upper 32 bits, the higher in the lower.
    """

    path: Path
    lengths: tuple[int, ...]
    n_not_compared: int

    def arrays(self) -> list[U64]:
        """Map the runs into memory from one file: there may be more runs than files that can be open."""
        if not sum(self.lengths):
            return []
        mapped: U64 = mapped_array(self.path, np.uint64)  # type: ignore[assignment]  # it has this type
        ends = np.cumsum(self.lengths).tolist()
        return [mapped[end - n : end] for end, n in zip(ends, self.lengths, strict=True) if n]


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Range of the keys of one band; ``band`` is None for the entries that belong to no band."""

    band: int | None
    number: int
    n_ranges: int

    @property
    def max_pairs(self) -> int:
        """Number of pairs up to which skewed runs are compared in full; pairs that loose entries skip are lost."""
        return max_pairs_of(self.band)

    def holds(self, keys: U64) -> Bool:
        """Whether each key lies in the range."""
        if self.n_ranges == 1:
            return np.ones(len(keys), np.bool_)
        of_key: U64 = (keys >> np.uint64(32)) * np.uint64(self.n_ranges) >> np.uint64(32)
        return np.equal(of_key, np.uint64(self.number))

    def within(self, keys: U64) -> slice:
        """Return the place of the range in sorted keys."""
        edges = [-(-(i << 32) // self.n_ranges) << 32 for i in (self.number, self.number + 1)]
        return slice(*(int(np.searchsorted(keys, np.uint64(edge))) if edge >> 64 == 0 else len(keys) for edge in edges))


@dataclass(frozen=True, slots=True)
class Entries:
    """Keys, each with its text; those that follow come last, and meet only those that do not follow."""

    keys: U64
    nodes: U32
    follows: Bool | None = None

    def skewed_runs(self) -> SkewedRuns:
        """Return the number of texts per key, for keys with many texts."""
        if self.follows is None:
            return SkewedRuns.of(np.sort(self.keys))
        keys, order = sort_entries(self.keys, np.arange(len(self.keys), dtype=np.uint32))
        return SkewedRuns.of(keys, self.follows[order])


def max_pairs_of(band: int | None) -> int:
    """See `KeyRange.max_pairs`."""
    return _PAIRS_OF_A_BAND if band is not None else _PAIRS_OF_LOOSE_ENTRIES


class Search(ABC):
    """Search of one run: `shingle_all`, then `link_all`. The kind of plan decides the keys."""

    def __init__(self, corpus: Corpus, options: DedupOptions, work: Path, resources: Resources) -> None:
        self.corpus = corpus
        self.options = options
        self.work = work / "search"
        self.resources = resources
        make_work_folder(self.work)

    def shingle_all(self, meter: Meter) -> Sizes:
        """Shingle every distinct text and write its keys."""
        n_nodes = self.corpus.n_nodes
        with meter.stage("sketch", n_nodes, "documents") as progress:

            def make() -> dict[str, U32]:
                sizes = Sizes(np.zeros(n_nodes, np.uint32), np.zeros(n_nodes, np.uint32))
                with writing(self.work):
                    for n_texts in self._write_keys(sizes):
                        progress.advance(n_texts)
                return {"n_shingles": sizes.n_shingles, "n_units": sizes.n_units}

            stored = kept_arrays(self.work / "sizes.arrow", make)
        return Sizes(stored["n_shingles"], stored["n_units"])

    def link_all(self, sizes: Sizes, order: U32, meter: Meter) -> Runs:
        """Sort the keys and pair the texts that share a key.

        In a long run of equal keys all texts are compared with the first in ``order`` only: the most preferred ones.
        """
        mark, path = self.work / "runs.json", self.work / "runs.u64"
        parts = self._parts(sizes)
        with meter.stage("link", len(parts), "steps") as progress:
            if not mark.exists():
                ratio = self.options.measure.min_size_ratio(self.options.threshold)
                sides = self.corpus.sides

                max_pivots = self._max_pivots([part for part in parts if part.n_ranges > 1], sizes, order)

                def link(numbered: tuple[int, KeyRange]) -> tuple[list[Path], int]:
                    number, part = numbered
                    entries = self._entries(part, sizes, order)
                    pivots = (
                        max_pivots[part.band]
                        if part.n_ranges > 1
                        else entries.skewed_runs().affordable_pivots(part.max_pairs)
                    )
                    linking = Linking(sizes.n_shingles, sides, ratio, pivots)
                    return _link(entries, linking, self.work / f"run-{number:09d}")

                lengths, n_not_compared = [], 0
                with sealed(path) as joined:
                    for runs, n in map_ordered(link, enumerate(parts), threads=self.resources.n_threads):
                        lengths += [_move(run, joined) for run in runs]
                        n_not_compared += n
                        progress.advance(1)
                counted = {"lengths": lengths, "n_not_compared": n_not_compared}
                write_checked_json(mark, counted, durable=False)
        stored = read_work_json(mark)
        return Runs(path, tuple(stored["lengths"]), stored["n_not_compared"])

    def _max_pivots(self, parts: Sequence[KeyRange], sizes: Sizes, order: U32) -> dict[int | None, int]:
        """Return the length up to which skewed runs of bands in several ranges are compared."""
        skewed: dict[int | None, list[SkewedRuns]] = {part.band: [] for part in parts}
        budgets = {part.band: part.max_pairs for part in parts}

        def look(part: KeyRange) -> tuple[int | None, SkewedRuns]:
            return part.band, self._entries(part, sizes, order).skewed_runs()

        for band, runs in map_ordered(look, parts, threads=self.resources.n_threads):
            skewed[band].append(runs)
        return {band: SkewedRuns.joined(found).affordable_pivots(budgets[band]) for band, found in skewed.items()}

    @property
    def counts(self) -> U32 | None:
        """Frequencies of shingles, if texts are searched by rare ones; see `Occurrences.dense`."""
        return None

    @abstractmethod
    def _write_keys(self, sizes: Sizes) -> Iterator[int]:
        pass

    @property
    @abstractmethod
    def _entry_files(self) -> Sequence[Path]:
        """Return the files of the loose entries that `_write_keys` wrote."""

    def _over_chunks(
        self, write: Callable[[Chunk, U32, ShingleSets], Written], sizes: Sizes
    ) -> Iterator[tuple[int, Written]]:
        """Yield the number of new texts of each chunk, with the result of ``write``; fill in the sizes."""

        def one(chunk: Chunk) -> tuple[int, Written]:
            nodes, sets = chunk_sets(self.corpus, chunk, self.options.shingle)
            sizes.n_shingles[nodes] = sets.sizes
            sizes.n_units[nodes] = sets.n_units
            return len(nodes), write(chunk, nodes, sets)

        return map_ordered(one, self.corpus.chunks, threads=self.resources.n_threads)

    @property
    def _room_bytes(self) -> int:
        return self.resources.memory_bytes // 4 // self.resources.n_threads

    def _parts(self, sizes: Sizes) -> list[KeyRange]:
        n_entries = 0
        for path in self._entry_files:
            n_entries += len(load_arrays(path, ("nodes",))["nodes"])
        n_ranges = 1 + n_entries * BYTES_PER_ENTRY // self._room_bytes
        return [KeyRange(None, i, n_ranges) for i in range(n_ranges) if n_entries]

    def _entries(self, part: KeyRange, sizes: Sizes, order: U32) -> Entries:
        entries: list[tuple[U64, U32, Bool]] = []
        for path in sorted(self._entry_files):
            stored = mapped_batch(path)
            here = part.within(array_in(stored, "keys", path))
            keys, nodes, follows = (array_in(stored, name, path)[here].copy() for name in ("keys", "nodes", "follows"))
            entries.append((keys, nodes, follows))
        keys, nodes, follows = (np.concatenate(column) for column in zip(*entries, strict=True))
        rank = np.empty(len(order), np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        places = follows.astype(np.uint64) << np.uint64(32) | rank[nodes]
        _, by_rank = sort_entries(places, np.arange(len(places), dtype=np.uint32))
        return Entries(keys[by_rank], nodes[by_rank], follows[by_rank] if follows.any() else None)


def chunk_sets(corpus: Corpus, chunk: Chunk, shingle: Shingling, wanted: U8 | None = None) -> tuple[U32, ShingleSets]:
    """Return the texts of a chunk that occur there first, as shingle sets."""
    nodes, texts = chunk_texts(corpus, chunk, wanted)
    return nodes, shingle.sets(texts)


def chunk_texts(corpus: Corpus, chunk: Chunk, wanted: U8 | None = None) -> tuple[U32, pa.LargeStringArray]:
    """Return the texts of a chunk that occur there first, of nodes that ``wanted`` marks."""
    rows = np.arange(chunk.start, chunk.end, dtype=np.uint32)
    nodes = corpus.node[chunk.start : chunk.end]
    is_first = nodes != NO_NODE
    is_first[is_first] = corpus.first_row[nodes[is_first]] == rows[is_first]
    if wanted is not None:
        is_first[is_first] = wanted[nodes[is_first]] != 0
    texts = chunk.column("text")
    return nodes[is_first], texts if is_first.all() else texts.filter(is_first)


def save_entries(path: Path, keys: U64, nodes: U32, follows: Bool | None = None) -> None:
    """Write keys of no band, sorted, each with its text; see `Entries`."""
    keys, order = sort_entries(keys, np.arange(len(keys), dtype=np.uint32))
    follows = np.zeros(len(keys), np.bool_) if follows is None else follows[order]
    save_arrays(path, {"keys": keys, "nodes": nodes[order], "follows": follows})


def load_entries(path: Path) -> tuple[U64, U32]:
    """Return the keys that `save_entries` wrote, and the text of each."""
    stored = load_arrays(path)
    return stored["keys"], stored["nodes"]


def _link(entries: Entries, linking: Linking, name: Path) -> tuple[list[Path], int]:
    runs, n_not_compared = [], 0
    for i, (pairs, n_left) in enumerate(linked(entries, linking)):
        n_not_compared += n_left
        runs.append(name.with_name(f"{name.name}-{i:09d}.u64"))
        with published(runs[-1], durable=False) as aside:
            aside.write_bytes(pairs.data)
    return runs, n_not_compared


def linked(entries: Entries, linking: Linking) -> Iterator[tuple[U64, int]]:
    """Yield sorted runs of candidates, and the number of pairs not compared."""
    nodes = entries.nodes
    if entries.follows is None:
        yield from linking.link(entries.keys, nodes)
        return
    # a text may lead with one key and follow another, so leading is marked per entry
    of_entries = replace(
        linking,
        sizes=linking.sizes[nodes],
        sides=np.where(entries.follows, linking.sides[nodes] | FOLLOWS, linking.sides[nodes]),
    )
    for pairs, n_not_compared in of_entries.link(entries.keys, np.arange(len(nodes), dtype=np.uint32)):
        left, right = nodes[pairs >> np.uint64(32)], nodes[pairs.astype(np.uint32)]
        low, high = np.minimum(left, right).astype(np.uint64), np.maximum(left, right).astype(np.uint64)
        is_pair = low != high
        yield sorted_distinct((low << np.uint64(32) | high)[is_pair]), n_not_compared


def _move(run: Path, joined: Sealing) -> int:
    with open(run, "rb") as file:
        while block := file.read(1 << 20):
            joined.write(block)
        n_bytes = file.tell()
    run.unlink()
    return n_bytes // 8
