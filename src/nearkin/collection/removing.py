"""Removal of documents from a collection; their versions stay in its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, func, select, update

from nearkin.collection.documents import checked_ids, damaged_row, document, number_of_wave
from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.nouns import counted, first_of
from nearkin.store.bulk import is_storable, named, update_integers
from nearkin.store.checksums import checksum, covered
from nearkin.store.schema import documents, loads
from nearkin.store.seals import Seals, documents_of
from nearkin.store.store import Store

_CHECKED = covered(documents)
_MAX_NAMED, _MAX_OF_AN_ID = 5, 200


@dataclass(frozen=True, slots=True)
class Removed:
    """Number of removed documents.

    Parameters
    ----------
    n_documents : int
    is_dry_run : bool
        True: these documents would be removed; nothing was changed.
    """

    n_documents: int
    is_dry_run: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)


def remove(store: Store, doc_ids: Sequence[str], *, wave: str | None, dry_run: bool = False) -> Removed:
    """Remove the named documents, or those whose current version was added in a wave.

    Raises
    ------
    UnknownDocumentError
        A document, or the wave, does not exist; nothing is removed.
    ParameterError
        Neither or both are given, or a name is invalid.
    """
    wanted = checked_ids(doc_ids, "remove")
    if bool(wanted) == (wave is not None):
        raise ParameterError("Give either a list of documents to remove or a wave.")
    with store.reading() if dry_run else store.writing() as connection:
        if wave is not None:
            of_wave = select(loads.c.load).where(loads.c.wave == number_of_wave(connection, wave))
            conditions = [documents.c.load.in_(of_wave)]
        else:
            _refuse_unknown(connection, wanted)
            conditions = [documents.c.doc_id.in_(some) for some in named(wanted)]
        if dry_run:
            return Removed(sum(_count(connection, condition) for condition in conditions), is_dry_run=True)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        n_removed = sum(remove_current(connection, condition, now) for condition in conditions)
    return Removed(n_removed)


def _refuse_unknown(connection: Connection, wanted: Sequence[str]) -> None:
    """Refuse ids without a current document; the message names the first of them and says why the first is missing."""
    known = _current(connection, wanted)
    unknown = [doc_id for doc_id in wanted if doc_id not in known]
    if not unknown:
        return
    try:
        document(connection, unknown[0])
    except UnknownDocumentError as error:
        if len(unknown) == 1:
            raise
        names = first_of([repr(doc_id[:_MAX_OF_AN_ID]) for doc_id in unknown], _MAX_NAMED)
        raise UnknownDocumentError(
            f"{len(unknown):,} of {counted(len(wanted), 'document')} are not in the collection: {names}. Nothing was "
            f"removed. {error}"
        ) from None


def _count(connection: Connection, condition: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(documents).where(condition & documents.c.is_current)
    return int(connection.execute(query).scalar_one())


def remove_current(connection: Connection, condition: ColumnElement[bool], now: str) -> int:
    """Remove the current documents that meet a condition; their checksums and the seals of their waves are updated."""
    is_wanted = condition & documents.c.is_current
    wave_of = dict(connection.execute(select(loads.c.load, loads.c.wave)).all())
    seals, checksums = Seals(), dict[int, int]()
    columns = [*(documents.c[name] for name in _CHECKED), documents.c.checksum]
    for *values, stored in connection.execute(select(*columns).where(is_wanted)):
        row = dict(zip(_CHECKED, values))
        if checksum(values, row["doc_id"]) != stored or row["load"] not in wave_of:
            raise damaged_row(row["doc_id"], row["version"])  # a new checksum would hide it
        row["removed_at"] = now
        checksums[row["row"]] = checksum(list(row.values()), row["doc_id"])
        part = documents_of(wave_of[row["load"]])
        seals.take(part, [stored])
        seals.add(part, [checksums[row["row"]]])
    connection.execute(update(documents).where(is_wanted).values(is_current=False, removed_at=now))
    update_integers(connection, documents, "row", "checksum", checksums)
    seals.write(connection)
    return len(checksums)


def _current(connection: Connection, doc_ids: Sequence[str]) -> set[str]:
    """Return those ids that have a current document."""
    found = set[str]()
    for some in named([doc_id for doc_id in doc_ids if is_storable(doc_id)]):
        is_wanted = documents.c.doc_id.in_(some) & documents.c.is_current
        found |= set(connection.execute(select(documents.c.doc_id).where(is_wanted)).scalars())
    return found
