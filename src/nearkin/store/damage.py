"""Errors for a damaged collection: what is wrong, where, and what to do."""

from __future__ import annotations

from nearkin.errors import CollectionError

FSCK = "Run nearkin fsck COLLECTION, which repairs what it can and lists the rest."
"""Last sentence of messages about damage that may be repaired."""
BACKUP = "Restore the database from a backup."
"""Last sentence of messages about damage that cannot be repaired."""


def damaged_collection(fault: str, place: object = "The collection") -> CollectionError:
    """Return the error for damage that `nearkin fsck` may repair.

    Examples
    --------
    >>> str(damaged_collection("2 documents without a load", "matter"))  # doctest: +ELLIPSIS
    'matter is damaged: 2 documents without a load. Run nearkin fsck COLLECTION, which repairs what it can and ...'
    """
    return CollectionError(f"{place} is damaged: {fault}. {FSCK}")


def unrepairable(fault: str, place: object = "The collection") -> CollectionError:
    """Return the error for damage that only a backup repairs."""
    return CollectionError(f"{place} is damaged: {fault}. {BACKUP}")
