"""Inputs → counted words: one task reads each input and numbers its words; the driver renumbers all words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.records import TermCounts, WeightedVectors
from nearkin.runs.arrays import PartFiles, load_arrays, mapped_array, save_array, save_arrays, saved_array
from nearkin.runs.files import published, published_together
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.features.vocabulary import Vocabulary
from nearkin.workflows.pairing.collecting import (
    PART,
    Collected,
    CountedTexts,
    Splitting,
    collected,
    count_places,
    count_texts,
    growing,
)
from nearkin.workflows.pairing.on_spark.vector_files import READ
from nearkin.workflows.pairing.vectors import GrowingVectors, ToWeigh, Weighing
from nearkin.workflows.reading.identity import RecordsByPath, records_of
from nearkin.workflows.reading.on_spark.tasks import (
    Notes,
    exception_blocks,
    read_by_tasks,
    reading_texts,
    take_exceptions,
    task_blocks,
    task_input,
)
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import FACTS, Texts

_AT_ONCE = 1 << 24
_WORDS = pa.schema([pa.field("word", pa.large_string(), nullable=False)])


def collect_all(
    stages: Stages,
    texts: Texts,
    reading: ReadingRequest,
    split: Splitting,
    side: str,
    *,
    known: RecordsByPath,
    work: Path,
    arrays: Path,
    progress: Progress,
) -> Collected:
    """Read a collection once; see `workflows.pairing.collecting.collect`."""
    inputs = records_of(texts.sources, texts.encoding)
    tasks = task_blocks(texts.sources, reading.encoding, known)
    files = PartFiles(work / f"{side}-counted")
    files.folder.mkdir(exist_ok=True)
    counting = CountInputTask(files, split, reading.rules)
    told = read_by_tasks(stages, f"read-{side}", tasks, counting, progress, folder=files.folder)
    take_exceptions(told, texts)
    numbers, kinds = READ.of_targets([block for block in told if block.stream == READ.stream], len(tasks))
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
    own = TermCounts(terms.mapped(), counts.mapped(), offsets)  # type: ignore[arg-type]
    return CountedTexts(pa.concat_tables(documents), own, vocabulary, id_kind)


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
        arrays = growing((terms_aside, counts_aside), (terms.name, counts.name))
        found = count_texts(texts, split, arrays, threads=1, progress=progress)
    files.save(number, "-offsets", found.counts.offsets)
    files.save_table(number, "-documents", found.documents)
    files.save_table(number, "-words", pa.table([found.vocabulary.words], _WORDS))
    return found


def load_part(files: PartFiles, number: int) -> CountedPart:
    """Map the counts that `count_part` wrote."""
    terms, counts = (
        mapped_array(files.place(number, name), kind) for name, kind in (("-terms", np.int32), ("-counts", np.float32))
    )
    own = TermCounts(terms, counts, files.array(number, "-offsets").copy())  # type: ignore[arg-type]
    words = files.table(number, "-words")["word"].combine_chunks()
    return CountedPart(files.table(number, "-documents"), words, own)


@dataclass(frozen=True, slots=True)
class CountInputTask:
    """Read one input, and count its words."""

    files: PartFiles
    split: Splitting
    rules: ReadingRules

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        notes = Notes()
        with (
            published_together(self.files.folder, str(target)) as aside,
            reading_texts(task_input(blocks), self.rules) as texts,
        ):
            found = count_part(PartFiles(aside), target, texts, self.split, notes)
        yield from notes.blocks(target, target=target)
        yield from exception_blocks(texts, target)
        yield from READ.packed(target, np.array([target]), np.array([found.id_kind]))


_PARTS_A_TASK = 4


def weigh_all(stages: Stages, sides: Sequence[ToWeigh], *, work: Path, arrays: Path) -> list[WeightedVectors]:
    """Return the vectors of both sides; see `workflows.pairing.vectors.weigh_here`."""
    made = []
    for one in sides:
        files = PartFiles(work / f"{one.side}-weighed")
        files.folder.mkdir(exist_ok=True)
        _give(arrays, one)
        n_documents = _PARTS_A_TASK * PART
        n_tasks = max(1, -(-len(one.collected) // n_documents))
        task = WeighPartTask(arrays, one.side, files, n_documents)
        stages.kept(f"weigh-{one.side}", lambda n=n_tasks, task=task: stages.parts(n, task))  # type: ignore[misc]
        growing = GrowingVectors(arrays, one.side)
        for number in range(n_tasks):
            growing.add(_load(files, number))
        made.append(growing.mapped())
    return made


def _give(arrays: Path, one: ToWeigh) -> None:
    """Write the other data that tasks need beside the counts."""
    save_array(_offsets(arrays, one.side), one.collected.counts.offsets)
    save_arrays(_weighing(arrays, one.side), one.weighing.as_arrays())


def _offsets(arrays: Path, side: str) -> Path:
    return arrays / f"{side}-offsets.arrow"


def _weighing(arrays: Path, side: str) -> Path:
    return arrays / f"{side}-weighing.arrow"


def _load(files: PartFiles, task: int) -> WeightedVectors:
    terms, weights, sizes = (files.array(task, name) for name in ("-terms.arrow", "-weights.arrow", "-sizes.arrow"))
    return WeightedVectors(terms, weights, np.concatenate([[0], np.cumsum(sizes)]))


@dataclass(frozen=True, slots=True)
class WeighPartTask:
    """Weigh at most ``n_documents``, and write their vectors; nothing is sent."""

    arrays: Path
    side: str
    files: PartFiles
    n_documents: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        weighing, counts = self._given()
        first = target * self.n_documents
        end = min(first + self.n_documents, len(counts))
        # in the same parts as on one machine, because sums of floats may depend on them
        parts = [counts.part(start, min(start + PART, end)) for start in range(first, end, PART)]
        weighed = [weighing.weigh(part) for part in parts]
        for name in ("terms", "weights", "sizes"):
            self.files.save(target, f"-{name}.arrow", np.concatenate([getattr(one, name) for one in weighed]))
        yield from ()

    def _given(self) -> tuple[Weighing, TermCounts]:
        weighing = Weighing.of_arrays(load_arrays(_weighing(self.arrays, self.side)))
        terms, counts = (
            mapped_array(place, kind)
            for place, kind in zip(count_places(self.arrays, self.side), (np.int32, np.float32), strict=True)
        )
        return weighing, TermCounts(terms, counts, saved_array(_offsets(self.arrays, self.side)))  # type: ignore[arg-type]
