"""Dates in strings, against Python's own reading of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearkin.stages.documents.values import microseconds_of_strings, microseconds_of_times

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = st.none() | st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
FIRST, LAST = datetime.fromisoformat("1685-01-01"), datetime.fromisoformat("2255-01-01")
MOMENTS = st.datetimes(FIRST, LAST, timezones=ZONES)
FORMS = st.sampled_from(["iso", "space", "seconds", "minutes", "date", "zulu", "short offset"])


def by_python(moment: datetime) -> float:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return float((aware - EPOCH) // timedelta(microseconds=1))


def written(moment: datetime, form: str) -> tuple[str, float]:
    if form == "date":
        day = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
        return moment.date().isoformat(), by_python(day)
    if form == "zulu":
        return moment.replace(tzinfo=None).isoformat() + "Z", by_python(moment.replace(tzinfo=UTC))
    precision = {"seconds": "seconds", "minutes": "minutes"}.get(form, "auto")
    cut = {"seconds": moment.replace(microsecond=0), "minutes": moment.replace(second=0, microsecond=0)}
    text = moment.isoformat(" " if form == "space" else "T", precision)
    if form == "short offset" and moment.tzinfo is not None:
        text = text[:-3] + text[-2:]
    return text, by_python(cut.get(form, moment))


@given(st.lists(st.tuples(MOMENTS, FORMS), max_size=20))
@settings(deadline=None)
def test_what_python_writes_is_read(told):
    pairs = [written(moment, form) for moment, form in told]
    texts, expected = [text for text, _ in pairs], [number for _, number in pairs]
    assert microseconds_of_strings(pa.array(texts, pa.large_string())).to_pylist() == expected


def microseconds_of_string(text: str) -> float | None:
    return microseconds_of_strings(pa.array([text], pa.large_string()))[0].as_py()


@pytest.mark.parametrize(
    "text",
    [
        "", "2004", "2004-02", "2004-02-30", "2003-02-29", "04-02-03", "2004-2-3", "2004/02/03", "03.02.2004",
        "20040203", "2004-02-03T", "2004-02-03T10", "2004-02-03T25:00", "2004-02-03T10:60", "2004-02-03T10:00:00+25:00",
        "2004-02-03T10:00:00 CET", "2004-02-03x", "٢٠٠٤-٠٢-٠٣", "0000-01-01", "yesterday", "1076000000",
        "2004-02-03 2004-02-03",
    ],
)  # fmt: skip
def test_what_is_no_date(text):
    assert microseconds_of_string(text) is None


def test_fractions_and_offsets():
    same = [
        "2004-02-03T10:00:00.5Z",
        "2004-02-03 11:00:00,500000999+01:00",
        "2004-02-03t04:30:00.500 -0530",
        " 2004-02-03T12:00:00.5+02 ",
    ]
    assert len({microseconds_of_string(text) for text in same}) == 1


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_moments_of_tables_are_the_same_numbers(unit, zone):
    moment = datetime(2004, 2, 3, 10, tzinfo=UTC)
    values = pa.array([moment, None], pa.timestamp(unit, zone))
    assert microseconds_of_times(values).to_pylist() == [microseconds_of_string("2004-02-03T10:00:00Z"), None]
    days = pa.array([moment.date(), None])
    for kind in (pa.date32(), pa.date64()):
        assert microseconds_of_times(days.cast(kind)).to_pylist() == [microseconds_of_string("2004-02-03"), None]
