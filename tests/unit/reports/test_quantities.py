"""Numbers as people read them: cut, never rounded to what is not true."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearkin.wording import distance_text, share_text

SHARES = st.floats(0, 1) | st.fractions(0, 1).map(float) | st.integers(1, 2**53).map(lambda n: 1 - 1 / n)


@given(SHARES, st.integers(0, 8))
def test_a_share_is_cut(value: float, digits: int) -> None:
    written = Fraction(repr(value))
    shown = Fraction(share_text(value, digits))
    assert 0 <= written - shown < Fraction(1, 10**digits)
    assert (shown == 1) == (value == 1)
    assert share_text(np.float64(value), digits) == share_text(value, digits)


@given(st.floats(0, 100))
def test_a_distance_is_cut_the_other_way(value: float) -> None:
    shown = Fraction(distance_text(value))
    assert 0 <= shown - Fraction(repr(value)) < Fraction(1, 10_000)
    assert (shown == 0) == (value == 0)
