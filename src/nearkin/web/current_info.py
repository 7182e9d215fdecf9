"""Figures about the collection, counted once for each state of its documents."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from sqlalchemy import func, select

from nearkin.collection.decisions.document_state import StoredState
from nearkin.collection.info import Info, info
from nearkin.collection.listing.conditions import DocumentFilter
from nearkin.collection.listing.exceptions import ExceptionFilter, stored_exceptions
from nearkin.collection.opened import OpenedCollection
from nearkin.store.schema import documents


@dataclass(frozen=True, slots=True)
class Counted:
    """Figures about the collection, and the numbers of exceptions and of documents with copies."""

    info: Info
    n_with_same_text: int
    n_exceptions: int


class CurrentInfo:
    """Figures about a collection, counted again only if its documents have changed: each count reads whole tables.

    Parameters
    ----------
    opened : OpenedCollection
    """

    def __init__(self, opened: OpenedCollection) -> None:
        self._opened, self._lock = opened, threading.Lock()
        self._known: tuple[StoredState, Counted] | None = None

    def get(self) -> Counted:
        """Return the current figures."""
        with self._lock:  # one thread counts, and those that wait get its answer
            with self._opened.store.reading() as connection:
                state = StoredState.now(connection)
            if self._known is None or self._known[0] != state:
                self._known = state, self._counted()  # of this state or a later one, which is then counted again
            found = self._known[1]
        n_segments = len(self._opened.index.listed())
        return replace(found, info=replace(found.info, n_segments=n_segments))

    def _counted(self) -> Counted:
        with self._opened.store.reading() as connection:
            has_copies = DocumentFilter(has_copies=True).condition(connection, None)
            n_with_same_text = int(
                connection.execute(select(func.count(documents.c.row)).where(has_copies)).scalar_one()
            )
            n_exceptions = len(stored_exceptions(connection, ExceptionFilter()).exceptions)
        return Counted(info(self._opened), n_with_same_text, n_exceptions)
