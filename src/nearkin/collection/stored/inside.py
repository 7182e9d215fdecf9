"""Documents that were extracted from a file, or are inside of another document.

Ids say what is inside of what, but a file may be named like a member: the file that a document was read from decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, or_, select

from nearkin.collection.stored.origins import IS_UNREAD
from nearkin.stages.documents.members import BETWEEN
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.ordering import by_bytes
from nearkin.store.schema import documents, origins, problems

_AT_A_TIME = 100  # a condition of SQL for each
AFTER = chr(ord(BETWEEN) + 1)
"""Character after the one between a container and its member."""
Sources = Mapping[str, Collection[str]]
"""Files that documents were read from, by id."""


def enclosing(doc_id: str) -> Iterator[str]:
    """Yield an id, and those of all that it may be inside of.

    Examples
    --------
    >>> list(enclosing("a.zip!m.eml!b.txt"))
    ['a.zip!m.eml!b.txt', 'a.zip!m.eml', 'a.zip']
    """
    end = len(doc_id)
    while end > 0:
        yield doc_id[:end]
        end = doc_id.rfind(BETWEEN, 0, end)


def documents_inside(connection: Connection, sources: Sources) -> Iterator[tuple[int, str]]:
    """Yield row and id of the current extracted documents with these ids, and of those inside."""
    joined = documents.join(origins, origins.c.row == documents.c.row)
    is_wanted = documents.c.is_current & origins.c.extractor.is_not(None)
    query = select(documents.c.row, documents.c.doc_id, documents.c.source).select_from(joined).where(is_wanted)
    for some in _parts(sources):
        for row, doc_id, source in connection.execute(query.where(_are_inside(connection, some))).all():
            if _is_of(doc_id, source, sources):
                yield row, doc_id


def unread_inside(connection: Connection, sources: Sources) -> Iterator[tuple[int, str]]:
    """Yield origin and id of files without a text with these ids, and of those inside."""
    query = select(origins.c.number, origins.c.doc_id).where(IS_UNREAD)
    for some in _parts(sources):
        found = connection.execute(query.where(_are_inside(connection, some))).all()
        files = unread_sources(connection, [doc_id for _, doc_id in found])
        for number, doc_id in found:
            if any(_is_of(doc_id, source, sources) for source in files.get(doc_id, ())):
                yield number, doc_id


def unread_sources(connection: Connection, doc_ids: Sequence[str]) -> dict[str, set[str]]:
    """Return the files of documents without a text, from the table of problems."""
    found = dict[str, set[str]]()
    for some in in_slices([doc_id for doc_id in doc_ids if is_storable(doc_id)]):
        query = select(problems.c.doc_id, problems.c.source).where(problems.c.doc_id.in_(some))
        for doc_id, source in connection.execute(query):
            found.setdefault(doc_id, set()).add(source)
    return found


def _parts(sources: Sources) -> Iterator[list[str]]:
    ids = [one for one in sources if is_storable(one)]
    for first in range(0, len(ids), _AT_A_TIME):
        yield ids[first : first + _AT_A_TIME]


def _are_inside(connection: Connection, ids: Sequence[str]) -> ColumnElement[bool]:
    own = by_bytes(connection, origins.c.doc_id)
    return or_(*((own == one) | ((own > one + BETWEEN) & (own < one + AFTER)) for one in ids))


def _is_of(doc_id: str, source: str, sources: Sources) -> bool:
    return any(source in sources[one] for one in enclosing(doc_id) if one in sources)
