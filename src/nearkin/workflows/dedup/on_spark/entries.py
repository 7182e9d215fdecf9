"""Entries (key, text) of a partition, and the tasks in which they meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block, Column
from nearkin.planning.search import BandPlan, Sample
from nearkin.records import I64, U8, U32, U64
from nearkin.runs.arrays import load_arrays, save_arrays
from nearkin.stages.search.linking import FOLLOWS, MIN_PIVOTS, sort_entries
from nearkin.stages.search.prefixes import COUNT_BITS
from nearkin.workflows.dedup.on_spark.partitions import ENTRIES, MARKS, PAIRS, SKEWED, Partitions
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.plans import Plan, keys_a_text

MEETING_BYTES = 48 << 20
"""Approximate bytes of the entries that meet in one task."""


@dataclass(frozen=True, slots=True)
class EntryMeetings:
    """Tasks in which entries meet.

    Every band is split into equal ranges of its keys; one task takes one large range, or several small
    bands. Loose entries, which belong to no band, are split into one range per task.

    Parameters
    ----------
    n_bands : int
    n_ranges : int
        Ranges of the keys of each band.
    n_targets : int
        Number of tasks.
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
    """Return the number of the equal range that holds each key."""
    return ((keys >> np.uint64(32)) * np.uint64(n_ranges) >> np.uint64(32)).astype(np.int64)


class PartitionEntries:
    """Entries of a partition, band by band.

    A key of many texts in one partition is skewed, regardless of other partitions: its entries stay in place, so that
    one key of very many documents does not flood a task. Only their number is sent to where its other entries meet.
    """

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


def skewed_place(folder: Path, kind: str, partition: int) -> Path:
    """Return the file of the skewed entries of a partition, for each of `SKEWED_KINDS`; it may be missing."""
    return folder / f"crowded-{kind}-{partition:09d}.arrow"


def load_skewed(folder: Path, partition: int) -> tuple[Column, ...]:
    """Return the columns of `SKEWED` of the entries that stayed in a partition."""
    parts = [[np.zeros(0, kind)] for _, kind in SKEWED.columns]
    for kind in SKEWED_KINDS:
        place = skewed_place(folder, kind, partition)
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


def pairs_in_partition(partitions: Partitions, left: U32, right: U32) -> Iterator[Block]:
    """Yield pairs of texts, for the partition of the left one."""
    yield from PAIRS.scattered(partitions.at(left), left, right, np.zeros(len(left), np.uint32))
