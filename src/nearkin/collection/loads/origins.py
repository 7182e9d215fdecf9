"""Origins that a load writes, and the exceptions that it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from nearkin.collection.stored import origins as stored
from nearkin.store.bulk import as_name, in_slices, insert_rows, number_after_last
from nearkin.store.schema import origins

_SHA256 = stored.NAMES.index("sha256")
Exceptions = dict[str, list[tuple[Any, ...]]]
"""Rows of documents that were not stored, from the column ``source`` on, by id."""


@dataclass(slots=True, kw_only=True)
class LoadOrigins:
    """Origins of the documents of a load; ``former`` exceptions are those of earlier loads."""

    connection: Connection
    load: int
    n_written: int = 0
    failing: Exceptions = field(default_factory=dict)
    former: Exceptions = field(default_factory=dict)
    _known: dict[int, tuple[int | None, str | None]] = field(default_factory=dict)
    _new: list[tuple[Any, ...]] = field(default_factory=list)
    _replaced: list[int] = field(default_factory=list)

    def look_up(self, rows: Sequence[int], doc_ids: Sequence[str]) -> None:
        """Look up the origins of current versions of documents, and what was said of ids that were not stored."""
        self._known = {}
        for some in in_slices(rows):
            for row in self.connection.execute(stored.with_origins().where(origins.c.row.in_(some))):
                self._known[row.row] = row.number, row.sha256
        for some in in_slices([name for name in dict.fromkeys(map(as_name, doc_ids)) if name not in self.former]):
            is_former = stored.IS_EXCEPTION & origins.c.doc_id.in_(some)
            for row in self.connection.execute(stored.with_origins().where(is_former).order_by(origins.c.number)):
                self.former.setdefault(row.doc_id, []).append(tuple(row[stored.SOURCE :]))

    def take(self, row: int, doc_id: str, origin: stored.OriginValues) -> None:
        """Store the origin of a version, unless it is known and came from the same bytes."""
        number, sha256 = self._known.get(row, (None, None))
        if row in self._known and (number is None or sha256 == origin[_SHA256]):
            return
        if number is not None:
            self._replaced.append(number)
        self._new.append((row, doc_id, None, None, *origin))
        self._known[row] = None, origin[_SHA256]

    def take_exception(self, doc_id: str, source: str, line: int, origin: stored.OriginValues) -> None:
        """Remember a document that is not stored."""
        self.failing.setdefault(as_name(doc_id), []).append((source, line, *origin))

    def write(self) -> None:
        """Write what was taken, after the documents."""
        stored.forget(self.connection, [origins.c.number.in_(some) for some in in_slices(self._replaced)])
        self._insert(self._new)
        self._new, self._replaced = [], []

    def finish(self) -> None:
        """Replace the exceptions of all ids that the load brought by its own."""
        other = {one for one in self.former.keys() | self.failing if self.former.get(one) != self.failing.get(one)}
        gone = sorted(other & self.former.keys())
        mine = [stored.IS_EXCEPTION & origins.c.doc_id.in_(some) for some in in_slices(gone)]
        stored.forget(self.connection, mine)
        self.n_written += len(gone)
        self._insert([(None, name, *row) for name, rows in self.failing.items() if name in other for row in rows])

    def _insert(self, rows: Sequence[tuple[Any, ...]]) -> None:
        first = number_after_last(self.connection, origins.c.number) if rows else 0
        numbered = [(first + i, self.load, *row) for i, row in enumerate(rows)]
        insert_rows(self.connection, origins, list(zip(*numbered, strict=True)))
        self.n_written += len(rows)
