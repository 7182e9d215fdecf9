"""A checksum for each row of the tables that cannot be rebuilt; it also locates and corrects one changed byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from zlib import crc32

from sqlalchemy import Table

from nearkin.store import schema

CHECKED: tuple[Table, ...] = (
    *(schema.facts, schema.waves, schema.loads, schema.documents, schema.problems),
    *(schema.activity, schema.changes, schema.tags, schema.decisions, schema.purges, schema.origins),
)
"""Tables whose rows are checked one by one; `schema.groupings` is checked together with its groups and members."""
NOT_COVERED = {"checksum", "is_current"}
"""``is_current`` follows from ``version`` and ``removed_at``, and changes with every new version."""
_KEYS = {"facts": "name", "waves": "name", "documents": "doc_id", "origins": "doc_id"}
_BODY_BYTES = 6
_SEPARATOR, _NULL, _TEXT, _TEXT_IN_HEX, _BYTES = "\0", "", "'", "~", "x"
"""Separator of written values. Different rows are written differently: no value contains the separator, and each begins
with its kind. Integers begin with a digit or a minus sign."""
Values = Sequence[Any]


def covered(table: Table) -> list[str]:
    """Return the columns covered by a row's checksum, in order."""
    return [column.name for column in table.columns if column.name not in NOT_COVERED]


def key_place(table: Table) -> int:
    """Position, among the covered columns, of the key in the first 16 bits of a checksum."""
    names = covered(table)
    return names.index(_KEYS.get(table.name, names[0]))


def checksum(values: Values, key: object) -> int:
    r"""Return the checksum of a row: 16 bits of its key, then 48 bits of all values; a signed 64-bit integer.

    Parameters
    ----------
    values : sequence
        Values of the covered columns, in order.
    key : object
        One of the values. A row with a damaged key is still found by these bits.

    Examples
    --------
    >>> checksum((1, "march"), "march") == checksum((1, "march"), "march")
    True
    >>> checksum((1, "march"), "march") == checksum((1, "March"), "March")
    False
    >>> len({checksum((1, value), 1) for value in (None, "", "\1", "\0", "None", b"", 0, "0")})
    8
    """
    parts = [
        # most values are integers and texts: a call for each would take longer than the rest
        str(value) if type(value) is int else _written(value)
        for value in values
    ]
    written = _SEPARATOR.join(parts).encode("utf-8", "surrogatepass")
    body = blake2b(written, digest_size=_BODY_BYTES).digest()
    return (key_bits(key) << 48) | int.from_bytes(body, "big")


def checksum_with(values: Values, place: int, key: object) -> Callable[[object], int]:
    """Return the checksum of a row as a function of one of its values, which is not the key.

    Examples
    --------
    >>> with_version = checksum_with((1, "march", 2), 2, "march")
    >>> with_version(3) == checksum((1, "march", 3), "march")
    True
    """
    before, after = (
        _SEPARATOR.join(map(_written, some)).encode("utf-8", "surrogatepass")
        for some in ([*values[:place], None], [None, *values[place + 1 :]])
    )
    begun, of_key = blake2b(before, digest_size=_BODY_BYTES), key_bits(key) << 48

    def checksum_of(value: object) -> int:
        whole = begun.copy()
        whole.update(_written(value).encode("utf-8", "surrogatepass") + after)
        return of_key | int.from_bytes(whole.digest(), "big")

    return checksum_of


def key_bits(key: object) -> int:
    """Return the first 16 bits of the checksum of a row with this key, -32768 to 32767; equals ``checksum >> 48``."""
    bits = crc32(_written(key).encode("utf-8", "surrogatepass")) & 0xFFFF
    return bits - (1 << 16) if bits >> 15 else bits


def _written(value: object) -> str:
    if isinstance(value, str):
        if _SEPARATOR in value:  # Nearkin stores none; SQLite would hold it
            return _TEXT_IN_HEX + value.encode("utf-8", "surrogatepass").hex()
        return _TEXT + value
    if value is None:
        return _NULL
    if isinstance(value, bytes | memoryview):
        return _BYTES + bytes(value).hex()
    return str(value)


def wrapped(total: int) -> int:
    """Wrap a sum of checksums to a signed 64-bit integer.

    Examples
    --------
    >>> wrapped(2**63), wrapped(-1)
    (-9223372036854775808, -1)
    """
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A row in the store, and what its checksum shows.

    Parameters
    ----------
    values : tuple
        Values of the covered columns: as they were written if that is known, else as they are now.
    checksum : int
        Checksum of these values.
    is_as_stored : bool
        The row is unchanged.
    is_known : bool
        False: the row was changed, and its original values are unknown.
    """

    values: tuple[Any, ...]
    checksum: int
    is_as_stored: bool
    is_known: bool


def judged(values: Values, place_of_key: int, stored: int | None) -> JudgedRow:
    """Compare a row with its stored checksum.

    Parameters
    ----------
    values : sequence
        Values now in the store.
    place_of_key : int
    stored : int or None

    Examples
    --------
    >>> row = (1, "march")
    >>> judged((1, "mbrch"), 1, checksum(row, "march")).values
    (1, 'march')
    >>> judged((1, "april"), 1, checksum(row, "march")).is_known
    False
    """
    now = checksum(values, values[place_of_key])
    if now == stored:
        return JudgedRow(tuple(values), now, True, True)
    changed = (now ^ stored) % (1 << 64) if isinstance(stored, int) else 0
    if changed and changed >> (changed.bit_length() - 1 & ~7) << (changed.bit_length() - 1 & ~7) == changed:
        return JudgedRow(
            tuple(values), now, False, True
        )  # one byte of the checksum itself changed; a changed row would change them all
    right = corrected(values, place_of_key, stored)
    if right is None:
        return JudgedRow(tuple(values), now, False, False)
    return JudgedRow(right, checksum(right, right[place_of_key]), False, True)


def corrected(values: Values, place_of_key: int, stored: int | None) -> tuple[Any, ...] | None:
    """Return the row that matches the stored checksum if one byte of one value was changed; else None.

    Parameters
    ----------
    values : sequence
        Values now in the store.
    place_of_key : int
    stored : int or None
        The checksum stored with them.

    Examples
    --------
    >>> whole = (1, "march")
    >>> corrected((1, "mbrch"), 1, checksum(whole, whole[1]))
    (1, 'march')
    >>> corrected((1, "april"), 1, checksum(whole, whole[1])) is None
    True
    """
    if not isinstance(stored, int) or not -(1 << 63) <= stored < 1 << 63:
        return None
    bits, whole = stored >> 48, list(values)
    for place, value in enumerate(values):
        if place != place_of_key and key_bits(values[place_of_key]) != bits:
            continue  # only the key was changed
        checksum_of = checksum_with(values, place, values[place_of_key])
        for candidate in _with_one_byte_changed(value):
            whole[place] = candidate
            if place == place_of_key:  # the cheaper test first
                is_it = key_bits(candidate) == bits and checksum(whole, candidate) == stored
            else:
                is_it = checksum_of(candidate) == stored
            if is_it:
                return tuple(whole)
        whole[place] = value
    return None


def _with_one_byte_changed(value: object) -> Iterator[object]:
    if isinstance(value, int):
        for place in range(8):
            for change in range(1, 256):
                yield wrapped((value % (1 << 64)) ^ (change << (8 * place)))
        return
    if not isinstance(value, str | bytes):
        return
    # bytes that are no longer UTF-8 were read as surrogates: see `integrity`
    data = bytearray(value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value)
    for place, byte in enumerate(data):
        for other in range(256):
            if other != byte:
                data[place] = other
                if isinstance(value, bytes):
                    yield bytes(data)
                elif (text := _decoded(data)) is not None:
                    yield text
        data[place] = byte


def _decoded(data: bytearray) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
