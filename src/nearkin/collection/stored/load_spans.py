"""Loads: the digest of what each added, and the texts that it brought."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, select

from nearkin.store.schema import loads
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

    def __init__(self) -> None:
        self._state = hashlib.sha256()

    def take(self, doc_id: str, digest: bytes) -> None:
        """Add the next document, with the digest of its text."""
        self._state.update(doc_id.encode("utf-8") + b"\0" + digest)

    def digest(self) -> bytes:
        """Return the digest of the documents so far."""
        return bytes(self._state.digest())


@dataclass(frozen=True, slots=True)
class LoadSpan:
    """The contents that a load brought.

    Equal digests, of the load and all before it, mean equal texts; the generation rises when data must be rebuilt.
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
