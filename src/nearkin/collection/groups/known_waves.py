"""Waves at whose end the stored groups are known: changes are reported only since these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from nearkin.collection.stored.group_state import grouped_loads, no_groups_text, stored_options
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import quoted
from nearkin.nouns import agreeing, first_of
from nearkin.store.schema import loads, waves

N_NAMED = 10
"""Maximum number of waves that a message names."""


@dataclass(frozen=True, slots=True)
class LoadsOfWave:
    """Loads of a wave, in order, and the first load of the next wave; None if no wave came later."""

    loads: tuple[int, ...]
    next_wave: int | None

    @property
    def end(self) -> int:
        """Last load of the wave before the next wave: what was added to it later does not move its end."""
        return max(one for one in self.loads if self.next_wave is None or one < self.next_wave)

    def grouped(self, grouped: set[int]) -> int | None:
        """Return the load after which the groups at the end of the wave were computed; None if they were not."""
        between = [one for one in grouped if self.end <= one and (self.next_wave is None or one < self.next_wave)]
        return min(between, default=None)


def known_waves(connection: Connection, tolerance: Tolerance) -> list[str]:
    """Return the waves at whose end the groups at a tolerance are known, in order."""
    return _usable(loads_of_waves(connection), grouped_loads(connection, str(tolerance)))


def loads_of_waves(connection: Connection) -> dict[str, LoadsOfWave]:
    """Return the loads of the waves, in the order of the waves' first loads."""
    found = dict[str, list[int]]()
    of_waves = select(waves.c.name, loads.c.load).select_from(waves.join(loads)).order_by(loads.c.load)
    for name, load in connection.execute(of_waves):
        found.setdefault(name, []).append(int(load))
    firsts = [of_wave[0] for of_wave in found.values()]
    return {
        name: LoadsOfWave(tuple(of_wave), following)
        for (name, of_wave), following in zip(found.items(), [*firsts[1:], None], strict=True)
    }


def no_groups_since_text(
    connection: Connection, wave: str, of_waves: Mapping[str, LoadsOfWave], tolerance: Tolerance
) -> str:
    """Say that no groups are stored at a tolerance, and at which ones the changes since the wave are known.

    Groups that are computed now are too late for a wave that is not the last.
    """
    missing = no_groups_text(connection, str(tolerance))
    if of_waves[wave].next_wave is None or not tolerance.has_groups:
        return missing
    late = f"Groups computed now would include the waves after {quoted(wave)}"
    if known := _known_elsewhere(connection, wave, of_waves):
        none = f"There are no groups {tolerance.in_words()} yet."
        return f"{none} {late}, and could not show what has changed since that wave. {known}"
    return f"{late}: changes since that wave stay unknown. {missing}"


def not_known_text(
    connection: Connection, wave: str, of_waves: Mapping[str, LoadsOfWave], grouped: set[int], tolerance: Tolerance
) -> str:
    """Say why the stored groups at the end of a wave are not known, and name the waves of which they are."""
    if of_waves[wave].end > max(grouped):
        return (
            f"The groups {tolerance.in_words()} were not updated since wave {quoted(wave)} was added. Update them: "
            f"nearkin groups COLLECTION{tolerance.of_groups()}"
        )
    usable = _usable(of_waves, grouped)
    asked = first_of(list(map(repr, usable)), N_NAMED, len(usable)) if usable else "none yet"
    known = _known_elsewhere(connection, wave, of_waves)
    return (
        f"The groups {tolerance.in_words()} at the end of wave {quoted(wave)} are not known: no groups "
        "were computed after the last documents of the wave were added and before the next wave began. Known at the "
        f"end of: {asked}" + f". {known}" * bool(known)
    )


def _known_elsewhere(connection: Connection, wave: str, of_waves: Mapping[str, LoadsOfWave]) -> str:
    """Name the options with which the changes since a wave are known; empty if there are none."""
    options = [
        option
        for stored, option in stored_options(connection).items()
        if of_waves[wave].grouped(grouped_loads(connection, stored)) is not None
    ]
    if not options:
        return ""
    use = agreeing(len(options), "this option", "one of these options")
    return f"Changes since wave {quoted(wave)} are known at {' and '.join(options)}: use {use}."


def _usable(of_waves: Mapping[str, LoadsOfWave], grouped: set[int]) -> list[str]:
    return [name for name, one in of_waves.items() if one.grouped(grouped) is not None]
