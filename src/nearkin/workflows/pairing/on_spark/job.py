"""Pairs on a cluster: of files, by the engine of a run; of two data frames, read where their partitions are."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.session import Cluster
from nearkin.engines.spark.stages import Stages, parquet_reader, stages_on
from nearkin.errors import InputError, ParameterError
from nearkin.manifests.pairs import SIDES
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import I32
from nearkin.runs.arrays import PartFiles
from nearkin.runs.files import writing
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.tables import published_table
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.tables import read_table
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.pairing.collecting import Collected, CountedTexts, Splitting, collection_of, count_places
from nearkin.workflows.pairing.inputs import PairEngine, PairInput, Prepared, in_one_space, say_which_side, splitting
from nearkin.workflows.pairing.on_spark.reading import collect_all, count_part, joined, load_part, weigh_all
from nearkin.workflows.pairing.on_spark.searching import search_all
from nearkin.workflows.pairing.on_spark.vector_files import READ
from nearkin.workflows.pairing.planning import plan_search
from nearkin.workflows.pairing.searching import FoundPairs
from nearkin.workflows.pairing.tables import Ranked, Terms, columns_of, pair_tables, pairs_schema
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.reading.identity import SourceRecords, by_path
from nearkin.workflows.reading.inputs import Input, StoredDocuments, StoredSource
from nearkin.workflows.reading.on_spark.tasks import check_have_ids, repeated_ids
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextlib.contextmanager
def engine_on(
    cluster: Cluster, given: PairInput, records: Mapping[str, SourceRecords], work: Path, arrays: Path, meter: Meter
) -> Iterator[PairEngine]:
    """Open a cluster, and check that it can do the work; executors need ``work`` and ``arrays``."""
    work, arrays = work.absolute(), arrays.absolute()  # tasks run in other directories
    with writing(work):
        work.mkdir(exist_ok=True)

    def collect(texts: Texts, split: Splitting, side: str) -> Collected:
        reading = given.left if side == "left" else given.right
        return collect_all(
            stages, texts, reading, split, side, known=by_path(records[side]), work=work, arrays=arrays,
            progress=meter.progress,
        )  # fmt: skip

    def search(vectors: PairVectors, way: PairSearch, options: PairOptions) -> FoundPairs:
        return search_all(
            stages, vectors, way, options.threshold, top=options.top, seed=options.seed, arrays=arrays, work=work
        )

    try:
        with stages_on(cluster, work, meter) as stages:
            weigh = partial(weigh_all, stages, work=work, arrays=arrays)
            yield PairEngine(collect=collect, weigh=weigh, search=search, about=stages.about, records=records)
    except (InputError, ParameterError):  # the next run will differ, so this one cannot be resumed
        shutil.rmtree(work, ignore_errors=True)
        raise


@dataclass(frozen=True, slots=True)
class FrameSide:
    """Corpus in a data frame, in the order of its partitions; without ids documents are ``left:1``, ``right:1``, …."""

    frame: DataFrame
    text: str
    doc_id: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read."""
        return tuple(dict.fromkeys(name for name in (self.text, self.doc_id) if name is not None))


def pair_frames(
    sides: tuple[FrameSide, FrameSide],
    table: TranslationTable | None,
    options: PairOptions,
    pairs: Path,
    work: Path,
    stages: Stages,
    meter: Meter,
) -> None:
    """Find the similar pairs of two data frames.

    Parameters
    ----------
    pairs
        File for the pairs, with the columns of ``pairs.parquet`` of `nearkin pairs`.
    work
        Absolute path of a folder that every executor can access; deleted once the pairs are written.
    """
    arrays, resources = work / "arrays", Resources()
    shutil.rmtree(arrays, ignore_errors=True)  # left by a run that was killed
    arrays.mkdir(parents=True)
    splits, words = splitting(table, options.ignored)
    left, right = (
        _collected(stages, side, name, split, work, arrays) for side, name, split in zip(sides, SIDES, splits)
    )
    weighing = partial(weigh_all, stages, work=work, arrays=arrays)
    prepared = in_one_space(left, right, table, options, arrays, words=words, meter=meter, weighing=weighing)
    say_which_side(prepared, options, meter.progress)
    planned = plan_search(prepared.vectors, options, resources=resources, meter=meter)
    found = search_all(
        stages, prepared.vectors, planned.search, options.threshold, top=options.top, seed=options.seed, arrays=arrays,
        work=work,
    )  # fmt: skip
    with meter.stage("write", 0, "steps"):
        _write(pairs, prepared, Ranked.of(found), options)
    shutil.rmtree(work, ignore_errors=True)


def pairs_in(path: Path, frame: DataFrame) -> DataFrame:
    """Return the pairs of a file in the session of another data frame."""
    with engine_errors():
        return parquet_reader(frame.sparkSession).parquet(f"file://{path}").drop("left_row", "right_row", "known")


def _write(path: Path, prepared: Prepared, pairs: Ranked, options: PairOptions) -> None:
    terms = Terms(prepared.vectors, (prepared.left, prepared.right), prepared.translation, options.n_terms)
    ids = columns_of((prepared.left, prepared.right), "id")
    with published_table(path, pairs_schema(ids)) as writer:
        for table in pair_tables(pairs, ids, terms):
            writer.write_table(table)


def _collected(stages: Stages, side: FrameSide, name: str, split: Splitting, work: Path, arrays: Path) -> Collected:
    """Read a corpus once."""
    files, called = PartFiles(work / f"{name}-counted"), f"the {name} data frame"
    files.folder.mkdir(exist_ok=True)
    counting = CountPartitionTask(files, split, name, side.text, side.doc_id)
    read = stages.kept(f"read-{name}", lambda: stages.read(side.frame, counting, side.columns))
    told = sorted(read.collected(), key=lambda block: block.target)
    numbers, kinds = READ.joined(told)
    parts = (load_part(files, number) for number in numbers.tolist())
    counted = joined(parts, count_places(arrays, name), id_kind=IdKind.joint(kinds))
    if side.doc_id is not None:
        _check_distinct(counted.documents["name"], side.doc_id, f" of {called}")
    return collection_of(_numbered(counted, name, has_ids=side.doc_id is not None), name, called)


def _numbered(counted: CountedTexts, name: str, *, has_ids: bool) -> CountedTexts:
    """Number documents among all, rather than within a partition."""
    documents = counted.documents
    lines = pa.array(np.arange(1, documents.num_rows + 1))
    columns = {**{field: documents[field] for field in documents.column_names}, "line": lines}
    if not has_ids:
        first, between = (pa.scalar(word, pa.large_string()) for word in (name, ":"))
        columns["name"] = pc.binary_join_element_wise(first, lines.cast(pa.large_string()), between)
    return replace(counted, documents=pa.table(columns, documents.schema))


def _check_distinct(names: pa.ChunkedArray, column: str, place: str) -> None:
    codes: I32 = names.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(firsts[inverse] != np.arange(len(codes)))
    if len(repeated):
        raise repeated_ids(column, [(int(row), int(firsts[inverse[row]])) for row in repeated], place)


@dataclass(frozen=True, slots=True)
class CountPartitionTask:
    """Read a partition, and count its words."""

    files: PartFiles
    split: Splitting
    name: str
    text: str
    doc_id: str | None

    def __call__(self, part: int, attempt: int, rows: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        """See `RowsReader`."""
        texts = Texts((), (_input_of(rows, self.name, self.text, self.doc_id),), ReadingRules())
        found = count_part(self.files, attempt, texts, self.split, Silent())
        yield from READ.packed(part, np.array([attempt]), np.array([found.id_kind]))


def _input_of(rows: Iterable[pa.RecordBatch], name: str, text: str, doc_id: str | None) -> Input:
    documents = ArrivingRows(rows, text, doc_id)
    return Input(sources=(StoredSource(path=name, name=name, format="table", documents=documents),))


@dataclass(frozen=True)
class ArrivingRows(StoredDocuments):
    """Rows of a data frame as they arrive."""

    rows: Iterable[pa.RecordBatch]
    text: str
    doc_id: str | None

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield some rows at a time; they are numbered later."""
        for some in self.rows:
            check_have_ids(some, self.doc_id)
            yield from read_table(some, text=self.text, doc_id=self.doc_id)
