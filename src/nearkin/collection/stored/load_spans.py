"""Loads: the digest of what each added, and the texts that it brought."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

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


class Loads:
    """Loads of a collection that brought contents; a query reads only those added since the query before."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: tuple[int, tuple[int, bytes], bytes, tuple[LoadSpan, ...]] = -1, (-1, b""), b"", ()

    def now(self, connection: Connection) -> tuple[LoadSpan, ...]:
        """Return the loads in order."""
        generation = self._store.generation(connection)
        known, last, chained, spans = self._known
        rows = list(connection.execute(_LOADS_FROM, {"first": last[0]}))
        if known != generation or not rows or (rows[0].load, rows[0].digest) != last:  # erased, or another database
            rows, chained, spans = list(connection.execute(_LOADS_FROM, {"first": -1})), b"", ()
        else:
            del rows[0]
        new = list[LoadSpan]()
        for load, first, end, digest in rows:
            last, chained = (load, digest), hashlib.sha256(chained + digest).digest()
            if end > first:
                new.append(LoadSpan(first, end, chained, generation))
        spans = (*spans, *new) if new else spans
        self._known = generation, last, chained, spans
        return spans


_LOADS_FROM = (
    select(loads.c.load, loads.c.first_content, loads.c.end_content, loads.c.digest)
    .where(loads.c.load >= bindparam("first"))
    .order_by(loads.c.load)
)
