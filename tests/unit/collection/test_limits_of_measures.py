"""A limit that makes no sense is refused with the same rule wherever it is given."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nearkin.collection.plain_sql import functions
from nearkin.collection.tolerance import LIMITS, Tolerance
from nearkin.errors import ParameterError
from nearkin.results import CheckOptions
from nearkin.web.queries import ToleranceQuery

NAN, INFINITY = float("nan"), float("inf")
LETTERS: dict[str, Callable[[float], object]] = {
    "Python": lambda gamma: Tolerance.of(gamma=gamma),
    "review screen": lambda gamma: ToleranceQuery(measure="letters", value=gamma).tolerance,
}
WORDS: dict[str, Callable[[float], object]] = {
    "Python": lambda threshold: Tolerance.of(threshold=threshold),
    "review screen": lambda threshold: ToleranceQuery(measure="jaccard", value=threshold).tolerance,
    "check": lambda threshold: CheckOptions(threshold=threshold),
    "parts": lambda threshold: CheckOptions(containment=threshold),
}


@pytest.mark.parametrize("gamma", [-0.1, 1, 1.5, 1_000, NAN, INFINITY, True, "0.05"])
@pytest.mark.parametrize("place", LETTERS)
def test_a_gamma_is_at_least_0_and_below_1(place: str, gamma: float) -> None:
    with pytest.raises(ParameterError, match="at least 0 and below 1"):
        LETTERS[place](gamma)


@pytest.mark.parametrize("threshold", [-0.1, 0, 1.01, 80, NAN, INFINITY, True, "0.5"])
@pytest.mark.parametrize("place", WORDS)
def test_a_threshold_is_above_0_and_at_most_1(place: str, threshold: float) -> None:
    with pytest.raises(ParameterError, match="above 0 and at most 1"):
        WORDS[place](threshold)


def test_the_ends_are_limits() -> None:
    assert Tolerance.of(gamma=0).value == 0
    assert Tolerance.of(gamma=0.9999).value == 0.9999
    assert Tolerance.of(threshold=1).value == 1


def test_functions_of_postgresql_state_the_same_rules() -> None:
    text = functions("nearkin")
    assert "{rule" not in text
    assert all(f"must be {limit.rule}. Got %" in text for limit in LIMITS.values())
