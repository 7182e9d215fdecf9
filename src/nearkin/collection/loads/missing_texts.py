"""Restoration of missing texts when they are added again and the digest of their load proves that they are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from itertools import islice, product
from typing import Any

from sqlalchemy import Connection, select

from nearkin.collection.counting import TextCounting
from nearkin.collection.loads.known_texts import restore_derived
from nearkin.collection.stored.profiles import Profile
from nearkin.collection.stored.segments import LoadSpan
from nearkin.store.bulk import in_slices, insert_rows
from nearkin.store.schema import contents
from nearkin.store.store import Store

_MAX_TRIED = 64
"""Maximum number of combinations of texts that are tried for a load."""
_AT_A_TIME = 1 << 14


def missing_of(connection: Connection, numbers: Collection[int]) -> set[int]:
    """Return the contents that the store lacks."""
    there = set[int]()
    for some in in_slices(sorted(numbers)):
        there |= set(connection.execute(select(contents.c.content).where(contents.c.content.in_(some))).scalars())
    return set(numbers) - there


def proven(
    connection: Connection, loads: Sequence[LoadSpan], came: Mapping[int, Collection[bytes]]
) -> dict[int, bytes]:
    """Return the digests of missing contents that the digest of a load proves.

    Parameters
    ----------
    connection : Connection
    loads : sequence of LoadSpan
    came : mapping of int to collection of bytes
        By missing content, the digests of texts added for documents that had it.
    """
    found = dict[int, bytes]()
    for load in loads:
        if any(load.first <= number < load.end for number in came):
            found |= _proven_of(connection, load, came)
    return found


def _proven_of(connection: Connection, load: LoadSpan, came: Mapping[int, Collection[bytes]]) -> dict[int, bytes]:
    """Return all missing contents of a load, or none."""
    digests = dict[int, bytes]()
    for start in range(load.first, load.end, _AT_A_TIME):
        is_in = (contents.c.content >= start) & (contents.c.content < min(start + _AT_A_TIME, load.end))
        for number, digest in connection.execute(select(contents.c.content, contents.c.digest).where(is_in)):
            digests[number] = digest if isinstance(digest, bytes) else b""
    missing = [number for number in range(load.first, load.end) if number not in digests]
    if any(number not in came for number in missing):
        return {}
    for chosen in islice(product(*(sorted(came[number]) for number in missing)), _MAX_TRIED):
        digests |= dict(zip(missing, chosen))
        joined = b"".join([digests[number] for number in range(load.first, load.end)])
        if hashlib.sha256(joined).digest() == load.digest:
            return dict(zip(missing, chosen))
    return {}


def put_back(
    connection: Connection,
    store: Store,
    counting: TextCounting,
    number: int,
    content: tuple[Any, ...],
    profile: Profile,
) -> None:
    """Store a text under its former number, with all data derived from it.

    Parameters
    ----------
    connection : Connection
        In a write transaction.
    store : Store
    counting : TextCounting
    number : int
    content, profile : tuples
        Rows made by `incoming.examine` from the added text.
    """
    insert_rows(connection, contents, [[value] for value in (number, *content)])
    restore_derived(connection, store, counting, number, content, profile)
    store.raise_generation(connection)  # the index may have been built without it
