"""Deduplication job on a cluster, from top to bottom; the result is the same as on one machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks, Task
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.stages import Stages
from nearkin.errors import EngineError
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import BandPlan, Sample
from nearkin.records import I64, U8, U32, U64
from nearkin.runs.files import make_work_folder, published_together
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import SPOOL, Spool, mapped_batch, save_array, saved_array
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.search.exhaustive import LeadKeys, bits_of
from nearkin.stages.search.linking import FOLLOWS, MIN_PIVOTS, Linking, sort_entries
from nearkin.stages.search.prefixes import Occurrences
from nearkin.workflows.dedup.candidates import BandKeys, SampleKeys
from nearkin.workflows.dedup.job import Planned, Result, foreseen, judge, plan, surveyed
from nearkin.workflows.dedup.on_spark.keying import (
    EntryMeetings,
    PartitionEntries,
    counts_place,
    leading,
    load_sizes,
    n_bins_for,
    n_leading,
    send_band_keys,
    send_prefixes,
    sets_of_texts,
    skewed_place,
    texts_of_entries,
)
from nearkin.workflows.dedup.on_spark.partitions import (
    CHUNKS,
    ENTRIES,
    HOT,
    INPUTS,
    LEADS,
    LENGTHS,
    MARKS,
    OCCURRENCES,
    PAIRS,
    SKEWED,
    Partitions,
)
from nearkin.workflows.dedup.on_spark.skewed import link_skewed
from nearkin.workflows.dedup.on_spark.verifying import compare_inside, verify_all
from nearkin.workflows.dedup.plans import Plan
from nearkin.workflows.dedup.reading import read_one
from nearkin.workflows.dedup.row_places import check_readable
from nearkin.workflows.dedup.verifying import VerifiedMatches
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.on_spark.tasks import Notes, TaskInput, read_by_tasks
from nearkin.workflows.resources import Resources


def find(
    inputs: Sequence[Input],
    others: Sequence[Input] | None,
    options: DedupOptions,
    work: Path,
    stages: Stages,
    *,
    rules: ReadingRules,
    resources: Resources,
    meter: Meter,
) -> Result:
    """Find the near-duplicates among documents, or between two sets; see `workflows.dedup.job.find`.

    Every executor can read and write ``work``.
    """
    partitions, kinds = spooled(stages, [*inputs, *(others or ())], work, options, rules=rules, progress=meter.progress)
    n_inputs = partitions.n_documents(len(inputs))
    corpus, places = surveyed(partitions.chunks(), n_inputs, inputs, others, kinds, rules, meter)
    check_readable(corpus, places, rules)
    return find_among(plan(corpus, places, options, resources=resources, meter=meter), partitions, stages, meter)


def spooled(
    stages: Stages,
    inputs: Sequence[Input],
    work: Path,
    options: DedupOptions,
    *,
    rules: ReadingRules,
    progress: Progress,
) -> tuple[Partitions, list[IdKind]]:
    """Read inputs into the spool in ``work``; return its partitions, and the kinds of the ids of each input."""
    work = work.absolute()  # tasks run in other directories
    tasks = [TaskInput.of(part) for part in inputs]
    blocks = read_all(stages, tasks, Spool(work / SPOOL), options, rules=rules, progress=progress)
    of_inputs = [block for block in blocks if block.stream == INPUTS.stream]
    kinds = [IdKind(kind) for kind in INPUTS.of_targets(of_inputs, len(tasks))[0].tolist()]
    return Partitions.of(work, blocks, stages.n_at_a_time), kinds


def find_among(planned: Planned, partitions: Partitions, stages: Stages, meter: Meter) -> Result:
    """Find the near-duplicates among the documents of a spool: keys and sets of shingles pass between tasks."""
    options, partitions = planned.options, partitions.with_texts(planned.corpus, planned.order)
    linked = link_all(stages, partitions, options, planned.plan, planned.sample)
    sizes, counts = load_sizes(partitions), counts_place(partitions)
    planned = foreseen(planned, sizes, saved_array(counts) if counts.exists() else None, meter.progress)
    verified = VerifiedMatches(*verify_all(stages, linked.pairs, partitions, options))
    compare = partial(compare_inside, stages, partitions, options)
    return judge(planned, sizes, verified, linked.n_not_compared, compare)


def read_all(
    stages: Stages,
    inputs: Sequence[TaskInput],
    spool: Spool,
    options: DedupOptions,
    *,
    rules: ReadingRules,
    progress: Progress,
) -> list[Block]:
    """Read every input into the spool; the streams are `CHUNKS` and `INPUTS`."""
    make_work_folder(spool.path)
    first_sources = np.cumsum([0, *(len(part.sources) for part in inputs)]).tolist()
    tasks = [Block("input", i, pickle.dumps((first_sources[i], part))) for i, part in enumerate(inputs)]
    reading = partial(read_input, spool, options, rules)
    return read_by_tasks(stages, "read", tasks, reading, progress, folder=spool.path)


def read_input(
    spool: Spool, options: DedupOptions, rules: ReadingRules, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Read one input into the spool."""
    first_source, given = pickle.loads(blocks[0].data)  # noqa: S301 (from the driver, through Spark, as tasks are)
    notes = Notes()
    with published_together(spool.path, str(target)) as aside, given.reading() as part:
        place = spool if spool.mark(target).exists() else Spool(aside)
        read = read_one(target, first_source, part, place, options, rules=rules, threads=1, progress=notes)
    paths = sorted(spool.path.glob(f"{target:09d}-*.arrow"))
    numbers, n_documents, n_bytes = [], [], []
    for path in paths:
        n_documents.append(mapped_batch(path).num_rows)
        numbers.append(int(path.stem.partition("-")[2]))
        n_bytes.append(path.stat().st_size)
    if sum(n_documents) != read.n_documents or numbers != list(range(len(numbers))):
        raise EngineError(
            f"{spool.path} shows {counted(sum(n_documents), 'document')}, and {read.n_documents:,} were "
            "written: files are missing, or this worker does not see them yet. Run the same command with "
            "--resume to continue; if files are missing, with --overwrite."
        )
    yield from notes.blocks(target, target=target)
    yield from INPUTS.packed(target, np.array([read.id_kind]))
    yield from CHUNKS.packed(
        target, np.full(len(paths), target), np.array(numbers), np.array(n_documents), np.array(n_bytes)
    )


HOT_LENGTH = 1 << 20
"""Maximum number of entries of one key that are sent to one task."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Candidates found on a cluster: `PAIRS`, some of them repeated."""

    pairs: Blocks
    n_not_compared: int


def link_all(stages: Stages, partitions: Partitions, options: DedupOptions, plan: Plan, sample: Sample) -> Linked:
    """Pair the texts that share a key."""
    partitions.keys.mkdir(exist_ok=True)
    n, meetings = len(partitions), EntryMeetings.of(plan, sample, options, stages.n_at_a_time)
    ratio = options.measure.min_size_ratio(options.threshold)
    linking = partial(link_entries, partitions, meetings, ratio)
    keying = partial(send_band_keys, partitions, options, plan, meetings, n_bins_for(sample.mean_size))

    def met(name: str, sending: Task) -> Blocks:
        return stages.kept(name, lambda: stages.parts(n, sending).shuffled(meetings.n_targets, linking))

    linked = met("bands", keying)
    has_counts = _save_counts(linked, partitions)
    if not isinstance(plan, BandPlan):
        keys = SampleKeys(plan, options)
        linked = met(
            "samples", partial(send_sampled, partitions, options, keys, meetings, _leads(stages, partitions, keys))
        )
    elif has_counts:
        linked = linked.and_those_of(
            met("prefixes", partial(send_prefixes, partitions, BandKeys(plan, options), meetings))
        )
    return Linked(*link_skewed(stages, linked, partitions, meetings, ratio))


def _save_counts(linked: Blocks, partitions: Partitions) -> bool:
    buckets, n = OCCURRENCES.joined(linked.of(OCCURRENCES.stream).collected())
    if len(buckets):
        save_array(counts_place(partitions), Occurrences.summed(buckets, n).dense())
    return len(buckets) > 0


def link_entries(
    partitions: Partitions, meetings: EntryMeetings, min_size_ratio: float, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Pair the texts that share a key; set aside those of skewed keys."""
    buckets, n = OCCURRENCES.joined(blocks)
    if len(buckets):
        here = Occurrences.summed(buckets, n)
        yield from OCCURRENCES.packed(target, here.buckets, here.n)
    for band in range(meetings.n_bands + 1):
        marks = MARKS.of(band).joined(blocks)
        entries = ENTRIES.of(band).joined(blocks)
        if len(entries[0]) or len(marks[0]):
            yield from _linked(partitions, min_size_ratio, band, marks, *entries)


def _linked(
    partitions: Partitions,
    min_size_ratio: float,
    band: int,
    marks: Sequence[Column],
    keys: U64,
    nodes: U32,
    sizes: U32,
    sides: U8,
) -> Iterator[Block]:
    leads_first = np.argsort(sides & FOLLOWS, kind="stable").astype(np.uint32)
    keys, order = sort_entries(keys[leads_first], leads_first)
    texts, starts, lengths = _runs(keys)
    n_leads = np.add.reduceat((sides[order] & FOLLOWS) == 0, starts, dtype=np.int64) if len(starts) else starts
    is_skewed = (lengths > MIN_PIVOTS) | np.isin(texts, marks[0])
    here = texts[is_skewed], lengths[is_skewed], n_leads[is_skewed]
    yield from _lengths(band, *(np.append(own, there) for own, there in zip(here, marks, strict=True)))
    is_skewed = np.repeat(is_skewed, lengths)
    if is_skewed.any():
        aside = order[is_skewed]
        columns = np.full(len(aside), band), keys[is_skewed], nodes[aside], sizes[aside], sides[aside]
        yield from SKEWED.scattered(partitions.at(nodes[aside]), *columns)
        keys, order = keys[~is_skewed], order[~is_skewed]
    for pairs, _ in Linking(sizes, sides, min_size_ratio).link_sorted(keys, order):
        left, right = texts_of_entries(nodes, pairs)
        yield from PAIRS.scattered(partitions.at(left), left, right)


def _lengths(band: int, keys: U64, lengths: I64, n_leads: I64) -> Iterator[Block]:
    """Yield the number of texts of each skewed key, and of leading ones if there are any."""
    distinct_keys, of_key = np.unique(keys, return_inverse=True)
    lengths, n_leads = (np.bincount(of_key, n, len(distinct_keys)).astype(np.int64) for n in (lengths, n_leads))
    is_led = n_leads > 0
    distinct_keys, lengths, n_leads = distinct_keys[is_led], lengths[is_led], n_leads[is_led]
    is_hot = lengths > HOT_LENGTH
    hot = distinct_keys[is_hot], lengths[is_hot], n_leads[is_hot]
    yield from HOT.packed(0, np.full(len(hot[0]), band), *hot)
    distinct, n_keys = np.unique(np.stack([lengths, n_leads]), axis=1, return_counts=True)
    yield from LENGTHS.packed(0, np.full(len(n_keys), band), *distinct, n_keys)


def _runs(keys: U64) -> tuple[U64, I64, I64]:
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
    return keys[starts], starts, np.diff(np.append(starts, len(keys)))


def _leads(stages: Stages, partitions: Partitions, keys: SampleKeys) -> Path | None:
    """Return the file of the shingles with which small texts lead, for which the large ones are searched."""
    n_keys, place = n_leading(partitions, keys.prefixes), partitions.keys / "lead-bits.arrow"
    if not n_keys:
        return None
    listing = partial(list_leading, partitions, keys, n_keys)
    (bits,) = LEADS.joined(stages.kept("leads", lambda: stages.parts(len(partitions), listing)).collected())
    save_array(place, LeadKeys.of_bits(bits, n_keys).bitmap)
    return place


def list_leading(
    partitions: Partitions, keys: SampleKeys, n_keys: int, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """List the shingles with which the small texts of a partition lead."""
    shingles, *_ = leading(partitions, target, keys.prefixes)
    yield from LEADS.packed(target, bits_of(shingles, n_keys))


def send_sampled(
    partitions: Partitions,
    options: DedupOptions,
    keys: SampleKeys,
    meetings: EntryMeetings,
    leads_place: Path | None,
    target: int,
    blocks: Sequence[Block],
) -> Iterator[Block]:
    """Send the entries of the texts of a partition to where equal keys meet, once the sizes of all are known."""
    texts, entries = partitions.texts(target), PartitionEntries(meetings)
    leads = None if leads_place is None else LeadKeys(saved_array(leads_place))
    own = leading(partitions, target, keys.prefixes)[:4]
    entries.add_loose(*own)
    for here, sets in sets_of_texts(partitions, texts, target, options):
        nodes, sides = texts.nodes[here], texts.sides[here]
        sizes = sets.sizes.astype(np.uint32)
        sampled = keys.sampled(nodes, sets)
        at = sampled[1] - nodes[0]
        entries.add_loose(*sampled, sizes[at], sides[at])
        if leads is not None:
            is_here = (own[1] >= nodes[0]) & (own[1] <= nodes[-1])
            following = keys.following(nodes, sets, leads, [sampled, (own[0][is_here], own[1][is_here])])
            at = following[1] - nodes[0]
            entries.add_loose(*following, sizes[at], sides[at] | FOLLOWS)
    yield from entries.sent(skewed_place(partitions, "samples", target))
