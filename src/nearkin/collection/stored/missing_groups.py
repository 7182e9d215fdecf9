"""Messages about groups that do not exist: none is stored at the tolerance, or none has the number."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from nearkin.collection.tolerance import Tolerance, described
from nearkin.nouns import agreeing
from nearkin.store.schema import groupings


def no_group_text(tolerance: str, group: int) -> str:
    """Say that no group at a stored tolerance has a number.

    Examples
    --------
    >>> no_group_text(str(Tolerance.of(gamma=0.1)), 99)
    'There is no group 99 within gamma 0.1. List the groups: nearkin groups COLLECTION --gamma 0.1'
    """
    alike, command = _asked(tolerance)
    return f"There is no group {group} {alike}. List the groups: {command}"


def no_groups_text(connection: Connection, tolerance: str) -> str:
    """Say that no groups are stored at a tolerance, and with which options the stored ones are found.

    If documents are never grouped by its measure, say so: no command could compute these groups.
    """
    if (asked := Tolerance.of_stored(tolerance)) is not None and not asked.has_groups:
        return f"Groups cannot use {asked.measure}. Use words or letters."
    alike, command = _asked(tolerance)
    stored = _stored_tolerances(connection)
    if not stored:
        return f"There are no groups {alike} yet. Compute them: {command}"
    options = stored_options(connection)
    at = " and ".join(options.get(one) or described(one) for one in stored)
    give = f": use {agreeing(len(options), 'this option', 'one of these options')}" if options else ""
    return f"There are no groups {alike} yet. Your groups are stored at {at}{give}. For groups {alike}: {command}"


def stored_options(connection: Connection) -> dict[str, str]:
    """Return the option that chooses the stored groups, by their tolerance; without tolerances that no option chooses.

    The option of a default tolerance is returned, too.
    """
    return {one: option for one in _stored_tolerances(connection) if (option := _option(one))}


def _stored_tolerances(connection: Connection) -> Sequence[str]:
    return connection.execute(select(groupings.c.tolerance).order_by(groupings.c.tolerance)).scalars().all()


def _asked(tolerance: str) -> tuple[str, str]:
    """Return the tolerance in words, and the command that computes its groups."""
    at = Tolerance.of_stored(tolerance)
    alike = f"at {described(tolerance)}" if at is None else at.in_words()
    return alike, f"nearkin groups COLLECTION{'' if at is None else at.of_groups()}"


def _option(tolerance: str) -> str | None:
    """Return the option that chooses the groups of a tolerance; None if there is none."""
    at = Tolerance.of_stored(tolerance)
    return None if at is None or at.parameter not in ("threshold", "gamma") else f"--{tolerance.partition(', ')[2]}"
