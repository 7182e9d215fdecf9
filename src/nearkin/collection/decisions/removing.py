"""Removal of documents from a collection; their versions stay in its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, select

from nearkin.collection.decisions.log import NO_VERSION, REMOVE, ChangeRequest, SettingChange, record
from nearkin.collection.stored import documents as stored
from nearkin.collection.stored.origins import IS_EXCEPTION, exceptions_where, forget
from nearkin.errors import ParameterError
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.schema import documents, loads, origins
from nearkin.store.store import Store
from nearkin.tabular import AnswerRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed(AnswerRecord):
    """Documents that were removed, or would be.

    Parameters
    ----------
    doc_ids
        Ids of the documents, in the order of the collection.
    unread_ids
        Ids of files and records without a text, which are no longer listed as exceptions.
    earlier_ids
        If a wave was named, ids of the documents that came in another wave and got a new version in this one.
    """

    computed = ("n_documents", "n_unread")

    doc_ids: tuple[str, ...] = ()
    unread_ids: tuple[str, ...] = ()
    is_dry_run: bool = False
    number: int | None = None
    earlier_ids: tuple[str, ...] = ()

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.doc_ids)

    @property
    def n_unread(self) -> int:
        """Number of files without a text."""
        return len(self.unread_ids)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types; all ids only for a dry run."""
        shown, ids = AnswerRecord.to_dict(self), ("doc_ids", "unread_ids")
        if not self.earlier_ids:
            del shown["earlier_ids"]
        return {name: value for name, value in shown.items() if self.is_dry_run or name not in ids}


def remove(store: Store, doc_ids: Sequence[str], wave: str | None, options: ChangeRequest) -> Removed:
    """Remove the named documents, or those whose current version was added in a wave; see `Collection.remove`."""
    wanted = stored.checked_ids(doc_ids)
    if bool(wanted) == (wave is not None):
        raise ParameterError("Give either a list of documents to remove or a wave.")
    with options.opened(store) as connection:
        if wave is not None:
            of_wave = select(loads.c.load).where(loads.c.wave == stored.number_of_wave(connection, wave))
            conditions = [documents.c.load.in_(of_wave)]
            of_exceptions = [origins.c.load.in_(of_wave)]
            unread_ids = exceptions_where(connection, of_exceptions)
        else:
            storable = [doc_id for doc_id in wanted if is_storable(doc_id)]
            of_exceptions = [origins.c.doc_id.in_(block) for block in in_slices(storable)]
            unread_ids = exceptions_where(connection, of_exceptions)
            stored.refuse_unknown(connection, wanted, {*stored.current_ids(connection, wanted), *unread_ids})
            conditions = [documents.c.doc_id.in_(block) for block in in_slices(wanted)]
        earlier = () if wave is None else tuple(_of_other_waves(connection, conditions[0]))
        removed = [pair for condition in conditions for pair in _current_versions(connection, condition)]
        ids = tuple(doc_id for doc_id, _ in removed)
        changes = [SettingChange(REMOVE, doc_id, "", f"version {version}", None) for doc_id, version in removed]
        changes += [SettingChange(REMOVE, doc_id, "", NO_VERSION, None) for doc_id in unread_ids]
        if not options.stores(changes):
            return Removed(doc_ids=ids, unread_ids=tuple(unread_ids), is_dry_run=True, earlier_ids=earlier)
        if not changes:
            return Removed()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        for condition in conditions:
            stored.remove_current(connection, condition, now)
        forget(connection, [IS_EXCEPTION & condition for condition in of_exceptions])
        number = record(connection, REMOVE, changes, by=options.by, data={} if wave is None else {"wave": wave})
    return Removed(doc_ids=ids, unread_ids=tuple(unread_ids), number=number, earlier_ids=earlier)


def _current_versions(connection: Connection, condition: ColumnElement[bool]) -> list[tuple[str, int]]:
    rows = stored.rows_where(connection, condition & documents.c.is_current)
    return [(row.doc_id, row.version) for row in rows]


def _of_other_waves(connection: Connection, is_of_wave: ColumnElement[bool]) -> Iterator[str]:
    doc_ids = [doc_id for doc_id, version in _current_versions(connection, is_of_wave) if version > 1]
    for block in in_slices(doc_ids):
        of_others = stored.rows_where(connection, documents.c.doc_id.in_(block) & ~is_of_wave)
        yield from dict.fromkeys(of_other.doc_id for of_other in of_others)
