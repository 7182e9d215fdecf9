"""Facts about a collection, as key-value pairs, each with its checksum."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select

from nearkin.store.bulk import insert_rows
from nearkin.store.checksums import checksum, judged
from nearkin.store.damage import unrepairable
from nearkin.store.schema import facts
from nearkin.store.seals import Seals

DERIVED = {
    *("check_keys", "check_keys_end", "check_keys_lost"),
    *("shingles", "shingles_end", "shingles_lost"),
    *("search_words", "search_words_end", "search_words_lost"),
    "relations",
}
"""Facts that can be recomputed if they are missing."""
# made once: every transaction reads a few facts, and a statement takes longer to make than to run
_ALL = select(facts)
_SOME = select(facts).where(facts.c.name.in_(bindparam("names", expanding=True)))
_OWN_ID = re.compile("[0-9a-f]{32}")
_IN_EACH = {"schema", "collection", "generation"}
"""Facts of every collection."""
_IN_WORDS = {"collection": "collection id", "schema": "schema version"}


def write_facts(connection: Connection, new: Mapping[str, str]) -> None:
    """Store facts about a collection; facts of the same names are replaced."""
    seals = Seals()
    _delete(connection, list(new), seals)
    checksums = [checksum((name, value), name) for name, value in new.items()]
    insert_rows(connection, facts, [list(new), list(new.values()), checksums])
    seals.add(facts.name, checksums)
    seals.write(connection)


def delete_fact(connection: Connection, name: str) -> None:
    """Delete a fact."""
    seals = Seals()
    _delete(connection, [name], seals)
    seals.write(connection)


def _delete(connection: Connection, names: Sequence[str], seals: Seals) -> None:
    was = connection.execute(select(facts.c.checksum).where(facts.c.name.in_(names))).scalars().all()
    connection.execute(facts.delete().where(facts.c.name.in_(names)))
    seals.take(facts.name, was)


def read_facts(connection: Connection, place: object, names: Sequence[str] | None = None) -> dict[str, str]:
    """Return all facts, or those with the given names; one changed byte is corrected.

    Raises
    ------
    CollectionError
        A fact was changed, and cannot be recomputed.
    """
    rows = connection.execute(_ALL) if names is None else connection.execute(_SOME, {"names": list(names)})
    return believed(rows, place)


def whole_facts(connection: Connection, place: object) -> dict[str, str]:
    """Return the facts of a collection.

    Raises
    ------
    CollectionError
        One that every collection has is missing, or invalid.
    """
    found = read_facts(connection, place)
    if missing := _IN_EACH - set(found):
        raise unrepairable(f"it has no {', '.join(sorted(missing))}", place)
    if not _OWN_ID.fullmatch(found["collection"]):  # it becomes the name of a folder
        raise unrepairable(f"its id is {found['collection'][:50]!r}", place)
    generation_in(found["generation"], place)
    return found


def generation_in(found: str | None, place: object) -> int:
    """Return the generation that a fact has; see `Store.generation`."""
    if found is None or not found.isdecimal():
        raise unrepairable(f"its generation is {found!r}", place)
    return int(found)


def believed(rows: Iterable[Any], place: object) -> dict[str, str]:
    """Return the facts of rows of names, values and checksums; see `read_facts`."""
    told = dict[str, str]()
    for name, value, stored in rows:
        row = judged((name, value), 0, stored)
        if row.is_known:
            told[row.values[0]] = row.values[1]
        elif name not in DERIVED:
            what = _IN_WORDS.get(name, name)
            raise unrepairable(f"it has {value!r} as its {what}", place)
    return told
