"""Published statements beside our measurements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from labs.tables import Cell, Table


@dataclass(frozen=True, slots=True)
class Claim:
    """A published statement, its number, ours, and whether it holds here; None: it cannot be decided here."""

    statement: str
    published: str
    here: str
    holds: bool | None


def claims_table(claims: Iterable[Claim]) -> Table:
    """Return the statements, one per row."""
    rows = tuple((one.statement, one.published, one.here, _yes_or_no(one.holds)) for one in claims)
    return Table("claims", ("statement", "published", "here", "holds"), rows)


def _yes_or_no(holds: bool | None) -> Cell:
    return None if holds is None else "yes" if holds else "no"
