"""A document that is split off leaves the group of the principal; the others stay. The same in both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.leases import LEASE
from nearkin.collection.collection import Collection
from places import SomePlace, on_one_database

pytestmark = on_one_database

TERMS = " Signed by both parties in the presence of a witness, whose name and address are below."
TEXTS = {
    "signed": LEASE.format(900) + TERMS,
    "draft": LEASE.format(900),
    "spaced": LEASE.format(900).replace(" ", "  "),
    "later": LEASE.format(907),
    "other": LEASE.format(908),
    "mine": LEASE.format(900) + " Ask Joan.",
}


@pytest.fixture
def collection(place: SomePlace) -> Iterator[Collection]:
    with place.open() as opened:
        opened.add(TEXTS.items())
        yield opened


def groups_of(collection: Collection) -> dict[tuple[int, str], set[str]]:
    """Return the members of each group, by its number and principal."""
    found = collection.groups(threshold=0.3)
    members = found.members.to_pylist()
    return {
        (one.number, one.principal): {row["doc_id"] for row in members if row["group"] == one.number}
        for one in found.groups
    }


def test_only_what_equals_it_goes_along(collection) -> None:
    assert groups_of(collection) == {(1, "signed"): {*TEXTS}}
    told = collection.decide(split_off=("draft", "signed"), by="ada")
    assert (told.kind, [one.now for one in told.changes]) == ("split-off", ["draft"])
    apart = {(1, "signed"): {"signed", "later", "other", "mine"}, (2, "draft"): {"draft", "spaced"}}
    assert groups_of(collection) == apart
    collection.add([("mine too", LEASE.format(900) + " Ask Joan at once.")], wave="two")
    apart[1, "signed"].add("mine too")
    assert groups_of(collection) == apart
    collection.undo(1)
    assert groups_of(collection) == {(1, "signed"): {*TEXTS, "mine too"}}


def test_a_pair_that_must_be_apart_divides_the_group_by_similarity(collection) -> None:
    groups_of(collection)
    collection.decide(never_group=("draft", "signed"))
    assert [ids for ids in groups_of(collection).values() if "draft" in ids] == [{*TEXTS} - {"signed"}]
    # the same pair, decided once more: the groups are apart already, and a text that is linked to both decides nothing
    collection.decide(split_off=("draft", "signed"))
    collection.undo(2)
    told = collection.log(of="draft")
    assert [one.kind for one in told] == ["never-group", "split-off", "undo"]
    assert told[2].data["kind"] == "split-off"


def test_the_groups_of_another_tolerance_and_of_a_copy_are_the_same(collection, place) -> None:
    groups_of(collection)
    collection.decide(split_off=("draft", "signed"))
    with place.another().open() as other:
        other.add(TEXTS.items())
        other.decide(split_off=("draft", "signed"))
        assert {*map(frozenset, groups_of(other).values())} == {*map(frozenset, groups_of(collection).values())}
    members = collection.groups(threshold=0.2).members.to_pylist()
    assert len({one["group"] for one in members if one["doc_id"] in ("signed", "later", "other", "mine")}) == 1


@pytest.mark.parametrize("other", [None, "elsewhere", "tail of b"])
def test_a_decision_on_another_pair_keeps_no_member_from_the_one_that_it_is_linked_with(
    place: SomePlace, other
) -> None:
    words = [f"w{i}" for i in range(60)]
    texts = {
        "a": words,
        "b": [*(f"b{i}" for i in range(12)), *words[12:]],
        "linked to a": [*words[:48], *(f"c{i}" for i in range(12))],
        "tail of b": [*(f"b{i}" for i in range(12)), *words[12:54], *(f"t{i}" for i in range(6))],
        "elsewhere": [f"x{i}" for i in range(20)],
    }
    with place.open() as collection:
        collection.add((doc_id, " ".join(text)) for doc_id, text in texts.items())
        if other is not None:
            collection.decide(never_group=("linked to a", other))
        collection.decide(split_off=("a", "b"))
        groups = collection.groups(threshold=0.5)
    of_group = {row["doc_id"]: row["group"] for row in groups.members.to_pylist()}
    assert of_group["a"] == of_group["linked to a"] != of_group["b"] == of_group["tail of b"]
