"""Which ids came before, against a plain set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.loads.incoming import SeenIds


@given(st.lists(st.lists(st.text(max_size=2), max_size=12), max_size=12))
def test_an_id_came_before_if_a_set_has_it(batches):
    seen, plain = SeenIds(), set[str]()
    for batch in batches:
        expected = []
        for doc_id in batch:
            expected.append(doc_id in plain)
            plain.add(doc_id)
        assert seen.mark(batch).tolist() == expected


def test_many_ids_in_many_batches():
    seen = SeenIds()
    for start in range(0, 20_000, 7):
        assert not seen.mark([str(i) for i in range(start, start + 7)]).any()
    assert seen.mark([str(i) for i in range(19_000)]).all()
    assert len(seen._parts) < 16  # each at least twice as long as the next


def test_batches_of_nothing():
    seen = SeenIds()
    assert [seen.mark(batch).tolist() for batch in ([], ["a"], [], ["a", "b"])] == [[], [False], [], [True, False]]
