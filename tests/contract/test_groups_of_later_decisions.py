"""Groups follow decisions alike, with and without `groups` between the decisions; the same in both databases."""

from __future__ import annotations

import pytest

from contract.leases import LEASE
from nearkin.collection.collection import Collection
from places import SomePlace

DRAFT = LEASE.format(900) + " Ask Joan about the deposit of the former tenant."
TEXTS = {"signed": LEASE.format(900), "draft": DRAFT, "print": DRAFT + " Page 1."}


def groups_of(collection: Collection) -> list[set[str]]:
    found = collection.groups(threshold=0.5)
    rows = found.members.to_pylist()
    return [{row["doc_id"] for row in rows if row["group"] == one.number} for one in found.groups]


@pytest.mark.parametrize("calls_groups", [True, False])
def test_a_text_without_a_group_joins_what_a_later_decision_leaves_alone(place: SomePlace, calls_groups: bool) -> None:
    with place.open() as collection:
        collection.add(TEXTS.items())
        assert groups_of(collection) == [{*TEXTS}]
        for other in ("signed", "draft"):
            collection.decide(never_group=(other, "print"))
            if calls_groups:
                groups_of(collection)
        assert groups_of(collection) == [{"signed", "draft"}]


def test_a_split_off_that_replaces_a_pair_kept_apart_counts(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add(TEXTS.items())
        groups_of(collection)
        collection.decide(never_group=("draft", "signed"))
        groups_of(collection)
        for off, stays in (("draft", "signed"), ("signed", "draft")):
            collection.decide(split_off=(off, stays))
            assert groups_of(collection) == [{stays, "print"}]


def test_a_chosen_principal_is_a_change_once(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add(TEXTS.items())
        first = collection.groups(threshold=0.5).groups[0].principal
        chosen = next(doc_id for doc_id in TEXTS if doc_id != first)
        collection.decide(principal=chosen)
        changes = collection.groups(threshold=0.5).changes
        assert [(one.number, one.principal_chosen, one.principal_was) for one in changes] == [(1, chosen, None)]
        assert collection.groups(threshold=0.5).changes == ()
        collection.undo(1)
        assert [one.principal_chosen for one in collection.groups(threshold=0.5).changes] == [first]
