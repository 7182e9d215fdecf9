"""Contradictions are found where decisions and identical texts put two documents together that must not be."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.collection.decisions.contradictions import DocumentPair, PairDecisions
from nearkin.collection.matching.constraints import constrained
from nearkin.errors import ParameterError

IDS = "abcdefg"
PAIRS = st.dictionaries(
    st.sampled_from(list(combinations(IDS, 2))), st.none() | st.integers(1, 9), max_size=5
)  # None: being decided
CONTENTS = st.dictionaries(st.sampled_from(IDS), st.integers(0, 5))


def linked(pairs: list[DocumentPair], content_of: dict[str, int]) -> set[DocumentPair]:
    """All pairs of documents that belong together, by closure."""
    near = {*pairs, *(pair for pair in combinations(sorted(content_of), 2) if len({content_of[i] for i in pair}) == 1)}
    near |= {(b, a) for a, b in near}
    for through in IDS:
        near |= {(a, b) for a in IDS for b in IDS if {(a, through), (through, b)} <= near}
    return near


@settings(max_examples=examples(300), deadline=None)
@given(PAIRS, PAIRS, CONTENTS, st.booleans())
def test_contradictions_are_those_of_the_closure(same, never, content_of, added_only) -> None:
    now = linked(list(same), content_of)
    before = linked([pair for pair, number in same.items() if number is not None], content_of)
    wrong = [pair for pair in never if pair in now]
    if added_only:
        wrong = [pair for pair in wrong if never[pair] is None or pair not in before]
    decisions = PairDecisions(same, never, content_of)
    if not wrong:
        decisions.refuse_contradictions(added_only=added_only)
        return
    with pytest.raises(ParameterError) as refused:
        decisions.refuse_contradictions(added_only=added_only)
    said, reasons = str(refused.value).split(", but ")
    assert any(f"never-group {a!r} {b!r}" in said for a, b in wrong)
    assert "this decision" in said + reasons or not added_only


def test_a_long_chain_of_decisions_is_followed_once() -> None:
    chain = [f"d{i:06}" for i in range(50_000)]
    same = {pair: i for i, pair in enumerate(pairwise(chain), 1)}
    never: dict[DocumentPair, int | None] = {(one, f"x{one}"): i for i, one in enumerate(chain, len(chain))}
    PairDecisions(same, never, {}).refuse_contradictions()  # in a second; by a search for each pair, hours
    never[chain[0], chain[-1]] = None
    with pytest.raises(ParameterError, match=r"never-group 'd000000' 'd049999' \(this decision\), but same-group"):
        PairDecisions(same, never, {}).refuse_contradictions(added_only=True)


def test_texts_that_must_be_together_and_apart_are_refused() -> None:
    with pytest.raises(ParameterError, match="must be together"):
        constrained(np.arange(3), np.zeros(3, np.int64), np.array([(0, 1), (1, 2)]), np.array([(0, 2)]))
