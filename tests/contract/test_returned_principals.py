"""After the undo of a decision, groups and their principals are those from before it; the same in both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.leases import LEASE, OTHER
from nearkin.collection.collection import Collection
from places import SomePlace, on_one_database

pytestmark = on_one_database

TERMS = " Signed by both parties in the presence of a witness, whose name and address are below."
LONGEST = {"signed": LEASE.format(900) + TERMS, "draft": LEASE.format(901), "copy": LEASE.format(902)}


@pytest.fixture
def collection(place: SomePlace) -> Iterator[Collection]:
    with place.open() as opened:
        opened.add([*LONGEST.items(), ("amount", LEASE.format(777)), ("x", OTHER), ("y", OTHER + " The end of it.")])
        opened.groups(threshold=0.3)
        yield opened


def principals_of(collection: Collection) -> dict[str, str]:
    """Return the principal of each document in a group."""
    members = collection.groups(threshold=0.3).members.to_pylist()
    principals = {one["group"]: one["doc_id"] for one in members if one["is_principal"]}
    return {one["doc_id"]: principals[one["group"]] for one in members}


def test_a_principal_that_a_decision_took_out_is_principal_again_after_the_undo(collection) -> None:
    before = collection.groups(threshold=0.3).members
    collection.decide(never_group=("signed", "draft"))
    (change,) = collection.groups(threshold=0.3).changes
    assert (change.left, change.principal_was) == (("signed",), "signed")
    assert principals_of(collection)["draft"] != "signed"
    collection.undo(1)
    found = collection.groups(threshold=0.3)
    assert found.members.equals(before)
    assert [one.principal for one in found.changes] == ["signed"]
    assert collection.groups(threshold=0.3).members.equals(before)


def test_groups_that_were_united_have_their_principals_again_after_the_undo(collection) -> None:
    collection.add(
        [("longer", LEASE.format(905) + TERMS + " A second page follows."), ("z", OTHER + " The very end of it all.")]
    )
    before = principals_of(collection)
    assert (before["longer"], before["z"]) == ("signed", "y")  # the first ones, though others are longer now
    collection.decide(same_group=("x", "copy"))
    assert len(set(principals_of(collection).values())) == 1
    collection.undo(1)
    assert principals_of(collection) == before


def test_a_removed_principal_that_is_added_again_does_not_take_its_place_back(collection) -> None:
    collection.decide(never_group=("x", "draft"))
    collection.remove(["x", "signed"])  # a decision on a removed document is no longer kept: no undo
    since = principals_of(collection)["draft"]
    assert since != "signed"
    collection.add([("signed", LONGEST["signed"])], wave="later")
    found = collection.groups(threshold=0.3)
    assert (found.groups[0].principal, found.groups[0].proposed_principal) == (since, "signed")
