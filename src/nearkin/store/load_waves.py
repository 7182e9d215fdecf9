"""Waves of loads. If the row of a load was changed, the seal of a wave shows to which wave its documents belong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection, select

from nearkin.store.bulk import in_slices
from nearkin.store.checksums import checksum, covered, key_place, wrapped
from nearkin.store.schema import documents, loads, waves
from nearkin.store.seals import Part, Seal, documents_of, read_seals

_KEY, _WAVE = key_place(loads), covered(loads).index("wave")


def waves_of_loads(connection: Connection, wanted: Iterable[int]) -> dict[int, int]:
    """Return the waves of some loads; of loads whose rows were changed only those that a seal shows."""
    found, changed = _waves(connection, wanted)
    if not changed:
        return found
    proven, changed = _waves(connection, None)
    parts, of_changed = dict[int, Part](), {load: Part() for load in changed}
    for load, own in connection.execute(select(documents.c.load, documents.c.checksum)):
        part = of_changed[load] if load in changed else parts.setdefault(proven.get(load, -1), Part())
        part.take(own if isinstance(own, int) else 0)
    numbers = list(connection.execute(select(waves.c.wave)).scalars())
    seals = read_seals(connection, [documents_of(wave) for wave in numbers])
    return found | waves_by_seals(of_changed, parts, numbers, seals)


def waves_by_seals(
    of_loads: Mapping[int, Part], parts: Mapping[int, Part], waves: Collection[int], seals: Mapping[str, Seal]
) -> dict[int, int]:
    """Return the wave of each load whose documents complete the seal of exactly one wave.

    Parameters
    ----------
    of_loads : dict of int to Part
        Documents of the loads in question.
    parts : dict of int to Part
        Documents of all other loads, by wave.
    waves : collection of int
    seals : dict of str to Seal

    Examples
    --------
    >>> seals = {documents_of(1): Seal(1, 10, True), documents_of(2): Seal(2, 25, True)}
    >>> waves_by_seals({7: Part(1, 5)}, {1: Part(1, 10), 2: Part(1, 20)}, [1, 2], seals)
    {7: 2}
    """
    found = dict[int, int]()
    for load, own in of_loads.items():
        fitting = [wave for wave in waves if _completes(own, parts.get(wave, Part()), seals.get(documents_of(wave)))]
        if own.n_rows and len(fitting) == 1:
            found[load] = fitting[0]
    return found


def _completes(own: Part, others: Part, seal: Seal | None) -> bool:
    if seal is None or not seal.is_whole:
        return False
    return (own.n_rows + others.n_rows, wrapped(own.total + others.total)) == (seal.n_rows, seal.total)


def _waves(connection: Connection, wanted: Iterable[int] | None) -> tuple[dict[int, int], set[int]]:
    """Return the waves of loads, of some or of all, and the loads whose rows were changed."""
    query = select(*(loads.c[name] for name in covered(loads)), loads.c.checksum)
    some = (
        [query] if wanted is None else [query.where(loads.c.load.in_(part)) for part in in_slices(sorted(set(wanted)))]
    )
    found, changed = dict[int, int](), set[int]()
    for one in some:
        for *values, stored in connection.execute(one):
            if checksum(values, values[_KEY]) == stored:
                found[values[_KEY]] = values[_WAVE]
            else:
                changed.add(values[_KEY])
    return found, changed
