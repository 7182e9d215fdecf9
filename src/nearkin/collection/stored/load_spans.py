"""Loads: the digest of what each added, and the texts that it brought."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection, exists, select

from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents, loads, purges
from nearkin.store.store import Store


class LoadDigest:
    """SHA-256 over the ids and the texts' digests of the documents of a load; see `nearkin.store.schema`.

    Examples
    --------
    >>> digest = LoadDigest()
    >>> digest.take("march", bytes(32))
    >>> digest.digest().hex()[:16]
    '1f9bda1e95c0c13d'
    """

    def __init__(self, state: Any = None) -> None:
        self._state = state or hashlib.sha256()

    def take(self, doc_id: str, digest: bytes) -> None:
        """Add the next document, with the digest of its text."""
        self._state.update(doc_id.encode("utf-8") + b"\0" + digest)

    def digest(self) -> bytes:
        """Return the digest of the documents so far."""
        return bytes(self._state.digest())

    def copy(self) -> Self:
        """Copy the state."""
        return type(self)(self._state.copy())


@dataclass(frozen=True, slots=True)
class LoadSpan:
    """The contents that a load brought.

    Parameters
    ----------
    first, end : int
        First content, and one after the last.
    digest : bytes
        Digest of the load and of all before it: equal digests mean equal texts in the span.
    generation : int
        That of the store, which is raised when derived data must be rebuilt.
    """

    first: int
    end: int
    digest: bytes
    generation: int = 0


def loads_of(connection: Connection, store: Store) -> tuple[LoadSpan, ...]:
    """Return the loads that brought contents, in order."""
    generation, spans, chained = store.generation(connection), list[LoadSpan](), b""
    columns = loads.c.first_content, loads.c.end_content, loads.c.digest
    for first, end, digest in connection.execute(select(*columns).order_by(loads.c.load)):
        chained = hashlib.sha256(chained + digest).digest()
        if end > first:
            spans.append(LoadSpan(first, end, chained, generation))
    return tuple(spans)


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
