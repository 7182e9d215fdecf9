"""Removal of a collection whose first documents could not be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.errors import NearkinError

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection


def undo_creation(collection: Collection, error: BaseException) -> None:
    """Remove a collection that was created for a load that failed; if it cannot be removed, the error says so."""
    store = collection.opened.store
    if not store.is_new:
        return
    try:
        if not store.undo_creation():
            error.add_note(f"The empty collection {collection.place} remains, because another process has opened it.")
    except NearkinError as failure:  # the error of the load is the one to report
        error.add_note(f"The empty collection {collection.place} remains. It could not be removed: {failure}")
