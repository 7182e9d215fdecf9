"""Members that a file had when it was added before, and has no more: found at the end of a load, to be removed.

What could only not be read is no such member. A file, or what is inside of it, that has an exception says nothing about
its members; where reading may have ended early, neither do the files beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select

from nearkin.collection.decisions.records import GONE_IN, REMOVE
from nearkin.collection.loads.incoming import Examined, SeenIds
from nearkin.collection.loads.origins import LoadOrigins
from nearkin.collection.stored.newest import Newest
from nearkin.collection.stored.origins import IS_UNREAD, NAMES, OriginValues
from nearkin.stages.documents.members import BETWEEN
from nearkin.store.bulk import is_storable, named
from nearkin.store.ordering import by_bytes
from nearkin.store.schema import activity, changes, documents, loads, origins, problems, waves

_PARENT, _SHA256, _DECLARED, _EXTRACTOR, _EXCEPTION, _FAMILY = (
    NAMES.index(name) for name in ("parent", "sha256", "declared_kind", "extractor", "exception", "family")
)
_ENDS_READING = ("corrupt", "too big", "time-out", "bomb", "crashed")
"""Exceptions of a member after which the rest of the file around it may not have been read."""
_FILES_AT_A_TIME = 100  # a condition of SQL for each
_AFTER = chr(ord(BETWEEN) + 1)


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
        By the name of each file: whether it is the stored one, of which nothing can be gone.
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
            if origin[_EXCEPTION] is not None:
                self.uncertain.add(doc_id)
                if origin[_SHA256] is None or origin[_EXCEPTION] in _ENDS_READING:
                    self.uncertain.add(parent or doc_id)
            if parent is not None:
                self.has_same_bytes.setdefault(file, False)
            elif (same := _is_known_file(doc_id, origin, newest.get(doc_id), stored)) is not None:
                self.has_same_bytes[file] = same and self.has_same_bytes.get(file, True)

    def gone(self, connection: Connection, seen: SeenIds, wave: int) -> GoneMembers:
        """Return what the files contained before; ``seen`` has the ids of the load.

        What a later wave added stays: the files are given again under an earlier one.
        """
        rows, unread = list[int](), list[int]()
        all_files = list(self.has_same_bytes)
        for first in range(0, len(all_files), _FILES_AT_A_TIME):
            files = all_files[first : first + _FILES_AT_A_TIME]
            wanted = [file for file in files if not self.has_same_bytes[file] and is_storable(file)]
            rows += [row for row, _ in self._gone(_documents_of(connection, wanted, wave), seen)]
            wanted = [file for file in files if is_storable(file)]
            unread += [number for number, _ in self._gone(_unread_of(connection, wanted, wave), seen)]
        return GoneMembers(rows, unread)

    def _gone(self, found: Iterable[tuple[int, str]], seen: SeenIds) -> list[tuple[int, str]]:
        some = [(number, doc_id) for number, doc_id in found if not self._is_uncertain(doc_id)]
        return [one for one, is_here in zip(some, seen.has([doc_id for _, doc_id in some])) if not is_here]

    def _is_uncertain(self, doc_id: str) -> bool:
        return any(one in self.uncertain for one in _enclosing(doc_id))


def _is_known_file(doc_id: str, origin: OriginValues, was: Newest | None, stored: LoadOrigins) -> bool | None:
    """Whether a file without parent has the stored bytes; None if it never contained other documents."""
    known = None if was is None else stored.values_of(was.row)
    if known is None:  # under a name that ends as that of another kind there may have been an archive
        return False if was is not None or origin[_DECLARED] is not None else None
    if known[_FAMILY] != doc_id and origin[_FAMILY] != doc_id:
        return None
    return bool(known[_SHA256] == origin[_SHA256]) and not stored.re_extract


def _enclosing(doc_id: str) -> Iterator[str]:
    """Yield an id, and those of all that it may be inside of."""
    end = len(doc_id)
    while end > 0:
        yield doc_id[:end]
        end = doc_id.rfind(BETWEEN, 0, end)


def _documents_of(connection: Connection, files: Sequence[str], wave: int) -> Iterator[tuple[int, str]]:
    """Yield row and id of the current documents that were extracted from some files, up to a wave."""
    if not files:
        return
    joined = documents.join(origins, origins.c.row == documents.c.row).join(loads, loads.c.load == documents.c.load)
    is_wanted = documents.c.is_current & origins.c.extractor.is_not(None) & (loads.c.wave <= wave)
    query = select(documents.c.row, documents.c.doc_id, documents.c.source).select_from(joined)
    for row, doc_id, source in connection.execute(query.where(is_wanted & _inside(connection, files))):
        if source in files and _is_of(doc_id, source):
            yield row, doc_id


def _unread_of(connection: Connection, files: Sequence[str], wave: int) -> Iterator[tuple[int, str]]:
    """Yield number and id of the members of some files that gave no text, up to a wave."""
    if not files:
        return
    query = select(origins.c.number, origins.c.doc_id).join(loads, loads.c.load == origins.c.load)
    is_wanted = IS_UNREAD & origins.c.extractor.is_not(None) & (loads.c.wave <= wave)
    found = connection.execute(query.where(is_wanted & _inside(connection, files))).all()
    sources = dict[str, set[str]]()  # only the table of problems has the file
    for some in named([doc_id for _, doc_id in found]):
        told = select(problems.c.doc_id, problems.c.source).where(problems.c.doc_id.in_(some))
        for doc_id, source in connection.execute(told):
            sources.setdefault(doc_id, set()).add(source)
    for number, doc_id in found:
        if any(source in files and _is_of(doc_id, source) for source in sources.get(doc_id, ())):
            yield number, doc_id


def _inside(connection: Connection, files: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition for ids of some files, and of what is inside."""
    own = by_bytes(connection, origins.c.doc_id)
    return or_(*((own == file) | ((own > file + BETWEEN) & (own < file + _AFTER)) for file in files))


def _is_of(doc_id: str, file: str) -> bool:
    """Whether a document belongs to the file that it was read from: names of files may contain the separator too."""
    return doc_id == file or doc_id.startswith(file + BETWEEN)


def gone_later(connection: Connection, doc_ids: Iterable[str], wave: int) -> set[str]:
    """Return those ids that were last removed because files of a later wave no longer contained them."""
    latest = dict[str, Any]()
    for some in named(sorted(one for one in doc_ids if is_storable(one))):
        is_one = (changes.c.kind == REMOVE) & changes.c.subject.in_(some)
        query = select(changes.c.subject, activity.c.data).join(activity, activity.c.number == changes.c.activity)
        latest |= dict(connection.execute(query.where(is_one).order_by(activity.c.number)).all())
    if not latest:
        return set()
    later = set(connection.execute(select(waves.c.name).where(waves.c.wave > wave)).scalars())
    return {doc_id for doc_id, data in latest.items() if json.loads(data).get(GONE_IN) in later}
