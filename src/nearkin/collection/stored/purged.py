"""Erased texts: their numbers stay, and queries say that they were erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from nearkin.store.bulk import in_slices
from nearkin.store.checksums import checksum
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import contents, documents, profiles, purges
from nearkin.store.seals import read_seals

PURGED = "its text was purged"
"""Problem of a document with an erased text, which is not stored again."""
BLANK: dict[str, object] = {
    "n_bytes": 0,
    "n_characters": 0,
    "n_letters": 0,
    "n_other_letters": 0,
    "is_counted": False,
    "counts": b"",
    "signature": None,
    "text": b"",
}
"""Columns of an erased content; its number and its digest stay, by which the other texts of its load are proven."""

_IS_BLANK = contents.c.text == b""
"""Whether only the number and the digest of a text are left; even an empty text is not empty when compressed."""


def purged_contents(
    connection: Connection, numbers: Iterable[int] | None = None, *, skip_changed: bool = False
) -> dict[int, int]:
    """Return those contents that were erased, of all or of some, and the numbers of the activities.

    Raises
    ------
    CollectionError
        A row was changed, unless ``skip_changed``.
    """
    found = dict[int, int]()
    every: list[Sequence[int] | None] = [None] if numbers is None else [*in_slices(list(numbers))]
    for some in every:
        query = select(purges) if some is None else select(purges).where(purges.c.content.in_(some))
        for content, activity, stored in connection.execute(query):
            if checksum((content, activity), content) == stored:
                found[content] = activity
            elif not skip_changed:
                raise damaged_collection(f"the row of the purge of text {content} was changed in the database")
    return found


def purged_digests(connection: Connection, digests: Sequence[bytes]) -> set[bytes]:
    """Return the digests of erased texts among some.

    A text is erased if it is blank and has a purge. One without the other is damage: an erased text must not be
    stored again because its purge is lost, nor a stored one be called erased.

    Raises
    ------
    CollectionError
        A purge is missing or was changed.
    """
    found = set[bytes]()
    seal = read_seals(connection, [purges.name]).get(purges.name)
    has_rows = connection.execute(select(purges.c.content).limit(1)).first() is not None
    if not has_rows and (seal is None or not seal.n_rows):
        return found
    columns = select(contents.c.content, contents.c.digest, _IS_BLANK.label("is_blank"), purges)
    joined = contents.outerjoin(purges, purges.c.content == contents.c.content)
    for some in in_slices(digests):
        query = columns.select_from(joined).where(contents.c.digest.in_(some))
        for number, digest, is_blank, _, activity, stored in connection.execute(query):
            has_purge = stored is not None and checksum((number, activity), number) == stored
            if has_purge != bool(is_blank):
                raise damaged_collection(
                    f"the row of the purge of text {number} was changed in the database, or is missing"
                )
            if has_purge:
                found.add(bytes(digest))
    return found


def faults_of_purges(connection: Connection) -> list[str]:
    """Return the erased texts of which something is stored, or that a current document has."""
    told = list[str]()
    for content in purged_contents(connection, skip_changed=True):
        row = connection.execute(select(contents).where(contents.c.content == content)).first()
        has_profile = connection.execute(select(profiles.c.content).where(profiles.c.content == content)).first()
        if row is None:
            told.append(f"the row of the erased text {content} is missing")
        elif has_profile is not None or any(_plain(getattr(row, name)) != value for name, value in BLANK.items()):
            told.append(f"text {content} was erased, but something of it is stored")
        is_held = (documents.c.content == content) & documents.c.is_current
        for doc_id in connection.execute(select(documents.c.doc_id).where(is_held)).scalars():
            told.append(f"document {doc_id!r} is current, but its text {content} was erased")
    return told


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value
