"""The first documents of a corpus with unchanged texts; only invalid UTF-8 is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import DocumentError, SourceError
from nearkin.records import I64
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.preparing import prepare
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rules import STOPPED, ReadingRules
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.problems import first_problem
from nearkin.workflows.reading.request import ReadingRequest

BATCH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class RawDocuments:
    """The documents with a text, and the number of those without.

    Parameters
    ----------
    ids, texts : arrays of large strings, shape (n_documents,)
    first_with_text : int64 array, shape (n_documents,)
        Row of the first document with the same text, which may be the document itself.
    n_without_text : int
        Documents with nothing but white space: they have no rows here, and are never neighbours.
    n_unreadable : int
        Number of skipped records.
    """

    ids: pa.LargeStringArray
    texts: pa.LargeStringArray
    first_with_text: I64
    n_without_text: int
    n_unreadable: int

    def __len__(self) -> int:
        return len(self.ids)

    def read_from(self, files: ReadingRequest) -> dict[str, object]:
        """Return counts for a summary."""
        return {
            "inputs": files.shown_inputs,
            "text": files.text,
            "n_documents": len(self) + self.n_without_text,
            "n_without_text": self.n_without_text,
            "n_unreadable": self.n_unreadable,
        }

    @property
    def distinct(self) -> I64:
        """Rows whose text occurs in no earlier row."""
        return np.flatnonzero(self.first_with_text == np.arange(len(self)))


class Problems:
    """Count of unreadable documents, checked against the rules.

    Parameters
    ----------
    rules : ReadingRules
    """

    def __init__(self, rules: ReadingRules) -> None:
        self._rules = rules
        self._n = self._n_documents = 0
        self._first = ""

    def take(self, prepared: pa.RecordBatch, source_name: str) -> None:
        """Count the problems of a batch; raise DocumentError at a bad document if the rules say so."""
        self._n_documents += len(prepared)
        if where := first_problem(prepared, lambda _: source_name):
            if self._rules.on_error == "stop":
                raise DocumentError(f"{where}. {STOPPED}")
            self._n += len(prepared) - prepared["problem"].null_count
            self._first = self._first or where

    def check(self) -> None:
        """Raise an error if too many documents are unreadable; see `ReadingRules.check_readable`."""
        self._rules.check_readable(self._n, self._n_documents, self._first)


def has_text(batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return which documents of a prepared batch have more than white space."""
    return pc.greater(pc.binary_length(pc.utf8_trim_whitespace(batch["text"])), 0)


def read_raw(files: ReadingRequest, n_documents: int, progress: Progress) -> RawDocuments:
    """Read the first ``n_documents`` readable documents, with or without text; all if there are fewer.

    Raises
    ------
    SourceError
        Nothing can be read, or fewer than two documents have a text.
    DocumentError
        A document cannot be read, or more documents are unreadable than the rules allow.
    """
    parts: list[pa.RecordBatch] = []
    problems = Problems(files.rules)
    n_left, n_without_text, n_unreadable = n_documents, 0, 0
    sources = files.resolved(progress)
    for source in sources:
        if not n_left:
            break
        for batch in batches_of(source, files.encoding, progress.say):
            prepared = prepare(batch, AS_IT_CAME, source_name=source.name)
            is_readable = prepared["problem"].is_null().to_numpy(zero_copy_only=False)
            seen = _up_to(is_readable, n_left)
            prepared, is_readable = prepared.slice(0, seen), is_readable[:seen]
            good = prepared.filter(pc.and_(pa.array(is_readable), has_text(prepared)))
            n_readable = int(is_readable.sum())
            n_left -= n_readable
            n_without_text += n_readable - len(good)
            n_unreadable += seen - n_readable
            problems.take(prepared, source.name)
            parts.append(good.select(["doc_id", "text", "digest"]))
            if not n_left:
                break
    problems.check()
    if sum(map(len, parts)) < 2:
        raise SourceError(
            f"The experiment needs at least 2 documents with a text. {sources[0].name} has {sum(map(len, parts))} "
            f"among the first {n_documents - n_left:,}."
        )
    table = pa.Table.from_batches(parts).combine_chunks()
    return RawDocuments(
        table["doc_id"].combine_chunks(),
        table["text"].combine_chunks(),
        _firsts(table["digest"].combine_chunks()),
        n_without_text,
        n_unreadable,
    )


def batches_of(source: Source, encoding: str, note: Callable[[str], None]) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a source in batches."""
    if isinstance(source, StoredSource):
        return (batch for batch, _ in source.documents.input(source.name, keep_column=None).batches(Silent()))
    return read_batches(source, batch_bytes=BATCH_BYTES, encoding=encoding, note=note)


def _up_to(is_readable: np.ndarray[tuple[int], np.dtype[np.bool_]], n_wanted: int) -> int:
    """Return the number of rows that contain the requested number of readable ones, or all rows."""
    running = np.cumsum(is_readable)
    return int(np.searchsorted(running, n_wanted)) + 1 if len(running) and running[-1] >= n_wanted else len(running)


def _firsts(digests: pa.FixedSizeBinaryArray) -> I64:
    codes = digests.dictionary_encode().indices.to_numpy()
    _, first, code_of = np.unique(codes, return_index=True, return_inverse=True)
    return first[code_of].astype(np.int64)
