"""What the store has of documents, looked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, exists, func, literal_column, select

from nearkin.collection.results import StoredDocument
from nearkin.errors import CollectionError, ParameterError, UnknownDocumentError
from nearkin.nouns import counted
from nearkin.store.bulk import is_storable, named
from nearkin.store.checksums import checksum, covered, key_bits
from nearkin.store.schema import contents, documents, loads, waves

_MAX_OF_A_NAME = 200
_MAX_OF_A_HINT = 200
_CHECKED = covered(documents)
_N_CHECKED = len(_CHECKED)
VERIFY = "Run nearkin verify COLLECTION, which repairs what can be repaired and names the rest."
"""The end of a message about damage."""


def with_documents() -> Select[Any]:
    """A query for what `stored_documents` makes records of, for conditions to be added to."""
    columns = [
        *(documents.c[name] for name in _CHECKED), documents.c.checksum, documents.c.is_current, waves.c.name,
        contents.c.n_characters, contents.c.n_letters, contents.c.is_counted,
    ]  # fmt: skip
    # what a document refers to may be lost: then it is told, and is not taken for a document that is not there
    joined = documents.outerjoin(contents, documents.c.content == contents.c.content)
    joined = joined.outerjoin(loads, documents.c.load == loads.c.load).outerjoin(waves, loads.c.wave == waves.c.wave)
    return select(*columns).select_from(joined)


def stored_documents(rows: Iterable[Any]) -> list[StoredDocument]:
    """Documents from the rows of `with_documents`.

    Raises
    ------
    CollectionError
        A row is not what was stored, or refers to something that is not there.
    """
    return [_stored_document(row) for row in rows]


def _stored_document(row: Any) -> StoredDocument:
    values, stored, is_current = row[:_N_CHECKED], row[_N_CHECKED], row[_N_CHECKED + 1]
    wave, n_characters, n_letters, is_counted = row[_N_CHECKED + 2 : _N_CHECKED + 6]
    own = dict(zip(_CHECKED, values))
    if checksum(values, own["doc_id"]) != stored:
        raise damaged_row(own["doc_id"], own["version"])
    if is_current and own["removed_at"] is not None:
        raise damaged_row(own["doc_id"], own["version"])
    if wave is None or n_characters is None:
        what = "wave" if wave is None else "text"
        raise CollectionError(f"The {what} of document {own['doc_id']!r} is missing from the store. {VERIFY}")
    return StoredDocument(
        doc_id=own["doc_id"],
        version=own["version"],
        wave=wave,
        source=own["source"],
        line=own["line"],
        n_characters=n_characters,
        n_letters=n_letters,
        is_counted=is_counted,
        is_current=is_current,
        content=own["content"],
    )


def damaged_row(doc_id: object, version: object) -> CollectionError:
    """A row of a document that is not what was stored."""
    return CollectionError(
        f"What the store says of document {doc_id!r} (version {version}) is not what was stored. {VERIFY}"
    )


def current_documents(connection: Connection, numbers: Sequence[int], limit: int) -> tuple[list[StoredDocument], int]:
    """The current documents that have these contents: the first ``limit``, in the order of the contents; and how many.

    Documents that share a content are in the order in which they came.
    """
    found: list[StoredDocument] = []
    n_found = 0
    for some in named(numbers):
        is_wanted = documents.c.content.in_(some) & documents.c.is_current
        if len(found) < limit:
            places = {number: place for place, number in enumerate(some)}
            rows = connection.execute(with_documents().where(is_wanted).order_by(documents.c.row)).all()
            records = sorted(stored_documents(rows), key=lambda one: places[one.content])
            found += records[: limit - len(found)]
            n_found += len(records)
        else:
            n_found += connection.execute(select(func.count()).select_from(documents).where(is_wanted)).scalar_one()
    return found, n_found


def document(connection: Connection, doc_id: str, version: int | None = None) -> StoredDocument:
    """One document; its current version, or the one that is named.

    Raises
    ------
    UnknownDocumentError
        There is none; the message names ids that look like it.
    ParameterError
        The id is no str, or the version no int that a version can have.
    """
    check_id(doc_id)
    is_int = isinstance(version, int) and not isinstance(version, bool)
    if version is not None and not (is_int and 0 < version < 2**31):
        raise ParameterError.of("version", "Collection", "an int from 1 to 2**31 - 1", version)
    is_wanted = documents.c.doc_id == doc_id
    is_wanted &= documents.c.is_current if version is None else documents.c.version == version
    row = connection.execute(with_documents().where(is_wanted)).first() if is_storable(doc_id) else None
    if row is not None:
        return _stored_document(row)
    _refuse_damaged(connection, doc_id, version)
    raise UnknownDocumentError(_unknown(connection, doc_id, version))


def is_current(connection: Connection, doc_id: str) -> bool:
    """Whether there is a current document with an id."""
    is_wanted = (documents.c.doc_id == doc_id) & documents.c.is_current
    return is_storable(doc_id) and connection.execute(select(documents.c.row).where(is_wanted)).first() is not None


def _refuse_damaged(connection: Connection, doc_id: str, version: int | None) -> None:
    """Tell a document of which the row was changed so that it is not found from one that is not there."""
    if not is_storable(doc_id):
        return
    columns = [*(documents.c[name] for name in _CHECKED), documents.c.checksum]
    of_id = select(*columns).where(documents.c.doc_id == doc_id).order_by(documents.c.version.desc())
    versions = connection.execute(of_id).all()
    newest = versions[0] if versions else None
    if newest is not None and version is None and newest.removed_at is None:
        raise damaged_row(doc_id, newest.version)  # it is neither current nor removed
    for one in versions[:1] if version is None else versions:  # what they say is told
        if checksum(one[:-1], doc_id) != one.checksum:
            raise damaged_row(doc_id, one.version)
    same_key = documents.c.checksum.op(">>")(literal_column("48")) == key_bits(doc_id)
    for *values, stored in connection.execute(select(*columns).where(same_key)):
        row = dict(zip(_CHECKED, values))
        right = row | {"doc_id": doc_id}
        if row["doc_id"] == doc_id and newest is None:
            raise CollectionError(
                f"Document {doc_id!r} is in the store, and an index of the database lacks it. {VERIFY}"
            )
        if row["doc_id"] != doc_id and checksum(list(right.values()), doc_id) == stored:
            raise CollectionError(
                f"The id of document {doc_id!r} (version {row['version']}) is {row['doc_id']!r} in the store, which is "
                f"not what was stored. {VERIFY}"
            )


def refuse_hidden(connection: Connection, numbers: Sequence[int]) -> None:
    """Refuse to leave out a document that has one of some contents now, and that the store does not give.

    Raises
    ------
    CollectionError
        The newest version of a document is neither current nor removed, or its text is missing.
    """
    newer = documents.alias("newer")
    is_replaced = exists().where(newer.c.doc_id == documents.c.doc_id, newer.c.version > documents.c.version)
    is_hidden = ~documents.c.is_current & documents.c.removed_at.is_(None) & ~is_replaced
    has_no_text = documents.c.is_current & ~exists().where(contents.c.content == documents.c.content)
    for some in named(numbers):
        query = select(documents.c.doc_id, documents.c.version, documents.c.is_current)
        found = connection.execute(query.where(documents.c.content.in_(some), is_hidden | has_no_text).limit(1)).first()
        if found is not None and found.is_current:
            raise CollectionError(f"The text of document {found.doc_id!r} is missing from the store. {VERIFY}")
        if found is not None:
            raise damaged_row(found.doc_id, found.version)


def refuse_changed(connection: Connection, numbers: Sequence[int]) -> None:
    """Refuse to believe that no document has some contents now, if a row that says so is not what was stored.

    Raises
    ------
    CollectionError
    """
    columns = [*(documents.c[name] for name in _CHECKED), documents.c.checksum]
    for some in named(numbers):
        for row in connection.execute(select(*columns).where(documents.c.content.in_(some))):
            if checksum(row[:-1], row.doc_id) != row.checksum:
                raise damaged_row(row.doc_id, row.version)


def check_id(doc_id: object) -> None:
    """Refuse what is no id, before a database makes something of it."""
    if not isinstance(doc_id, str):
        raise ParameterError.of("doc_id", "Collection", "a str; ids that came as numbers are their digits", doc_id)


def checked_wave(wave: object) -> str:
    """The name of a wave, without white space around it.

    Raises
    ------
    ParameterError
        It is no str, blank, too long, or nothing that a database can store.
    """
    if not isinstance(wave, str) or not wave.strip() or len(wave) > _MAX_OF_A_NAME or not is_storable(wave):
        rule = f"a name of 1 to {_MAX_OF_A_NAME} characters, not blank, that UTF-8 can hold"
        raise ParameterError.of("wave", "Collection", rule, wave)
    return wave.strip()


def _unknown(connection: Connection, doc_id: str, version: int | None) -> str:
    """Why a document is not there, and what may have been meant."""
    if not is_storable(doc_id):
        return f"There is no document {doc_id!r}."
    stored = connection.execute(
        select(documents.c.version, documents.c.removed_at)
        .where(documents.c.doc_id == doc_id)
        .order_by(documents.c.version)
    ).all()
    if stored and version is not None:
        return f"The document {doc_id!r} has no version {version}; it has {', '.join(str(row[0]) for row in stored)}."
    if stored:
        return f"The document {doc_id!r} was removed at {stored[-1][1]}. Its versions are kept: {len(stored)}."
    if len(doc_id) > _MAX_OF_A_HINT:
        return f"There is no document {doc_id[:_MAX_OF_A_HINT]!r}…, an id of {counted(len(doc_id), 'character')}."
    pattern = f"%{doc_id.replace(chr(92), chr(92) * 2).replace('%', chr(92) + '%').replace('_', chr(92) + '_')}%"
    is_like = documents.c.is_current & documents.c.doc_id.like(pattern, escape="\\")
    alike = connection.execute(select(documents.c.doc_id).where(is_like).limit(3)).scalars().all()
    hint = f" Did you mean {' or '.join(repr(one) for one in alike)}?" if alike else ""
    return f"There is no document {doc_id!r}.{hint}"
