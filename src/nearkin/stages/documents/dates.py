"""Dates and times in strings, converted to comparable numbers: microseconds since 1970 in UTC."""

from __future__ import annotations

import re
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

_ISO = (
    r"^\s*(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?:[Tt ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?"
    r" ?(?:(?P<utc>[Zz])|(?P<sign>[+-])(?P<off_hour>\d{2}):?(?P<off_minute>\d{2})?)?)?\s*$"
)
_PATTERN = re.compile(_ISO, re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()
_SECOND = 1_000_000
_MOST = {"hour": 24, "minute": 60, "second": 61, "off_hour": 24, "off_minute": 60}
"""Upper limits of the parts of a time; 60 seconds are a leap second."""


def microseconds_of_strings(values: pa.Array) -> pa.DoubleArray:
    """Parse dates and times in the extended form of ISO 8601; null for other strings.

    A date means its midnight. A time without an offset means UTC. Fractions of a second count to six digits.

    Parameters
    ----------
    values : Array
        Array of strings.

    Returns
    -------
    DoubleArray
        Microseconds since 1970 in UTC; exact between 1685 and 2255.

    Examples
    --------
    >>> said = ["1970-01-02", "1970-01-01T01:00:00.25+01:00", "soon", "1970-02-30"]
    >>> microseconds_of_strings(pa.array(said)).to_pylist()
    [86400000000.0, 250000.0, None, None]
    """
    parts = pc.extract_regex(values.cast(pa.large_string()), _ISO)
    time = {name: _number(parts, name) for name in _MOST}
    days = _days(parts)
    seconds = pc.add(pc.multiply(time["hour"], 3600), pc.add(pc.multiply(time["minute"], 60), time["second"]))
    offset = pc.add(pc.multiply(time["off_hour"], 3600), pc.multiply(time["off_minute"], 60))
    is_west = pc.equal(_part(parts, "sign"), "-")
    seconds = pc.add(seconds, pc.if_else(is_west, offset, pc.negate(offset)))
    fraction = pc.utf8_rpad(pc.utf8_slice_codeunits(_part(parts, "fraction"), 0, 6), 6, "0").cast(pa.int64())
    told = pc.add(pc.multiply(pc.add(pc.multiply(days, 86_400), seconds), _SECOND), fraction)
    for name, most in _MOST.items():
        told = pc.if_else(pc.less(time[name], most), told, None)
    return told.cast(pa.float64(), safe=False)


def _days(parts: pa.StructArray) -> pa.Int64Array:
    """Return days since 1970; null for days that do not exist."""
    year, month, day = (_number(parts, name) for name in ("year", "month", "day"))
    joined = pc.binary_join_element_wise(
        *(_part(parts, name) for name in ("year", "month", "day")), pa.scalar("-", pa.large_string())
    )
    # strings that are no dates are parsed as a valid one, and become null at the end
    found = pc.strptime(pc.coalesce(joined, pa.scalar("", pa.large_string())), "%Y-%m-%d", "s", error_is_null=True)
    is_there = pc.and_(pc.equal(pc.year(found), year), pc.equal(pc.month(found), month))
    is_there = pc.and_(is_there, pc.and_(pc.equal(pc.day(found), day), pc.greater(year, 0)))
    seconds = pc.if_else(is_there, found.cast(pa.int64()), pa.scalar(None, pa.int64()))
    return pc.divide(seconds, 86_400)


def _part(parts: pa.StructArray, name: str) -> pa.LargeStringArray:
    """Return the characters of a part; empty if the part is missing, null if there is no match."""
    return pc.struct_field(parts, name)


def _number(parts: pa.StructArray, name: str) -> pa.Int64Array:
    """Return a part as a number, 0 if it is omitted."""
    characters = _part(parts, name)
    return pc.if_else(pc.equal(characters, ""), "0", characters).cast(pa.int64())


def microseconds_of_times(values: pa.Array) -> pa.DoubleArray:
    """Convert dates and timestamps of a table to the same numbers."""
    type_ = values.type
    unit = pa.timestamp("us", tz=type_.tz if pa.types.is_timestamp(type_) else None)
    return values.cast(unit, safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)


def microseconds_of_string(characters: str) -> float | None:
    """Parse a single date or time; the plain twin of `microseconds_of_strings`.

    Examples
    --------
    >>> microseconds_of_string("1970-01-01T00:00:01Z")
    1000000.0
    """
    found = _PATTERN.match(characters)
    if found is None:
        return None
    time = {name: int(found[name] or 0) for name in _MOST}
    if any(time[name] >= most for name, most in _MOST.items()):
        return None
    try:
        days = date(int(found["year"]), int(found["month"]), int(found["day"])).toordinal() - _EPOCH
    except ValueError:
        return None
    offset = 3600 * time["off_hour"] + 60 * time["off_minute"]
    seconds = 3600 * time["hour"] + 60 * time["minute"] + time["second"] + (offset if found["sign"] == "-" else -offset)
    return float((86_400 * days + seconds) * _SECOND + int((found["fraction"] or "")[:6].ljust(6, "0")))
