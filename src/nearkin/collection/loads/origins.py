"""Origins that a load writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from nearkin.collection.stored import origins as stored
from nearkin.store.bulk import in_slices, insert_rows, is_storable, number_after_last
from nearkin.store.schema import origins

_SHA256, _EXTRACTOR, _EXCEPTION = (stored.NAMES.index(name) for name in ("sha256", "extractor", "exception"))


_Number = int | None
"""Number of a stored origin; None until it is written."""


@dataclass(slots=True, kw_only=True)
class LoadOrigins:
    """Origins of the documents of a load."""

    connection: Connection
    load: int
    added_at: str
    n_written: int = 0
    _known: dict[int, tuple[_Number, stored.OriginValues]] = field(default_factory=dict)
    _unread: dict[str, tuple[_Number, tuple[str | None, ...]]] = field(default_factory=dict)
    _plain: dict[str, str | None] = field(default_factory=dict)
    _new: list[tuple[Any, ...]] = field(default_factory=list)
    _replaced: list[int] = field(default_factory=list)
    _read_since: list[int] = field(default_factory=list)

    def look_up(self, rows: Sequence[int], doc_ids: Iterable[str]) -> None:
        """Look up the origins of current versions of documents, and of ids that gave no text."""
        self._known, self._unread, self._plain = {}, {}, {}
        for some in in_slices(rows):
            for row in self.connection.execute(stored.with_origins().where(origins.c.row.in_(some))):
                self._known[row.row] = row.number, stored.own_values(row)
        columns = origins.c.doc_id, origins.c.number, origins.c.sha256, origins.c.exception
        for some in in_slices(sorted({one for one in doc_ids if is_storable(one)})):
            rows_of_ids = self.connection.execute(select(*columns).where(stored.IS_UNREAD & origins.c.doc_id.in_(some)))
            self._unread |= {doc_id: (number, tuple(digest_and_why)) for doc_id, number, *digest_and_why in rows_of_ids}
            is_plain = stored.IS_PLAIN_FILE & origins.c.row.is_(None) & origins.c.doc_id.in_(some)
            plain = select(origins.c.doc_id, origins.c.sha256).where(is_plain).order_by(origins.c.number)
            self._plain |= dict(self.connection.execute(plain).all())

    def take(self, row: int, doc_id: str, origin: stored.OriginValues) -> None:
        """Store the origin of a new version."""
        self._new.append((row, doc_id, *origin))
        self._known[row] = None, origin

    def complete(self, row: int, doc_id: str, origin: stored.OriginValues) -> None:
        """Store the origin of an unchanged text that has none, or that came from other bytes before."""
        known = self._known.get(row)
        if known is None:
            self.take(row, doc_id, origin)
        elif known[0] is not None and known[1][_SHA256] != origin[_SHA256]:
            self._replaced.append(known[0])
            self.take(row, doc_id, origin)

    def take_unread(self, doc_id: str, origin: stored.OriginValues, row: int | None) -> None:
        """Store the origin of a document without a text, unless it is known."""
        known = None if row is None else self._known.get(row)
        now, was = (origin[_SHA256], origin[_EXCEPTION]), self._unread.get(doc_id)
        if origin[_EXTRACTOR] is None:
            self.take_plain(doc_id, origin)
            return
        if now[1] is None or (was is not None and was[1] == now):
            return
        if known is not None and known[1][_SHA256] == origin[_SHA256]:
            return  # the same bytes gave a text before
        self.read(doc_id)
        self._unread[doc_id] = None, now
        self._new.append((None, doc_id, *origin))

    def take_plain(self, doc_id: str, origin: stored.OriginValues) -> None:
        """Store what is known of a file that was read as text, unless it is stored."""
        if origin[_SHA256] is not None and self._plain.get(doc_id) != origin[_SHA256]:
            self._plain[doc_id] = origin[_SHA256]
            self._new.append((None, doc_id, *origin))

    def read(self, doc_id: str) -> None:
        """End what was said of an earlier file with this id."""
        was = self._unread.pop(doc_id, None)
        if was is not None and was[0] is not None:
            self._read_since.append(was[0])
        elif was is not None:
            self._new = [row for row in self._new if row[:2] != (None, doc_id)]

    def write(self) -> None:
        """Write what was taken, after the documents."""
        stored.forget_rows(self.connection, self._replaced)
        for some in in_slices(self._read_since):
            self.n_written += stored.remove_unread(self.connection, origins.c.number.in_(some), self.added_at)
        self._read_since, self._replaced = [], []
        if not self._new:
            return
        first = number_after_last(self.connection, origins.c.number)
        rows = [(first + i, self.load, *one, None) for i, one in enumerate(self._new)]
        insert_rows(self.connection, origins, list(zip(*rows, strict=True)))
        self.n_written += len(rows)
        self._new = []
