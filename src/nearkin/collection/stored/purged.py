"""Erased texts: their numbers stay, and queries say that they were erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, exists, select

from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents, purges

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


def purged_contents(connection: Connection, numbers: Iterable[int] | None = None) -> dict[int, int]:
    """Return those contents that were erased, of all or of some, and the numbers of the activities."""
    if numbers is None:
        return dict(connection.execute(select(purges)).all())
    found = dict[int, int]()
    for some in in_slices(list(numbers)):
        found |= dict(connection.execute(select(purges).where(purges.c.content.in_(some))).all())
    return found


def purged_digests(connection: Connection, digests: Sequence[bytes]) -> set[bytes]:
    """Return the digests of erased texts among some: of those that are blank, even if their purge is lost."""
    found = set[bytes]()
    for some in in_slices(digests):
        is_erased = contents.c.digest.in_(some) & (contents.c.text == b"")  # no compressed text is empty
        found |= set(connection.execute(select(contents.c.digest).where(is_erased)).scalars())
    return found


def faults_of_purges(connection: Connection) -> list[str]:
    """Return the erased texts of which something is stored, or that a current document has."""
    is_blank = contents.c.text == b""
    is_held = exists().where(documents.c.content == contents.c.content, documents.c.is_current)
    query = select(contents.c.content, is_held.label("is_held")).select_from(contents.join(purges))
    return [
        f"text {content} was erased, but {'a current document has it' if is_held else 'something of it is stored'}"
        for content, is_held in connection.execute(query.where(~is_blank | is_held))
    ]
