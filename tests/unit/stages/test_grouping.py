"""Groups by their two rules, bridges, and the order of preference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.errors import ParameterError
from nearkin.records import Matches
from nearkin.stages.grouping import Keep, group
from nearkin.stages.verification.measures import MEASURES


def matches_of(edges: dict[tuple[int, int], tuple[int, int, int]]) -> Matches:
    pairs = sorted(edges)
    columns = [[a for a, _ in pairs], [b for _, b in pairs], *zip(*(edges[pair] for pair in pairs), strict=True)]
    columns = columns if pairs else [[]] * 5
    return Matches(*(np.array(column, np.uint32) for column in columns))


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 10))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    overlap = st.integers(1, 5).flatmap(lambda c: st.tuples(st.just(c), st.integers(c, 9), st.integers(c, 9)))
    edges = draw(st.dictionaries(pair, overlap, max_size=20)) if n > 1 else {}
    return n, edges, draw(st.permutations(range(n)))


@given(graphs(), st.sampled_from([*MEASURES.values()]))
def test_members_match_their_principal_and_principals_match_no_other(graph, measure):
    n, edges, order = graph
    matches = matches_of(edges)
    groups = group(matches, measure.similarity(matches), np.array(order, np.uint32), rule="principal")
    principal = groups.principal.tolist()
    similarity = dict(zip(sorted(edges), measure.similarity(matches).tolist(), strict=True))
    like = {frozenset(pair): value for pair, value in similarity.items()}
    principals = {row for row in range(n) if principal[row] == row}
    rank = {row: i for i, row in enumerate(order)}
    for row in range(n):
        mine = {p: like[frozenset((row, p))] for p in principals if frozenset((row, p)) in like}
        if row in principals:
            assert not mine
        else:
            assert principal[row] == min(mine, key=lambda p: (-mine[p], rank[p]))
            assert min(rank[p] for p in mine) < rank[row]  # it gave way to one that is preferred
    crossing = [(a, b) for a, b in edges if principal[a] != principal[b]]
    assert groups.n_bridges_refused.sum() == 2 * len(crossing)
    for row in range(n):
        ends = sum((principal[a] == row) + (principal[b] == row) for a, b in crossing)
        assert groups.n_bridges_refused[row] == (ends if row in principals else 0)


@given(graphs())
def test_components_are_what_chains_connect_and_their_principal_is_the_most_preferred(graph):
    n, edges, order = graph
    matches = matches_of(edges)
    groups = group(matches, matches.jaccard, np.array(order, np.uint32), rule="component")
    principal = groups.principal.tolist()
    assert all(principal[a] == principal[b] for a, b in edges)
    assert not groups.n_bridges_refused.any()
    n_components = len({*principal})
    assert n_components == n - _rank_of(edges, n)
    for row in set(principal):
        members = [other for other in range(n) if principal[other] == row]
        assert row == min(members, key=list(order).index)


def _rank_of(edges, n: int) -> int:
    """Edges that connect what was not connected before."""
    component, n_useful = list(range(n)), 0
    for a, b in edges:
        if component[a] != component[b]:
            n_useful += 1
            old, new = component[a], component[b]
            component = [new if one == old else one for one in component]
    return n_useful


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        ("first", [0, 1, 2, 3, 4]),
        ("longest", [1, 2, 0, 4, 3]),
        ("shortest", [3, 4, 0, 1, 2]),
        ("max:x", [2, 1, 4, 0, 3]),
        ("min:x", [4, 1, 2, 0, 3]),
    ],
)
def test_preference(rule, order):
    lengths = np.array([5, 9, 9, 1, 2])
    values = np.array([np.nan, 2.0, np.inf, np.nan, -np.inf])
    if rule == "max:x":
        assert Keep.parse(rule).order(lengths, values).tolist() == [2, 1, 4, 0, 3]
    assert Keep.parse(rule).order(lengths, values if ":" in rule else None).tolist() == order
    assert str(Keep.parse(rule)) == rule


def test_lengths_without_white_space_come_first():
    lengths, without_space = np.array([9, 5, 7]), np.array([3.0, 4.0, 3.0])
    assert Keep.parse("longest").order(lengths, without_space).tolist() == [1, 0, 2]
    assert Keep.parse("shortest").order(lengths, without_space).tolist() == [2, 0, 1]


@pytest.mark.parametrize("text", ["", "long", "max", "max:", "min:", "Longest", "first:x", "median:x"])
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(ParameterError, match="longest, shortest, first"):
        Keep.parse(text)


@pytest.mark.parametrize("column", ["a:b", "with space", "é", "max", "line\nbreak"])
def test_any_name_of_a_column_will_do(column):
    assert Keep.parse(f"max:{column}").column == column
