"""Groups keep decisions in any order of waves, decisions and undos; without decisions they are those of the texts."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearkin
from example_counts import examples
from nearkin.errors import CollectionError, ParameterError
from oracles.test_groups import EDITS, GAMMA, THRESHOLD, expected, expected_by_words, members, sentence, text_of

IDS = "pqrstuvw"


@dataclass(frozen=True)
class Measure:
    """A way to group, texts for it, and the groups by its definition."""

    texts: st.SearchStrategy[str]
    options: dict[str, float]
    expected: Callable[[dict[str, str]], set[frozenset[str]]]


def counts_in(text: str) -> tuple[int, ...]:
    return tuple(text.count(letter) for letter in "abc")


MEASURES = {
    "letters": Measure(
        st.tuples(*[st.integers(0, 12)] * 3).map(text_of),
        {"gamma": GAMMA},
        lambda live: expected({doc_id: counts_in(text) for doc_id, text in live.items()}),
    ),
    "words": Measure(EDITS.map(lambda edits: sentence(*edits)), {"threshold": THRESHOLD}, expected_by_words),
}


def steps_of(measure: Measure) -> st.SearchStrategy[list[tuple[str, object]]]:
    ids = st.sampled_from(IDS)
    return st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.dictionaries(ids, measure.texts, max_size=5)),
            st.tuples(st.just("copy"), st.tuples(ids, ids)),
            st.tuples(st.just("remove"), ids),
            st.tuples(st.sampled_from(["never", "same"]), st.tuples(ids, ids)),
            st.tuples(st.just("undo"), st.integers(1, 4)),
            st.tuples(st.just("groups"), st.none()),
        ),
        min_size=4,
        max_size=14,
    )


@pytest.mark.parametrize("name", MEASURES)
def test_groups_keep_what_is_decided_and_forget_what_is_undone(name) -> None:
    measure = MEASURES[name]

    @settings(max_examples=examples(15), deadline=None)
    @given(steps_of(measure))
    def holds(steps) -> None:
        live, decided = dict[str, str](), dict[int, tuple[str, str, str]]()
        with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
            for kind, what in [*steps, ("groups", None), ("undo all", None), ("groups", None)]:
                # texts or decisions that contradict one another are refused, and a pair is two documents
                with contextlib.suppress(ParameterError, CollectionError):
                    take(collection, measure, live, decided, kind, what)

    holds()


def take(collection, measure, live, decided, kind, what) -> None:
    if kind == "add":
        collection.add(what.items())
        live |= what
    elif kind == "copy" and what[0] in live:
        live[what[1]] = live[what[0]]
        collection.add([(what[1], live[what[1]])])
    elif kind == "remove" and what in live:
        collection.remove([what])
        del live[what]
    elif kind in ("never", "same") and {*what} <= live.keys():
        told = collection.decide(**{f"{kind}_group": what})
        if told.number is not None:
            decided[told.number] = (kind, *what)
    elif kind == "undo" and what in decided:
        collection.undo(what)
        del decided[what]
    elif kind == "undo all":
        for number in sorted(decided, reverse=True):
            collection.undo(number)
        decided.clear()
    elif kind == "groups":
        found = members(collection.groups(**measure.options))
        group_of = {doc_id: number for number, ids in found.items() for doc_id in ids}
        for which, a, b in decided.values():
            if {a, b} <= live.keys():
                assert (group_of.get(a, a) == group_of.get(b, b)) == (which == "same")
        if not any({a, b} <= live.keys() for _, a, b in decided.values()):
            assert {frozenset(one) for one in found.values()} == measure.expected(live)
