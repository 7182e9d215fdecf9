"""Numbers of examples that Hypothesis makes: all in `make soak`, an eighth in `make test`, the same every day."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet
from hypothesis import HealthCheck, settings

SOAK = "soak"
_DEFAULT = 100
_PART, _MIN = 8, 5


def register_profiles() -> None:
    """The same examples on every machine: a failure in CI is a failure here. Timings vary, so there is no deadline."""
    for name, n in (("nearkin", _DEFAULT // _PART), (SOAK, _DEFAULT)):
        settings.register_profile(
            name,
            max_examples=n,
            derandomize=True,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            print_blob=False,
        )
    settings.load_profile("nearkin")


def examples(n: int) -> int:
    """``n`` in `make soak`, otherwise an eighth of it, and 5 at least."""
    return n if settings.get_current_profile_name() == SOAK else max(min(n, _MIN), n // _PART)


def every(step: int, values: Sequence[object]) -> list[object]:
    """Return the values of a parameter, of which `make test` takes every ``step``-th, and `make soak` the others."""
    return [value if i % step == 0 else _soaked(value) for i, value in enumerate(values)]


def _soaked(value: object) -> ParameterSet:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.soak)
