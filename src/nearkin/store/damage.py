"""Errors for a damaged collection: what is wrong, where, and what to do."""

from __future__ import annotations

from nearkin.errors import CollectionError

FSCK = "Run nearkin fsck COLLECTION, which rebuilds derived data and names what else is damaged."
"""Last sentence of messages about damage in a collection that can be opened."""
BACKUP = "Restore the database from a backup."
"""Last sentence of messages about damage because of which a collection cannot be opened."""


def damaged_collection(fault: str, place: object = "The collection") -> CollectionError:
    """Return the error for damage of which `nearkin fsck` finds the extent."""
    return CollectionError(f"{place} is damaged: {fault}. {FSCK}")


def unrepairable(fault: str, place: object = "The collection") -> CollectionError:
    """Return the error for damage because of which a collection cannot be opened."""
    return CollectionError(f"{place} is damaged: {fault}. {BACKUP}")
