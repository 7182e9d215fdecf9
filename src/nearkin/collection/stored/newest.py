"""Newest versions of ids; changed rows are repaired or set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.checksums import checksum, covered
from nearkin.store.mending import mend_document
from nearkin.store.schema import documents, loads

_COLUMNS = covered(documents)
_ROW, _DOC_ID, _VERSION, _CONTENT, _LOAD, _REMOVED_AT = (
    _COLUMNS.index(name) for name in ("row", "doc_id", "version", "content", "load", "removed_at")
)
_ALTERED = -1
"""Content of a row that was changed; it equals no added text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """The newest version of an id.

    Parameters
    ----------
    version, row : int
    content : int
        -1: the row was changed.
    is_current : bool
    is_of_load : bool
        Whether it was added by the current load.
    is_of_wave : bool
        Whether it was added in the load's wave.
    before : frozenset of int
        Contents that the id had before this load.
    in_wave : frozenset of int
        Those of them that were added in the load's wave.
    """

    version: int
    row: int
    content: int
    is_current: bool
    is_of_load: bool = True
    is_of_wave: bool = True
    before: frozenset[int] = frozenset()
    in_wave: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    version: int
    row: int
    content: int
    is_current: bool
    is_removed: bool
    is_of_load: bool
    wave: int | None


def newest_of(connection: Connection, doc_ids: set[str], *, wave: int, load: int) -> tuple[dict[str, Newest], int]:
    """Return the newest stored version of each id, and the number of repaired rows.

    Parameters
    ----------
    connection : Connection
        In a write transaction.
    doc_ids : set of str
    wave, load : int
        See `Newest`.
    """
    found, n_mended = dict[str, Newest](), 0
    query = select(
        *(documents.c[name] for name in _COLUMNS), documents.c.checksum, documents.c.is_current, loads.c.wave
    )
    query = query.select_from(documents.outerjoin(loads)).order_by(documents.c.version)
    for some in in_slices(sorted(doc_id for doc_id in doc_ids if is_storable(doc_id))):
        versions = dict[str, list[_Version]]()
        for *values, stored, is_current, of_wave in connection.execute(query.where(documents.c.doc_id.in_(some))).all():
            if checksum(values, values[_DOC_ID]) != stored:
                right = mend_document(connection, values, stored)
                n_mended += right is not None
                if right is not None and right[_DOC_ID] != values[_DOC_ID]:
                    continue  # after the repair, it is the row of another document again
                values = [*values[:_CONTENT], _ALTERED, *values[_CONTENT + 1 :]] if right is None else list(right)
            versions.setdefault(values[_DOC_ID], []).append(_version(values, is_current, load, of_wave))
        for doc_id, known in versions.items():
            newest = known[-1]
            is_current = newest.is_current if newest.content == _ALTERED else not newest.is_removed
            if is_current != newest.is_current:
                _set_current(connection, doc_id, newest.row, is_current=is_current)
                n_mended += 1
            others = [one for one in known if not one.is_of_load]
            found[doc_id] = Newest(
                version=newest.version,
                row=newest.row,
                content=newest.content,
                is_current=is_current,
                is_of_load=newest.is_of_load,
                is_of_wave=newest.wave == wave,
                before=frozenset(one.content for one in others),
                in_wave=frozenset(one.content for one in others if one.wave == wave),
            )
    return found, n_mended


def _version(values: Any, is_current: object, load: int, wave: int | None) -> _Version:
    is_removed = values[_REMOVED_AT] is not None
    return _Version(
        version=values[_VERSION],
        row=values[_ROW],
        content=values[_CONTENT],
        is_current=bool(is_current),
        is_removed=is_removed,
        is_of_load=values[_LOAD] == load,
        wave=wave,
    )


def _set_current(connection: Connection, doc_id: str, row: int, *, is_current: bool) -> None:
    """Set which version of an id is current: the newest, unless it was removed."""
    of_document = documents.c.doc_id == doc_id
    connection.execute(update(documents).where(of_document & documents.c.is_current).values(is_current=False))
    if is_current:
        connection.execute(update(documents).where(documents.c.row == row).values(is_current=True))
