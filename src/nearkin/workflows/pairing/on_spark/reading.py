"""Inputs → counted words: each input is read by one task, by words of its own; the driver numbers the words of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.records import TermCounts
from nearkin.runs.arrays import GrowingArray, mapped_array, save_array, saved_array
from nearkin.runs.batches import batch_reader, batch_writer
from nearkin.runs.files import published
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.features.vocabulary import Vocabulary
from nearkin.workflows.pairing.collecting import (
    DOCUMENTS_SCHEMA,
    Collected,
    CountedTexts,
    Splitting,
    collected,
    count_places,
    count_texts,
)
from nearkin.workflows.pairing.on_spark.streams import READ
from nearkin.workflows.reading.on_spark.notes import Notes, tell
from nearkin.workflows.reading.on_spark.tasks import task_blocks, task_input, texts_of
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.snapshots import snapshots_of
from nearkin.workflows.reading.texts import Texts

_AT_ONCE = 1 << 24
_WORDS = pa.schema([pa.field("word", pa.large_string(), nullable=False)])


def collect_all(
    stages: Stages,
    texts: Texts,
    reading: ReadingRequest,
    split: Splitting,
    side: str,
    *,
    work: Path,
    arrays: Path,
    progress: Progress,
) -> Collected:
    """Read a collection once; see `workflows.pairing.collecting.collect`.

    Parameters
    ----------
    stages : Stages
    texts : Texts
    reading : ReadingRequest
        What the user wants to have read.
    split : function
        From texts to their words.
    side : {"left", "right"}
    work, arrays : Path
        Folders: of what tasks write, which every executor sees, and of what comes of it.
    progress : Progress
        It is told what tasks have to say.

    Raises
    ------
    ParameterError
        A source is a pipe.
    DocumentError, SourceError
        As on one machine; of several bad documents any may be named.
    """
    inputs = snapshots_of(texts.sources)
    tasks = task_blocks(texts.sources, reading.encoding)
    files = CountFiles(work / f"{side}-counted")
    files.folder.mkdir(exist_ok=True)
    counting = Counting(files, split, reading.rules)
    told = stages.kept(f"read-{side}", lambda: stages.given(tasks).exchanged(max(len(tasks), 1), counting)).collected()
    tell(told, progress)
    numbers, kinds = READ.of_targets([block for block in told if block.stream == READ.stream], len(tasks))
    parts = map(files.load, numbers.tolist())
    counted = joined(parts, count_places(arrays, side), id_kind=IdKind.joint(kinds))
    return collected(counted, texts, inputs, side)


def joined(parts: Iterable[Part], places: tuple[Path, Path], *, id_kind: IdKind) -> CountedTexts:
    """Parts in the order of the inputs, by one vocabulary: its words have numbers in the order in which they come."""
    vocabulary = Vocabulary()
    terms, counts = GrowingArray(places[0], np.int32), GrowingArray(places[1], np.float32)
    sizes, documents = [np.zeros(1, np.int64)], [DOCUMENTS_SCHEMA.empty_table()]
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
class Part:
    """What one task has counted; numbers of words are its own."""

    documents: pa.Table
    words: pa.LargeStringArray
    counts: TermCounts


@dataclass(frozen=True, slots=True)
class CountFiles:
    """What tasks have counted, some files each.

    Parameters
    ----------
    folder : Path
    """

    folder: Path

    def count(self, number: int, texts: Texts, split: Splitting, progress: Progress) -> CountedTexts:
        """Read texts, and write what is counted; files that are written twice are whole at any time."""
        terms, counts = (published(self._place(number, name), durable=False) for name in ("terms", "counts"))
        with terms as terms_aside, counts as counts_aside:
            found = count_texts(texts, split, (terms_aside, counts_aside), threads=1, progress=progress)
        save_array(self._place(number, "offsets"), found.counts.offsets)
        self._write(number, "documents", found.documents)
        self._write(number, "words", pa.table([found.vocabulary.words], _WORDS))
        return found

    def load(self, number: int) -> Part:
        """The same, mapped into memory."""
        terms, counts = (
            mapped_array(self._place(number, name), kind)
            for name, kind in (("terms", np.int32), ("counts", np.float32))
        )
        own = TermCounts(terms, counts, saved_array(self._place(number, "offsets")).copy())  # type: ignore[arg-type]
        words = self._read(number, "words")["word"].combine_chunks()
        return Part(self._read(number, "documents"), words, own)

    def _write(self, number: int, name: str, table: pa.Table) -> None:
        with batch_writer(self._place(number, name), table.schema) as writer:
            writer.write_table(table)

    def _read(self, number: int, name: str) -> pa.Table:
        return batch_reader(self._place(number, name)).read_all()

    def _place(self, number: int, name: str) -> Path:
        return self.folder / f"{number:09d}-{name}"


@dataclass(frozen=True, slots=True)
class Counting:
    """Read one input, and count its words."""

    files: CountFiles
    split: Splitting
    rules: ReadingRules

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        notes = Notes()
        found = self.files.count(target, texts_of(task_input(blocks), self.rules), self.split, notes)
        yield from notes.blocks(target, target=target)
        yield from READ.packed(target, np.array([target]), np.array([found.id_kind]))
