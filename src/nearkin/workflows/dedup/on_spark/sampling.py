"""Sampled and rare shingles → entries by which texts are found if one may contain the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks, Task
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.records import U8, U32
from nearkin.runs.arrays import save_array, saved_array
from nearkin.stages.search.exhaustive import LeadKeys, bits_of
from nearkin.stages.search.linking import FOLLOWS
from nearkin.workflows.dedup.on_spark.entries import EntryMeetings, PartitionEntries, skewed_place
from nearkin.workflows.dedup.on_spark.keying import leading, n_leading, sets_at
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.streams import LEADS
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.sample_search import SampleKeys


def send_samples(
    stages: Stages,
    partitions: Partitions,
    texts: Path,
    folder: Path,
    options: DedupOptions,
    keys: SampleKeys,
    meetings: EntryMeetings,
    linking: Task,
) -> Blocks:
    """Send the entries of all texts to ``linking``, once the sizes of all are known."""
    n_keys = n_leading(folder, len(partitions), keys.prefixes)
    place = folder / "lead-bits.npy"
    if n_keys:
        marked = stages.kept("leads", lambda: stages.parts(len(partitions), ListLeadingTask(folder, keys, n_keys)))
        (bits,) = LEADS.joined(marked.collected())
        save_array(place, LeadKeys.of_bits(bits, n_keys).bitmap)
    sending = SendSampledTask(
        partitions=partitions,
        texts=texts,
        folder=folder,
        options=options,
        keys=keys,
        meetings=meetings,
        leads=place if n_keys else None,
    )
    return stages.kept("samples", lambda: stages.parts(len(partitions), sending).shuffled(meetings.n_targets, linking))


@dataclass(frozen=True, slots=True)
class ListLeadingTask:
    """List the shingles with which the small texts of a partition lead."""

    folder: Path
    keys: SampleKeys
    n_keys: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        keys, *_ = leading(self.folder, target, self.keys.prefixes)
        yield from LEADS.packed(target, bits_of(keys, self.n_keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class SendSampledTask:
    """Send the entries of the texts of a partition to where equal keys meet."""

    partitions: Partitions
    texts: Path
    folder: Path
    options: DedupOptions
    keys: SampleKeys
    meetings: EntryMeetings
    leads: Path | None

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        texts, entries = PartitionTexts.load(self.texts, target), PartitionEntries(self.meetings)
        leads = None if self.leads is None else LeadKeys(saved_array(self.leads))
        own = leading(self.folder, target, self.keys.prefixes)
        entries.add_loose(*own)
        for chunk in self.partitions.chunks(target):
            here = slice(*np.searchsorted(texts.first, [chunk.start, chunk.end]).tolist())
            nodes, sides = texts.first[here], texts.sides[here]
            if not len(nodes):
                continue
            sets = sets_at(chunk, nodes, self.options.shingle)
            sizes = sets.sizes.astype(np.uint32)
            sampled = self.keys.sampled(nodes, sets)
            entries.add_loose(*sampled, *_of_texts(nodes, sizes, sides, sampled[1]))
            if leads is not None:
                is_here = (own[1] >= nodes[0]) & (own[1] <= nodes[-1])
                following = self.keys.following(nodes, sets, leads, [sampled, (own[0][is_here], own[1][is_here])])
                entries.add_loose(*following, *_of_texts(nodes, sizes, sides | FOLLOWS, following[1]))
        yield from entries.sent(skewed_place(self.folder, "samples", target))


def _of_texts(nodes: U32, sizes: U32, sides: U8, wanted: U32) -> tuple[U32, U8]:
    """Return the size and the sides of some of the texts, which are ascending."""
    at = np.searchsorted(nodes, wanted)
    return sizes[at], sides[at]
