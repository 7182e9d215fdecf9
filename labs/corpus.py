"""The first documents of a corpus with unchanged texts; only invalid UTF-8 is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import DocumentError, SourceError
from nearkin.paths import without_password
from nearkin.records import I64
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.normalisation import AS_IT_CAME, PREPARED_SCHEMA, Normalisation, prepare
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rules import STOPPED, ReadingRules
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import first_problem

BATCH_BYTES = 1 << 20
_COLUMNS = pa.schema([PREPARED_SCHEMA.field(name) for name in ("doc_id", "text", "digest")])


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
            "inputs": shown_inputs(files),
            "text": files.text,
            "n_documents": len(self) + self.n_without_text,
            "n_without_text": self.n_without_text,
            "n_unreadable": self.n_unreadable,
        }

    @property
    def distinct(self) -> I64:
        """Rows whose text occurs in no earlier row."""
        return np.flatnonzero(self.first_with_text == np.arange(len(self)))


def shown_inputs(request: ReadingRequest) -> list[str]:
    """Return the inputs of a request, without passwords of databases."""
    return [without_password(one) if isinstance(one, str) else one.name for one in request.inputs]


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
    sources = files.found(progress).sources
    batches = ((one, source.name) for source in sources for one in batches_of(source, progress.say))
    found = first_rows(batches, n_documents, AS_IT_CAME, files.rules, counts_empty=True)
    if len(found.table) < 2:
        raise SourceError(
            f"The experiment needs at least 2 documents with a text. {sources[0].name} has {len(found.table)} "
            f"among the first {len(found.table) + found.n_without_text:,}."
        )
    return RawDocuments(
        found.table["doc_id"].combine_chunks(),
        found.table["text"].combine_chunks(),
        _firsts(found.table["digest"].combine_chunks()),
        found.n_without_text,
        found.n_unreadable,
    )


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first documents of some batches: those with a text, and the number of others.

    Parameters
    ----------
    table : Table
        Columns ``doc_id``, ``text`` and ``digest`` of the documents with a text.
    n_without_text, n_unreadable : int
    """

    table: pa.Table
    n_without_text: int
    n_unreadable: int


def first_rows(
    batches: Iterable[tuple[pa.RecordBatch, str]],
    n_documents: int,
    normalise: Normalisation,
    rules: ReadingRules,
    *,
    counts_empty: bool,
) -> FirstRows:
    """Prepare batches, each with the name of its source, until there are ``n_documents``, or all of them.

    Parameters
    ----------
    batches : iterable of (RecordBatch, str)
    n_documents : int
    normalise : Normalisation
    rules : ReadingRules
    counts_empty : bool
        Whether readable documents without a text are among the ``n_documents``.

    Raises
    ------
    DocumentError
        A document cannot be read, or more documents are unreadable than the rules allow.
    """
    parts: list[pa.RecordBatch] = []
    problems = Problems(rules)
    n_left, n_without_text, n_unreadable = n_documents, 0, 0
    for batch, source_name in batches:
        prepared = prepare(batch, normalise, source_name=source_name)
        is_readable = prepared["problem"].is_null()
        is_counted = is_readable if counts_empty else pc.and_(is_readable, has_text(prepared))
        counted = is_counted.to_numpy(zero_copy_only=False)
        n_seen = _up_to(counted, n_left)
        seen = prepared.slice(0, n_seen)
        good = seen.filter(pc.and_(is_readable.slice(0, n_seen), has_text(seen)))
        n_left -= int(counted[:n_seen].sum())
        n_without_text += seen["problem"].null_count - len(good)
        n_unreadable += len(seen) - seen["problem"].null_count
        problems.take(seen, source_name)
        parts.append(good.select(["doc_id", "text", "digest"]))
        if not n_left:
            break
    problems.check()
    return FirstRows(pa.Table.from_batches(parts, _COLUMNS).combine_chunks(), n_without_text, n_unreadable)


def batches_of(source: Source, note: Callable[[str], None]) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a source in batches."""
    if isinstance(source, StoredSource):
        return source.documents.batches(Silent())
    return read_batches(source, batch_bytes=BATCH_BYTES, note=note)


def _up_to(is_readable: np.ndarray[tuple[int], np.dtype[np.bool_]], n_wanted: int) -> int:
    """Return the number of rows that contain the requested number of readable ones, or all rows."""
    running = np.cumsum(is_readable)
    return int(np.searchsorted(running, n_wanted)) + 1 if len(running) and running[-1] >= n_wanted else len(running)


def _firsts(digests: pa.FixedSizeBinaryArray) -> I64:
    codes = digests.dictionary_encode().indices.to_numpy()
    _, first, code_of = np.unique(codes, return_index=True, return_inverse=True)
    return first[code_of].astype(np.int64)
