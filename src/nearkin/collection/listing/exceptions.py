"""Exceptions of a collection: added files from which no text, or only a part of it, could be read, with the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.results import StoredDocument, columns
from nearkin.collection.stored.documents import number_of_wave, stored_documents, with_documents
from nearkin.collection.stored.origins import IS_EXCEPTION, NOT_STORED
from nearkin.errors import ParameterError, is_among
from nearkin.formats import zstd
from nearkin.kernels.buffers import strings
from nearkin.stages.documents import rules
from nearkin.stages.documents.members import NO_TEXT, place_text
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.store.bulk import written_out
from nearkin.store.schema import contents, documents, loads, origins, waves
from nearkin.tabular import AnswerRecord

WhichExceptions = Literal["all", "no text", "partial"]
REASONS = (*rules.REASONS, NOT_STORED)
"""Reasons of exceptions: those of extraction, and those of documents that were not extracted."""

_MAX_PLACES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredException:
    """A document from which no text, or only a part of it, could be read.

    Parameters
    ----------
    parent
        Id of the document or container that it is inside of.
    wave
        Wave that it was last added in.
    exception
        One of `REASONS`.
    is_partial
        True: a part of the text is stored; False: no text is.
    kind
        By content, such as "pdf", or "text" for a plain text; None for a record, as all below.
    extractor
        None for a plain text, too.
    sha256
        Of the original bytes, in hexadecimal.
    """

    doc_id: str
    parent: str | None
    wave: str
    exception: str
    is_partial: bool
    sentence: str
    kind: str | None = None
    extractor: str | None = None
    sha256: str | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ExceptionCount:
    """Number of exceptions of one wave with one reason; ``n_not_stored`` are those with the reason "not stored"."""

    wave: str
    exception: str
    n_no_text: int
    n_partial: int
    n_not_stored: int = 0


_SCHEMA = pa.schema(columns(" ".join(field.name for field in fields(StoredException))))


@dataclass(frozen=True, slots=True)
class StoredExceptions(AnswerRecord):
    """Exceptions of a collection that meet some conditions.

    Parameters
    ----------
    exceptions
        In the order of waves, and by id.
    counts
        By wave and reason.
    """

    computed = ("n_no_text", "n_partial", "n_not_stored", "is_truncated")

    exceptions: tuple[StoredException, ...]
    counts: tuple[ExceptionCount, ...]

    def first(self, limit: int) -> StoredExceptions:
        """Return the same with at most this many exceptions."""
        return replace(self, exceptions=self.exceptions[:limit])

    @property
    def n_found(self) -> int:
        """Number of exceptions, including those not returned."""
        return self.n_no_text + self.n_partial + self.n_not_stored

    @property
    def is_truncated(self) -> bool:
        """Whether there are more than the returned ones."""
        return self.n_found > len(self.exceptions)

    @property
    def n_no_text(self) -> int:
        """Number of documents without a text."""
        return sum(count.n_no_text for count in self.counts)

    @property
    def n_partial(self) -> int:
        """Number of documents with a part of their text."""
        return sum(count.n_partial for count in self.counts)

    @property
    def n_not_stored(self) -> int:
        """Number of documents that were read and not stored, because of their id, their size, or a purge."""
        return sum(count.n_not_stored for count in self.counts)

    @property
    def table(self) -> pa.Table:
        """A row for each exception, with the fields of `StoredException` as columns."""
        return pa.Table.from_pylist([asdict(exception) for exception in self.exceptions], _SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionFilter:
    """Conditions, all of which a listed exception meets; see `Collection.exceptions`."""

    wave: str | None = None
    doc_id: str | None = None
    reason: str | None = None
    kind: str | None = None
    which: WhichExceptions = "all"

    def __post_init__(self) -> None:
        if self.reason is not None and not is_among(self.reason, REASONS):
            raise ParameterError.of("reason", f"one of {', '.join(REASONS)}", self.reason)
        if not is_among(self.which, get_args(WhichExceptions)):
            rule = f"one of {', '.join(get_args(WhichExceptions))}"
            raise ParameterError.of("which", rule, self.which)

    def admits(self, exception: StoredException) -> bool:
        """Whether an exception meets the conditions."""
        is_like_that = (
            exception.is_partial
            if self.which == "partial"
            else not exception.is_partial and exception.exception != NOT_STORED
        )
        if self.which != "all" and not is_like_that:
            return False
        if self.doc_id is not None and not fnmatchcase(exception.doc_id, self.doc_id.replace("[", "[[]")):
            return False
        conditions = (self.wave, exception.wave), (self.reason, exception.exception), (self.kind, exception.kind)
        return all(wanted is None or wanted == value for wanted, value in conditions)


def stored_exceptions(connection: Connection, wanted: ExceptionFilter) -> StoredExceptions:
    """List the exceptions; see `Collection.exceptions`."""
    if wanted.wave is not None:
        number_of_wave(connection, wanted.wave)
    exceptions = [entry.exception for entry in listed_exceptions(connection) if wanted.admits(entry.exception)]
    numbers = _numbers_of_waves(connection)
    tally = Counter((entry.wave, entry.exception, entry.is_partial) for entry in exceptions)
    keys = dict.fromkeys((entry.wave, entry.exception) for entry in exceptions)
    counts = [_count(*key, tally[(*key, False)], tally[(*key, True)]) for key in keys]
    counts.sort(
        key=lambda entry: (
            numbers[entry.wave],
            -entry.n_no_text - entry.n_partial - entry.n_not_stored,
            entry.exception,
        )
    )
    return StoredExceptions(tuple(exceptions), tuple(counts))


def _count(wave: str, exception: str, n_whole: int, n_partial: int) -> ExceptionCount:
    is_of_id = exception == NOT_STORED
    return ExceptionCount(wave, exception, 0 if is_of_id else n_whole, n_partial, n_whole if is_of_id else 0)


def listed_exceptions(connection: Connection) -> list[ListedException]:
    """List all exceptions by wave and id, each with whether a current document has it."""
    numbers = _numbers_of_waves(connection)
    return sorted(_all(connection), key=lambda listed: (numbers[listed.exception.wave], listed.exception.doc_id))


def _numbers_of_waves(connection: Connection) -> dict[str, int]:
    return {name: number for number, name in connection.execute(select(waves.c.wave, waves.c.name))}


def exceptions_without_document(connection: Connection) -> tuple[StoredException, ...]:
    """List, by id, the exceptions that reading the current documents does not show: no document has this exception."""
    exceptions = [entry.exception for entry in _all(connection) if not entry.is_current]
    return tuple(sorted(exceptions, key=lambda entry: entry.doc_id))


def _all(connection: Connection) -> Iterable[ListedException]:
    """Return the exceptions, one per id: what was not stored before an older text with its id."""
    blank = {document.doc_id: document for document in blank_documents(connection)}
    joined = origins.join(loads, origins.c.load == loads.c.load).join(waves)
    joined = joined.outerjoin(documents, origins.c.row == documents.c.row)
    is_blank = documents.c.content.in_(written_out({document.content for document in blank.values()}))
    is_listed = documents.c.is_current & (origins.c.exception.is_not(None) | is_blank)
    query = select(origins, waves.c.name.label("wave")).select_from(joined).where(IS_EXCEPTION | is_listed)
    by_id, failed = dict[str, ListedException](), dict[str, list[Any]]()
    rows = connection.execute(query.order_by(origins.c.number)).all()
    for row in rows:
        if row.row is None:
            failed.setdefault(row.doc_id, []).append(row)
    for doc_id, of_id in failed.items():
        by_id[doc_id] = ListedException(_exception(of_id[-1], _sentence(of_id)), is_current=False)
    for row in rows:
        if row.row is not None and row.exception is not None:
            exception = _exception(row, _sentence([row]), is_partial=row.doc_id not in blank)
            by_id.setdefault(row.doc_id, ListedException(exception, is_current=True))
    files = {row.doc_id: row for row in rows if row.row is not None}
    for doc_id, document in blank.items():
        of_file = {name: getattr(files.get(doc_id), name, None) for name in _OF_FILE}
        empty = StoredException(
            doc_id=doc_id, wave=document.wave, exception="empty", is_partial=False, sentence=NO_TEXT, **of_file
        )
        listed = by_id.setdefault(doc_id, ListedException(empty, is_current=True))
        by_id[doc_id] = replace(listed, has_blank=True)
    return by_id.values()


_OF_FILE = "parent", "kind", "extractor", "sha256", "size_bytes"


def _exception(row: Any, sentence: str, *, is_partial: bool = False) -> StoredException:
    of_file = {name: getattr(row, name) for name in _OF_FILE}
    return StoredException(
        doc_id=row.doc_id, wave=row.wave, exception=row.exception, is_partial=is_partial, sentence=sentence, **of_file
    )


def _sentence(rows: Sequence[Any]) -> str:
    """Return what is wrong; with the place of each if several records have one id."""
    sentences = ["; ".join(part for part in (row.sentence, row.warnings) if part) for row in rows]
    if len(rows) > 1:
        sentences = [
            f"{place_text(row.doc_id, row.source, row.line)}: {sentence}" for row, sentence in zip(rows, sentences)
        ]
    n_more = len(sentences) - _MAX_PLACES
    return "; ".join(sentences[:_MAX_PLACES]) + (f"; and {n_more:,} more" if n_more > 0 else "")


@dataclass(frozen=True, slots=True)
class ListedException:
    """An exception; whether it belongs to a current document, and whether one with its id has no text."""

    exception: StoredException
    is_current: bool
    has_blank: bool = False


def textless_contents(connection: Connection, normalise: Normalisation) -> dict[int, str]:
    """Return the contents that are empty after normalisation, each with the reason that `nearkin dedup` gives."""
    reasons = dict[int, str]()
    for content, text in _perhaps_blank(connection):
        left = normalise.normalised(strings([text]))
        if left.is_only_numbers is not None and left.is_only_numbers[0]:
            reasons[content] = "numbers only"
        elif left.is_only_ignored is not None and left.is_only_ignored[0]:
            reasons[content] = "ignored only"
        elif not left.texts[0].as_py():
            reasons[content] = "empty"
    return reasons


def blank_contents(connection: Connection, among: Collection[int] | None = None) -> list[int]:
    """Return the contents that are empty, or white space: documents with such a text are no copies of one another."""
    return [content for content, text in _perhaps_blank(connection, among) if not text.strip()]


def blank_documents(connection: Connection) -> list[StoredDocument]:
    """Return the current documents whose text is empty, or white space."""
    if not (blank := blank_contents(connection)):
        return []
    is_one = documents.c.content.in_(written_out(blank)) & documents.c.is_current
    return stored_documents(connection.execute(with_documents().where(is_one).order_by(documents.c.row)))


def _perhaps_blank(connection: Connection, among: Collection[int] | None = None) -> Iterator[tuple[int, str]]:
    """Yield the texts without letters and features, of the given contents, except damaged and erased texts."""
    has_nothing = (contents.c.n_letters == 0) & (contents.c.n_other_letters == 0) & contents.c.signature.is_(None)
    query = select(contents.c.content, contents.c.text).where(has_nothing)
    if among is not None:
        query = query.where(contents.c.content.in_(written_out(among)))
    for content, stored in connection.execute(query):
        with suppress(zstd.ZstdError, ValueError, TypeError):
            yield content, zstd.decompress(stored).decode()
