"""Differences of groups: packed and read back, and replayed to the state that each call left."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine

from nearkin.collection.stored import group_state
from nearkin.collection.stored.group_state import grouped_loads, past_groups, record
from nearkin.store import schema

AT = "words, threshold 0.5"
MAPPINGS = st.dictionaries(st.integers(0, 2**62), st.integers(1, 2**62), max_size=6)
STATES = st.lists(st.tuples(MAPPINGS, MAPPINGS), min_size=1, max_size=5)


def pairs(mapping: dict[int, int]) -> np.ndarray:
    return np.array(list(mapping.items()), np.int64).reshape(-1, 2)


def opened() -> Connection:
    connection = create_engine("sqlite://").connect()
    tables = [schema.waves, schema.loads, schema.contents, schema.documents, schema.groupings]
    schema.metadata.create_all(connection, tables)
    return connection


@given(states=STATES)
def test_every_state_is_replayed(states: list[tuple[dict[int, int], dict[int, int]]]) -> None:
    with opened() as connection:
        stored = list[tuple[dict[int, int], dict[int, int]]]()
        for place, (members, principals) in enumerate(states):
            record(connection, AT, pairs(members), pairs(principals), seen_row=0, is_first=place == 0)
            if not stored or stored[-1] != (members, principals):  # a call without a change stores nothing
                stored.append((members, principals))
            found = past_groups(connection, AT)
            assert found is not None
            assert found.number == len(stored)
            assert dict(zip(found.rows.tolist(), found.groups.tolist(), strict=True)) == members
            assert found.rows.tolist() == sorted(members)
            assert found.principals == principals
        first = past_groups(connection, AT, -1)
        assert first is not None
        assert (first.number, first.principals) == (1, stored[0][1])
        assert grouped_loads(connection, AT) == {-1}


def test_without_a_history_nothing_is_known() -> None:
    with opened() as connection:
        assert past_groups(connection, AT) is None
        assert grouped_loads(connection, AT) == set()
        assert not group_state.is_there(connection)


def test_groups_that_begin_again_forget_what_was() -> None:
    with opened() as connection:
        record(connection, AT, pairs({1: 1, 2: 1}), pairs({1: 1}), seen_row=3, is_first=True)
        record(connection, AT, pairs({1: 1}), pairs({1: 1}), seen_row=3, is_first=True)
        found = past_groups(connection, AT)
        assert found is not None
        assert (found.number, found.rows.tolist()) == (1, [1])
