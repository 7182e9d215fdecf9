"""Corpus → counted terms of its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin import nouns
from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.records import F64, TermCounts, TextWords
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import GrowingArray
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import Source
from nearkin.stages.features.vocabulary import Vocabulary
from nearkin.workflows.reading.rereading import check_unchanged, seen
from nearkin.workflows.reading.texts import FACTS, RawBatch, Texts, check_readable, with_distinct_names

Splitting = Callable[[pa.LargeStringArray], TextWords]
PART = 1 << 14
"""Number of documents weighted at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """A corpus as terms of its own vocabulary.

    Parameters
    ----------
    side, name
        "left" or "right", and the names of its files, for messages.
    documents
        ``id``, ``name``, ``line``, ``problem``, ``source``; see `texts.with_distinct_names`.
    """

    side: str
    name: str
    inputs: Sequence[Source]
    documents: pa.Table
    n_unreadable: int
    counts: TermCounts
    vocabulary: Vocabulary
    n_occurrences: F64
    document_frequencies: F64
    asked_by: str

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def called(self) -> str:
        """Name for messages."""
        return _called(self.asked_by, self.name)

    def parts(self) -> Iterator[TermCounts]:
        """Yield the documents in order, some at a time."""
        for first in range(0, len(self), PART):
            yield self.counts.part(first, min(first + PART, len(self)))


@dataclass(frozen=True, slots=True)
class CountedTexts:
    """Texts as terms of their own vocabulary; ``documents`` has the columns of `texts.FACTS`."""

    documents: pa.Table
    counts: TermCounts
    vocabulary: Vocabulary
    id_kind: IdKind


def collect(texts: Texts, split: Splitting, side: str, *, work: Path, threads: int, meter: Meter) -> Collected:
    """Read a corpus once."""
    inputs = [seen(source) for source in texts.sources]
    with meter.stage(f"read {side}", texts.size_bytes, "bytes") as progress:
        counted = count_texts(texts, split, growing(count_places(work, side)), threads=threads, progress=progress)
    return collected(counted, texts, inputs, side)


def count_places(work: Path, side: str) -> tuple[Path, Path]:
    """Return the files of a side's terms and counts, which are mapped while in use."""
    return work / f"{side}-terms", work / f"{side}-counts"


def growing(places: tuple[Path, Path]) -> tuple[GrowingArray, GrowingArray]:
    """Begin the files of terms and counts."""
    return GrowingArray(places[0], np.int32), GrowingArray(places[1], np.float32)


def count_texts(
    texts: Texts, split: Splitting, arrays: tuple[GrowingArray, GrowingArray], *, threads: int, progress: Progress
) -> CountedTexts:
    """Read texts once; write terms and counts to files begun with `growing`, and map them."""
    vocabulary, (terms, counts) = Vocabulary(), arrays
    sizes, documents = [np.zeros(1, np.int64)], list[pa.RecordBatch]()

    def read(raw: RawBatch) -> tuple[pa.RecordBatch, TextWords]:
        batch = texts.prepare(raw, AS_IT_CAME)
        return texts.facts(batch), split(batch.texts)

    for about, words in map_ordered(read, texts.raw_batches(progress), threads=threads):
        counted = vocabulary.count(words)
        terms.add(counted.terms)
        counts.add(counted.counts)
        sizes.append(counted.sizes)
        documents.append(about)
    offsets = np.cumsum(np.concatenate(sizes))
    term_counts = TermCounts(terms.mapped(), counts.mapped(), offsets)  # type: ignore[arg-type]
    return CountedTexts(pa.Table.from_batches(documents, FACTS), term_counts, vocabulary, texts.id_kind)


def collected(counted: CountedTexts, texts: Texts, inputs: Sequence[Source], side: str) -> Collected:
    """Make the corpus from texts read from files; ``inputs`` are the files before reading."""
    name = ", ".join(texts.names[:3]) + (", …" if len(texts.names) > 3 else "")
    check_unchanged(inputs)
    return collection_of(counted, side, name, inputs, rules=texts.rules)


def collection_of(
    counted: CountedTexts,
    side: str,
    name: str,
    inputs: Sequence[Source] = (),
    *,
    rules: ReadingRules | None = None,
) -> Collected:
    """Make a corpus of counted documents."""
    asked_by = f"--{side}" if inputs and name != side else name  # in memory the name is that of the side
    n_documents, problems = counted.documents.num_rows, counted.documents["problem"]
    if not n_documents:
        raise SourceError(f"{_called(asked_by, name)} has no documents: there is nothing to pair.")
    check_readable([counted.documents], rules or ReadingRules(), of=asked_by)
    if not counted.counts.offsets[-1]:
        first = problems.drop_null()
        problem = f" The first problem: {first[0].as_py()}." if len(first) else ""
        raise SourceError(
            f"{_called(asked_by, name)}: none of its {nouns.counted(n_documents, 'document')} has a word.{problem}"
        )
    # in one chunk: batch boundaries would change the bytes of a file
    table = with_distinct_names(counted.documents, counted.id_kind).combine_chunks()
    n, df = _totals(counted.counts, len(counted.vocabulary))
    n_unreadable = n_documents - problems.null_count
    return Collected(
        side=side,
        name=name,
        inputs=inputs,
        documents=table,
        n_unreadable=n_unreadable,
        counts=counted.counts,
        vocabulary=counted.vocabulary,
        n_occurrences=n,
        document_frequencies=df,
        asked_by=asked_by,
    )


def _called(asked_by: str, name: str) -> str:
    return name if asked_by == name else f"{asked_by} {name}"


def _totals(counts: TermCounts, n_terms: int) -> tuple[F64, F64]:
    occurrences, frequencies = np.zeros(n_terms), np.zeros(n_terms)
    for first in range(0, len(counts.terms), 1 << 24):
        block = slice(first, first + (1 << 24))
        occurrences += np.bincount(counts.terms[block], counts.counts[block], n_terms)
        frequencies += np.bincount(counts.terms[block], minlength=n_terms)
    return occurrences, frequencies
