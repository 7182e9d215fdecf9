"""Which texts the store has: a digest alone proves nothing, the stored bytes are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select, update

from nearkin.collection import stored_keys
from nearkin.collection.contents import digest_of, text_of
from nearkin.collection.counting import TextCounting
from nearkin.collection.profiles import Profile
from nearkin.store import schema
from nearkin.store.bulk import insert_rows, named
from nearkin.store.store import Store

CONTENT_COLUMNS = tuple(column.name for column in schema.contents.columns)[1:]
"""Of a content, without its number."""
_OF_SEGMENTS = ("is_counted", "counts", "signature")


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """Of some digests those that the store has.

    Parameters
    ----------
    whole : set of bytes
        The stored text is the one that the digest is of.
    damaged : set of bytes
        It is not: the text counts as absent.
    """

    whole: set[bytes] = field(default_factory=set)
    damaged: set[bytes] = field(default_factory=set)


Known = Callable[[Sequence[bytes]], KnownTexts]


def known_texts(connection: Connection, digests: Sequence[bytes]) -> KnownTexts:
    """Look the digests up, and compare each with the text that is stored under it."""
    contents, known = schema.contents.c, KnownTexts()
    for some in named(digests):
        for digest, text in connection.execute(select(contents.digest, contents.text).where(contents.digest.in_(some))):
            (known.whole if digest_of(text) == digest else known.damaged).add(bytes(digest))
    return known


def numbers_of(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    """The contents that have these digests, whole or damaged."""
    contents, found = schema.contents.c, dict[bytes, int]()
    for some in named(digests):
        rows = connection.execute(select(contents.digest, contents.content).where(contents.digest.in_(some)))
        found |= {bytes(digest): content for digest, content in rows}
    return found


def with_lost_digests(connection: Connection, wanted: dict[int, set[bytes]]) -> dict[bytes, int]:
    """Contents whose text is one that is wanted, but whose digest is damaged; it is mended.

    Parameters
    ----------
    connection : Connection
        In a transaction that writes.
    wanted : dict of int to set of bytes
        By content the digests, none of them stored, of what came for a document that has the content.
    """
    contents, found = schema.contents.c, dict[bytes, int]()
    for some in named(list(wanted)):
        rows = connection.execute(
            select(contents.content, contents.digest, contents.text).where(contents.content.in_(some))
        )
        for number, stored, text in rows.all():
            digest = digest_of(text)
            if digest != stored and digest in wanted[number]:
                connection.execute(update(schema.contents).where(contents.content == number).values(digest=digest))
                found[digest] = number
    return found


def repair(
    connection: Connection,
    store: Store,
    counting: TextCounting,
    number: int,
    content: tuple[Any, ...],
    profile: Profile,
) -> None:
    """Put the text that came in the place of a damaged one, and make all that is derived from it again.

    Parameters
    ----------
    connection : Connection
        In a transaction that writes.
    store : Store
    counting : TextCounting
    number : int
    content, profile : tuples
        As `incoming.examine` made them of the text that came.
    """
    contents, profiles = schema.contents, schema.profiles
    right = dict(zip(CONTENT_COLUMNS, content, strict=True))
    is_it = contents.c.content == number
    was = connection.execute(select(*(contents.c[name] for name in _OF_SEGMENTS)).where(is_it)).one()
    connection.execute(update(contents).where(is_it).values(**right))
    connection.execute(profiles.delete().where(profiles.c.content == number))
    insert_rows(connection, profiles, [[value] for value in (number, *profile)])
    stored_keys.restore(connection, store, counting, number, text_of(number, right["text"], right["digest"]))
    if tuple(was) != tuple(right[name] for name in _OF_SEGMENTS):
        store.raise_generation(connection)
