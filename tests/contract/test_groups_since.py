"""Changes of groups are those between the groups that were printed then and now; the same in both databases."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from nearkin.collection.groups.changes import known_waves
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.results import DocumentFilter

WORDS = "the tenant pays the rent on the first day of each month to the owner of the house".split(" ")  # noqa: SIM905
THRESHOLD = 0.3
WAVES = ("march", "april", "may")


def sentence(kind: str, changed: str = "") -> str:
    """A text of which some words are others; texts of different kinds share no word."""
    marked = {int(place, 16) for place in changed}
    return " ".join(f"{word}{kind}{'x' * (i in marked)}" for i, word in enumerate(WORDS))


class Printed:
    """What a call of groups told: each member's group and version, and each group's principal."""

    def __init__(self, collection: Any) -> None:
        self.found = collection.groups(threshold=THRESHOLD)
        rows = self.found.members.to_pylist()
        self.group = {row["doc_id"]: row["group"] for row in rows}
        self.version = {row["doc_id"]: row["version"] for row in rows}
        self.principal = {one.number: one.principal for one in self.found.groups}
        listed = collection.documents(DocumentFilter(which="all")).table.to_pylist()
        self.stored = {(row["doc_id"], row["version"]) for row in listed}
        self.current = {row["doc_id"] for row in listed if row["is_current"]}


def expected(then: Printed, now: Printed) -> list[tuple[Any, ...]]:
    """Rows (group, group_was, doc_id, change, is_principal, was_principal)."""
    rows = []
    for doc_id in {**then.group, **now.group}:
        was, at = then.group.get(doc_id), now.group.get(doc_id)
        is_one, was_one = now.principal.get(at) == doc_id, then.principal.get(was) == doc_id
        if at is None:
            kind = "left" if doc_id in now.current else "removed"
        elif (doc_id, now.version[doc_id]) not in then.stored:
            kind = "new"
        elif was is None:
            kind = "joined"
        elif was != at:
            kind = "moved"
        else:
            continue
        rows.append((at, was, doc_id, kind, is_one, was_one))
    return sorted(rows, key=lambda row: (row[0] or row[1], row[2]))


def check_changes(changes: Any, rows: list[tuple[Any, ...]], then: Printed, now: Printed) -> None:
    """Compare the changes of groups with the documents that changed."""
    pairs = Counter((then.group[doc_id], now.group[doc_id]) for doc_id in then.group.keys() & now.group.keys())
    merged = {(was, at) for (was, at), n in pairs.items() if n > 1 and was not in now.principal}
    for one in changes:
        mine = [row[2:4] for row in rows if row[0] == one.number and (row[3] != "moved" or row[1::-1] not in merged)]
        gone = {row[2]: row[3] for row in rows if row[1] == one.number != row[0] and (row[1], row[0]) not in merged}
        assert (one.new, one.joined, one.moved) == tuple(
            tuple(doc_id for doc_id, kind in sorted(mine) if kind == wanted) for wanted in ("new", "joined", "moved")
        )
        assert set(one.removed) == {doc_id for doc_id, kind in gone.items() if kind == "removed"}
        assert set(one.left) == gone.keys() - set(one.removed)
        assert set(one.merged) == {was for was, at in merged if at == one.number}
        moved = {row[1] for row in rows if row[0] == one.number and row[3] == "moved"}
        assert set(one.split_from) == moved & now.principal.keys()
        for numbers, principals, n, principal in (
            (then, then.principal, one.n_documents_were, one.principal_was),
            (now, now.principal, one.n_documents, one.principal),
        ):
            assert n == sum(group == one.number for group in numbers.group.values())
            assert principal == principals.get(one.number)
        assert one.is_new == (one.number not in then.principal)
        assert one.is_dissolved == (one.number not in now.principal)
    named = {number for row in rows for number in row[:2] if number} | (then.principal.items() ^ now.principal.items())
    numbers = {number if isinstance(number, int) else number[0] for number in named}
    assert numbers - {was for was, _ in merged} <= {one.number for one in changes} <= numbers


def told(found: Any) -> list[tuple[Any, ...]]:
    names = ("group", "group_was", "doc_id", "change", "is_principal", "was_principal")
    return [tuple(row[name] for name in names) for row in found.documents.to_pylist()]


def three_waves(collection: Any) -> list[Printed]:
    """Add three waves, with decisions, removals and new versions between; return what was printed after each."""
    printed = []
    collection.add(
        (
            {"a1": sentence("a"), "a2": sentence("a", "1"), "a3": sentence("a", "f")}
            | {"b1": sentence("b"), "b2": sentence("b", "2"), "c1": sentence("c"), "c2": sentence("c", "3")}
            | {"d1": sentence("d"), "d3": sentence("d", "1"), "e1": sentence("e"), "e2": sentence("e")}
            | {"f1": sentence("f")}
        ).items(),
        wave="march",
    )
    printed.append(Printed(collection))
    collection.decide(never_group=("a1", "a3"), by="ada")
    collection.decide(principal="b2", by="ada")
    collection.groups(threshold=THRESHOLD)  # not the first after march, so not the state at its end
    collection.remove(["c1"])
    collection.add(
        {"b3": sentence("b", "5"), "d2": sentence("d", "0"), "e2": sentence("e", "1"), "a2": sentence("g")}.items(),
        wave="april",
    )
    printed.append(Printed(collection))
    collection.decide(same_group=("b1", "d1"), by="bo")
    collection.undo(1, by="bo")
    collection.remove(["e1"])
    collection.add({"g2": sentence("g", "4"), "f2": sentence("f", "7"), "b2": sentence("b", "25")}.items(), wave="may")
    printed.append(Printed(collection))
    return printed


def test_changes_are_those_between_the_printed_groups(place):
    with place.open() as collection:
        printed = three_waves(collection)
        collection.undo(4, by="ada")  # that b1 and d1 are in the same group
        printed.append(Printed(collection))
        kinds = set()
        for then, wave in zip(printed, WAVES):
            found = collection.groups_since(wave, threshold=THRESHOLD)
            rows = expected(then, printed[-1])
            assert told(found) == rows
            check_changes(found.changes, rows, then, printed[-1])
            kinds |= {row[3] for row in rows}
            assert (found.n_groups_were, found.n_groups) == (len(then.principal), len(printed[-1].principal))
            assert (found.n_not_grouped, found.n_decisions) == (0, 0)
        for then, now in ((printed[1], printed[2]), (printed[2], printed[3])):  # nothing was stored between
            check_changes(now.found.changes, expected(then, now), then, now)
        assert any(one.merged for one in printed[2].found.changes)
        assert any(one.split_from for one in printed[3].found.changes)
        for then, call in ((printed[0], 1), (printed[1], 3), (printed[2], 4), (printed[3], 5)):
            with collection.opened.store.reading() as connection:
                state = GroupState.of_call(connection, str(Tolerance.of(threshold=THRESHOLD)), call)
            assert sorted(state.row_groups.tolist()) == sorted(then.group.values())
        assert collection.groups(threshold=THRESHOLD).changes == ()
    assert kinds == {"new", "joined", "moved", "left", "removed"}


def test_a_principal_chosen_since_is_a_change_of_the_group_and_not_of_a_document(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "a2": sentence("a", "1")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        for chosen, was in (("a1", "a2"), ("a2", "a2"), ("a1", "a2")):
            collection.decide(principal=chosen, by="ada")  # the stored groups have it at once
            found = collection.groups_since("march", threshold=THRESHOLD)
            assert told(found) == []
            assert [(one.principal_was, one.principal) for one in found.changes] == [(was, chosen)] * (was != chosen)
        changes = collection.groups(threshold=THRESHOLD).changes
        assert [(one.principal_was, one.principal) for one in changes] == [("a2", "a1")]
        assert collection.groups(threshold=THRESHOLD).changes == ()
        collection.undo(3, by="ada")
        (change,) = collection.groups(threshold=THRESHOLD).changes
        assert (change.principal_was, change.principal) == ("a1", "a2")


def test_what_came_after_the_latest_grouping_is_counted_only(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "a2": sentence("a", "1"), "a3": sentence("a", "2")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        collection.add({"a4": sentence("a", "4"), "x": sentence("x")}.items(), wave="april")
        collection.remove(["a2"])
        collection.decide(never_group=("a1", "a3"), by="ada")
        found = collection.groups_since("march", threshold=THRESHOLD)
        assert (found.changes, found.n_not_grouped, found.n_decisions) == ((), 2, 1)
    with place.open(create=False, read_only=True) as reader:
        computed = reader.groups(threshold=THRESHOLD)
        assert reader.groups_since("march", threshold=THRESHOLD).to_dict() == found.to_dict()
    with place.open(create=False) as collection:
        assert collection.groups(threshold=THRESHOLD).to_dict() == computed.to_dict()


def test_a_late_load_of_an_earlier_wave_does_not_move_its_end(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "a2": sentence("a", "1"), "b1": sentence("b")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        collection.add({"a3": sentence("a", "2"), "c1": sentence("c"), "c2": sentence("c", "3")}.items(), wave="april")
        collection.groups(threshold=THRESHOLD)
        before = collection.groups_since("march", threshold=THRESHOLD)
        collection.add({"b2": sentence("b", "2")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        found = collection.groups_since("march", threshold=THRESHOLD)
        assert found.grouped_then == before.grouped_then
        assert {row[2] for row in told(found)} == {"a3", "b1", "b2", "c1", "c2"}
        found = collection.groups_since("april", threshold=THRESHOLD)
        assert [row[2] for row in told(found)] == ["b1", "b2"]
        with collection.opened.store.reading() as connection:
            assert known_waves(connection, found.tolerance) == ["march", "april"]


def test_waves_whose_groups_are_not_known_are_refused(place):
    with place.open() as collection:
        collection.add([("a1", sentence("a"))], wave="march")
        with pytest.raises(ParameterError, match=r"There are no groups at jaccard 0\.3 yet"):
            collection.groups_since("march", threshold=THRESHOLD)
        collection.add([("a2", sentence("a", "1"))], wave="april")
        collection.add([("a4", sentence("a", "4"))], wave="march")
        collection.groups(threshold=THRESHOLD)
        with pytest.raises(ParameterError, match=r"at the end of wave 'march' are not known.*end of: 'april'"):
            collection.groups_since("march", threshold=THRESHOLD)  # these groups have the documents of april
        for wave in ("may", 3):
            with pytest.raises(ParameterError, match=r"may|since"):
                collection.groups_since(wave, threshold=THRESHOLD)
        with pytest.raises(ParameterError, match=r"no groups .* Stored: .*jaccard 0\.3"):
            collection.groups_since("april", threshold=0.9)


def test_the_end_of_a_wave_that_grows_moves_until_the_next_wave_begins(place):
    with place.open() as collection:
        for letter in "abc":
            collection.add([(f"{letter}{n}", sentence(letter, str(n))) for n in (1, 2)], wave="check-ins")
            if letter != "b":
                collection.groups(threshold=THRESHOLD)
        assert len(collection.groups_since("check-ins", threshold=THRESHOLD).changes) == 0
        collection.add([("b3", sentence("b", "3"))], wave="check-ins")
        collection.add([("d1", sentence("d"))], wave="may")
        collection.groups(threshold=THRESHOLD)
        with pytest.raises(ParameterError, match="not known"):
            collection.groups_since("check-ins", threshold=THRESHOLD)
