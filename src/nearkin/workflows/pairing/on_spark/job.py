"""Pairs on a cluster: of files, by the engine of a run; of two data frames, read where their partitions are."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from nearkin.records import I32, TermCounts, WeightedVectors
from nearkin.runs.files import published, published_together, writing
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.spool import PartFiles, load_arrays, mapped_array, save_array, save_arrays, saved_array
from nearkin.runs.tables import published_table
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.tables import read_table
from nearkin.stages.features.vocabulary import Vocabulary
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.pairing.collecting import (
    PART,
    Collected,
    CountedTexts,
    Splitting,
    collected,
    collection_of,
    count_places,
    count_texts,
    growing,
)
from nearkin.workflows.pairing.inputs import PairEngine, PairInput, Prepared, in_one_space, say_which_side, splitting
from nearkin.workflows.pairing.on_spark.searching import search_all
from nearkin.workflows.pairing.on_spark.vector_files import READ
from nearkin.workflows.pairing.planning import plan_search
from nearkin.workflows.pairing.searching import FoundPairs
from nearkin.workflows.pairing.tables import Ranked, Terms, columns_of, pair_tables, pairs_schema
from nearkin.workflows.pairing.vectors import GrowingVectors, PairVectors, ToWeigh, Weighing
from nearkin.workflows.reading.inputs import Input, StoredDocuments, StoredSource
from nearkin.workflows.reading.on_spark.tasks import (
    Notes,
    check_have_ids,
    exception_blocks,
    read_by_tasks,
    reading_texts,
    repeated_ids,
    take_exceptions,
    task_blocks,
)
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import seen
from nearkin.workflows.reading.texts import FACTS, Texts
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextlib.contextmanager
def engine_on(
    cluster: Cluster, given: PairInput, records: Mapping[str, Sequence[Source]], work: Path, arrays: Path, meter: Meter
) -> Iterator[PairEngine]:
    """Open a cluster, and check that it can do the work; executors need ``work`` and ``arrays``."""
    work, arrays = work.absolute(), arrays.absolute()  # tasks run in other directories
    with writing(work):
        work.mkdir(exist_ok=True)

    def collect(texts: Texts, split: Splitting, side: str) -> Collected:
        reading = given.left if side == "left" else given.right
        return collect_all(
            stages, texts, reading, split, side, known=records[side], work=work, arrays=arrays,
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
    """Find the similar pairs of two data frames."""
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
    files, called = PartFiles(work / f"{name}-counted"), f"the {name} data frame"
    files.folder.mkdir(exist_ok=True)
    counting = partial(count_partition, files, split, name, side.text, side.doc_id)
    read = stages.kept(f"read-{name}", lambda: stages.read(side.frame, counting, side.columns))
    blocks = sorted(read.collected(), key=lambda block: block.target)
    numbers, kinds = READ.joined(blocks)
    parts = (load_part(files, number) for number in numbers.tolist())
    counted = joined(parts, count_places(arrays, name), id_kind=IdKind.joint(kinds))
    if side.doc_id is not None:
        _check_distinct(counted.documents["name"], side.doc_id, f" of {called}")
    return collection_of(_numbered(counted, name, has_ids=side.doc_id is not None), name, called)


def _numbered(counted: CountedTexts, name: str, *, has_ids: bool) -> CountedTexts:
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


def count_partition(
    files: PartFiles,
    split: Splitting,
    name: str,
    text: str,
    doc_id: str | None,
    part: int,
    attempt: int,
    rows: Iterator[pa.RecordBatch],
) -> Iterator[Block]:
    """Read a partition of a data frame, and count its words."""
    documents = ArrivingRows(rows, text, doc_id)
    whole = Input(sources=(StoredSource(path=name, name=name, format="table", documents=documents),))
    counted = count_part(files, attempt, Texts((whole,), ReadingRules()), split, Silent())
    yield from READ.packed(part, np.array([attempt]), np.array([counted.id_kind]))


@dataclass(frozen=True)
class ArrivingRows(StoredDocuments):
    """Rows of a data frame as they arrive."""

    rows: Iterable[pa.RecordBatch]
    text: str
    doc_id: str | None

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield some rows at a time; they are numbered later."""
        for batch in self.rows:
            check_have_ids(batch, self.doc_id)
            yield from read_table(batch, text=self.text, doc_id=self.doc_id)


_AT_ONCE = 1 << 24
_WORDS = pa.schema([pa.field("word", pa.large_string(), nullable=False)])


def collect_all(
    stages: Stages,
    texts: Texts,
    reading: ReadingRequest,
    split: Splitting,
    side: str,
    *,
    known: Sequence[Source],
    work: Path,
    arrays: Path,
    progress: Progress,
) -> Collected:
    """Read a collection once; see `workflows.pairing.collecting.collect`."""
    inputs = [seen(source) for source in texts.sources]
    tasks = task_blocks(known)
    files = PartFiles(work / f"{side}-counted")
    files.folder.mkdir(exist_ok=True)
    counting = partial(count_input, files, split, reading.rules)
    blocks = read_by_tasks(stages, f"read-{side}", tasks, counting, progress, folder=files.folder)
    take_exceptions(blocks, texts)
    numbers, kinds = READ.of_targets([block for block in blocks if block.stream == READ.stream], len(tasks))
    parts = (load_part(files, number) for number in numbers.tolist())
    counted = joined(parts, count_places(arrays, side), id_kind=IdKind.joint(kinds))
    return collected(counted, texts, inputs, side)


def joined(parts: Iterable[CountedPart], places: tuple[Path, Path], *, id_kind: IdKind) -> CountedTexts:
    """Join parts in the order of the inputs; words are numbered by first occurrence."""
    vocabulary = Vocabulary()
    terms, counts = growing(places)
    sizes, documents = [np.zeros(1, np.int64)], [FACTS.empty_table()]
    for part in parts:
        numbers = vocabulary.add(part.words)
        for first in range(0, len(part.counts.terms), _AT_ONCE):
            terms.add(numbers[part.counts.terms[first : first + _AT_ONCE]])
        counts.add(part.counts.counts)
        sizes.append(part.counts.sizes)
        documents.append(part.documents)
    offsets = np.cumsum(np.concatenate(sizes))
    term_counts = TermCounts(terms.mapped(), counts.mapped(), offsets)  # type: ignore[arg-type]
    return CountedTexts(pa.concat_tables(documents), term_counts, vocabulary, id_kind)


@dataclass(frozen=True, slots=True)
class CountedPart:
    """Counts of one task, with its own numbers of words."""

    documents: pa.Table
    words: pa.LargeStringArray
    counts: TermCounts


def count_part(files: PartFiles, number: int, texts: Texts, split: Splitting, progress: Progress) -> CountedTexts:
    """Read texts and write their counts; a file that is written twice is complete at any time."""
    terms, counts = (files.place(number, name) for name in ("-terms", "-counts"))
    with published(terms, durable=False) as terms_aside, published(counts, durable=False) as counts_aside:
        arrays = growing((terms_aside, counts_aside))
        counted = count_texts(texts, split, arrays, threads=1, progress=progress)
    files.save(number, "-offsets", counted.counts.offsets)
    files.save_table(number, "-documents", counted.documents)
    files.save_table(number, "-words", pa.table([counted.vocabulary.words], _WORDS))
    return counted


def load_part(files: PartFiles, number: int) -> CountedPart:
    """Map the counts that `count_part` wrote."""
    terms, counts = (
        mapped_array(files.place(number, name), kind) for name, kind in (("-terms", np.int32), ("-counts", np.float32))
    )
    term_counts = TermCounts(terms, counts, files.array(number, "-offsets").copy())  # type: ignore[arg-type]
    words = files.table(number, "-words")["word"].combine_chunks()
    return CountedPart(files.table(number, "-documents"), words, term_counts)


def count_input(
    files: PartFiles, split: Splitting, rules: ReadingRules, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Read one input, and count its words."""
    notes = Notes()
    with (
        published_together(files.folder, str(target)) as aside,
        reading_texts(blocks, rules) as texts,
    ):
        counted = count_part(PartFiles(aside), target, texts, split, notes)
    yield from notes.blocks(target, target=target)
    yield from exception_blocks(texts, target)
    yield from READ.packed(target, np.array([target]), np.array([counted.id_kind]))


_DOCUMENTS_A_TASK = 4 * PART


def weigh_all(stages: Stages, sides: Sequence[ToWeigh], *, work: Path, arrays: Path) -> list[WeightedVectors]:
    """Return the vectors of both sides; see `workflows.pairing.vectors.weigh_here`."""
    made = []
    for side in sides:
        files = PartFiles(work / f"{side.side}-weighed")
        files.folder.mkdir(exist_ok=True)
        save_array(_offsets(arrays, side.side), side.collected.counts.offsets)
        save_arrays(_weighing(arrays, side.side), side.weighing.as_arrays())
        n_tasks = max(1, -(-len(side.collected) // _DOCUMENTS_A_TASK))
        weighing = partial(weigh_part, arrays, side.side, files, _DOCUMENTS_A_TASK)
        stages.kept(f"weigh-{side.side}", partial(stages.parts, n_tasks, weighing))
        growing = GrowingVectors(arrays, side.side)
        for number in range(n_tasks):
            growing.add(_weighed(files, number))
        made.append(growing.mapped())
    return made


def _offsets(arrays: Path, side: str) -> Path:
    return arrays / f"{side}-offsets.arrow"


def _weighing(arrays: Path, side: str) -> Path:
    return arrays / f"{side}-weighing.arrow"


def _weighed(files: PartFiles, task: int) -> WeightedVectors:
    terms, weights, sizes = (files.array(task, name) for name in ("-terms.arrow", "-weights.arrow", "-sizes.arrow"))
    return WeightedVectors(terms, weights, np.concatenate([[0], np.cumsum(sizes)]))


def weigh_part(
    arrays: Path, side: str, files: PartFiles, n_documents: int, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Weigh at most ``n_documents``, and write their vectors; nothing is sent."""
    weighing = Weighing.of_arrays(load_arrays(_weighing(arrays, side)))
    places = zip(count_places(arrays, side), (np.int32, np.float32), strict=True)
    terms, n_times = (mapped_array(place, kind) for place, kind in places)
    counts = TermCounts(terms, n_times, saved_array(_offsets(arrays, side)))  # type: ignore[arg-type]
    first = target * n_documents
    end = min(first + n_documents, len(counts))
    # in the same parts as on one machine, because sums of floats may depend on them
    parts = [counts.part(start, min(start + PART, end)) for start in range(first, end, PART)]
    weighed = [weighing.weigh(part) for part in parts]
    for name in ("terms", "weights", "sizes"):
        files.save(target, f"-{name}.arrow", np.concatenate([getattr(one, name) for one in weighed]))
    yield from ()
