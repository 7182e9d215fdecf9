"""Groups keep decisions in any order of waves, decisions and undos; without decisions they are those of the texts."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearkin
from example_counts import examples
from nearkin.errors import CollectionError, ParameterError
from oracles.test_groups import EDITS, GAMMA, THRESHOLD, WORDS, expected, expected_by_words, members, sentence, text_of

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
            st.tuples(st.sampled_from(["never_group", "split_off", "same_group"]), st.tuples(ids, ids)),
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
    elif kind in ("never_group", "split_off", "same_group") and {*what} <= live.keys():
        told = collection.decide(**{kind: what})
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
                assert (group_of.get(a, a) == group_of.get(b, b)) == (which == "same_group")
        if not any({a, b} <= live.keys() for _, a, b in decided.values()):
            assert {frozenset(one) for one in found.values()} == measure.expected(live)


@settings(max_examples=examples(15), deadline=None)
@given(
    st.dictionaries(st.sampled_from(IDS), st.tuples(EDITS, st.booleans()), min_size=3),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_what_is_linked_without_the_document_split_off_stays(edits, chance, is_grouped_before) -> None:
    live = {doc_id: sentence(*edit) for doc_id, (edit, _) in edits.items()}
    connected = [sorted(group) for group in expected_by_words(live)]
    pairs = [(a, b) for group in connected for a in group for b in group if live[a] != live[b]]
    if not pairs:
        return
    off, stays = chance.choice(pairs)
    without = {doc_id: text for doc_id, text in live.items() if text != live[off]}
    rest = next((group for group in expected_by_words(without) if stays in group), frozenset({stays}))
    equal = {doc_id for doc_id in live if doc_id not in without}
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        collection.add([(doc_id, live[doc_id] + "  ." * is_dotted) for doc_id, (_, is_dotted) in edits.items()])
        if is_grouped_before:
            collection.groups(threshold=THRESHOLD)
        collection.decide(split_off=(off, stays))
        found = members(collection.groups(threshold=THRESHOLD)).values()
    assert next(({*group} for group in found if stays in group), {stays}) == rest
    assert next(({*group} for group in found if off in group), {off}) >= equal


ALIKE: dict[str, Callable[[random.Random], str]] = {
    "letters": lambda chance: text_of([chance.randint(0, 7) for _ in "abc"]),
    "words": lambda chance: sentence(0, {chance.randrange(len(WORDS)) for _ in range(chance.randint(0, 4))}),
}


@pytest.mark.parametrize("name", MEASURES)
def test_groups_do_not_depend_on_when_they_were_computed(name) -> None:
    @settings(max_examples=examples(40), deadline=None)
    @given(st.integers(0, 2**32))
    def holds(seed) -> None:
        steps = random_steps(random.Random(seed), ALIKE[name])
        at_the_end = [step for step in steps if step[0] != "groups"]
        assert final_groups(MEASURES[name], steps) == final_groups(MEASURES[name], at_the_end)

    holds()


def random_steps(chance: random.Random, text: Callable[[random.Random], str]) -> list[tuple[str, object]]:
    """Return documents that are alike, and decisions on them, mostly; groups are computed now and then."""
    kinds = ["never_group"] * 6 + ["split_off", "split_off", "same_group", "undo", "add", "copy", "remove", "groups"]
    steps: list[tuple[str, object]] = [("add", {doc_id: text(chance) for doc_id in IDS}), ("groups", None)]
    for kind in chance.choices(kinds, k=chance.randint(2, 10)):
        pair = tuple(chance.sample(IDS, 2))
        what = {"undo": chance.randint(1, 6), "add": {pair[0]: text(chance)}, "remove": pair[0]}.get(kind, pair)
        steps.append((kind, what))
        steps += [("groups", None)] * chance.randint(0, 1)
    return steps


def final_groups(measure, steps) -> set[frozenset[str]] | None:
    """Return the members of the groups after some steps; None if decisions contradict one another."""
    live, decided = dict[str, str](), dict[int, tuple[str, str, str]]()
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        for kind, what in steps:
            with contextlib.suppress(ParameterError, CollectionError):
                take(collection, measure, live, decided, kind, what)
        try:
            found = members(collection.groups(**measure.options))
        except CollectionError:
            return None
    return {frozenset(ids) for ids in found.values()}
