"""Lookup of stored texts by digest; the stored bytes are compared too, since a digest alone proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.stored.contents import digest_of, text_of
from nearkin.collection.stored.profiles import Profile
from nearkin.collection.stored.purged import purged_digests
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_rows
from nearkin.store.store import Store

CONTENT_COLUMNS = tuple(column.name for column in schema.contents.columns)[1:]
"""Row of a content, without its number."""
_OF_SEGMENTS = ("is_counted", "counts", "signature")


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """Digests that the store has.

    Parameters
    ----------
    whole : set of bytes
        The stored text matches its digest.
    damaged : set of bytes
        It does not: the text counts as absent.
    purged : set of bytes
        The text was erased by a decision, and is not stored again.
    """

    whole: set[bytes] = field(default_factory=set)
    damaged: set[bytes] = field(default_factory=set)
    purged: set[bytes] = field(default_factory=set)


Known = Callable[[Sequence[bytes]], KnownTexts]


def known_texts(connection: Connection, digests: Sequence[bytes]) -> KnownTexts:
    """Look up digests, and compare each with the text stored under it."""
    contents, known = schema.contents.c, KnownTexts(purged=purged_digests(connection, digests))
    for some in in_slices([digest for digest in digests if digest not in known.purged]):
        for digest, text in connection.execute(select(contents.digest, contents.text).where(contents.digest.in_(some))):
            (known.whole if digest_of(text) == digest else known.damaged).add(bytes(digest))
    return known


def numbers_of(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    """Return the contents with these digests, whether damaged or not."""
    contents, found = schema.contents.c, dict[bytes, int]()
    for some in in_slices(digests):
        rows = connection.execute(select(contents.digest, contents.content).where(contents.digest.in_(some)))
        found |= {bytes(digest): content for digest, content in rows}
    return found


def repair(
    connection: Connection,
    store: Store,
    counting: TextCounting,
    number: int,
    content: tuple[Any, ...],
    profile: Profile,
) -> None:
    """Replace a damaged text by the added one, with everything that is derived from it.

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
    from nearkin.collection.stored import key_table, shingle_table

    contents, profiles = schema.contents, schema.profiles
    right = dict(zip(CONTENT_COLUMNS, content, strict=True))
    is_it = contents.c.content == number
    was = connection.execute(select(*(contents.c[name] for name in _OF_SEGMENTS)).where(is_it)).one()
    connection.execute(update(contents).where(is_it).values(**right))
    connection.execute(profiles.delete().where(profiles.c.content == number))
    insert_rows(connection, profiles, [[value] for value in (number, *profile)])
    text = text_of(number, right["text"], right["digest"])
    key_table.restore(connection, store, counting, number, text)
    shingle_table.restore(connection, store, counting, number, text)
    if tuple(was) != tuple(right[name] for name in _OF_SEGMENTS):
        store.raise_generation(connection)
