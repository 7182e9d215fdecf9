"""Rows of documents that are marked as removed, with their checksums and seals."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, select, update

from nearkin.collection.stored.documents import damaged_row
from nearkin.store.bulk import update_integers
from nearkin.store.checksums import checksum, covered
from nearkin.store.load_waves import waves_of_loads
from nearkin.store.schema import documents
from nearkin.store.seals import Seals, documents_of

_CHECKED = covered(documents)


def remove_current(
    connection: Connection, condition: ColumnElement[bool], now: str, *, may_lack_load: bool = False
) -> int:
    """Remove the current documents that meet a condition; their checksums and the seals of their waves are updated.

    ``may_lack_load``: a document is removed even if the row of its load is missing, or was changed and no seal shows
    its wave; the seals stay as they are then.
    """
    is_wanted = condition & documents.c.is_current
    seals, checksums, lost = Seals(), dict[int, int](), dict[int, int]()
    columns = [*(documents.c[name] for name in _CHECKED), documents.c.checksum]
    loads_of = select(documents.c.load).where(is_wanted).distinct()
    wave_of = waves_of_loads(connection, set(connection.execute(loads_of).scalars()))
    for *values, stored in connection.execute(select(*columns).where(is_wanted)):
        row = dict(zip(_CHECKED, values))
        has_load = row["load"] in wave_of
        if checksum(values, row["doc_id"]) != stored or not (has_load or may_lack_load):
            raise damaged_row(row["doc_id"], row["version"])  # a new checksum would hide it
        row["removed_at"] = now
        own = checksum(list(row.values()), row["doc_id"])
        if has_load:
            checksums[row["row"]] = own
            part = documents_of(wave_of[row["load"]])
            seals.take(part, [stored])
            seals.add(part, [own])
        else:  # at once: PostgreSQL looks for the load of a row that is updated twice
            lost[row["row"]] = own
    for number, own in lost.items():
        is_it = documents.c.row == number
        connection.execute(update(documents).where(is_it).values(is_current=False, removed_at=now, checksum=own))
    connection.execute(update(documents).where(is_wanted).values(is_current=False, removed_at=now))
    update_integers(connection, documents, "row", "checksum", checksums)
    seals.write(connection)
    return len(checksums) + len(lost)
