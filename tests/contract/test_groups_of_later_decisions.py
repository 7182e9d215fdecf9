"""Groups follow decisions alike, with and without `groups` between the decisions; the same in both databases."""

from __future__ import annotations

import pytest

from contract.leases import LEASE
from nearkin.collection.collection import Collection
from places import SomePlace, on_one_database

pytestmark = on_one_database

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
