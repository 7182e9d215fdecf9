"""Texts → keys, sent to where equal keys meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.planning.search import SamplingPlan
from nearkin.records import U8, U32, U64, ShingleSets
from nearkin.runs.arrays import saved_array
from nearkin.runs.checkpoint import load_arrays, save_arrays
from nearkin.runs.spool import Chunk
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.search.prefixes import Occurrences, Prefixes
from nearkin.workflows.dedup.band_search import BandKeys
from nearkin.workflows.dedup.on_spark.entries import EntryMeetings, PartitionEntries, skewed_place
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.profiles import profiles_of
from nearkin.workflows.dedup.on_spark.streams import OCCURRENCES
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.plans import Plan
from nearkin.workflows.dedup.sample_search import SampleKeys
from nearkin.workflows.dedup.searching import Sizes


@dataclass(frozen=True, slots=True)
class PartitionSizes:
    """Sizes of the texts of a partition, found by shingling.

    Parameters
    ----------
    n_shingles, n_units : uint32 arrays, shape (n_texts,)
        See `workflows.dedup.searching.Sizes`.
    profiles : uint8 array, shape (n_texts, n_bins)
        See `screening`.
    """

    n_shingles: U32
    n_units: U32
    profiles: U8

    @classmethod
    def load(cls, folder: Path, partition: int) -> PartitionSizes:
        """Load the sizes that `SendBandKeysTask` wrote."""
        return cls(**load_arrays(_sizes_place(folder, partition)))


def load_sizes(folder: Path, partition: int) -> Sizes:
    """Return the sizes without the profiles, which are many times as large."""
    return Sizes(**load_arrays(_sizes_place(folder, partition), ("n_shingles", "n_units")))


def sets_at(chunk: Chunk, rows: U32, shingle: Shingling) -> ShingleSets:
    """Return the shingle sets of the texts at some rows of a chunk, in the order of the rows."""
    texts = chunk.column("text")
    if len(rows) < len(texts):
        is_wanted = np.zeros(len(texts), np.bool_)
        is_wanted[rows - np.uint32(chunk.start)] = True
        texts = texts.filter(is_wanted)
    return shingle.sets(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendBandKeysTask:
    """Shingle the texts of a partition, sketch them, and send their bands to where equal ones meet.

    Sizes and short texts stay in ``folder``. If shingles are sampled, `sampling` sends the keys.
    """

    partitions: Partitions
    texts: Path
    folder: Path
    options: DedupOptions
    plan: Plan
    meetings: EntryMeetings
    n_bins: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        texts = PartitionTexts.load(self.texts, target)
        counted: list[Occurrences] = []
        small: list[tuple[U32, U8, ShingleSets]] = []
        entries = PartitionEntries(self.meetings)
        n_shingles, n_units = np.zeros(len(texts.first), np.uint32), np.zeros(len(texts.first), np.uint32)
        profiles = np.zeros((len(texts.first), self.n_bins), np.uint8)
        for chunk in self.partitions.chunks(target):
            here = slice(*np.searchsorted(texts.first, [chunk.start, chunk.end]).tolist())
            nodes, sides = texts.first[here], texts.sides[here]
            if not len(nodes):
                continue
            sets = sets_at(chunk, nodes, self.options.shingle)
            n_shingles[here], n_units[here], profiles[here] = sets.sizes, sets.n_units, profiles_of(sets, self.n_bins)
            if isinstance(self.plan, SamplingPlan):
                keys = SampleKeys(self.plan, self.options)
                is_small = keys.is_small(sets)
                small.append((nodes[is_small], sides[is_small], sets.where(is_small)))
                counted.append(Occurrences.of(sets.hashes))
            else:
                self._add_bands(entries, BandKeys(self.plan, self.options), nodes, sides, sets, counted, small)
        self._save(target, PartitionSizes(n_shingles, n_units, profiles), small)
        yield from entries.sent(skewed_place(self.folder, "bands", target))
        if counted:
            found = Occurrences.joined(counted)
            yield from OCCURRENCES.scattered(self.meetings.of_shingles(found.buckets), found.buckets, found.n)

    def _add_bands(
        self,
        entries: PartitionEntries,
        keys: BandKeys,
        nodes: U32,
        sides: U8,
        sets: ShingleSets,
        counted: list[Occurrences],
        small: list[tuple[U32, U8, ShingleSets]],
    ) -> None:
        """Add the keys of long texts; add short texts to ``small``, and their shingles to ``counted``."""
        is_small = keys.is_small(sets)
        if is_small.any():
            small.append((nodes[is_small], sides[is_small], sets.where(is_small)))
            counted.append(Occurrences.of(small[-1][2].hashes))
        is_long = keys.is_long(sets)
        if is_long.any():
            long = nodes[is_long], sets.sizes[is_long].astype(np.uint32), sides[is_long]
            for band, of_band in enumerate(keys.of_bands(sets.where(is_long))):
                entries.add(band, of_band, *long)

    def _save(self, partition: int, sizes: PartitionSizes, small: Sequence[tuple[U32, U8, ShingleSets]]) -> None:
        arrays = {name: getattr(sizes, name) for name in ("n_shingles", "n_units", "profiles")}
        save_arrays(_sizes_place(self.folder, partition), arrays)
        if small:
            arrays = {
                "nodes": np.concatenate([nodes for nodes, _, _ in small]),
                "sides": np.concatenate([sides for _, sides, _ in small]),
                "sizes": np.concatenate([sets.sizes for _, _, sets in small]),
                "hashes": np.concatenate([sets.hashes for _, _, sets in small]),
            }
            save_arrays(_small_place(self.folder, partition), arrays)


@dataclass(frozen=True, slots=True)
class SendPrefixesTask:
    """Send the rarest shingles of the short texts of a partition to where equal ones meet."""

    folder: Path
    keys: BandKeys
    meetings: EntryMeetings

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        entries = PartitionEntries(self.meetings)
        entries.add_loose(*leading(self.folder, target, self.keys.prefixes))
        yield from entries.sent(skewed_place(self.folder, "prefixes", target))


def leading(folder: Path, partition: int, prefixes: Prefixes) -> tuple[U64, U32, U32, U8]:
    """Return the rarest shingles of the small texts of a partition, with the text of each, its size and its sides."""
    place = _small_place(folder, partition)
    if not place.exists():
        none = np.zeros(0, np.uint32)
        return none.astype(np.uint64), none, none, none.astype(np.uint8)
    stored = load_arrays(place)
    offsets = np.concatenate([[0], np.cumsum(stored["sizes"])]).astype(np.int64)
    sets = ShingleSets(stored["hashes"], offsets, np.zeros(len(offsets) - 1, np.int64), "")
    keys, of_key = prefixes.keys(sets, saved_array(counts_place(folder)))
    return keys, stored["nodes"][of_key], sets.sizes[of_key].astype(np.uint32), stored["sides"][of_key]


def n_leading(folder: Path, n_partitions: int, prefixes: Prefixes) -> int:
    """Return the number of rare shingles of `leading` over all partitions."""
    n = 0
    for place in filter(Path.exists, (_small_place(folder, partition) for partition in range(n_partitions))):
        n += int(prefixes.lengths(load_arrays(place, ["sizes"])["sizes"]).sum())
    return n


def counts_place(folder: Path) -> Path:
    """Return the file of the counts of the shingles of short texts."""
    return folder / "counts.npy"


def _sizes_place(folder: Path, partition: int) -> Path:
    return folder / f"sizes-{partition:09d}.npz"


def _small_place(folder: Path, partition: int) -> Path:
    return folder / f"small-{partition:09d}.npz"
