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
from nearkin.stages.documents import faults
from nearkin.stages.documents.members import NO_TEXT, place_text
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.store.bulk import written_out
from nearkin.store.schema import contents, documents, loads, origins, waves

WhichExceptions = Literal["all", "no text", "partial"]
REASONS = (*faults.REASONS, NOT_STORED)
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


_SCHEMA = pa.schema(columns(" ".join(one.name for one in fields(StoredException))))


@dataclass(frozen=True, slots=True)
class StoredExceptions:
    """Exceptions of a collection that meet some conditions.

    Parameters
    ----------
    exceptions
        In the order of waves, and by id.
    counts
        By wave and reason.
    """

    exceptions: tuple[StoredException, ...]
    counts: tuple[ExceptionCount, ...]

    @property
    def n_no_text(self) -> int:
        """Number of documents without a text."""
        return sum(one.n_no_text for one in self.counts)

    @property
    def n_partial(self) -> int:
        """Number of documents with a part of their text."""
        return sum(one.n_partial for one in self.counts)

    @property
    def n_not_stored(self) -> int:
        """Number of documents that were read and not stored, because of their id, their size, or a purge."""
        return sum(one.n_not_stored for one in self.counts)

    @property
    def table(self) -> pa.Table:
        """A row for each exception, with the fields of `StoredException` as columns."""
        return pa.Table.from_pylist([asdict(one) for one in self.exceptions], _SCHEMA)

    def to_dict(self, limit: int | None = None) -> dict[str, object]:
        """Return the fields as JSON types, with the first ``limit`` exceptions."""
        shown = self.exceptions if limit is None else self.exceptions[:limit]
        return {
            "n_no_text": self.n_no_text,
            "n_partial": self.n_partial,
            "n_not_stored": self.n_not_stored,
            "is_truncated": len(shown) < len(self.exceptions),
            "counts": [asdict(one) for one in self.counts],
            "exceptions": [asdict(one) for one in shown],
        }


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

    def admits(self, one: StoredException) -> bool:
        """Whether an exception meets the conditions."""
        is_like_that = one.is_partial if self.which == "partial" else not one.is_partial and one.exception != NOT_STORED
        if self.which != "all" and not is_like_that:
            return False
        if self.doc_id is not None and not fnmatchcase(one.doc_id, self.doc_id.replace("[", "[[]")):
            return False
        told = (self.wave, one.wave), (self.reason, one.exception), (self.kind, one.kind)
        return all(wanted is None or wanted == own for wanted, own in told)


def stored_exceptions(connection: Connection, wanted: ExceptionFilter) -> StoredExceptions:
    """List the exceptions; see `Collection.exceptions`."""
    if wanted.wave is not None:
        number_of_wave(connection, wanted.wave)
    found = [one.exception for one in listed_exceptions(connection) if wanted.admits(one.exception)]
    numbers = _numbers_of_waves(connection)
    tally = Counter((one.wave, one.exception, one.is_partial) for one in found)
    keys = dict.fromkeys((one.wave, one.exception) for one in found)
    counts = [_count(*key, tally[(*key, False)], tally[(*key, True)]) for key in keys]
    counts.sort(key=lambda one: (numbers[one.wave], -one.n_no_text - one.n_partial - one.n_not_stored, one.exception))
    return StoredExceptions(tuple(found), tuple(counts))


def _count(wave: str, exception: str, n_whole: int, n_partial: int) -> ExceptionCount:
    is_of_id = exception == NOT_STORED
    return ExceptionCount(wave, exception, 0 if is_of_id else n_whole, n_partial, n_whole if is_of_id else 0)


def listed_exceptions(connection: Connection) -> list[ListedException]:
    """List all exceptions by wave and id, each with whether a current document has it."""
    numbers = _numbers_of_waves(connection)
    return sorted(_all(connection), key=lambda one: (numbers[one.exception.wave], one.exception.doc_id))


def _numbers_of_waves(connection: Connection) -> dict[str, int]:
    return {name: number for number, name in connection.execute(select(waves.c.wave, waves.c.name))}


def exceptions_without_document(connection: Connection) -> tuple[StoredException, ...]:
    """List, by id, the exceptions that reading the current documents does not show: no document has this exception."""
    found = [one.exception for one in _all(connection) if not one.is_current]
    return tuple(sorted(found, key=lambda one: one.doc_id))


def _all(connection: Connection) -> Iterable[ListedException]:
    """Return the exceptions, one per id: what was not stored before an older text with its id."""
    blank = {document.doc_id: document for document in blank_documents(connection)}
    joined = origins.join(loads, origins.c.load == loads.c.load).join(waves)
    joined = joined.outerjoin(documents, origins.c.row == documents.c.row)
    is_blank = documents.c.content.in_(written_out({document.content for document in blank.values()}))
    is_listed = documents.c.is_current & (origins.c.exception.is_not(None) | is_blank)
    query = select(origins, waves.c.name.label("wave")).select_from(joined).where(IS_EXCEPTION | is_listed)
    found, failed = dict[str, ListedException](), dict[str, list[Any]]()
    rows = connection.execute(query.order_by(origins.c.number)).all()
    for row in rows:
        if row.row is None:
            failed.setdefault(row.doc_id, []).append(row)
    for doc_id, of_id in failed.items():
        found[doc_id] = ListedException(_exception(of_id[-1], _sentence(of_id)), is_current=False)
    for row in rows:
        if row.row is not None and row.exception is not None:
            one = _exception(row, _sentence([row]), is_partial=row.doc_id not in blank)
            found.setdefault(row.doc_id, ListedException(one, is_current=True))
    files = {row.doc_id: row for row in rows if row.row is not None}
    for doc_id, document in blank.items():
        of_file = {name: getattr(files.get(doc_id), name, None) for name in _OF_FILE}
        empty = StoredException(
            doc_id=doc_id, wave=document.wave, exception="empty", is_partial=False, sentence=NO_TEXT, **of_file
        )
        listed = found.setdefault(doc_id, ListedException(empty, is_current=True))
        found[doc_id] = replace(listed, has_blank=True)
    return found.values()


_OF_FILE = "parent", "kind", "extractor", "sha256", "size_bytes"


def _exception(row: Any, sentence: str, *, is_partial: bool = False) -> StoredException:
    of_file = {name: getattr(row, name) for name in _OF_FILE}
    return StoredException(
        doc_id=row.doc_id, wave=row.wave, exception=row.exception, is_partial=is_partial, sentence=sentence, **of_file
    )


def _sentence(rows: Sequence[Any]) -> str:
    """Return what is wrong; with the place of each if several records have one id."""
    told = ["; ".join(one for one in (row.sentence, row.warnings) if one) for row in rows]
    if len(rows) > 1:
        told = [f"{place_text(row.doc_id, row.source, row.line)}: {said}" for row, said in zip(rows, told)]
    n_more = len(told) - _MAX_PLACES
    return "; ".join(told[:_MAX_PLACES]) + (f"; and {n_more:,} more" if n_more > 0 else "")


@dataclass(frozen=True, slots=True)
class ListedException:
    """An exception; whether it belongs to a current document, and whether one with its id has no text."""

    exception: StoredException
    is_current: bool
    has_blank: bool = False


def textless_contents(connection: Connection, normalise: Normalisation) -> dict[int, str]:
    """Return the contents that are empty after normalisation, each with the reason that `nearkin dedup` gives."""
    found = dict[int, str]()
    for content, text in _perhaps_blank(connection):
        left = normalise.normalised(strings([text]))
        if left.is_only_numbers is not None and left.is_only_numbers[0]:
            found[content] = "numbers only"
        elif left.is_only_ignored is not None and left.is_only_ignored[0]:
            found[content] = "ignored only"
        elif not left.texts[0].as_py():
            found[content] = "empty"
    return found


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
