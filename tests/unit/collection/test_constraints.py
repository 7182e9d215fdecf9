"""Components keep every decision: pairs that must be together, and pairs that must not be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nearkin.collection.matching.constraints import constrained

NOTHING = np.zeros((0, 2), np.int64)
CONTENTS = st.integers(0, 14)
PAIRS = st.lists(st.tuples(CONTENTS, CONTENTS).filter(lambda pair: pair[0] != pair[1]), max_size=6)


def array(pairs) -> np.ndarray:
    return np.array(pairs, np.int64).reshape(-1, 2)


def closure(same) -> dict[int, int]:
    """The lowest content that must be with each."""
    lead = {one: one for one in range(15)}
    for _ in same:
        for a, b in same:
            lead = {one: min(lead[a], lead[b]) if at in (lead[a], lead[b]) else at for one, at in lead.items()}
    return lead


def partition(nodes, component) -> set[frozenset[int]]:
    found = dict[int, set[int]]()
    for node, label in zip(nodes.tolist(), component.tolist(), strict=True):
        found.setdefault(label, set()).add(node)
    return {frozenset(one) for one in found.values()}


@st.composite
def cases(draw):
    nodes = sorted(draw(st.sets(CONTENTS)))
    component = draw(st.lists(st.integers(0, 3), min_size=len(nodes), max_size=len(nodes)))
    same, never = draw(PAIRS), draw(PAIRS)
    lead = closure(same)
    assume(all(lead[a] != lead[b] for a, b in never))
    chosen = draw(st.lists(st.sampled_from([0, 1, 2]), min_size=len(never), max_size=len(never)))
    leaving = dict(zip(map(frozenset, never), ((*pair, -1)[which] for pair, which in zip(never, chosen)), strict=True))
    return np.array(nodes, np.int64), np.array(component, np.int64), same, never, leaving


def by_number(contents, others):
    return -np.abs(contents[:, None] - others[None, :]).astype(np.float64)


@pytest.mark.parametrize("similarity", [None, by_number])
def test_every_decision_is_kept(similarity) -> None:
    @given(cases(), st.randoms(use_true_random=False))
    def holds(case, chance) -> None:
        nodes, component, same, never, leaving = case

        def constrain(nodes, component, same, never):
            gone = np.array([leaving[frozenset(pair)] for pair in never], np.int64)
            return constrained(nodes, component, array(same), array(never), leaving=gone, similarity=similarity)

        found, labels = constrain(nodes, component, same, never)
        label = dict(zip(found.tolist(), labels.tolist(), strict=True))
        assert found.tolist() == sorted({*nodes.tolist(), *(one for pair in same for one in pair)})
        assert all(label[a] == label[b] for a, b in same)
        assert all(a not in label or b not in label or label[a] != label[b] for a, b in never)
        assert all(found[one] <= content for one, content in zip(np.searchsorted(found, found[labels]), found))
        named = {one for pair in (*same, *never) for one in pair}
        untouched = {part for part in partition(nodes, component) if not part & named}
        assert untouched <= partition(found, labels)
        order = np.array(chance.sample(range(len(nodes)), len(nodes)), np.int64)
        turned = [pair[::-1] for pair in chance.sample(never, len(never))]
        again = constrain(nodes[order], component[order], chance.sample(same, len(same)), turned)
        assert [one.tolist() for one in again] == [found.tolist(), labels.tolist()]
        assert partition(*constrain(found, labels, same, never)) == partition(found, labels)

    holds()


def test_components_are_not_divided_more_than_needed() -> None:
    nodes, component = np.arange(6), np.zeros(6, np.int64)
    _, labels = constrained(nodes, component, NOTHING, array([(0, 1), (2, 3)]))
    assert labels.tolist() == [0, 1, 0, 1, 0, 0]


def test_a_content_goes_to_the_most_similar_then_to_the_lowest() -> None:
    nodes, component, never = np.array([1, 5, 9]), np.zeros(3, np.int64), array([(1, 9)])
    assert constrained(nodes, component, NOTHING, never)[1].tolist() == [0, 0, 2]
    nearest = lambda some, others: -np.abs(some[:, None] + 2 - others[None, :] + 0.0)  # noqa: E731
    assert constrained(nodes, component, NOTHING, never, similarity=nearest)[1].tolist() == [0, 1, 1]
