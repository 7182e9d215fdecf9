"""Exceptions of a collection: added files from which no text, or only a part of it, could be read, with the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, exists, func, or_, select, tuple_

from nearkin.collection.results import StoredDocument, columns
from nearkin.collection.stored.contents import PURGED
from nearkin.collection.stored.documents import number_of_wave, stored_documents, with_documents
from nearkin.collection.stored.origins import (
    COLUMNS,
    IS_NOT_STORED,
    IS_PLAIN_FILE,
    IS_UNREAD,
    is_not_stored,
    with_origins,
)
from nearkin.errors import ParameterError, is_among
from nearkin.formats import zstd
from nearkin.kernels.buffers import strings
from nearkin.stages.documents import faults
from nearkin.stages.documents.faults import reason_of, sentence_of
from nearkin.stages.documents.members import NO_TEXT, place_text
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.store.bulk import written_out
from nearkin.store.schema import contents, documents, loads, origins, problems, waves

WhichExceptions = Literal["all", "no text", "partial"]
NOT_STORED = "not stored"
"""Reason of documents that were read and not stored, because of their id, their size, or a purge of the text."""
REASONS = (*faults.REASONS, NOT_STORED)
"""Reasons of exceptions: those of extraction, and those of documents that were not extracted."""

_MAX_PLACES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredException:
    """A document from which no text, or only a part of it, could be read.

    Parameters
    ----------
    doc_id : str
    parent : str or None
        Id of the document or container that it is inside of.
    wave : str
        Wave that it was last added in.
    exception : str
        One of `REASONS`.
    is_partial : bool
        True: a part of the text is stored; False: no text is.
    sentence : str
        What is wrong, for people.
    kind : str or None
        By content, such as "pdf", or "text" for a plain text; None for a record, as all below.
    extractor : str or None
        None for a plain text, too.
    sha256 : str or None
        Of the original bytes, in hexadecimal.
    size_bytes : int or None
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
    exceptions : tuple of StoredException
        In the order of waves, and by id.
    counts : tuple of ExceptionCount
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
    """List the exceptions; see `Collection.exceptions`.

    Raises
    ------
    UnknownDocumentError
        There is no such wave.
    """
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
    """Return the exceptions, one per id: that of a file without a text before that of an older text with its id."""
    blank = blank_documents(connection)
    found = dict[str, ListedException]()
    for one in sorted(_of_origins(connection, {document.doc_id for document in blank}), key=lambda one: one.is_current):
        found.setdefault(one.exception.doc_id, one)
    # also files that were removed, or read since
    is_unread = origins.c.row.is_(None) & origins.c.extractor.is_not(None)
    extracted = set(connection.execute(select(origins.c.doc_id).where(is_unread)).scalars())
    files = _files_without_exception(connection, {document.content for document in blank})
    for problem, sentence in _newest_problems(connection, extracted):
        named = NOT_STORED if is_not_stored(problem.problem) else reason_of(problem.problem)
        file = files.get((problem.doc_id, False), {})
        told = problem.doc_id, problem.wave, named, sentence
        found.setdefault(problem.doc_id, ListedException(_without_origin(*told, file), is_current=False))
    for document in blank:
        file = files.get((document.doc_id, True), {})
        empty = _without_origin(document.doc_id, document.wave, "empty", NO_TEXT, file)
        listed = found.setdefault(document.doc_id, ListedException(empty, is_current=True))
        found[document.doc_id] = replace(listed, has_blank=True)
    return found.values()


def _newest_problems(connection: Connection, extracted: Set[str]) -> Iterator[tuple[Problem, str]]:
    """Yield the newest problem of each id that is an exception, with its sentence.

    If several records with the id failed in its load, the sentence has the place and the problem of each.
    """
    found = dict[tuple[str, bool], tuple[int, list[Problem]]]()
    for load, problem in reversed(problems_by_load(connection)):
        is_of_id = is_not_stored(problem.problem)
        if is_of_id or problem.doc_id not in extracted:
            newest, listed = found.setdefault((problem.doc_id, is_of_id), (load, []))
            if load == newest:
                listed.append(problem)
    for _, listed in found.values():
        told = [f"{place_text(one.doc_id, one.source, one.line)}: {one.problem}" for one in reversed(listed)]
        n_more = len(told) - _MAX_PLACES
        said = "; ".join(told[:_MAX_PLACES]) + (f"; and {n_more:,} more" if n_more > 0 else "")
        yield listed[0], said if len(told) > 1 else sentence_of(listed[0].problem)


def _without_origin(
    doc_id: str, wave: str, exception: str, sentence: str, file: Mapping[str, Any]
) -> StoredException:  # fmt: skip
    told = {"parent": None, **file}
    return StoredException(doc_id=doc_id, wave=wave, exception=exception, is_partial=False, sentence=sentence, **told)


def _files_without_exception(connection: Connection, blank: Set[int]) -> dict[tuple[str, bool], Mapping[str, Any]]:
    """Return, by id and whether it is a document, the data of files of which extraction reported no exception.

    They were read as text and had none, or were extracted and have a blank text, whose numbers are in ``blank``.
    """
    is_current = (documents.c.row == origins.c.row) & documents.c.is_current
    is_plain = IS_PLAIN_FILE & (origins.c.row.is_(None) | exists().where(is_current))
    is_blank = exists().where(is_current & documents.c.content.in_(written_out(blank)))
    rows = connection.execute(with_origins().where(is_plain | is_blank).order_by(origins.c.number))
    told = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    own = "parent", "kind", "extractor", "sha256", "size_bytes"
    return {(one["doc_id"], one["row"] is not None): {name: one[name] for name in own} for one in told}


@dataclass(frozen=True, slots=True)
class ListedException:
    """An exception; whether it belongs to a current document, and whether one with its id has no text."""

    exception: StoredException
    is_current: bool
    has_blank: bool = False


def _of_origins(connection: Connection, blank: Container[str]) -> Iterator[ListedException]:
    """Yield the exceptions that extraction reported, for current documents and for files without a text."""
    has_one = origins.c.exception.is_not(None)
    has_current = exists().where((documents.c.row == origins.c.row) & documents.c.is_current)
    named_loads = select(loads.c.load, waves.c.name).select_from(loads.join(waves))
    names = {int(load): str(name) for load, name in connection.execute(named_loads)}
    rows = connection.execute(with_origins().where(has_one & or_(IS_UNREAD, has_current)))
    for row in rows:
        told: Mapping[str, Any] = dict(zip(COLUMNS, row, strict=True))
        sentence = "; ".join(one for one in (told["sentence"], told["warnings"]) if one)
        own = {name: told[name] for name in ("doc_id", "parent", "exception", "kind", "extractor", "sha256")}
        is_current = told["row"] is not None
        one = StoredException(
            **own,
            wave=names[told["load"]],
            is_partial=is_current and told["doc_id"] not in blank,
            sentence=sentence,
            size_bytes=told["size_bytes"],
        )
        yield ListedException(one, is_current)


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


@dataclass(frozen=True, slots=True)
class Problem:
    """A document that was not stored, or got another id, and the reason."""

    doc_id: str
    wave: str
    source: str
    line: int
    problem: str


def problems_of(connection: Connection) -> tuple[Problem, ...]:
    """Return the problems of added documents, the oldest first, without documents that have been stored since.

    Of a document that failed for different reasons in several loads, the problem of the newest load is returned.
    """
    return tuple(problem for _, problem in problems_by_load(connection))


def problems_by_load(connection: Connection) -> list[tuple[int, Problem]]:
    """Return the same problems, each with the number of its load.

    Raises
    ------
    CollectionError
        See `problems_of`.
    """
    columns = problems.c
    query = (
        select(columns.load, columns.doc_id, waves.c.name, columns.source, columns.line, columns.problem)
        .select_from(problems.join(loads).join(waves))
        .where(is_open())
        .order_by(columns.load, columns.number)
    )
    return [(load, Problem(*row)) for load, *row in connection.execute(query)]


def is_open() -> ColumnElement[bool]:
    """Condition for problems of documents that are still not stored, and for repeated ids.

    A record that failed is not stored although its id has a document, if an earlier load, or another record of the same
    load, stored that one.
    If a document failed again for another reason in a later load, only its newest problem is open. A problem of an id
    is about one of several documents that share it, so a later one does not replace it.
    """
    later = problems.alias()
    is_of_id = later.c.problem.like("the id %")
    newest = select(later.c.doc_id, func.max(later.c.load)).where(~is_of_id, later.c.problem != PURGED)
    is_newest = tuple_(problems.c.doc_id, problems.c.load).in_(newest.group_by(later.c.doc_id))
    is_not_stored = IS_NOT_STORED & (is_newest | (problems.c.problem == PURGED))
    return is_not_stored | problems.c.problem.like("the id %")
