"""Removal of a collection whose first documents could not be stored."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from nearkin.errors import NearkinError

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection


def undo_creation(collection: Collection, error: BaseException) -> None:
    """Remove a collection that was created for a load that failed; if it cannot be removed, the error says so."""
    store, is_done = collection.opened.store, False
    if not store.is_new:
        return
    with contextlib.suppress(NearkinError):  # the error of the load is the one to report
        is_done = store.undo_creation()
    if not is_done:
        error.add_note(f"The empty collection {collection.place} remains, because another process has opened it.")
