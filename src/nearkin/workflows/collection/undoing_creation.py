"""Removal of a collection whose first documents could not be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.errors import CollectionBusyError, NearkinError
from nearkin.store.failures import reason_of

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection


def undo_creation(collection: Collection, error: BaseException) -> None:
    """Remove a collection that was created for a load that failed; if it cannot be removed, the error says so."""
    store = collection.opened.store
    if not store.is_new:
        return
    remains = f"The empty collection {collection.place} remains"
    try:
        store.undo_creation()
    except CollectionBusyError:
        error.add_note(f"{remains}, because another process has opened it.")
    except NearkinError as failure:  # the error of the load is the one to report
        error.add_note(f"{remains}: {reason_of(failure)}.")
