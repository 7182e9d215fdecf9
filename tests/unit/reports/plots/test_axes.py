from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from nearkin.reports.plots.axes import Labels, Numbers, count_axis, round_numbers

N_PIXELS = 262
KINDS = ("linear", "log", "symlog")
counts = st.lists(st.integers(0, 10) | st.integers(0, 10**10), max_size=30)


@st.composite
def ends(draw: st.DrawFn, least: float = -1e9) -> tuple[float, float]:
    """The ends of an axis, far enough apart for numbers between them."""
    low, width = draw(st.floats(least, 1e9)), draw(st.floats(1e-6, 1e9))
    assume(width > 1e-6 * abs(low))
    return low, low + width


@given(ends(least=1e-6), st.sampled_from(KINDS), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_fractions_rise_from_0_to_1(ends: tuple[float, float], kind, between: list[float]) -> None:
    low, high = ends
    axis = Numbers(low=low, high=high, kind=kind)
    values = sorted(min(high, low + share * (high - low)) for share in between)
    fractions = [axis.fraction(value) for value in [low, *values, high]]
    assert (fractions[0], fractions[-1]) == (0, 1)
    assert fractions == sorted(fractions)


@given(ends(), st.integers(4, 12))
@example((858993.0, 858994.0), 4)
def test_ticks_are_round_and_inside(ends: tuple[float, float], n: int) -> None:
    low, high = ends
    values = round_numbers(low, high, n)
    assert 2 <= len(values) <= 2 * n
    difference = values[1] - values[0]  # exact to the digits that large ends leave
    power = 10.0 ** math.floor(math.log10(difference * (1 + 1e-6)))
    step = power * min((1, 2, 5), key=lambda one: abs(difference / power - one))
    assert difference == pytest.approx(step, rel=1e-4)
    assert low - 1e-6 * step <= values[0] < values[-1] <= high + 1e-6 * step
    assert all(abs(value / step - round(value / step)) < 1e-6 for value in values)
    shown = [fraction for fraction, _ in Numbers(low=low, high=high, n_ticks=n).ticks(N_PIXELS)]
    assert len(shown) >= 2
    assert all(0 <= one < other <= 1 for one, other in pairwise(shown))


def test_ticks_have_short_labels() -> None:
    assert [label for _, label in Numbers(low=0.8, high=1).ticks(N_PIXELS)] == ["0.8", "0.85", "0.9", "0.95", "1"]
    assert [label for _, label in Numbers(low=0, high=2e6, n_ticks=4).ticks(N_PIXELS)] == [
        "0", "500000", "1000000", "1500000", "2000000",
    ]  # fmt: skip


@given(counts)
def test_no_positive_count_is_hidden(counts: list[int]) -> None:
    axis = count_axis(counts, "pairs")
    assert all(0 < axis.fraction(count) <= 1 for count in counts if count)
    assert axis.fraction(0) == 0
    ticks = axis.ticks(N_PIXELS)
    assert len(ticks) >= 2
    assert all(one < other for (one, _), (other, _) in pairwise(ticks))
    assert len({label for _, label in ticks}) == len(ticks)
    assert (axis.kind == "symlog") == axis.title.endswith("log scale")


@pytest.mark.parametrize(
    ("counts", "kind"), [([], "linear"), ([0], "linear"), ([1, 60], "linear"), ([1, 1, 61], "symlog")]
)
def test_counts_of_different_orders_take_a_log_scale(counts: list[int], kind: str) -> None:
    assert count_axis(counts, "pairs").kind == kind


@given(st.integers(1, 60), st.sampled_from([0.2, 0.25, 1]))
def test_labels_stand_apart(n: int, gap: float) -> None:
    axis = Labels([str(i) for i in range(n)], gap=gap)
    centres = [axis.fraction(i) for i in range(n)]
    assert centres[0] - axis.column / 2 > 0
    assert centres[-1] + axis.column / 2 < 1
    assert all(other - one > axis.column for one, other in pairwise(centres))
    assert centres[0] == pytest.approx(1 - centres[-1])


@given(st.integers(1, 60))
def test_labels_without_room_are_left_out(n: int) -> None:
    axis = Labels([str(i) for i in range(n)], gap=1, label_pixels=32)
    shown = [fraction * N_PIXELS for fraction, _ in axis.ticks(N_PIXELS)]
    assert axis.ticks(N_PIXELS)[0][1] == "0"
    assert all(other - one >= 32 for one, other in pairwise(shown))
