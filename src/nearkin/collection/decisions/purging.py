"""Purging: documents are removed, and their texts are erased from the store, its files and the index."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, select, update

from nearkin.collection import stored_relations
from nearkin.collection.decisions.activity import checked_by, record, with_checksums
from nearkin.collection.decisions.purging_damaged import (
    DoubtfulRows,
    doubtful_rows,
    end_changed_rows,
    erased_before,
    existing,
    raw_rows,
)
from nearkin.collection.decisions.records import NO_VERSION, PURGE, SettingChange
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored import key_table, origin_rows, shingle_table
from nearkin.collection.stored.document_rows import DocumentRow, refuse_changed_documents
from nearkin.collection.stored.documents import check_id, checked_ids, document, stored_documents, with_documents
from nearkin.collection.stored.inside import documents_inside, unread_inside, unread_sources
from nearkin.collection.stored.problem_rows import forget_problems
from nearkin.collection.stored.purged import BLANK, purged_contents
from nearkin.collection.stored.removed_rows import remove_current
from nearkin.collection.word_search import stored_words
from nearkin.errors import CollectionBusyError, CollectionError, ParameterError, UnknownDocumentError, quoted
from nearkin.nouns import agreeing, counted, first_of
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_rows, is_storable
from nearkin.store.erasing import refuse_unless_owner
from nearkin.store.seals import Seals
from nearkin.store.store import Store

_UNFINISHED = "purge_unfinished"
_N_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """Result of a purge.

    Parameters
    ----------
    number : int or None
        Number of the activity; None if nothing was erased.
    doc_ids : tuple of str
        Removed documents, including documents that were removed before.
    copies : tuple of str
        Other documents that were removed because they had one of the texts.
    n_versions : int
        Number of stored versions that lost their text, of any document.
    n_texts : int
        Number of distinct texts that were erased.
    holders : tuple of str
        Documents of these versions: those named, and others that have, or had, one of the texts.
    unread : tuple of str
        Files without a text that were erased from the list of exceptions: those named, and those inside of a document.
    inside : tuple of str
        Documents inside of erased ones that still have their texts.
    is_dry_run : bool
        Nothing was erased.
    damage : tuple of str
        Damage of the collection, if it was purged nonetheless.
    n_without_document : int
        Number of erased texts that no document has, in a damaged collection.
    """

    number: int | None
    doc_ids: tuple[str, ...]
    copies: tuple[str, ...]
    n_versions: int
    n_texts: int
    holders: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    is_dry_run: bool = False
    damage: tuple[str, ...] = ()
    n_without_document: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Texts that a purge erases, the documents that have them, files without a text, and documents that stay."""

    contents: list[int]
    holders: Sequence[StoredDocument | DocumentRow]
    copies: list[str]
    unread: list[str]
    inside: list[str]
    doubtful: DoubtfulRows | None = None


def purge(
    collection: OpenedCollection,
    doc_ids: Sequence[str],
    *,
    copies: bool,
    by: str | None,
    dry_run: bool,
    damaged: bool = False,
) -> Purged:
    """Erase texts; see `Collection.purge`."""
    wanted = tuple(checked_ids(doc_ids))
    if not wanted:
        raise ParameterError.of("doc_ids", "a list of ids", doc_ids)
    who, store, number = checked_by(by), collection.store, None
    try:
        with store.reading() if dry_run else store.writing() as connection:
            if not dry_run:
                refuse_unless_owner(connection, store.place)
            plan = (_planned_in_damage if damaged else _planned_or_hinted)(connection, wanted, copies=copies)
            if (plan.contents or plan.unread) and not dry_run:
                number = _erase(connection, collection, wanted, plan, who)
                store.write_facts(connection, {_UNFINISHED: str(number)})
        if not dry_run:
            finish(collection)
    except KeyboardInterrupt as error:
        _note_if_erased(error, collection, number)
        raise
    return Purged(
        number=number,
        doc_ids=wanted,
        copies=tuple(plan.copies),
        n_versions=len(plan.holders),
        n_texts=len(plan.contents),
        holders=tuple(dict.fromkeys(str(one.doc_id) for one in plan.holders)),
        unread=tuple(plan.unread),
        inside=tuple(plan.inside),
        is_dry_run=dry_run,
        damage=() if plan.doubtful is None else plan.doubtful.faults,
        n_without_document=0 if plan.doubtful is None else plan.doubtful.n_without_document,
    )


def finish(collection: OpenedCollection) -> bool:
    """Erase freed pages of the database, and the index, after a purge; return whether there was anything to do.

    Raises
    ------
    CollectionBusyError
        Another process reads or writes.
    """
    store = collection.store
    with store.reading() as connection:
        if not is_unfinished(connection, store):
            return False
    collection.index.remove_all()
    try:
        store.erase_freed()
    except CollectionBusyError as error:
        raise CollectionBusyError(
            f"The texts are erased, but the files of {collection.place} may still hold bytes of them, because another "
            "process reads or writes. Close it, and run nearkin fsck COLLECTION to finish."
        ) from error
    except CollectionError as error:
        raise CollectionError(
            f"The texts are erased, but the files of {collection.place} may still hold bytes of them ({error}). "
            "Run nearkin fsck COLLECTION to finish."
        ) from error
    with store.writing() as connection:
        store.delete_fact(connection, _UNFINISHED)
    with contextlib.suppress(CollectionError):  # a row of a load was changed: the texts are erased, and queries say so
        collection.settle()
    return True


def is_unfinished(connection: Connection, store: Store) -> bool:
    """Whether a purge ended before it had rewritten the files: they may hold bytes of erased texts."""
    return store.fact(connection, _UNFINISHED) is not None


def _note_if_erased(error: KeyboardInterrupt, collection: OpenedCollection, number: int | None) -> None:
    """Say that texts are erased if the database has the purge that was interrupted, and how to finish it."""
    store, of_purge = collection.store, schema.activity.c.number == number
    with contextlib.suppress(CollectionError), store.reading() as connection:
        if number is None or connection.execute(select(schema.activity.c.number).where(of_purge)).first() is None:
            return
        if store.fact(connection, _UNFINISHED) == str(number):
            error.add_note(
                f"The texts are erased, but the files of {collection.place} may still hold bytes of them. To finish, "
                "run: nearkin fsck COLLECTION"
            )
        else:
            error.add_note("The texts are erased, and the purge is finished. The next command updates the index.")


def _planned_or_hinted(connection: Connection, doc_ids: Sequence[str], *, copies: bool) -> _Plan:
    """Plan a purge of an undamaged collection; the error of a damaged one says how to erase nonetheless."""
    try:
        return _planned(connection, doc_ids, copies=copies)
    except CollectionError as error:
        if type(error) is not CollectionError:
            raise
        raise CollectionError(
            f"{error} If damage is left and no backup can be restored, erase nonetheless: nearkin purge --damaged. "
            "Nothing was erased."
        ) from error


def _planned_in_damage(connection: Connection, doc_ids: Sequence[str], *, copies: bool) -> _Plan:
    """Plan a purge of a damaged collection, which may have changed or lost rows of the named documents."""
    for doc_id in doc_ids:
        check_id(doc_id)
    doubtful = doubtful_rows(connection, set(doc_ids))
    if not doubtful.faults:
        return _planned(connection, doc_ids, copies=copies)
    own = raw_rows(connection, schema.documents.c.doc_id, doc_ids)
    known = {one.doc_id for one in own}
    unread = _unread_among(connection, [doc_id for doc_id in doc_ids if doc_id not in known])
    unknown = [doc_id for doc_id in doc_ids if doc_id not in known | unread]
    if unknown and not doubtful.texts:
        raise UnknownDocumentError(f"There is no document {unknown[0]!r}. Nothing was erased.")
    is_changed = doubtful.changed
    numbers = {one.content for one in own if one.row not in is_changed} | doubtful.texts
    numbers = existing(connection, numbers - erased_before(connection))
    found = {one.row: one for one in raw_rows(connection, schema.documents.c.content, sorted(numbers))}
    found |= {one.row: one for one in doubtful.rows}
    holders = [found[row] for row in sorted(found)]
    theirs = {one.row for one in doubtful.rows}
    others = {one.doc_id for one in holders if one.is_current and one.doc_id not in doc_ids and one.row not in theirs}
    _refuse_copies(sorted(others), copies=copies)
    sources = dict[str, set[str]]()
    for one in own:
        sources.setdefault(one.doc_id, set()).add(one.source)
    return _Plan(
        contents=sorted(numbers),
        holders=holders,
        copies=sorted(others),
        unread=sorted(unread | {doc_id for _, doc_id in unread_inside(connection, sources)}),
        inside=sorted({doc_id for _, doc_id in documents_inside(connection, sources)} - {*doc_ids, *others}),
        doubtful=doubtful,
    )


def _refuse_copies(others: list[str], *, copies: bool) -> None:
    """Refuse to erase a text that other current documents have, unless they are to be removed, too."""
    n = len(others)
    if others and not copies:
        raise ParameterError(
            f"{first_of(list(map(repr, others)), _N_SHOWN)} {agreeing(n, 'has', 'have')} the same text. "
            f"To remove {agreeing(n, 'this document', 'these documents')}, too, and erase the text, "
            "give 'copies'. Nothing was erased."
        )


def _planned(connection: Connection, doc_ids: Sequence[str], *, copies: bool) -> _Plan:
    for doc_id in doc_ids:
        check_id(doc_id)
    refuse_changed_documents(connection)  # a changed row may be that of another document with one of the texts
    own = _versions(connection, schema.documents.c.doc_id, [one for one in doc_ids if is_storable(one)])
    known = {one.doc_id for one in own}
    unread = _unread_among(connection, [doc_id for doc_id in doc_ids if doc_id not in known])
    known |= unread
    unknown = [doc_id for doc_id in doc_ids if doc_id not in known]
    if len(unknown) == 1:
        document(connection, unknown[0])  # raises an error with similar ids
    if unknown:
        raise UnknownDocumentError(
            f"Not in the collection: {counted(len(unknown), 'document')}: "
            f"{first_of(list(map(quoted, unknown)), _N_SHOWN)}. Nothing was erased."
        )
    numbers = {one.content for one in own}
    numbers -= purged_contents(connection, sorted(numbers)).keys()
    holders = _versions(connection, schema.documents.c.content, sorted(numbers))
    others = sorted({one.doc_id for one in holders if one.is_current and one.doc_id not in known})
    _refuse_copies(others, copies=copies)
    sources = dict[str, set[str]]()
    for one in own:
        sources.setdefault(one.doc_id, set()).add(one.source)
    erased = {*known, *others}
    return _Plan(
        contents=sorted(numbers),
        holders=holders,
        copies=others,
        unread=sorted(unread | {doc_id for _, doc_id in unread_inside(connection, sources)}),
        inside=sorted({doc_id for _, doc_id in documents_inside(connection, sources)} - erased),
    )


def _unread_among(connection: Connection, doc_ids: Sequence[str]) -> set[str]:
    """Return the ids that belong to files without a text, extracted or not, current or not."""
    found, origins = set(unread_sources(connection, doc_ids)), schema.origins.c
    for some in in_slices([doc_id for doc_id in doc_ids if is_storable(doc_id)]):
        is_one = origins.row.is_(None) & origins.doc_id.in_(some)
        found |= set(connection.execute(select(origins.doc_id).where(is_one)).scalars())
    return found


def _versions(connection: Connection, column: Any, values: Sequence[object]) -> list[StoredDocument]:
    """Return all versions of documents with one of these values."""
    found = list[StoredDocument]()
    for some in in_slices(values):
        query = with_documents().where(column.in_(some)).order_by(schema.documents.c.row)
        found += stored_documents(connection.execute(query).all())
    return found


def _erase(connection: Connection, collection: OpenedCollection, doc_ids: Sequence[str], plan: _Plan, by: str) -> int:
    """Remove the documents, erase the texts and their derived data, and record the activity; return its number."""
    documents, contents, store = schema.documents.c, schema.contents, collection.store
    if store.dialect == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    changed = plan.doubtful.changed if plan.doubtful is not None else frozenset[int]()
    of_ids = raw_rows(connection, documents.doc_id, [*doc_ids, *plan.copies]) if changed else ()
    ended = sorted({one.row for one in [*plan.holders, *of_ids] if isinstance(one, DocumentRow)} & changed)
    end_changed_rows(connection, ended, now)
    for some in in_slices([one for one in [*doc_ids, *plan.copies] if is_storable(one)]):
        remove_current(connection, documents.doc_id.in_(some), now, may_lack_load=plan.doubtful is not None)
    digests = dict[int, str]()
    for some in in_slices(plan.contents):
        is_one = contents.c.content.in_(some)
        found = connection.execute(select(contents.c.content, contents.c.digest).where(is_one))
        digests |= {number: bytes(digest).hex() for number, digest in found}
        connection.execute(update(contents).where(is_one).values(**BLANK))
        connection.execute(schema.profiles.delete().where(schema.profiles.c.content.in_(some)))
    key_table.forget(connection, store, plan.contents)
    stored_words.forget(connection, store)
    stored_relations.forget(connection, store)
    shingle_table.forget(connection, store, plan.contents)
    seals = Seals()
    files = list(dict.fromkeys([*doc_ids, *plan.unread]))
    origin_rows.forget(connection, seals, _origins_of(files, plan.holders))
    _forget_problems(connection, seals, files)
    changes = [
        SettingChange(PURGE, one.doc_id, digests.get(one.content, ""), None, f"version {one.version}")
        for one in plan.holders
    ]
    named_here = {one.doc_id for one in plan.holders} | set(plan.unread)
    lost = [doc_id for doc_id in doc_ids if doc_id not in named_here] if plan.doubtful is not None else []
    changes += [SettingChange(PURGE, doc_id, "", None, NO_VERSION) for doc_id in [*plan.unread, *lost]]
    number = record(connection, PURGE, changes, by=by, data={"n_texts": len(plan.contents)})
    rows = with_checksums(schema.purges, [(content, number) for content in plan.contents])
    insert_rows(connection, schema.purges, list(zip(*rows, strict=True)))
    seals.add(schema.purges.name, [row[-1] for row in rows])
    seals.write(connection)
    store.raise_generation(connection)
    return number


def _origins_of(
    doc_ids: Sequence[str], holders: Sequence[StoredDocument | DocumentRow]
) -> Iterator[ColumnElement[bool]]:
    """Yield conditions for the origins of purged documents, and of all versions that lose their text."""
    for some in in_slices(doc_ids):
        yield schema.origins.c.doc_id.in_(some)
    is_origin = schema.origins.c.row == schema.documents.c.row
    for some in in_slices([one.content for one in holders]):
        is_holder = is_origin & schema.documents.c.content.in_(some)
        yield exists().where(is_holder)


def _forget_problems(connection: Connection, seals: Seals, doc_ids: Sequence[str]) -> None:
    """Delete the problems of unreadable files with the ids of purged documents."""
    for some in in_slices(doc_ids):
        forget_problems(connection, seals, schema.problems.c.doc_id.in_(some))
