"""Parts of divided components consist of contents that are linked."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.matching.constraints import constrained, linked_parts

PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] != pair[1]), max_size=14)
NEVER = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] != pair[1]), max_size=3)


def components(contents: list[int], links: list[tuple[int, int]]) -> dict[int, int]:
    """The lowest content that each is linked with through these contents."""
    lead = {one: one for one in contents}
    for _ in contents:
        for a, b in links:
            if a in lead and b in lead:
                lead[a] = lead[b] = min(lead[a], lead[b])
    return lead


@given(PAIRS, NEVER)
def test_parts_are_linked_keep_decisions_and_leave_nothing_apart(links, never) -> None:
    def linked(contents):
        lead = components(contents.tolist(), links)
        return np.array([lead[one] for one in contents.tolist()])

    nodes, pairs = np.arange(12), np.array(never, np.int64).reshape(-1, 2)
    united = linked(nodes)
    _, component = constrained(nodes, united, pairs[:0], pairs)
    found = linked_parts(nodes, united, component, np.unique(pairs), linked).tolist()
    parts = {label: [one for one in range(12) if found[one] == label] for label in set(found)}
    for label, part in parts.items():
        assert label == min(part)
        assert len(set(components(part, links).values())) == 1
    assert all(found[a] != found[b] for a, b in never)
    anchors = {one for pair in never for one in pair}
    for a, b in links:  # what is linked is apart only where a decision keeps it apart
        if found[a] != found[b]:
            assert anchors & set(parts[found[a]])
            assert anchors & set(parts[found[b]])


def test_components_that_were_not_divided_stay_as_they_are() -> None:
    nodes, component = np.array([2, 5, 7]), np.array([0, 0, 2])
    found = linked_parts(nodes, component, component, np.array([2, 7]), lambda contents: contents)
    assert found.tolist() == [0, 0, 2]
