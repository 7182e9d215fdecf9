"""Spark data frame → the same rows with annotations; only the plan passes through the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nearkin.engines.spark.blocks import Blocks, RowsTask
from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.options.dedup import DedupOptions
from nearkin.records import Matches
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.verification.what_differs import NOTHING, UNKNOWN
from nearkin.workflows.dedup.candidates import within_what_there_is
from nearkin.workflows.dedup.corpus import repeated_among
from nearkin.workflows.dedup.on_spark.keying import load_sizes
from nearkin.workflows.dedup.on_spark.matching import match_texts
from nearkin.workflows.dedup.on_spark.names import (
    ANNOTATIONS,
    ID,
    PAIR_COLUMNS,
    AnnotateRowsTask,
    FrameColumns,
    ListPairsTask,
    SendRowsTask,
    asked,
    columns_sent,
    read_frame,
)
from nearkin.workflows.dedup.on_spark.partitions import (
    COPIES,
    COUNTED,
    GROUPS,
    MATCHES,
    MEMBERS,
    ROW_PAIRS,
    SUSPECTS,
    UNREADABLE,
    VERDICTS,
    Partitions,
    each_partition,
)
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts, find_texts
from nearkin.workflows.dedup.on_spark.verifying import group_all
from nearkin.workflows.dedup.outcome import NO_ROW, differences_of, reasons_of_texts, with_copies
from nearkin.workflows.dedup.plans import Plan
from nearkin.workflows.reading.on_spark.tasks import repeated_ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Frames:
    """Results for a data frame; see `nearkin.spark.SparkDedupResult`."""

    documents: DataFrame
    pairs: DataFrame
    plan: Plan
    n_documents: int
    n_not_compared: int


def dedup_frame(
    frame: DataFrame,
    columns: FrameColumns,
    options: DedupOptions,
    work: Path,
    stages: Stages,
    *,
    prefix: str,
    rules: ReadingRules,
) -> Frames:
    """Deduplicate a data frame; ``work`` is a folder that every executor can read and write."""
    rows, texts, keys = work / "rows", work / "texts", work / "keys"
    partitions, found = _read_texts(frame, columns, options, work, stages, rules)
    id_type, n = _id_type(frame, columns), max(len(partitions), 1)
    sent = columns_sent(options, has_ids=columns.doc_id is not None)
    counted = COUNTED.of_targets(found.of(COUNTED.stream).collected(), len(partitions))
    matched = match_texts(
        stages,
        partitions,
        counted,
        (texts, keys),
        options,
        is_against=False,
        planning=nullcontext(stages.meter.progress),
    )
    matches, copies = matched.blocks.of(MATCHES.stream), found.of(COPIES.stream)
    groups = group_all(stages, matches, matched.n_candidates, partitions, texts, options)
    told = (
        stages.parts(len(partitions), each_partition)
        .and_those_of(copies)
        .and_those_of(groups.of(MEMBERS.stream, GROUPS.stream))
    )
    list_verdicts, send = ListVerdictsTask(partitions, texts, keys, options, bool(sent)), SendRowsTask(partitions, sent)
    verdicts = stages.kept("verdicts", lambda: told.shuffled(n, list_verdicts).shuffled(n, send))
    pairs = stages.kept(
        "pairs",
        lambda: (
            matches.and_those_of(copies)
            .shuffled(n, PairDocumentsTask(partitions, texts))
            .shuffled(n, AskRowsTask(partitions))
            .shuffled(n, send)
        ),
    )
    added = [(prefix + name, id_type if kind == ID else kind) for name, kind in ANNOTATIONS]
    with engine_errors():
        return Frames(
            _annotated(frame, stages.parts(len(partitions), each_partition).and_those_of(verdicts), added,
                       AnnotateRowsTask(partitions, rows, id_type, prefix, sent), n),
            pairs.gathered(n, ListPairsTask(partitions, id_type, sent), _schema(PAIR_COLUMNS, id_type)),
            matched.plan,
            partitions.n_documents,
            within_what_there_is(
                matched.n_not_compared, int(counted[0].sum()), n_candidates=matched.n_candidates
            ),
        )  # fmt: skip


def _read_texts(
    frame: DataFrame, columns: FrameColumns, options: DedupOptions, work: Path, stages: Stages, rules: ReadingRules
) -> tuple[Partitions, Blocks]:
    spool, rows = Spool(work / SPOOL), work / "rows"
    for folder in (spool.path, rows):
        folder.mkdir(exist_ok=True)
    read = stages.kept("read", lambda: read_frame(stages, frame, columns, spool, rows, options))
    partitions = Partitions.of(work, read.collected(), 1 << 32, stages.n_at_a_time)
    has_ids = columns.doc_id is not None
    found = find_texts(stages, partitions, options.keep, work / "texts", is_against=False, has_ids=has_ids)
    if has_ids:
        _check_ids(partitions, found, str(columns.doc_id))
    _check_readable(partitions, found, rules)
    return partitions, found


def _annotated(
    frame: DataFrame,
    verdicts: Blocks,
    added: Sequence[tuple[str, str]],
    task: RowsTask,
    n: int,
) -> DataFrame:
    from pyspark.sql.types import StructType

    schema = StructType(list(frame.schema.fields))
    for name, kind in added:
        schema = schema.add(name, kind)
    return verdicts.gathered(n, task, schema)


def _schema(columns: Sequence[tuple[str, str]], id_type: str) -> str:
    return ", ".join(f"`{name}` {id_type if kind == ID else kind}" for name, kind in columns)


def _id_type(frame: DataFrame, columns: FrameColumns) -> str:
    if columns.doc_id is None:
        return "string"
    kind = frame.schema[columns.doc_id].dataType.simpleString()
    return "long" if kind in ("tinyint", "smallint", "int", "bigint") else "string"


def _check_readable(partitions: Partitions, found: Blocks, rules: ReadingRules) -> None:
    n, first = UNREADABLE.joined(found.of(UNREADABLE.stream).collected())
    if len(n):
        row = int(first.min())
        chunk = next(chunk for chunk in partitions.chunks() if chunk.start <= row < chunk.end)
        where = f"row {row + 1:,}: {chunk.column('problem')[row - chunk.start]}"
        rules.check_readable(int(n.sum()), partitions.n_documents, where)


def _check_ids(partitions: Partitions, found: Blocks, column: str) -> None:
    """Refuse repeated ids, because groups are identified by ids."""
    (suspects,) = SUSPECTS.joined(found.of(SUSPECTS.stream).collected())
    suspects.sort()
    repeated = repeated_among(partitions.chunks(), suspects)
    if repeated:
        raise repeated_ids(column, repeated)


@dataclass(frozen=True, slots=True)
class ListVerdictsTask:
    """List the results of all documents with a text of this partition, and ask for the documents named."""

    partitions: Partitions
    texts: Path
    sizes: Path
    options: DedupOptions
    asks: bool

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        texts, sizes = PartitionTexts.load(self.texts, target), load_sizes(self.sizes, target)
        principal, similarity = texts.best.copy(), np.ones(len(texts.first))
        differs = np.full(len(texts.first), NOTHING)
        members, _, of_member, to_principal, different = MEMBERS.joined(blocks)
        at = texts.at(members)
        principal[at], similarity[at], differs[at] = of_member, to_principal, different
        is_alone = (principal == texts.best) & (texts.n_documents == 1)
        heads, n_texts, *_ = GROUPS.joined(blocks)
        is_alone[texts.at(heads[n_texts > 1])] = False
        is_short = is_alone & (sizes.n_units < self.options.shingle.length)
        copies, firsts = COPIES.joined(blocks)
        rows = np.concatenate([texts.first, copies])
        of_row = np.concatenate([np.arange(len(texts.first)), texts.at(firsts)])
        copy_of = np.where(texts.best[of_row] == rows, NO_ROW, texts.best[of_row])
        is_principal = principal[of_row] == rows
        reason = reasons_of_texts(is_short=is_short[of_row], is_principal=is_principal, copy_of=copy_of)
        partitions = self.partitions.at(rows)
        different = np.where(is_principal, UNKNOWN, differs[of_row])
        verdicts = principal[of_row], copy_of, similarity[of_row], different, reason
        yield from VERDICTS.scattered(partitions, rows, *verdicts)
        if self.asks:
            told = np.concatenate([principal[of_row], copy_of])
            yield from asked(self.partitions, told, np.concatenate([partitions, partitions]))


@dataclass(frozen=True, slots=True)
class PairDocumentsTask:
    """Return matches of texts as pairs of documents, with a pair for each exact copy."""

    partitions: Partitions
    texts: Path

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        _, _, n_common, n_left, n_right, differs, left, right, *_ = MATCHES.joined(blocks)
        texts = PartitionTexts.load(self.texts, target)
        copies, firsts = COPIES.joined(blocks)
        best = texts.best[texts.at(firsts)]
        # the row to keep may be a copy itself: then the others, and the first row, are copies of it
        copies = np.where(copies == best, firsts, copies)
        pairs = with_copies(Matches(left, right, n_common, n_left, n_right, differs), copies, best)
        columns = pairs.left, pairs.right, pairs.n_common, pairs.n_left, pairs.n_right, differences_of(pairs)
        yield from ROW_PAIRS.scattered(self.partitions.at(pairs.left), *columns)


@dataclass(frozen=True, slots=True)
class AskRowsTask:
    """Ask for the right documents of pairs."""

    partitions: Partitions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from blocks
        _, right, *_ = ROW_PAIRS.joined(blocks)
        yield from asked(self.partitions, right, np.full(len(right), target))
