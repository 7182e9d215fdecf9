"""Purging: documents are removed, and their texts are erased from the store, its files and the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, exists, select, update

from nearkin.collection import relations
from nearkin.collection.decisions.log import NO_VERSION, PURGE, SettingChange, checked_by, record
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored import documents as stored
from nearkin.collection.stored import key_table, origins, passages, shingle_table, word_tables
from nearkin.collection.stored.contents import BLANK, purged_contents
from nearkin.errors import CollectionError, OutputError, ParameterError
from nearkin.nouns import agreeing, first_of
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_rows, is_storable
from nearkin.store.store import Store
from nearkin.store.upkeep import refuse_unless_owner, rewriting_needs
from nearkin.tabular import AnswerRecord

_UNFINISHED = "purge_unfinished"
_N_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged(AnswerRecord):
    """Result of a purge.

    Parameters
    ----------
    doc_ids
        Removed documents, including documents that were removed before.
    copies
        Other documents that were removed because they had one of the texts.
    holders
        Documents of these versions: those named, and others that have, or had, one of the texts.
    unread
        Files without a text that were erased from the list of exceptions: those named, and those inside of a document.
    inside
        Documents inside of erased ones that still have their texts.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Texts that a purge erases, the documents that have them, files without a text, and documents that stay."""

    contents: list[int]
    holders: Sequence[StoredDocument]
    copies: list[str]
    unread: list[str]
    inside: list[str]


def purge(
    collection: OpenedCollection, doc_ids: Sequence[str], *, copies: bool, by: str | None, dry_run: bool
) -> Purged:
    """Erase texts; see `Collection.purge`."""
    wanted = tuple(stored.checked_ids(doc_ids))
    if not wanted:
        raise ParameterError.of("doc_ids", "a list of ids", doc_ids)
    who, store, number = checked_by(by), collection.store, None
    with store.reading() if dry_run else store.writing() as connection:
        if not dry_run:
            refuse_unless_owner(connection, store.place)
        plan = _planned(connection, wanted, copies=copies)
        if plan.contents:
            collection.progress.say(rewriting_needs(connection, store.place))
        if (plan.contents or plan.unread) and not dry_run:
            number = _erase(connection, collection, wanted, plan, who)
            store.write_facts(connection, {_UNFINISHED: str(number)})
    if not dry_run:
        finish(collection)
    return Purged(
        number=number,
        doc_ids=wanted,
        copies=tuple(plan.copies),
        n_versions=len(plan.holders),
        n_texts=len(plan.contents),
        holders=tuple(dict.fromkeys(str(holder.doc_id) for holder in plan.holders)),
        unread=tuple(plan.unread),
        inside=tuple(plan.inside),
        is_dry_run=dry_run,
    )


def finish(collection: OpenedCollection) -> bool:
    """Erase freed pages of the database, and the index, after a purge; return whether there was anything to do."""
    store = collection.store
    with store.reading() as connection:
        if not is_unfinished(connection, store):
            return False
    unfinished = f"The texts are erased, but the files of {collection.place} may still hold bytes of them"
    try:
        collection.index.remove_all()
        store.erase_freed()
        with store.writing() as connection:
            store.delete_fact(connection, _UNFINISHED)
    except KeyboardInterrupt as error:
        error.add_note(f"{unfinished}. To finish, run: nearkin fsck COLLECTION")
        raise
    except (CollectionError, OutputError) as error:
        raise type(error)(
            f"{unfinished} ({error}). Close what reads or writes it, and run nearkin fsck COLLECTION to finish."
        ) from error
    collection.settle()
    return True


def is_unfinished(connection: Connection, store: Store) -> bool:
    """Whether a purge ended before it had rewritten the files: they may hold bytes of erased texts."""
    return store.fact(connection, _UNFINISHED) is not None


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
    columns = schema.documents.c
    versions = list(stored.documents_by_row(connection, columns.doc_id, doc_ids).values())
    known = {version.doc_id for version in versions}
    others = [doc_id for doc_id in doc_ids if doc_id not in known and is_storable(doc_id)]
    unread = origins.exceptions_where(connection, [schema.origins.c.doc_id.in_(block) for block in in_slices(others)])
    known |= set(unread)
    stored.refuse_unknown(connection, doc_ids, known)
    numbers = {version.content for version in versions}
    numbers -= purged_contents(connection, sorted(numbers)).keys()
    holders = list(stored.documents_by_row(connection, columns.content, sorted(numbers)).values())
    others = sorted({holder.doc_id for holder in holders if holder.is_current and holder.doc_id not in known})
    _refuse_copies(others, copies=copies)
    sources = dict[str, set[str]]()
    for version in versions:
        sources.setdefault(version.doc_id, set()).add(version.source)
    erased, within = {*known, *others}, list(origins.inside(connection, sources))
    return _Plan(
        contents=sorted(numbers),
        holders=holders,
        copies=others,
        unread=sorted({*unread, *(doc_id for row, doc_id in within if row is None)}),
        inside=sorted({doc_id for row, doc_id in within if row is not None} - erased),
    )


def _erase(connection: Connection, collection: OpenedCollection, doc_ids: Sequence[str], plan: _Plan, by: str) -> int:
    """Remove the documents, erase the texts and their derived data, and record the activity; return its number."""
    documents, contents, store = schema.documents.c, schema.contents, collection.store
    if store.dialect == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for block in in_slices([member_id for member_id in [*doc_ids, *plan.copies] if is_storable(member_id)]):
        stored.remove_current(connection, documents.doc_id.in_(block), now)
    digests = dict[int, str]()
    word_tables.forget(connection, plan.contents, collection.progress)
    for block in in_slices(plan.contents):
        is_one = contents.c.content.in_(block)
        rows = connection.execute(select(contents.c.content, contents.c.digest).where(is_one))
        digests |= {number: bytes(digest).hex() for number, digest in rows}
        connection.execute(update(contents).where(is_one).values(**BLANK))
    key_table.forget(connection, plan.contents)
    relations.forget(connection)
    passages.forget(connection, plan.contents)
    shingle_table.forget(connection, plan.contents)
    files = list(dict.fromkeys([*doc_ids, *plan.unread]))
    origins.forget(connection, _origins_of(files, plan.holders))
    changes = [
        SettingChange(PURGE, holder.doc_id, digests.get(holder.content, ""), None, f"version {holder.version}")
        for holder in plan.holders
    ]
    changes += [SettingChange(PURGE, doc_id, "", None, NO_VERSION) for doc_id in plan.unread]
    number = record(connection, PURGE, changes, by=by, data={"n_texts": len(plan.contents)})
    insert_rows(connection, schema.purges, [plan.contents, [number] * len(plan.contents)])
    store.raise_generation(connection)
    return number


def _origins_of(doc_ids: Sequence[str], holders: Sequence[StoredDocument]) -> Iterator[ColumnElement[bool]]:
    """Yield conditions for the origins of purged documents, and of all versions that lose their text."""
    for block in in_slices(doc_ids):
        yield schema.origins.c.doc_id.in_(block)
    is_origin = schema.origins.c.row == schema.documents.c.row
    for block in in_slices([holder.content for holder in holders]):
        is_holder = is_origin & schema.documents.c.content.in_(block)
        yield exists().where(is_holder)
