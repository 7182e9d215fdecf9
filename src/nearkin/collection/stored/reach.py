"""Reach of data derived from the stored texts: keys, sets of word 5-grams, words.

Three facts belong to each kind of derived data: the method that made it, the content up to which it is stored, and the
contents below that have none, because their stored texts are damaged. What is not stored yet is derived when needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from nearkin.store import schema
from nearkin.store.bulk import number_after_last
from nearkin.store.store import Store


@dataclass(frozen=True, slots=True)
class Reach:
    """Part of the stored texts from which data is derived and stored.

    Parameters
    ----------
    end : int or None
        The contents below have stored data of today's method; None: it is not known, so what is stored is unusable.
    n_contents : int
        One more than the highest number of a content.
    lost : tuple of int
        Contents below ``end`` without stored data, because their texts are damaged.
    """

    end: int | None
    n_contents: int
    lost: tuple[int, ...]

    @property
    def first_without(self) -> int:
        """First content beyond the reach, which is `n_contents` if there is none; 0 if what is stored is unusable."""
        return self.end or 0

    @property
    def is_whole(self) -> bool:
        """Whether every content has usable stored data."""
        return self.end is not None and self.end >= self.n_contents

    @property
    def first_missing(self) -> int | None:
        """First content beyond the reach; None if there is none."""
        return self.first_without if self.first_without < self.n_contents else None


@dataclass(frozen=True, slots=True)
class DerivedData:
    """Kind of data derived from the texts.

    Parameters
    ----------
    method : str
        Name of the fact with the fingerprint of the method; the names of the other facts begin with it.
    fingerprint : str
        Fingerprint of today's method.
    """

    method: str
    fingerprint: str

    @property
    def end(self) -> str:
        """Name of the fact with the content up to which data is stored."""
        return f"{self.method}_end"

    @property
    def lost(self) -> str:
        """Name of the fact with the contents without data."""
        return f"{self.method}_lost"

    @property
    def facts(self) -> tuple[str, str, str]:
        """Names of all facts."""
        return self.method, self.end, self.lost

    def reach(self, connection: Connection, store: Store) -> Reach:
        """Return the reach in a snapshot or transaction."""
        last = number_after_last(connection, schema.contents.c.content) - 1
        return self.reach_of(store.facts_now(connection, self.facts), last)

    def reach_of(self, facts: Mapping[str, str], last: int | None) -> Reach:
        """Read the reach from the facts, and the number of the last content; None and -1 if there is none.

        Examples
        --------
        >>> keys = DerivedData("check_keys", "words:5")
        >>> keys.reach_of({"check_keys": "words:5", "check_keys_end": "7", "check_keys_lost": "3,5"}, 9)
        Reach(end=7, n_contents=10, lost=(3, 5))
        >>> keys.reach_of({"check_keys": "words:3", "check_keys_end": "7"}, 9)
        Reach(end=None, n_contents=10, lost=())
        """
        n_contents = 0 if last is None else last + 1
        numbers = [facts.get(self.end, ""), *(one for one in facts.get(self.lost, "").split(",") if one)]
        are_numbers = all(one.isascii() and one.isdecimal() and len(one) < 19 for one in numbers)
        if facts.get(self.method) != self.fingerprint or not are_numbers or int(numbers[0]) > n_contents:
            return Reach(None, n_contents, ())
        return Reach(int(numbers[0]), n_contents, tuple(map(int, numbers[1:])))

    def write(self, connection: Connection, store: Store, end: int, lost: Iterable[int]) -> None:
        """Store the reach of data made by today's method, in a write transaction."""
        facts = {self.method: self.fingerprint, self.end: str(end), self.lost: ",".join(map(str, lost))}
        store.write_facts(connection, facts)
