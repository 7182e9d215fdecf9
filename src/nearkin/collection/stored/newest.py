"""Newest versions of ids, for a load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.schema import documents, loads


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """The newest version of an id.

    Parameters
    ----------
    version, row, content : int
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


def newest_of(connection: Connection, doc_ids: set[str], *, wave: int, load: int) -> dict[str, Newest]:
    """Return the newest stored version of each id; for ``wave`` and ``load`` see `Newest`."""
    columns = documents.c
    query = select(
        columns.doc_id, columns.version, columns.row, columns.content, columns.is_current, columns.load, loads.c.wave
    )
    query = query.select_from(documents.join(loads)).order_by(columns.version)
    newest = dict[str, Newest]()
    for some in in_slices(sorted(doc_id for doc_id in doc_ids if is_storable(doc_id))):
        versions = dict[str, list[Any]]()
        for version in connection.execute(query.where(columns.doc_id.in_(some))):
            versions.setdefault(version.doc_id, []).append(version)
        for doc_id, known in versions.items():
            last, earlier = known[-1], [version for version in known if version.load != load]
            newest[doc_id] = Newest(
                version=last.version,
                row=last.row,
                content=last.content,
                is_current=last.is_current,
                is_of_load=last.load == load,
                is_of_wave=last.wave == wave,
                before=frozenset(version.content for version in earlier),
                in_wave=frozenset(version.content for version in earlier if version.wave == wave),
            )
    return newest
