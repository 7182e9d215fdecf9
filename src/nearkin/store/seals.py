"""Seals: the number of rows of each part of a store, and the sum of their checksums. Missing rows break them.

A seal is written in the transaction that writes the rows; only one such transaction runs at a time. The sum does not
depend on the order of the rows, so a transaction's rows are added or subtracted without reading the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from nearkin.nouns import counted
from nearkin.store import schema
from nearkin.store.bulk import insert_rows
from nearkin.store.checksums import CHECKED, checksum, wrapped

PARTS = (*(table.name for table in CHECKED if table is not schema.documents), schema.groupings.name)
"""Tables that are sealed whole; documents are sealed wave by wave."""


def documents_of(wave: int) -> str:
    """Return the name of the part with the documents of a wave."""
    return f"documents of wave {wave}"


# made once: every transaction reads a few seals, and a statement takes longer to make than to run
_ALL = select(schema.seals)
_SOME = select(schema.seals).where(schema.seals.c.part.in_(bindparam("parts", expanding=True)))


@dataclass(frozen=True, slots=True)
class Seal:
    """State of a part when it was last written.

    Parameters
    ----------
    n_rows : int
    total : int
        Sum of the checksums of its rows, a signed 64-bit integer.
    is_whole : bool
        False: the seal itself was changed, and proves nothing.
    """

    n_rows: int
    total: int
    is_whole: bool


@dataclass(slots=True)
class Part:
    """Number of rows of a part, and the sum of their checksums."""

    n_rows: int = 0
    total: int = 0

    def take(self, own: int) -> None:
        """Count a row, with the checksum that it should have."""
        self.n_rows, self.total = self.n_rows + 1, self.total + own

    def add(self, other: Part) -> None:
        """Count the rows of another part."""
        self.n_rows, self.total = self.n_rows + other.n_rows, self.total + other.total


def difference_in_number(name: str, n_rows: int, seal: Seal | None) -> str | None:
    """Return how the number of rows of a part differs from its seal, or None; ``name`` is its name in a sentence."""
    if seal is None or not seal.is_whole:
        return f"the seal of the {name} is {'missing' if seal is None else 'damaged'}: rows may be missing"
    if n_rows < seal.n_rows:
        return f"{name}: {seal.n_rows - n_rows:,} of {counted(seal.n_rows, 'row')} missing"
    if n_rows > seal.n_rows:
        return f"{name}: {counted(n_rows - seal.n_rows, 'more row')} than stored"
    return None


class Seals:
    """Changes of seals in one transaction.

    Examples
    --------
    >>> changes = Seals()
    >>> changes.add("waves", [5])
    >>> changes.take("waves", [3])
    >>> changes.of("waves")
    (0, 2)
    """

    def __init__(self) -> None:
        self._changes = dict[str, tuple[int, int]]()

    def add(self, part: str, checksums: Iterable[int]) -> None:
        """Add new rows of a part."""
        self._change(part, 1, list(checksums))

    def take(self, part: str, checksums: Iterable[int | None]) -> None:
        """Remove rows of a part; a row without a checksum was not in the seal's sum."""
        # SQLite stores any type in any column
        self._change(part, -1, [one for one in checksums if isinstance(one, int)])

    def of(self, part: str) -> tuple[int, int]:
        """Return the changes in the number of rows and in the sum."""
        return self._changes.get(part, (0, 0))

    def _change(self, part: str, sign: int, checksums: list[int]) -> None:
        n_rows, total = self.of(part)
        self._changes[part] = n_rows + sign * len(checksums), total + sign * sum(checksums)

    def write(self, connection: Connection) -> None:
        """Bring the seals up to date, in the transaction that wrote the rows."""
        before = read_seals(connection, list(self._changes))
        now = dict[str, Seal]()
        for part, (n_rows, total) in self._changes.items():
            was = before.get(part, Seal(0, 0, True))
            # a damaged seal stays damaged until nearkin fsck has reported it
            now[part] = Seal(was.n_rows + n_rows, wrapped(was.total + total), was.is_whole)
        write_seals(connection, now)
        self._changes.clear()


def read_seals(connection: Connection, parts: Iterable[str] | None = None) -> dict[str, Seal]:
    """Return the seals of some parts, or of all; a part that was never written has none."""
    rows = connection.execute(_ALL) if parts is None else connection.execute(_SOME, {"parts": list(parts)})
    found = dict[str, Seal]()
    for part, n_rows, total, stored in rows:
        is_whole = stored == checksum((part, n_rows, total), part)
        usable = isinstance(n_rows, int) and isinstance(total, int)  # SQLite stores any type in any column
        found[part] = Seal(n_rows, total, is_whole) if usable else Seal(0, 0, False)
    return found


def write_seals(connection: Connection, seals: Mapping[str, Seal]) -> None:
    """Replace the seals of these parts."""
    connection.execute(schema.seals.delete().where(schema.seals.c.part.in_(list(seals))))
    rows = [
        (part, seal.n_rows, seal.total, checksum((part, seal.n_rows, seal.total), part) if seal.is_whole else None)
        for part, seal in seals.items()
    ]
    insert_rows(connection, schema.seals, list(zip(*rows, strict=True)))
