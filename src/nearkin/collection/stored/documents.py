"""Lookup of stored documents."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, exists, select, true, update

from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.origins import IS_EXCEPTION
from nearkin.errors import ParameterError, UnknownDocumentError, quoted
from nearkin.nouns import counted, first_of
from nearkin.store.bulk import among, in_slices, is_name, is_storable, n_rows
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import contents, documents, loads, origins, waves

_MAX_OF_A_NAME = 200
_MAX_UNKNOWN = 10


@cache
def with_documents() -> Select[Any]:
    """Return a query for `stored_documents`, to which conditions can be added."""
    columns = [
        documents.c.row, documents.c.doc_id, documents.c.version, documents.c.content, documents.c.source,
        documents.c.line, documents.c.is_current, documents.c.removed_at, waves.c.name.label("wave"),
        contents.c.n_characters, contents.c.n_letters, contents.c.is_counted,
    ]  # fmt: skip
    # outer joins: a document whose text or wave is missing is reported, not omitted
    joined = documents.outerjoin(contents, documents.c.content == contents.c.content)
    joined = joined.outerjoin(loads, documents.c.load == loads.c.load).outerjoin(waves, loads.c.wave == waves.c.wave)
    return select(*columns).select_from(joined)


@cache
def current_with(column: ColumnElement[Any]) -> Select[Any]:
    """Return the query for current documents with one of some values, as they were added."""
    return with_documents().where(among(column) & documents.c.is_current).order_by(documents.c.row)


def stored_documents(rows: Iterable[Any]) -> list[StoredDocument]:
    """Make documents from the rows of `with_documents`; CollectionError if a text or wave is missing."""
    return [_stored_document(row) for row in rows]


def _stored_document(row: Any) -> StoredDocument:
    if row.wave is None or row.n_characters is None:
        missing = "wave" if row.wave is None else "text"
        raise damaged_collection(f"the {missing} of document {row.doc_id!r} is missing from the database")
    return StoredDocument(**{name: getattr(row, name) for name in _FIELDS})


_FIELDS = tuple(field.name for field in fields(StoredDocument))


def documents_by_row(
    connection: Connection, column: ColumnElement[Any], values: Iterable[Any]
) -> dict[int, StoredDocument]:
    """Return, by row, all versions in which a column of ``documents`` has one of some values."""
    wanted, records = (
        [value for value in values if not isinstance(value, str) or is_storable(value)],
        dict[int, StoredDocument](),
    )
    for block in in_slices(wanted):
        rows = connection.execute(with_documents().where(column.in_(block)).order_by(documents.c.row)).all()
        records |= {row.row: _stored_document(row) for row in rows}
    return records


def current_documents(connection: Connection, numbers: Sequence[int], limit: int) -> tuple[list[StoredDocument], int]:
    """Return the first ``limit`` current documents with these contents, by content, then as added; and their number."""
    current: list[StoredDocument] = []
    n_found = 0
    for block in in_slices(numbers):
        if len(current) < limit:
            places = {number: place for place, number in enumerate(block)}
            rows = connection.execute(current_with(documents.c.content), {"values": block}).all()
            records = sorted(stored_documents(rows), key=lambda record: places[record.content])
            current += records[: limit - len(current)]
            n_found += len(records)
        else:
            n_found += n_rows(connection, documents, documents.c.content.in_(block), documents.c.is_current)
    return current, n_found


_SIZES = select(documents.c.content, contents.c.n_bytes).select_from(documents.outerjoin(contents))
_SIZES = _SIZES.where(among(documents.c.content) & documents.c.is_current)


def sizes_of_current(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Return the contents that a current document has, in the same order, with the bytes of their texts."""
    rows = (row for block in in_slices(numbers) for row in connection.execute(_SIZES, {"values": block}))
    sizes = {content: n_bytes if isinstance(n_bytes, int) else 0 for content, n_bytes in rows}
    return {number: sizes[number] for number in numbers if number in sizes}


def document(connection: Connection, doc_id: str, version: int | None = None) -> StoredDocument:
    """Return the given version of a document, by default the current one."""
    check_id(doc_id)
    is_int = isinstance(version, int) and not isinstance(version, bool)
    if version is not None and not (is_int and 0 < version < 2**31):
        raise ParameterError.of("version", "an int from 1 to 2**31 - 1", version)
    if version is None:
        query = current_with(documents.c.doc_id)
    else:
        query = with_documents().where(among(documents.c.doc_id) & (documents.c.version == version))
    row = connection.execute(query, {"values": [doc_id]}).first() if is_storable(doc_id) else None
    if row is not None:
        return _stored_document(row)
    raise UnknownDocumentError(_unknown(connection, doc_id, version))


def refuse_unknown(connection: Connection, doc_ids: Sequence[str], known: Container[str]) -> None:
    """Refuse ids that are not among the known ones."""
    unknown = [doc_id for doc_id in doc_ids if doc_id not in known]
    if len(unknown) == 1:
        document(connection, unknown[0])
    if unknown:
        names = first_of(list(map(quoted, unknown)), _MAX_UNKNOWN)
        what = f"{len(unknown):,} of {counted(len(doc_ids), 'document')}"
        raise UnknownDocumentError(f"Not in the collection: {what}: {names}. Nothing was changed.")


def is_removed() -> ColumnElement[bool]:
    """Return the condition for the last versions of documents that are removed now."""
    return documents.c.removed_at.is_not(None) & is_newest()


def is_newest() -> ColumnElement[bool]:
    """Return the condition for the newest version of an id."""
    newer = documents.alias("newer")
    return ~exists().where(newer.c.doc_id == documents.c.doc_id, newer.c.version > documents.c.version)


def remove_current(connection: Connection, condition: ColumnElement[bool], now: str) -> int:
    """Remove the current documents that meet a condition; return their number."""
    is_wanted = condition & documents.c.is_current
    return connection.execute(update(documents).where(is_wanted).values(is_current=False, removed_at=now)).rowcount


def check_id(doc_id: object) -> None:
    """Refuse anything but a valid id before it reaches the database."""
    if not isinstance(doc_id, str):
        raise ParameterError.of("doc_id", "a str; numeric ids are stored as their digits", doc_id)


def checked_ids(doc_ids: object) -> list[str]:
    """Return different ids in order."""
    if isinstance(doc_ids, str | bytes) or not isinstance(doc_ids, Iterable):
        raise ParameterError.of("doc_ids", "a list of ids", doc_ids)
    wanted = list(doc_ids)
    for doc_id in wanted:
        check_id(doc_id)
    return list(dict.fromkeys(wanted))


def checked_wave(wave: object) -> str:
    """Return the name of a wave without white space around it."""
    if not isinstance(wave, str) or not wave.strip() or len(wave) > _MAX_OF_A_NAME or not is_name(wave.strip()):
        rule = f"a name of 1 to {_MAX_OF_A_NAME} characters, not blank, that are no control characters"
        raise ParameterError.of("wave", rule, wave)
    return wave.strip()


def number_of_wave(connection: Connection, wave: str) -> int:
    """Return the number of a wave."""
    wave = checked_wave(wave)
    number = connection.execute(select(waves.c.wave).where(waves.c.name == wave)).scalar()
    if number is None:
        names = connection.execute(select(waves.c.name).order_by(waves.c.wave)).scalars().all()
        newest = ", ".join(map(repr, names[-5:])) or "none"
        raise UnknownDocumentError(f"There is no wave {quoted(wave)}. The newest waves are: {newest}.")
    return int(number)


def _unknown(connection: Connection, doc_id: str, version: int | None) -> str:
    if not is_storable(doc_id):
        return f"There is no document {doc_id!r}."
    stored = connection.execute(
        select(documents.c.version, documents.c.removed_at)
        .where(documents.c.doc_id == doc_id)
        .order_by(documents.c.version)
    ).all()
    if stored and version is not None:
        versions = ", ".join(str(row[0]) for row in stored)
        return f"The document {doc_id!r} has no version {version}; it has {versions}."
    if stored:
        return f"The document {doc_id!r} was removed at {stored[-1][1]}; its history has what is kept of it."
    is_exception = exists().where((origins.c.doc_id == doc_id) & IS_EXCEPTION)
    if connection.execute(select(is_exception)).scalar_one():
        return f"There is no document {doc_id!r}: it was not stored; the list of exceptions says why."
    return f"There is no document {doc_id!r}."


class DocumentRow(NamedTuple):
    """A row of ``documents``."""

    row: int
    doc_id: str
    version: int
    content: int
    load: int
    source: str
    line: int
    is_current: bool
    removed_at: str | None


_ROWS = select(*(documents.c[name] for name in DocumentRow._fields)).order_by(documents.c.row)


def document_rows(connection: Connection, column: ColumnElement[Any], values: Iterable[Any]) -> list[DocumentRow]:
    """Return the rows of all versions in which a column of ``documents`` has one of some values."""
    wanted = list(dict.fromkeys(value for value in values if not isinstance(value, str) or is_storable(value)))
    return sorted(row for block in in_slices(wanted) for row in rows_where(connection, column.in_(block)))


def current_rows(connection: Connection, column: ColumnElement[Any], values: Iterable[Any]) -> list[DocumentRow]:
    """Return those rows of `document_rows` that are current."""
    return [row for row in document_rows(connection, column, values) if row.is_current]


def rows_where(connection: Connection, condition: ColumnElement[bool] | None = None) -> Iterator[DocumentRow]:
    """Yield the rows that meet a condition, in order."""
    query = _ROWS.where(true() if condition is None else condition)
    return map(DocumentRow._make, connection.execute(query).all())


def is_current(connection: Connection, doc_id: str) -> bool:
    """Whether there is a current document with an id."""
    return doc_id in current_ids(connection, [doc_id])


def current_ids(connection: Connection, doc_ids: Iterable[str]) -> set[str]:
    """Return those ids that have a current document."""
    return set(current_contents(connection, doc_ids))


def current_contents(connection: Connection, doc_ids: Iterable[str]) -> dict[str, int]:
    """Return the contents of those ids that have a current document."""
    return {row.doc_id: row.content for row in current_rows(connection, documents.c.doc_id, doc_ids)}


def contents_of_current(connection: Connection) -> dict[str, int]:
    """Return the content of each current document, as they were added."""
    return {row.doc_id: row.content for row in rows_where(connection, documents.c.is_current)}
