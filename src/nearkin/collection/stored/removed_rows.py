"""Rows of documents that are marked as removed, with their checksums and seals."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, select, update

from nearkin.collection.stored.documents import damaged_row
from nearkin.store.bulk import update_integers
from nearkin.store.checksums import checksum, covered
from nearkin.store.schema import documents, loads
from nearkin.store.seals import Seals, documents_of

_CHECKED = covered(documents)


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
