"""A collection → its documents' terms, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.records import F64, TermCounts, TextWords
from nearkin.runs.arrays import GrowingArray
from nearkin.runs.meter import Meter
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.vocabulary import Vocabulary
from nearkin.workflows.signing.distinct_ids import with_distinct_ids
from nearkin.workflows.signing.signature_file import SignedInput
from nearkin.workflows.signing.texts import Texts

Splitting = Callable[[pa.LargeStringArray], TextWords]
_AS_IT_CAME = Normalisation(nfkc=False, case=False, space=False)
DOCUMENTS_SCHEMA = pa.schema(
    [
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("problem", pa.large_string()),
        pa.field("source", pa.large_string(), nullable=False),
    ]
)
_PART = 1 << 14


@dataclass(frozen=True, slots=True)
class Collected:
    """A collection as terms of its own vocabulary.

    Parameters
    ----------
    side, name : str
        "left", "right" or "left-translated", and the names of its files: for messages.
    inputs : tuple of SignedInput
        The files, as they were when they were read.
    documents : Table
        ``id``, ``line``, ``problem``, ``source``.
    n_unreadable : int
    counts : TermCounts
    vocabulary : Vocabulary
    n_occurrences, document_frequencies : float64 arrays, shape (n_vocabulary,)
        How often each term occurs, and in how many documents.
    """

    side: str
    name: str
    inputs: tuple[SignedInput, ...]
    documents: pa.Table
    n_unreadable: int
    counts: TermCounts
    vocabulary: Vocabulary
    n_occurrences: F64
    document_frequencies: F64

    def __len__(self) -> int:
        return len(self.counts)

    def parts(self) -> Iterator[TermCounts]:
        """The documents in order, some at a time."""
        for first in range(0, len(self), _PART):
            yield self.counts.part(first, min(first + _PART, len(self)))


def collect(texts: Texts, split: Splitting, work: Path, side: str, *, threads: int, meter: Meter) -> Collected:
    """Read a collection once.

    Parameters
    ----------
    texts : Texts
    split : function
        From texts to their words.
    work : Path
        A directory for what is counted.
    side : {"left", "right", "left-translated"}
    threads : int
    meter : Meter

    Raises
    ------
    SourceError
        It has no documents, or a file changed while it was read.
    DocumentError
        A document is bad, and that is to stop the run.
    """
    name = ", ".join(texts.names[:3]) + (", …" if len(texts.names) > 3 else "")
    inputs = tuple(SignedInput.of(source) for source in texts.sources)
    names = pa.array(texts.names, pa.large_string())
    vocabulary = Vocabulary()
    terms, counts = GrowingArray(work / f"{side}-terms", np.int32), GrowingArray(work / f"{side}-counts", np.float32)
    sizes, documents = [np.zeros(1, np.int64)], []

    def read(raw: object) -> tuple[pa.RecordBatch, TextWords]:
        batch = texts.prepare(raw, _AS_IT_CAME)  # type: ignore[arg-type]
        kept = batch.prepared.select(["doc_id", "line", "problem"])
        sources = pa.field("source", names.type, nullable=False)
        return kept.append_column(sources, names.take(pa.array(batch.sources))), split(batch.texts)

    with meter.stage(f"read {side}", texts.size_bytes, "bytes") as progress:
        for about, words in map_ordered(read, texts.raw_batches(progress), threads=threads):
            counted = vocabulary.count(words)
            terms.add(counted.terms)
            counts.add(counted.counts)
            sizes.append(counted.sizes)
            documents.append(about.rename_columns(DOCUMENTS_SCHEMA.names))
    if tuple(SignedInput.of(source) for source in texts.sources) != inputs:
        raise SourceError(f"{name}: changed while it was read. Run this again when nothing writes to it.")
    offsets = np.cumsum(np.concatenate(sizes))
    if len(offsets) == 1:
        raise SourceError(f"--{side} {name}: has no documents: there is nothing to pair.")
    if not offsets[-1]:
        problems = [one["problem"].drop_null() for one in documents]
        said = next((f" The first problem: {one[0].as_py()}." for one in problems if len(one)), "")
        raise SourceError(f"--{side} {name}: none of its {len(offsets) - 1:,} documents has a word.{said}")
    n_unreadable = sum(len(one["problem"]) - one["problem"].null_count for one in documents)
    table = with_distinct_ids(pa.Table.from_batches(documents, DOCUMENTS_SCHEMA), texts.has_integer_ids)
    own = TermCounts(terms.mapped(), counts.mapped(), offsets)  # type: ignore[arg-type]
    n, df = _totals(own, len(vocabulary))
    return Collected(side, name, inputs, table, n_unreadable, own, vocabulary, n, df)


def _totals(counts: TermCounts, n_terms: int) -> tuple[F64, F64]:
    occurrences, frequencies = np.zeros(n_terms), np.zeros(n_terms)
    for first in range(0, len(counts.terms), 1 << 24):
        own = slice(first, first + (1 << 24))
        occurrences += np.bincount(counts.terms[own], counts.counts[own], n_terms)
        frequencies += np.bincount(counts.terms[own], minlength=n_terms)
    return occurrences, frequencies
