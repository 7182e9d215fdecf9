"""Dates of documents: what is one, and what is said of the version in force."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.dates import DateAsked, iso_date
from nearkin.errors import ParameterError


@given(st.dates())
def test_a_date_is_read_as_it_is_written(day: date) -> None:
    assert iso_date(day.isoformat()) == day
    assert DateAsked.of(day, None) == DateAsked.of(day.isoformat(), "date")


@given(st.text(alphabet="0123456789-WT: ", max_size=12))
def test_anything_else_is_no_date(text: str) -> None:
    found = iso_date(text)
    assert found is None or found.isoformat() == text


@pytest.mark.parametrize("at", ["", "2024-2-1", "2024-02-01 ", "٢٠٢٤-٠٢-٠١", 20240201, datetime(2024, 2, 1)])  # noqa: DTZ001
def test_other_values_are_refused(at: object) -> None:
    with pytest.raises(ParameterError, match="a date such as 2024-03-01"):
        DateAsked.of(at, None)  # type: ignore[arg-type]
