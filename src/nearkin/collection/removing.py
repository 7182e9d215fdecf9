"""Documents are taken out of a collection; what they were stays in its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, select, update

from nearkin.collection.documents import check_id, checked_wave, document
from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.store.bulk import is_storable, named
from nearkin.store.schema import documents, loads, waves
from nearkin.store.store import Store


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
        n_removed = 0
        for condition in conditions:
            gone = update(documents).where(condition & documents.c.is_current)
            n_removed += connection.execute(gone.values(is_current=False, removed_at=now)).rowcount
    return Removed(n_removed)


def _current(connection: Connection, doc_ids: Sequence[str]) -> set[str]:
    """Those of the ids that a current document has."""
    found = set[str]()
    for some in named([doc_id for doc_id in doc_ids if is_storable(doc_id)]):
        is_wanted = documents.c.doc_id.in_(some) & documents.c.is_current
        found |= set(connection.execute(select(documents.c.doc_id).where(is_wanted)).scalars())
    return found
