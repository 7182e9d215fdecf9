"""Source code is compared by its tokens."""

from __future__ import annotations

import pytest

import nearkin

PLUS = """RATE = 0.19
LIMIT = 2_500

def price(net):
    gross = net * (1 + RATE)
    if gross > LIMIT:
        raise ValueError("over the limit")
    return round(gross, 2)
"""
LAID_OUT = PLUS.replace("    ", "\t").replace("1 + RATE", "1+RATE").replace("\n\n", "\n\n\n")
SOURCES = [PLUS, PLUS.replace("1 + RATE", "1 - RATE"), PLUS.replace("RATE", "rate"), LAID_OUT]


@pytest.mark.parametrize(("options", "n_equal"), [({"shingle": "words:5"}, 4), ({"preset": "code"}, 1)])
def test_an_operator_and_case_make_other_code_and_white_space_does_not(options, n_equal):
    pairs = nearkin.dedup(SOURCES, threshold=0.01, **options).pairs.to_pylist()
    equal = [(pair["row_a"], pair["row_b"]) for pair in pairs if pair["jaccard"] == 1.0]
    assert len(equal) == n_equal
    assert (0, 3) in equal
