"""Deduplication job on a cluster, from top to bottom; the result is the same as on one machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.errors import EngineError
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.runs.arrays import mapped_batch, saved_array
from nearkin.runs.files import make_work_folder, published_together
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.dedup.job import Planned, Result, foreseen, judge, plan, surveyed
from nearkin.workflows.dedup.on_spark.keying import counts_place, load_sizes
from nearkin.workflows.dedup.on_spark.matching import link_all
from nearkin.workflows.dedup.on_spark.partitions import CHUNKS, INPUTS, Partitions
from nearkin.workflows.dedup.on_spark.verifying import compare_inside, verify_all
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
    work = work.absolute()  # tasks run in other directories
    parts, other_parts = ([TaskInput.of(one) for one in side or ()] for side in (inputs, others))
    everything = [*parts, *other_parts]
    read = read_all(stages, everything, Spool(work / SPOOL), options, rules=rules, progress=meter.progress)
    partitions = Partitions.of(work, read, stages.n_at_a_time)
    of_inputs = [block for block in read if block.stream == INPUTS.stream]
    kinds = [IdKind(kind) for kind in INPUTS.of_targets(of_inputs, len(everything))[0].tolist()]
    mine, theirs = ([one.one for one in some] for some in (parts, other_parts))
    n_inputs = partitions.n_documents(len(parts))
    corpus, places = surveyed(
        partitions.chunks(), n_inputs, mine, None if others is None else theirs, kinds, rules, meter
    )
    check_readable(corpus, places, rules)
    return find_among(plan(corpus, places, options, resources=resources, meter=meter), partitions, stages, meter)


def find_among(planned: Planned, partitions: Partitions, stages: Stages, meter: Meter) -> Result:
    """Find the near-duplicates among the documents of a spool: keys and sets of shingles pass between tasks.

    The driver has the facts about documents, and all matches.
    """
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
    first_sources = np.cumsum([0, *(len(one.sources) for one in inputs)]).tolist()
    tasks = [Block("input", i, pickle.dumps((first_sources[i], one))) for i, one in enumerate(inputs)]
    reading = partial(read_input, spool, options, rules)
    return read_by_tasks(stages, "read", tasks, reading, progress, folder=spool.path)


def read_input(
    spool: Spool, options: DedupOptions, rules: ReadingRules, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Read one input into the spool."""
    first_source, given = pickle.loads(blocks[0].data)  # noqa: S301 (from the driver, through Spark, as tasks are)
    notes = Notes()
    with published_together(spool.path, str(target)) as aside, given.reading() as one:
        place = spool if spool.mark(target).exists() else Spool(aside)
        read = read_one(target, first_source, one, place, options, rules=rules, threads=1, progress=notes)
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
