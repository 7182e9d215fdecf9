"""Spark data frame → the same rows with annotations; whole rows stay on the executors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.formats.parquet import open_table
from nearkin.options.dedup import DedupOptions
from nearkin.runs.progress import Meter
from nearkin.runs.spool import SPOOL, Spool, gathered, mapped_batch, save_batch
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.tables import read_table
from nearkin.stages.verification.measures import MEASURE_COLUMNS
from nearkin.workflows.dedup.corpus import Corpus, survey
from nearkin.workflows.dedup.job import Result, plan
from nearkin.workflows.dedup.on_spark.job import find_among
from nearkin.workflows.dedup.on_spark.partitions import CHUNKS, Partitions, each_partition
from nearkin.workflows.dedup.reading import prepare_to_choose
from nearkin.workflows.dedup.row_places import Places, check_readable, problems_in
from nearkin.workflows.dedup.tables import write_documents, write_pairs
from nearkin.workflows.reading.on_spark.tasks import check_have_ids, repeated_ids
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "table"
"""Prefix of documents without an id: ``table:1``, ``table:2``, … in the order of the partitions."""
ID = "ID"
ANNOTATIONS = {
    "group": ID, "is_principal": "boolean", "similarity_to_principal": "double", "differs": "string", "copy_of": ID,
    "keep": "boolean", "reason": "string",
}  # fmt: skip
"""Columns added to each row; ID stands for the type of the user's ids."""
_PAIR_COLUMNS = ("id_a", "id_b", *MEASURE_COLUMNS, "differs")
_CHUNKS_AN_ATTEMPT = 1 << 20
_ATTEMPTS = (1 << 32) // _CHUNKS_AN_ATTEMPT


@dataclass(frozen=True, slots=True)
class FrameColumns:
    """Columns that are read."""

    text: str
    doc_id: str | None
    keep: str | None


@dataclass(frozen=True)
class Frames:
    """Results for a data frame; see `nearkin.spark.SparkDedupResult`."""

    documents: DataFrame
    pairs: DataFrame
    result: Result


def dedup_frame(
    frame: DataFrame,
    columns: FrameColumns,
    options: DedupOptions,
    work: Path,
    stages: Stages,
    *,
    prefix: str,
    rules: ReadingRules,
    meter: Meter,
) -> Frames:
    """Deduplicate a data frame; ``work`` is a folder that every executor can read and write."""
    rows, tables = work / "rows", work / "tables"
    for folder in (work / SPOOL, rows, tables):
        folder.mkdir(exist_ok=True)
    reading = partial(read_partition, columns, Spool(work / SPOOL), rows, options)
    read = stages.kept("read", lambda: stages.read(frame, reading))
    partitions = Partitions.of(work, read.collected(), stages.n_at_a_time)
    has_ids, id_type = columns.doc_id is not None, _id_type(frame, columns)
    corpus = survey(partitions.chunks(), partitions.n_documents(), is_against=False, has_ids=has_ids)
    places = _places(corpus, id_type, has_ids=has_ids)
    if corpus.repeated_ids:
        raise repeated_ids(str(columns.doc_id), corpus.repeated_ids)
    check_readable(corpus, places, rules)
    planned = plan(corpus, places, options, resources=Resources(), meter=meter)
    result = find_among(planned, partitions, stages, meter)
    documents, pairs = tables / "documents.parquet", tables / "pairs.parquet"
    write_documents(documents, corpus, result.sizes, result.judged.outcome, places)
    write_pairs(pairs, result.judged.matches, places, is_against=False)
    with engine_errors():
        annotating = partial(annotate_rows, partitions, rows, documents, id_type, prefix)
        annotated = stages.parts(len(partitions), each_partition).gathered(
            max(len(partitions), 1), annotating, _schema(frame, id_type, prefix)
        )
        return Frames(annotated, stages.table(pairs, _PAIR_COLUMNS), result)


def _places(corpus: Corpus, id_type: str, *, has_ids: bool) -> Places:
    """Return the names of the rows: their ids, or their numbers among all rows."""
    lines, text = np.arange(1, len(corpus) + 1), pa.large_string()
    if has_ids:
        names = pa.chunked_array(list(gathered(corpus.chunks, "doc_id")), text).combine_chunks()
    else:
        prefix, separator = (pa.scalar(value, text) for value in (NAME, ":"))
        names = pc.binary_join_element_wise(prefix, pa.array(lines).cast(text), separator)
    ids = names.cast(pa.int64()) if id_type == "long" else names
    return Places(
        own_ids=ids, ids=ids, names=names, source_names=(NAME,), source=np.zeros(len(corpus), np.int32), line=lines,
        problems=problems_in(corpus.chunks),
    )  # fmt: skip


def _id_type(frame: DataFrame, columns: FrameColumns) -> str:
    if columns.doc_id is None:
        return "string"
    kind = frame.schema[columns.doc_id].dataType.simpleString()
    return "long" if kind in ("tinyint", "smallint", "int", "bigint") else "string"


def _schema(frame: DataFrame, id_type: str, prefix: str) -> object:
    from pyspark.sql.types import StructType

    schema = StructType(list(frame.schema.fields))
    for name, kind in ANNOTATIONS.items():
        schema = schema.add(prefix + name, id_type if kind == ID else kind)
    return schema


def read_partition(
    columns: FrameColumns,
    spool: Spool,
    rows: Path,
    options: DedupOptions,
    part: int,
    attempt: int,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[Block]:
    """Read the documents of a partition of a data frame into the spool, and whole rows into ``rows``."""
    number = attempt % _ATTEMPTS * _CHUNKS_AN_ATTEMPT
    for whole in batches:
        check_have_ids(whole, columns.doc_id)
        at = 0
        for piece in read_table(
            whole, text=columns.text, doc_id=columns.doc_id, keep_column=columns.keep, is_whole=False
        ):
            spool.write(part, number, prepare_to_choose(piece, options, source_name=NAME))
            save_batch(rows / spool.place(part, number).name, whole.slice(at, piece.num_rows), compression="lz4")
            n_bytes = spool.place(part, number).stat().st_size
            yield from CHUNKS.packed(0, *(np.array([value]) for value in (part, number, piece.num_rows, n_bytes)))
            at, number = at + piece.num_rows, number + 1


def annotate_rows(
    partitions: Partitions, rows: Path, documents: Path, id_type: str, prefix: str, target: int, blocks: Sequence[Block]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition, in their order, with annotations."""
    chunks = partitions.chunks(target)
    added = _rows_between(documents, chunks[0].start, chunks[-1].end)
    ids = pa.int64() if id_type == "long" else pa.string()
    columns = [added[name].cast(ids) if kind == ID else added[name] for name, kind in ANNOTATIONS.items()]
    for chunk in chunks:
        whole = mapped_batch(rows / chunk.path.name)
        here = (column.slice(chunk.start - chunks[0].start, chunk.n_documents).combine_chunks() for column in columns)
        names = [*whole.schema.names, *(prefix + name for name in ANNOTATIONS)]
        yield pa.RecordBatch.from_arrays([*whole.columns, *here], names)


def _rows_between(documents: Path, start: int, end: int) -> pa.Table:
    file = open_table(documents)
    ends = np.cumsum([file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)])
    first, last = np.searchsorted(ends, [start, end - 1], side="right").tolist()
    before = int(ends[first - 1]) if first else 0
    return file.read_row_groups(range(first, last + 1), columns=list(ANNOTATIONS)).slice(start - before, end - start)
