"""Documents are taken out of a collection; what they were stays in its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, select, update

from nearkin.collection.documents import check_id, checked_wave, damaged_row, document
from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.store.bulk import is_storable, named, update_integers
from nearkin.store.checksums import checksum, covered
from nearkin.store.schema import documents, loads, waves
from nearkin.store.seals import Seals, documents_of
from nearkin.store.store import Store

_CHECKED = covered(documents)


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed: so many documents."""

    n_documents: int

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def remove(store: Store, doc_ids: Sequence[str], *, wave: str | None) -> Removed:
    """Remove the documents that are named, or those of which the current version came in a wave.

    Raises
    ------
    UnknownDocumentError
        A document, or the wave, is not there; nothing is removed then.
    ParameterError
        Neither or both are given, or one of them is nothing that can be a name.
    """
    if isinstance(doc_ids, str) or bool(doc_ids) == (wave is not None):
        raise ParameterError("Name the documents to remove, in a list, or a wave: one of the two.")
    wave = None if wave is None else checked_wave(wave)
    for doc_id in doc_ids:
        check_id(doc_id)
    with store.writing() as connection:
        if wave is not None:
            number = connection.execute(select(waves.c.wave).where(waves.c.name == wave)).scalar()
            if number is None:
                names = connection.execute(select(waves.c.name).order_by(waves.c.wave)).scalars().all()
                newest = ", ".join(map(repr, names[-5:])) or "none"
                raise UnknownDocumentError(f"There is no wave {wave!r}. The newest waves are: {newest}.")
            of_wave = select(loads.c.load).where(loads.c.wave == number)
            conditions = [documents.c.load.in_(of_wave)]
        else:
            wanted = list(dict.fromkeys(doc_ids))
            known = _current(connection, wanted)
            for doc_id in (one for one in wanted if one not in known):
                document(connection, doc_id)  # which says why it is not there
            conditions = [documents.c.doc_id.in_(some) for some in named(wanted)]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        n_removed = sum(_remove(connection, condition, now) for condition in conditions)
    return Removed(n_removed)


def _remove(connection: Connection, condition: ColumnElement[bool], now: str) -> int:
    """Take out the current documents of a condition; their rows get new checksums, and the seals of waves follow."""
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
    """Those of the ids that a current document has."""
    found = set[str]()
    for some in named([doc_id for doc_id in doc_ids if is_storable(doc_id)]):
        is_wanted = documents.c.doc_id.in_(some) & documents.c.is_current
        found |= set(connection.execute(select(documents.c.doc_id).where(is_wanted)).scalars())
    return found
