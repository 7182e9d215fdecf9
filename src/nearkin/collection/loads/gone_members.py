"""Members that a file had when it was added before, and has no more: found at the end of a load, to be removed.

What could only not be read is no such member. A file, or what is inside of it, that has an exception says nothing about
its members; where reading may have ended early, neither do the files beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from nearkin.collection.decisions.records import GONE_IN, REMOVE
from nearkin.collection.loads.incoming import Examined, SeenIds
from nearkin.collection.loads.origins import LoadOrigins
from nearkin.collection.stored.inside import documents_inside, enclosing, unread_inside
from nearkin.collection.stored.origins import NAMES, OriginValues
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.schema import activity, changes, documents, loads, waves

_PARENT, _SHA256, _DECLARED, _EXTRACTOR, _EXCEPTION, _FAMILY = (
    NAMES.index(name) for name in ("parent", "sha256", "declared_kind", "extractor", "exception", "family")
)
_ENDS_READING = ("damaged", "too large", "time-out", "crashed")
"""Exceptions of a member after which the rest of the file around it may not have been read."""


@dataclass(frozen=True, slots=True)
class GoneMembers:
    """Members that their files no longer contain.

    Parameters
    ----------
    rows : list of int
        Rows of documents.
    unread : list of int
        Numbers of the origins of those that gave no text.
    """

    rows: list[int]
    unread: list[int]


@dataclass(slots=True)
class AddedFiles:
    """Files of a load that hold, or held, several documents.

    Attributes
    ----------
    has_same_bytes : dict of str to bool
        By the name of each file: whether the stored file has the same bytes: then nothing is gone.
    uncertain : set of str
        Ids of documents and containers whose members may not all have been read.
    """

    has_same_bytes: dict[str, bool] = field(default_factory=dict)
    uncertain: set[str] = field(default_factory=set)

    def take(self, examined: Examined, newest: dict[str, Newest], stored: LoadOrigins) -> None:
        """Record the files of a batch, before it is stored."""
        for place, origin in examined.origins.items():
            doc_id, file, parent = examined.doc_ids[place], examined.sources[place], origin[_PARENT]
            if origin[_EXTRACTOR] is None:  # a record of a load file, or the end of a file that breaks off
                if examined.problems[place] is not None:
                    self.uncertain.add(parent or doc_id)
                continue
            if parent is None and origin[_DECLARED] is not None:  # such as the page of an error in place of an archive
                self.uncertain.add(doc_id)
            if origin[_EXCEPTION] is not None or origin[_SHA256] is None:
                self.uncertain.add(doc_id)
            if origin[_EXCEPTION] in _ENDS_READING or origin[_SHA256] is None:
                self.uncertain.add(parent or doc_id)
            if parent is not None:
                self.has_same_bytes.setdefault(file, False)
            elif (same := _is_known_file(doc_id, origin, newest.get(doc_id), stored)) is not None:
                self.has_same_bytes[file] = same and self.has_same_bytes.get(file, True)

    def gone(self, connection: Connection, seen: SeenIds, wave: int) -> GoneMembers:
        """Return what the files contained before; ``seen`` has the ids of the load.

        What a later wave added stays: the files are given again under an earlier one.
        """
        changed = {file: (file,) for file, is_same in self.has_same_bytes.items() if not is_same}
        every = {file: (file,) for file in self.has_same_bytes}
        return GoneMembers(
            self._gone(documents_inside(connection, changed, up_to_wave=wave), seen),
            self._gone(unread_inside(connection, every, up_to_wave=wave), seen),
        )

    def _gone(self, found: Iterable[tuple[int, str]], seen: SeenIds) -> list[int]:
        some = [(number, doc_id) for number, doc_id in found if not self.uncertain & {*enclosing(doc_id)}]
        is_here = seen.has([doc_id for _, doc_id in some])
        return [number for (number, _), one in zip(some, is_here.tolist(), strict=True) if not one]


def _is_known_file(doc_id: str, origin: OriginValues, was: Newest | None, stored: LoadOrigins) -> bool | None:
    """Whether a file without parent has the stored bytes; None if it never contained other documents."""
    known = None if was is None else stored.values_of(was.row)
    if known is None:
        return None if was is None else False
    if known[_FAMILY] != doc_id and origin[_FAMILY] != doc_id:
        return None
    return bool(known[_SHA256] == origin[_SHA256]) and not stored.re_extract


def gone_later(connection: Connection, doc_ids: Iterable[str], wave: int) -> set[str]:
    """Return those ids that were last removed because files of a later wave no longer contained them."""
    latest = dict[str, str]()
    for some in in_slices(sorted(one for one in doc_ids if is_storable(one))):
        is_one = (changes.c.kind == REMOVE) & changes.c.subject.in_(some)
        query = select(changes.c.subject, activity.c.data).join(activity, activity.c.number == changes.c.activity)
        latest |= dict(connection.execute(query.where(is_one).order_by(activity.c.number)).all())
    if not latest:
        return set()
    later = set(connection.execute(select(waves.c.name).where(waves.c.wave > wave)).scalars())
    return {doc_id for doc_id, data in latest.items() if json.loads(data).get(GONE_IN) in later}


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
