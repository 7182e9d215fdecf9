"""Reach of the stored keys of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from nearkin.collection.stored.keys import FINGERPRINT
from nearkin.store import schema
from nearkin.store.integrity import number_after_last
from nearkin.store.store import Store

END, METHOD, LOST = "check_keys_end", "check_keys", "check_keys_lost"
FACTS = (END, METHOD, LOST)


@dataclass(frozen=True, slots=True)
class KeysState:
    """Reach of the stored keys.

    Parameters
    ----------
    end : int or None
        The contents below have stored keys of today's method; None: it is not known.
    n_contents : int
        Number of contents.
    lost : tuple of int
        Contents that have no stored keys because their texts are damaged.
    """

    end: int | None
    n_contents: int
    lost: tuple[int, ...]

    @property
    def first_missing(self) -> int | None:
        """First content without stored keys, if any; 0: the stored keys are unusable."""
        return (self.end or 0) if (self.end or 0) < self.n_contents else None

    @classmethod
    def of(cls, facts: Mapping[str, str], last: int | None) -> KeysState:
        """Read the state from the facts, and the number of the last content.

        Examples
        --------
        >>> KeysState.of({METHOD: FINGERPRINT, END: "7", LOST: "3,5"}, 9)
        KeysState(end=7, n_contents=10, lost=(3, 5))
        """
        n_contents = 0 if last is None else int(last) + 1
        end = facts.get(END, "")
        is_number = end.isascii() and end.isdecimal() and len(end) < 19
        is_known = facts.get(METHOD) == FINGERPRINT and is_number and int(end) <= n_contents
        lost = tuple(int(one) for one in facts.get(LOST, "").split(",") if one)
        return cls(int(end) if is_known else None, n_contents, lost)


def keys_state(connection: Connection, store: Store) -> KeysState:
    """Return the reach of the stored keys in a snapshot or transaction."""
    n_contents = number_after_last(connection, schema.contents.c.content)
    return KeysState.of(store.facts_now(connection, FACTS), n_contents - 1)
