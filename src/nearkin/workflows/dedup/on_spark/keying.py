"""Texts → keys, sent to where equal keys meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Block, Column
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import BandPlan, Sample, SamplingPlan
from nearkin.records import I64, U8, U32, U64, Bool, ShingleSets
from nearkin.runs.spool import Arrays, Chunk, load_arrays, save_arrays, saved_array
from nearkin.stages.search.linking import FOLLOWS, MIN_PIVOTS, sort_entries
from nearkin.stages.search.prefixes import COUNT_BITS, Occurrences, Prefixes
from nearkin.workflows.dedup.candidates import BandKeys, SampleKeys
from nearkin.workflows.dedup.on_spark.partitions import ENTRIES, MARKS, OCCURRENCES, SKEWED, Partitions, PartitionTexts
from nearkin.workflows.dedup.plans import Plan, keys_a_text
from nearkin.workflows.dedup.searching import Sizes


@dataclass(frozen=True, slots=True)
class PartitionSizes:
    """Sizes of the texts of a partition, found by shingling.

    Parameters
    ----------
    n_shingles, n_units : uint32 arrays, shape (n_texts,)
        See `workflows.dedup.searching.Sizes`.
    profiles : uint8 array, shape (n_texts, n_bins)
        See `profiles_of`.
    """

    n_shingles: U32
    n_units: U32
    profiles: U8

    @classmethod
    def load(cls, partitions: Partitions, partition: int) -> PartitionSizes:
        """Load the sizes that `send_band_keys` wrote."""
        return cls(**load_arrays(_sizes_place(partitions, partition)))


def load_sizes(partitions: Partitions) -> Sizes:
    """Return the sizes of all texts, without the profiles, which are many times as large."""
    names, none = ("n_shingles", "n_units"), np.zeros(0, np.uint32)
    parts = [load_arrays(_sizes_place(partitions, partition), names) for partition in range(len(partitions))]
    return Sizes(*(np.concatenate([none, *(part[name] for part in parts)]) for name in names))


def texts_at(chunk: Chunk, rows: U32) -> pa.LargeStringArray:
    """Return the texts at some rows of a chunk, in the order of the rows."""
    texts = chunk.column("text")
    if len(rows) < len(texts):
        is_wanted = np.zeros(len(texts), np.bool_)
        is_wanted[rows - np.uint32(chunk.start)] = True
        texts = texts.filter(is_wanted)
    return texts


def sets_of_texts(
    partitions: Partitions, texts: PartitionTexts, target: int, options: DedupOptions
) -> Iterator[tuple[slice, ShingleSets]]:
    """Yield places of texts of a partition, and their sets, a chunk at a time."""
    for chunk in partitions.chunks(target):
        here = texts.within(chunk)
        if here.start < here.stop:
            yield here, options.shingle.sets(texts_at(chunk, texts.rows[here]))


SmallTexts = tuple[U32, U8, ShingleSets]
"""Texts that are searched by their rare shingles: their numbers, sides and sets."""


def send_band_keys(
    partitions: Partitions,
    options: DedupOptions,
    plan: Plan,
    meetings: EntryMeetings,
    n_bins: int,
    target: int,
    blocks: Sequence[Block],
) -> Iterator[Block]:
    """Shingle the texts of a partition, sketch them, and send their bands to where equal ones meet."""
    texts = partitions.texts(target)
    counted, small = list[Occurrences](), list[SmallTexts]()
    keys = SampleKeys(plan, options) if isinstance(plan, SamplingPlan) else BandKeys(plan, options)
    entries = PartitionEntries(meetings)
    n_shingles, n_units = np.zeros(len(texts.rows), np.uint32), np.zeros(len(texts.rows), np.uint32)
    profiles = np.zeros((len(texts.rows), n_bins), np.uint8)
    for here, sets in sets_of_texts(partitions, texts, target, options):
        nodes, sides = texts.nodes[here], texts.sides[here]
        n_shingles[here], n_units[here], profiles[here] = sets.sizes, sets.n_units, profiles_of(sets, n_bins)
        is_small = keys.is_small(sets)
        small.append((nodes[is_small], sides[is_small], sets.where(is_small)))
        if isinstance(keys, SampleKeys):
            counted.append(Occurrences.of(sets.hashes))
            continue
        if is_small.any():
            counted.append(Occurrences.of(small[-1][2].hashes))
        is_long = keys.is_long(sets)
        if is_long.any():
            long = nodes[is_long], sets.sizes[is_long].astype(np.uint32), sides[is_long]
            for band, of_band in enumerate(keys.of_bands(sets.where(is_long))):
                entries.add(band, of_band, *long)
    sizes: Arrays = {"n_shingles": n_shingles, "n_units": n_units, "profiles": profiles}
    save_arrays(_sizes_place(partitions, target), sizes)
    _save_small(partitions, target, small)
    yield from entries.sent(skewed_place(partitions, "bands", target))
    if counted:
        occurrences = Occurrences.joined(counted)
        yield from OCCURRENCES.scattered(meetings.of_shingles(occurrences.buckets), occurrences.buckets, occurrences.n)


def _save_small(partitions: Partitions, partition: int, small: Sequence[SmallTexts]) -> None:
    if small:
        arrays = {
            "nodes": np.concatenate([nodes for nodes, _, _ in small]),
            "sides": np.concatenate([sides for _, sides, _ in small]),
            "sizes": np.concatenate([sets.sizes for _, _, sets in small]),
            "hashes": np.concatenate([sets.hashes for _, _, sets in small]),
        }
        save_arrays(_small_place(partitions, partition), arrays)


def send_prefixes(
    partitions: Partitions, keys: BandKeys, meetings: EntryMeetings, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Send the rarest shingles of the short texts of a partition to where equal ones meet."""
    entries = PartitionEntries(meetings)
    shingles, nodes, sizes, sides, follows = leading(partitions, target, keys.prefixes)
    entries.add_loose(shingles, nodes, sizes, np.where(follows, sides | FOLLOWS, sides))
    yield from entries.sent(skewed_place(partitions, "prefixes", target))


def leading(partitions: Partitions, partition: int, prefixes: Prefixes) -> tuple[U64, U32, U32, U8, Bool]:
    """Return the rarest shingles of the small texts of a partition, with the text of each, its size and its sides."""
    place = _small_place(partitions, partition)
    if not place.exists():
        none = np.zeros(0, np.uint32)
        return none.astype(np.uint64), none, none, none.astype(np.uint8), none.astype(np.bool_)
    stored = load_arrays(place)
    offsets = np.concatenate([[0], np.cumsum(stored["sizes"])]).astype(np.int64)
    sets = ShingleSets(stored["hashes"], offsets, np.zeros(len(offsets) - 1, np.int64), "")
    keys, of_key, follows = prefixes.keys(sets, saved_array(counts_place(partitions)))
    return keys, stored["nodes"][of_key], sets.sizes[of_key].astype(np.uint32), stored["sides"][of_key], follows


def n_leading(partitions: Partitions, prefixes: Prefixes) -> int:
    """Return the number of rare shingles of `leading` over all partitions."""
    n = 0
    for place in filter(Path.exists, (_small_place(partitions, partition) for partition in range(len(partitions)))):
        n += int(prefixes.lengths(load_arrays(place, ["sizes"])["sizes"]).sum())
    return n


def counts_place(partitions: Partitions) -> Path:
    """Return the file of the counts of the shingles of short texts."""
    return partitions.keys / "counts.arrow"


def _sizes_place(partitions: Partitions, partition: int) -> Path:
    return partitions.keys / f"sizes-{partition:09d}.arrow"


def _small_place(partitions: Partitions, partition: int) -> Path:
    return partitions.keys / f"small-{partition:09d}.arrow"


_MIN_BINS, _MAX_BINS = 64, 4096
_FULL = 255
_PAIRS_AT_A_TIME = 1 << 14


def n_bins_for(mean_shingles: float) -> int:
    """Return the number of bins for sets of about ``mean_shingles``: two shingles per bin, a power of two.

    Examples
    --------
    >>> n_bins_for(400)
    256
    """
    n_bins = _MIN_BINS
    while n_bins < min(mean_shingles / 2, _MAX_BINS):
        n_bins *= 2
    return n_bins


def profiles_of(sets: ShingleSets, n_bins: int) -> U8:
    """Return the counts of each set, shape (n_sets, n_bins); a bin is full at 255.

    Examples
    --------
    >>> sets = ShingleSets(np.array([1, 2, 2**63], np.uint64), np.array([0, 3]), np.array([3]), "")
    >>> profiles_of(sets, 64)[0, [0, 32]].tolist()
    [2, 1]
    """
    shift = np.uint64(65 - n_bins.bit_length())
    bins = (sets.hashes >> shift).astype(np.int64)
    bins += np.repeat(np.arange(len(sets), dtype=np.int64) * n_bins, sets.sizes)
    counts = np.bincount(bins, minlength=len(sets) * n_bins)
    return np.minimum(counts, _FULL).astype(np.uint8).reshape(len(sets), n_bins)


def most_common(profiles: U8, left: I64, right: I64) -> tuple[I64, Bool]:
    """Return the maximum number of shingles that each pair of sets can share, and the pairs for which it is unknown.

    Examples
    --------
    >>> profiles = np.array([[2, 1], [0, 3]], np.uint8)
    >>> [array.tolist() for array in most_common(profiles, np.array([0]), np.array([1]))]
    [[1], [False]]
    """
    most, is_unknown = np.zeros(len(left), np.int64), np.zeros(len(left), np.bool_)
    for start in range(0, len(left), _PAIRS_AT_A_TIME):
        block = slice(start, start + _PAIRS_AT_A_TIME)
        lesser = np.minimum(profiles[left[block]], profiles[right[block]])
        most[block] = lesser.sum(axis=1, dtype=np.uint32)
        is_unknown[block] = lesser.max(axis=1, initial=0) == _FULL  # both bins are full, so the counts are unknown
    return most, is_unknown


MEETING_BYTES = 48 << 20
"""Approximate bytes of the entries that meet in one task."""


@dataclass(frozen=True, slots=True)
class EntryMeetings:
    """Tasks in which entries meet.

    Every band is split into equal ranges of its keys; one task takes one large range, or several small bands.
    """

    n_bands: int
    n_ranges: int
    n_targets: int

    @classmethod
    def of(cls, plan: Plan, sample: Sample, options: DedupOptions, n_least: int) -> EntryMeetings:
        """Plan meetings for the texts that were sampled, with at least ``n_least`` tasks."""
        of_bands, others = keys_a_text(sample, plan, options)
        n_bytes = sample.n_documents * ENTRIES.row_bytes
        n_targets = max(n_least, 1 + int(max(of_bands, others) * n_bytes) // MEETING_BYTES)
        n_bands = plan.bands if isinstance(plan, BandPlan) else 0
        return cls(n_bands, 1 + n_bytes // MEETING_BYTES, n_targets)

    def at(self, band: int, keys: U64) -> I64:
        """Return the task of each key of a band; ``n_bands`` stands for the loose entries."""
        if band == self.n_bands:
            return _ranges(keys, self.n_targets)
        n_parts = self.n_bands * self.n_ranges
        part = _ranges(keys, self.n_ranges) + band * self.n_ranges
        return part * min(self.n_targets, n_parts) // n_parts

    def of_shingles(self, buckets: I64) -> I64:
        """Return the task that counts the shingles of each bucket."""
        return buckets * self.n_targets >> COUNT_BITS


def _ranges(keys: U64, n_ranges: int) -> I64:
    return ((keys >> np.uint64(32)) * np.uint64(n_ranges) >> np.uint64(32)).astype(np.int64)


class PartitionEntries:
    """Entries of a partition, band by band."""

    def __init__(self, meetings: EntryMeetings) -> None:
        self._meetings = meetings
        self._of_band: list[list[tuple[U64, U32, U32, U8]]] = [[] for _ in range(meetings.n_bands + 1)]

    def add(self, band: int, keys: U64, nodes: U32, sizes: U32, sides: U8) -> None:
        """Add entries of a band; ``n_bands`` stands for entries of no band."""
        self._of_band[band].append((keys, nodes, sizes, sides))

    def add_loose(self, keys: U64, nodes: U32, sizes: U32, sides: U8) -> None:
        """Add entries of no band."""
        self.add(self._meetings.n_bands, keys, nodes, sizes, sides)

    def sent(self, place: Path) -> Iterator[Block]:
        """Yield the entries to send; skewed ones are written to ``place``."""
        stay: list[tuple[Column, ...]] = []
        for band, parts in enumerate(self._of_band):
            if not parts:
                continue
            keys, nodes, sizes, sides = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            is_skewed = skewed_entries(keys)
            if is_skewed.any():
                here = keys[is_skewed], nodes[is_skewed], sizes[is_skewed], sides[is_skewed]
                stay.append((np.full(len(here[0]), band, np.uint32), *here))
                marked, of_mark, n = np.unique(here[0], return_inverse=True, return_counts=True)
                n_leads = np.bincount(of_mark, (here[3] & FOLLOWS) == 0, len(marked)).astype(np.int64)
                yield from MARKS.of(band).scattered(self._meetings.at(band, marked), marked, n, n_leads)
                keys, nodes, sizes, sides = (column[~is_skewed] for column in (keys, nodes, sizes, sides))
            yield from ENTRIES.of(band).scattered(self._meetings.at(band, keys), keys, nodes, sizes, sides)
        if stay:
            names = [name for name, _ in SKEWED.columns]
            save_arrays(place, dict(zip(names, map(np.concatenate, zip(*stay, strict=True)), strict=True)))


def skewed_entries(keys: U64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each entry has a key shared by more than `MIN_PIVOTS` entries.

    Examples
    --------
    >>> int(skewed_entries(np.array([1, 2] * 60 + [1] * 10, np.uint64)).sum())
    70
    """
    ordered, places = sort_entries(keys, np.arange(len(keys), dtype=np.uint32))
    bounds = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    lengths = np.diff(bounds)
    is_skewed = np.zeros(len(keys), np.bool_)
    is_skewed[places] = np.repeat(lengths > MIN_PIVOTS, lengths)
    return is_skewed


SKEWED_KINDS = ("bands", "prefixes", "samples")


def skewed_place(partitions: Partitions, kind: str, partition: int) -> Path:
    """Return the file of the skewed entries of a partition, for each of `SKEWED_KINDS`; it may be missing."""
    return partitions.keys / f"crowded-{kind}-{partition:09d}.arrow"


def load_skewed(partitions: Partitions, partition: int) -> tuple[Column, ...]:
    """Return the columns of `SKEWED` of the entries that stayed in a partition."""
    parts = [[np.zeros(0, kind)] for _, kind in SKEWED.columns]
    for kind in SKEWED_KINDS:
        place = skewed_place(partitions, kind, partition)
        if place.exists():
            stored = load_arrays(place)
            for part, (name, _) in zip(parts, SKEWED.columns, strict=True):
                part.append(stored[name])
    return tuple(map(np.concatenate, parts))


def texts_of_entries(nodes: U32, pairs: U64) -> tuple[U32, U32]:
    """Return pairs of entries as pairs of texts, the lower row on the left."""
    a, b = nodes[pairs >> np.uint64(32)], nodes[pairs.astype(np.uint32)]
    is_pair = a != b
    return np.minimum(a, b)[is_pair], np.maximum(a, b)[is_pair]
