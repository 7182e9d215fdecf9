"""Deduplication job on a cluster, from top to bottom; the result is the same as on one machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.errors import EngineError
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.records import U32, Groups, Matches
from nearkin.runs.arrays import mapped_batch
from nearkin.runs.files import make_work_folder, published_together
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.grouping import count_bridges
from nearkin.stages.verification.what_differs import NOTHING
from nearkin.workflows.dedup.against import judge_across
from nearkin.workflows.dedup.corpus import NO_NODE, Corpus, facts_of, repeated_among
from nearkin.workflows.dedup.job import Result, tell_of_long_documents
from nearkin.workflows.dedup.on_spark.keying import load_sizes
from nearkin.workflows.dedup.on_spark.matching import ClusterMatches, match_texts
from nearkin.workflows.dedup.on_spark.partitions import (
    CHUNKS,
    COPIES,
    COUNTED,
    GROUPS,
    INPUTS,
    MATCHES,
    MEMBERS,
    SUSPECTS,
    Partitions,
)
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts, find_texts
from nearkin.workflows.dedup.on_spark.verifying import group_all
from nearkin.workflows.dedup.outcome import GroupedTexts, Judged, ignored_numbers, judge_groups, prefer, with_numbers
from nearkin.workflows.dedup.plans import kinds_of_text
from nearkin.workflows.dedup.reading import read_one
from nearkin.workflows.dedup.row_places import check_problems, check_readable, locate
from nearkin.workflows.dedup.searching import Sizes
from nearkin.workflows.dedup.verifying import VerifiedMatches
from nearkin.workflows.reading.identity import RecordsByPath
from nearkin.workflows.reading.inputs import Input, places_in
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
    known: tuple[RecordsByPath, RecordsByPath] | None = None,
) -> Result:
    """Find the near-duplicates among documents, or between two sets; see `workflows.dedup.job.find`."""
    work = work.absolute()  # tasks run in other directories
    spool, texts = Spool(work / SPOOL), work / "texts"
    parts, other_parts = (
        [TaskInput.of(one, records) for one in side or ()]
        for side, records in zip((inputs, others), known or ({}, {}), strict=True)
    )
    everything = [*parts, *other_parts]
    read = read_all(stages, everything, spool, options, rules=rules, progress=meter.progress)
    partitions = Partitions.of(work, read, len(parts), stages.n_at_a_time)
    found = find_texts(stages, partitions, options.keep, texts, is_against=others is not None)
    with meter.stage("collect", 0, "steps"):
        counted = COUNTED.of_targets(found.of(COUNTED.stream).collected(), len(partitions))
        corpus = _corpus(partitions, found, texts, is_against=others is not None)
        of_inputs = [block for block in read if block.stream == INPUTS.stream]
        kinds = [IdKind(kind) for kind in INPUTS.of_targets(of_inputs, len(everything))[0].tolist()]
        places = locate(corpus, places_in([one.one for one in everything]), kinds[: len(parts)], kinds[len(parts) :])
    check_problems(places, rules)
    check_readable(corpus, places, rules)
    tell_of_long_documents(corpus, places, resources, meter.progress)
    matched = match_texts(
        stages, partitions, counted, (texts, work / "keys"), options, is_against=corpus.is_against,
        planning=meter.stage("plan", 0, "steps"),
    )  # fmt: skip
    told, sizes = _verified(matched, corpus), _sizes(work / "keys", partitions)
    if corpus.is_against:
        judged = judge_across(corpus, options, sizes, told.matches)
    else:
        groups = group_all(stages, matched.blocks.of(MATCHES.stream), len(told.matches), partitions, texts, options)
        judged = _judged(corpus, options, sizes, told.matches, groups)
    return Result(
        corpus=corpus, places=places, sizes=sizes, plan=matched.plan, verified=told,
        judged=with_numbers(judged, ignored_numbers(corpus, options)), n_skipped=matched.n_not_compared,
        threshold=options.threshold, kinds=kinds_of_text(corpus, options),
    )  # fmt: skip


def _corpus(partitions: Partitions, found: Blocks, texts: Path, *, is_against: bool) -> Corpus:
    chunks = partitions.chunks()
    facts = [facts_of(chunk) for chunk in chunks]
    status, n_characters, keep_value = (
        np.concatenate([np.zeros(0, kind), *(getattr(one, name) for one in facts)])
        for name, kind in (("status", np.uint8), ("n_characters", np.int64), ("keep_value", np.float64))
    )
    first = np.concatenate(
        [np.zeros(0, np.uint32), *(PartitionTexts.load(texts, i).first for i in range(len(partitions)))]
    )
    rows, firsts = COPIES.joined(found.of(COPIES.stream).collected())
    node = np.full(partitions.n_documents, NO_NODE, np.uint32)
    node[first] = np.arange(len(first), dtype=np.uint32)
    node[rows] = node[firsts]
    (suspects,) = SUSPECTS.joined(found.of(SUSPECTS.stream).collected())
    suspects = np.sort(suspects)
    is_mine = suspects < partitions.n_inputs
    repeated = repeated_among(chunks, suspects[is_mine]) + repeated_among(chunks, suspects[~is_mine])
    return Corpus(
        chunks=chunks,
        n_inputs=partitions.n_inputs,
        status=status,
        n_characters=n_characters,
        keep_value=keep_value,
        node=node,
        first_row=first,
        is_against=is_against,
        repeated_ids=tuple(repeated),
    )


def _verified(found: ClusterMatches, corpus: Corpus) -> VerifiedMatches:
    left, right, *columns = MATCHES.joined(found.blocks.of(MATCHES.stream).collected())[:6]
    order = np.lexsort((right, left))
    matches = Matches(corpus.node[left], corpus.node[right], *columns)
    return VerifiedMatches(matches.where(order), found.n_candidates)


def _sizes(folder: Path, partitions: Partitions) -> Sizes:
    parts = [load_sizes(folder, partition) for partition in range(len(partitions))]
    none = np.zeros(0, np.uint32)
    return Sizes(
        np.concatenate([none, *(part.n_shingles for part in parts)]),
        np.concatenate([none, *(part.n_units for part in parts)]),
    )


def _judged(corpus: Corpus, options: DedupOptions, sizes: Sizes, matches: Matches, groups: Blocks) -> Judged:
    n = corpus.n_nodes
    principal: U32 = np.arange(n, dtype=np.uint32)
    to_principal, lowest, is_exact = np.ones(n), np.ones(n), np.ones(n, np.bool_)
    differs = np.full(n, NOTHING)
    members, of_member, _, similarity, different = MEMBERS.joined(groups.of(MEMBERS.stream).collected())
    at = corpus.node[members]
    principal[at], to_principal[at], differs[at] = corpus.node[of_member], similarity, different
    heads, _, least, exact, _ = GROUPS.joined(groups.of(GROUPS.stream).collected())
    at = corpus.node[heads]
    lowest[at], is_exact[at] = least, exact.astype(np.bool_)
    together = matches.where(~options.is_apart(matches))
    grouped = Groups(principal, count_bridges(together, principal))
    grouping = GroupedTexts(grouped, to_principal, differs, lowest, is_exact)
    return judge_groups(corpus, options, sizes, prefer(corpus, options), matches, grouping)


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
    reading = ReadInputTask(Spool(spool.path.absolute()), options, rules)
    return read_by_tasks(stages, "read", tasks, reading, progress, folder=spool.path)


@dataclass(frozen=True, slots=True)
class ReadInputTask:
    """Read one input into the spool."""

    spool: Spool
    options: DedupOptions
    rules: ReadingRules

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        first_source, given = pickle.loads(blocks[0].data)  # noqa: S301 (from the driver, through Spark, as tasks are)
        notes = Notes()
        with published_together(self.spool.path, str(target)) as aside, given.reading() as one:
            spool = self.spool if self.spool.mark(target).exists() else Spool(aside)
            read = read_one(target, first_source, one, spool, self.options, rules=self.rules, threads=1, progress=notes)
        paths = sorted(self.spool.path.glob(f"{target:09d}-*.arrow"))
        numbers, n_documents, n_bytes = [], [], []
        for path in paths:
            n_documents.append(mapped_batch(path).num_rows)
            numbers.append(int(path.stem.partition("-")[2]))
            n_bytes.append(path.stat().st_size)
        if sum(n_documents) != read.n_documents or numbers != list(range(len(numbers))):
            raise EngineError(
                f"{self.spool.path} shows {counted(sum(n_documents), 'document')}, and {read.n_documents:,} were "
                "written: files are missing, or this worker does not see them yet. Run the same command with "
                "--resume to continue; if files are missing, with --overwrite."
            )
        yield from notes.blocks(target, target=target)
        yield from INPUTS.packed(target, np.array([read.id_kind]))
        yield from CHUNKS.packed(
            target, np.full(len(paths), target), np.array(numbers), np.array(n_documents), np.array(n_bytes)
        )
