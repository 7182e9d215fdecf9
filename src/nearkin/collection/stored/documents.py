"""Lookup of stored documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, exists, func, literal_column, select, true

from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.origins import IS_UNREAD
from nearkin.collection.stored.purged import PURGED
from nearkin.errors import CollectionError, ParameterError, UnknownDocumentError, quoted
from nearkin.nouns import agreeing, counted
from nearkin.store import integrity
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.checksums import checksum, covered, key_bits, key_place
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import contents, documents, loads, origins, problems, waves
from nearkin.store.seals import difference_in_number, documents_of, read_seals

_MAX_OF_A_NAME = 200
_MAX_OF_A_HINT = 200
_CHECKED = covered(documents)
_N_CHECKED = len(_CHECKED)
_DOC_ID, _VERSION, _REMOVED_AT = (_CHECKED.index(name) for name in ("doc_id", "version", "removed_at"))


def with_documents() -> Select[Any]:
    """Return a query for `stored_documents`, to which conditions can be added."""
    columns = [
        *(documents.c[name] for name in _CHECKED), documents.c.checksum, documents.c.is_current, waves.c.name,
        contents.c.n_characters, contents.c.n_letters, contents.c.is_counted,
    ]  # fmt: skip
    # outer joins: a document whose references are lost is reported, not omitted
    joined = documents.outerjoin(contents, documents.c.content == contents.c.content)
    joined = joined.outerjoin(loads, documents.c.load == loads.c.load).outerjoin(waves, loads.c.wave == waves.c.wave)
    return select(*columns).select_from(joined)


def stored_documents(rows: Iterable[Any]) -> list[StoredDocument]:
    """Make documents from the rows of `with_documents`.

    Raises
    ------
    CollectionError
        A row was changed, or refers to a missing one.
    """
    return [_stored_document(row) for row in rows]


def refuse_changed_row(row: Any) -> None:
    """Refuse a row of `with_documents` that was changed, or refers to a missing one.

    Raises
    ------
    CollectionError
    """
    values = row[:_N_CHECKED]
    stored, is_current, wave, n_characters = row[_N_CHECKED : _N_CHECKED + 4]
    doc_id, version, removed_at = values[_DOC_ID], values[_VERSION], values[_REMOVED_AT]
    if checksum(values, doc_id) != stored or (is_current and removed_at is not None):
        raise damaged_row(doc_id, version)
    if wave is None or n_characters is None:
        what = "wave" if wave is None else "text"
        raise damaged_collection(f"the {what} of document {doc_id!r} is missing from the database")


def _stored_document(row: Any) -> StoredDocument:
    refuse_changed_row(row)
    own, is_current = dict(zip(_CHECKED, row)), row[_N_CHECKED + 1]
    wave, n_characters, n_letters, is_counted = row[_N_CHECKED + 2 : _N_CHECKED + 6]
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
    """Return the error for a document's row that was changed."""
    return damaged_collection(f"the row of document {doc_id!r} (version {version}) was changed in the database")


def current_documents(
    connection: Connection, numbers: Sequence[int], limit: int, where: ColumnElement[bool] | None = None
) -> tuple[list[StoredDocument], int]:
    """Return the first ``limit`` current documents with these contents, in order of content, and their total number.

    Documents that share a content are in the order in which they were added. ``where`` is one more condition.
    """
    found: list[StoredDocument] = []
    n_found = 0
    for some in in_slices(numbers):
        is_wanted = documents.c.content.in_(some) & documents.c.is_current & (true() if where is None else where)
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
    """Return the given version of a document, by default the current one.

    Raises
    ------
    UnknownDocumentError
        There is no such document; the message lists similar ids.
    ParameterError
        The id is not a str, or the version is not an int in range.
    """
    check_id(doc_id)
    is_int = isinstance(version, int) and not isinstance(version, bool)
    if version is not None and not (is_int and 0 < version < 2**31):
        raise ParameterError.of("version", "an int from 1 to 2**31 - 1", version)
    is_wanted = documents.c.doc_id == doc_id
    is_wanted &= documents.c.is_current if version is None else documents.c.version == version
    row = connection.execute(with_documents().where(is_wanted)).first() if is_storable(doc_id) else None
    if row is not None:
        return _stored_document(row)
    _refuse_damaged(connection, doc_id, version)
    refuse_missing_documents(connection)
    raise UnknownDocumentError(_unknown(connection, doc_id, version))


def _refuse_damaged(connection: Connection, doc_id: str, version: int | None) -> None:
    """Raise an error if a document is not found because its row was changed."""
    if not is_storable(doc_id):
        return
    columns = [*(documents.c[name] for name in _CHECKED), documents.c.checksum]
    of_id = select(*columns).where(documents.c.doc_id == doc_id).order_by(documents.c.version.desc())
    versions = connection.execute(of_id).all()
    newest = versions[0] if versions else None
    if newest is not None and version is None and newest.removed_at is None:
        raise damaged_row(doc_id, newest.version)  # neither current nor removed
    for one in versions[:1] if version is None else versions:  # those whose values are returned
        if checksum(one[:-1], doc_id) != one.checksum:
            raise damaged_row(doc_id, one.version)
    same_key = documents.c.checksum.op(">>")(literal_column("48")) == key_bits(doc_id)
    for *values, stored in connection.execute(select(*columns).where(same_key)):
        row = dict(zip(_CHECKED, values))
        right = row | {"doc_id": doc_id}
        if row["doc_id"] == doc_id and newest is None:
            raise damaged_collection(f"document {doc_id!r} is stored, but missing from an index of the database")
        if row["doc_id"] != doc_id and checksum(list(right.values()), doc_id) == stored:
            version = row["version"]
            raise damaged_collection(
                f"the id of document {doc_id!r} (version {version}) was changed in the database to {row['doc_id']!r}"
            )


def refuse_damaged_loads(connection: Connection) -> None:
    """Refuse to write about documents if a row of a wave or a load was changed or is missing.

    Raises
    ------
    CollectionError
    """
    integrity.refuse_changed(connection, waves, loads)


def refuse_changed_waves_of(connection: Connection, found: Sequence[StoredDocument]) -> None:
    """Refuse to name the waves of current documents if the row of one of these waves, or of a load, was changed.

    Raises
    ------
    CollectionError
    """
    of_loads, of_waves = ([*(table.c[name] for name in covered(table)), table.c.checksum] for table in (loads, waves))
    query = select(*of_loads, *of_waves).select_from(documents.join(loads).join(waves)).distinct()
    for some in in_slices([one.doc_id for one in found]):
        is_wanted = documents.c.doc_id.in_(some) & documents.c.is_current
        for row in connection.execute(query.where(is_wanted)):
            own, wave = row[: len(of_loads)], row[len(of_loads) :]
            is_open = own[-1] is None  # the load of this transaction has no checksum before its end
            if not is_open and checksum(own[:-1], own[key_place(loads)]) != own[-1]:
                raise damaged_collection(f"the row of load {own[0]} was changed")
            if checksum(wave[:-1], wave[key_place(waves)]) != wave[-1]:
                raise damaged_collection(f"the row of wave {wave[0]}, named {wave[1]!r}, was changed")


def refuse_missing_versions(doc_id: str, versions: Sequence[int]) -> None:
    """Refuse to list the versions of a document if one before the last is missing.

    Raises
    ------
    CollectionError
    """
    missing = sorted(set(range(1, versions[-1])).difference(versions))
    if missing:
        raise damaged_collection(f"the row of document {doc_id!r} (version {missing[0]}) is missing")


def refuse_missing_documents(connection: Connection) -> None:
    """Refuse to omit documents if fewer rows exist, or more, than were stored; the rows are counted, not compared.

    Raises
    ------
    CollectionError
    """
    refuse_damaged_loads(connection)
    names: dict[int, str] = dict(connection.execute(select(waves.c.wave, waves.c.name)).all())
    seals = read_seals(connection, [documents_of(wave) for wave in names])
    n_rows = connection.execute(select(func.count()).select_from(documents)).scalar_one()
    n_of_loads = connection.execute(select(func.count()).select_from(documents.join(loads))).scalar_one()
    if len(seals) == len(names) and n_rows == n_of_loads == sum(seal.n_rows for seal in seals.values()):
        return
    query = select(loads.c.wave, func.count()).select_from(documents.join(loads)).group_by(loads.c.wave)
    of_waves: dict[int, int] = dict(connection.execute(query).all())
    for wave, name in names.items():
        fault = difference_in_number(
            integrity.documents_name(name), of_waves.get(wave, 0), seals.get(documents_of(wave))
        )
        if fault is not None:
            raise damaged_collection(fault)
    raise damaged_collection(f"{counted(n_rows - sum(of_waves.values()), 'document')} without a load")


def refuse_missing_texts(connection: Connection) -> None:
    """Refuse to omit texts if fewer rows of ``contents`` exist, or more, than were added; they are counted.

    Raises
    ------
    CollectionError
    """
    n_texts = connection.execute(select(func.count()).select_from(contents)).scalar_one()
    n_added = connection.execute(select(func.coalesce(func.max(loads.c.end_content), 0))).scalar_one()
    if n_texts != n_added:
        raise damaged_collection(f"texts: {n_texts:,} of {n_added:,} exist")


def is_removed() -> ColumnElement[bool]:
    """Return the condition for the last versions of removed documents, not of those that were added again."""
    return documents.c.removed_at.is_not(None) & is_newest()


def is_newest() -> ColumnElement[bool]:
    """Return the condition for the newest version of an id."""
    newer = documents.alias("newer")
    return ~exists().where(newer.c.doc_id == documents.c.doc_id, newer.c.version > documents.c.version)


def refuse_changed(connection: Connection, numbers: Sequence[int]) -> None:
    """Refuse to report that no current document has these contents if a row that implies it was changed.

    Raises
    ------
    CollectionError
    """
    columns = [*(documents.c[name] for name in _CHECKED), documents.c.checksum]
    for some in in_slices(numbers):
        for row in connection.execute(select(*columns).where(documents.c.content.in_(some))):
            if checksum(row[:-1], row.doc_id) != row.checksum:
                raise damaged_row(row.doc_id, row.version)


def check_id(doc_id: object) -> None:
    """Refuse anything but a valid id before it reaches the database."""
    if not isinstance(doc_id, str):
        raise ParameterError.of("doc_id", "a str; numeric ids are stored as their digits", doc_id)


def checked_ids(doc_ids: object) -> list[str]:
    """Return different ids in order.

    Raises
    ------
    ParameterError
        They are no list of ids.
    """
    if isinstance(doc_ids, str | bytes) or not isinstance(doc_ids, Iterable):
        raise ParameterError.of("doc_ids", "a list of ids", doc_ids)
    wanted = list(doc_ids)
    for doc_id in wanted:
        check_id(doc_id)
    return list(dict.fromkeys(wanted))


def checked_wave(wave: object) -> str:
    """Return the name of a wave without surrounding white space.

    Raises
    ------
    ParameterError
        It is not a str, blank, too long, or not storable.
    """
    if not isinstance(wave, str) or not wave.strip() or len(wave) > _MAX_OF_A_NAME or not is_storable(wave):
        rule = f"a name of 1 to {_MAX_OF_A_NAME} characters, not blank, that can be encoded as UTF-8"
        raise ParameterError.of("wave", rule, wave)
    return wave.strip()


def number_of_wave(connection: Connection, wave: str) -> int:
    """Return the number of a wave.

    Raises
    ------
    UnknownDocumentError
        There is no such wave; the message lists the newest ones.
    ParameterError
        It cannot be the name of a wave.
    """
    wave = checked_wave(wave)
    number = connection.execute(select(waves.c.wave).where(waves.c.name == wave)).scalar()
    if number is None:
        names = connection.execute(select(waves.c.name).order_by(waves.c.wave)).scalars().all()
        newest = ", ".join(map(repr, names[-5:])) or "none"
        raise UnknownDocumentError(f"There is no wave {quoted(wave)}. The newest waves are: {newest}.")
    return int(number)


def _unknown(connection: Connection, doc_id: str, version: int | None) -> str:
    """Say why a document is missing, with a hint at similar ids."""
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
        is_erased = (documents.c.doc_id == doc_id) & (contents.c.text == b"")  # no compressed text is empty
        query = select(func.count()).select_from(documents.join(contents)).where(is_erased)
        n_erased = connection.execute(query).scalar_one()
        removed = f"The document {doc_id!r} was removed at {stored[-1][1]}."
        if n_erased == len(stored):
            its = agreeing(n_erased, "Its only version was", "All of its versions were")
            return f"{removed} {its} erased."
        n, erased = len(stored) - n_erased, f", and {n_erased:,} {agreeing(n_erased, 'was', 'were')} erased"
        kept = f"{counted(n, 'version')} {agreeing(n, 'is', 'are')} kept{erased * (n_erased > 0)}"
        return f"{removed} {kept}."
    if len(doc_id) > _MAX_OF_A_HINT:
        return f"There is no document {doc_id[:_MAX_OF_A_HINT]!r}… (an id of {counted(len(doc_id), 'character')})."
    is_unread = exists().where((origins.c.doc_id == doc_id) & IS_UNREAD)
    is_refused = exists().where((problems.c.doc_id == doc_id) & (problems.c.problem != PURGED))
    if connection.execute(select(is_unread | is_refused)).scalar_one():
        return f"There is no document {doc_id!r}: it was not stored; the list of exceptions says why."
    pattern = f"%{doc_id.replace(chr(92), chr(92) * 2).replace('%', chr(92) + '%').replace('_', chr(92) + '_')}%"
    is_like = documents.c.is_current & documents.c.doc_id.like(pattern, escape="\\")
    alike = connection.execute(select(documents.c.doc_id).where(is_like).limit(3)).scalars().all()
    hint = f" Did you mean {' or '.join(map(repr, alike))}?" if alike else ""
    return f"There is no document {doc_id!r}.{hint}"
