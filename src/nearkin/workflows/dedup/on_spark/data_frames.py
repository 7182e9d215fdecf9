"""Spark data frame → the same rows with annotations; only the plan passes through the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.engines.spark.blocks import Blocks, gathered
from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.dedup.corpus import repeated_among
from nearkin.workflows.dedup.not_compared import within_what_there_is
from nearkin.workflows.dedup.on_spark.annotated import ANNOTATIONS, ID, PAIR_COLUMNS, AnnotateRowsTask, ListPairsTask
from nearkin.workflows.dedup.on_spark.frames import FrameColumns, read_frame
from nearkin.workflows.dedup.on_spark.grouping import group_all
from nearkin.workflows.dedup.on_spark.matching import match_texts
from nearkin.workflows.dedup.on_spark.names import SendIdsTask
from nearkin.workflows.dedup.on_spark.partitions import Partitions, each_partition
from nearkin.workflows.dedup.on_spark.streams import (
    COPIES,
    COUNTED,
    GROUPS,
    MATCHES,
    MEMBERS,
    SUSPECTS,
    UNREADABLE,
)
from nearkin.workflows.dedup.on_spark.texts import find_texts
from nearkin.workflows.dedup.on_spark.verdicts import AskIdsTask, ListVerdictsTask, PairDocumentsTask
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.plans import Plan
from nearkin.workflows.reading.on_spark.partitions import repeated_ids

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
    """Deduplicate a data frame.

    Parameters
    ----------
    frame : DataFrame
    columns : FrameColumns
    options : DedupOptions
    work : Path
        Folder that every executor can read and write.
    stages : Stages
    prefix : str
        Prefix of the added columns.
    rules : ReadingRules
        Limit of unreadable documents.
    """
    rows, texts, keys = work / "rows", work / "texts", work / "keys"
    partitions, found = _read_texts(frame, columns, options, work, stages, rules)
    has_ids, id_type, n = columns.doc_id is not None, _id_type(frame, columns), max(len(partitions), 1)
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
    list_verdicts = ListVerdictsTask(partitions, texts, keys, options, has_ids)
    verdicts = stages.kept("verdicts", lambda: told.shuffled(n, list_verdicts).shuffled(n, SendIdsTask(partitions)))
    pairs = stages.kept(
        "pairs",
        lambda: (
            matches.and_those_of(copies)
            .shuffled(n, PairDocumentsTask(partitions, texts))
            .shuffled(n, AskIdsTask(partitions))
            .shuffled(n, SendIdsTask(partitions))
        ),
    )
    added = [(prefix + name, id_type if kind == ID else kind) for name, kind in ANNOTATIONS]
    with engine_errors():
        return Frames(
            _annotated(frame, stages.parts(len(partitions), each_partition).and_those_of(verdicts), added,
                       AnnotateRowsTask(partitions, rows, id_type, prefix, has_ids), n),
            gathered(pairs, n, ListPairsTask(partitions, id_type, has_ids), _schema(PAIR_COLUMNS, id_type)),
            matched.plan,
            partitions.n_documents,
            within_what_there_is(
                matched.n_not_compared, int(counted[0].sum()), n_candidates=matched.n_candidates
            ),
        )  # fmt: skip


def _read_texts(
    frame: DataFrame, columns: FrameColumns, options: DedupOptions, work: Path, stages: Stages, rules: ReadingRules
) -> tuple[Partitions, Blocks]:
    """Find the place of each row and the facts about the texts; refuse invalid rows before anything is compared."""
    spool, rows = Spool(work / SPOOL), work / "rows"
    for folder in (spool.path, rows):
        folder.mkdir(exist_ok=True)
    read = stages.kept("read", lambda: read_frame(frame, columns, spool, rows, options))
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
    task: Callable[[int, Sequence[Block]], Iterator[pa.RecordBatch]],
    n: int,
) -> DataFrame:
    """Return the rows of the data frame with the added columns last."""
    from pyspark.sql.types import StructType

    schema = StructType(list(frame.schema.fields))
    for name, kind in added:
        schema = schema.add(name, kind)
    return gathered(verdicts, n, task, schema)


def _schema(columns: Sequence[tuple[str, str]], id_type: str) -> str:
    return ", ".join(f"`{name}` {id_type if kind == ID else kind}" for name, kind in columns)


def _id_type(frame: DataFrame, columns: FrameColumns) -> str:
    """Return integer for integer ids, string for all others."""
    if columns.doc_id is None:
        return "string"
    kind = frame.schema[columns.doc_id].dataType.simpleString()
    return "long" if kind in ("tinyint", "smallint", "int", "bigint") else "string"


def _check_readable(partitions: Partitions, found: Blocks, rules: ReadingRules) -> None:
    """Check that there is a document to process, and that not too many are unreadable.

    Raises
    ------
    SourceError, DocumentError
        See `ReadingRules.check_readable`.
    """
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
