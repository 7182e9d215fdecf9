"""Decisions of people: kept, logged, undone, and applied to groups; the same in both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.leases import GAMMA, LEASE, OTHER, collection_of_leases, tags_of
from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError, ParameterError
from places import SomePlace


@pytest.fixture
def collection(place: SomePlace) -> Iterator[Collection]:
    with collection_of_leases(place) as opened:
        yield opened


def groups_of(collection) -> list[list[str]]:
    found = dict[int, list[str]]()
    for row in collection.groups(gamma=GAMMA).members.to_pylist():
        found.setdefault(row["group"], []).append(row["doc_id"])
    return sorted(sorted(one) for one in found.values())


def test_a_divided_group_never_takes_in_what_it_shares_nothing_with(place: SomePlace) -> None:
    prose = Prose(11)
    texts = dict(zip("ab", (prose.text(80), prose.text(80)), strict=True))
    documents = [(f"{one}{n}", prose.altered(text, n)) for one, text in texts.items() for n in range(3)]
    with place.open() as collection:
        collection.add(documents)
        collection.decide(same_group=("a2", "b1"))
        collection.decide(never_group=("a0", "a2"))
        collection.decide(never_group=("b1", "b2"))
        found = {row["doc_id"]: row["group"] for row in collection.groups().members.to_pylist()}
        assert found["a2"] == found["b1"]
        # the nearest part without an opponent of b2 is that of a0, with which it has no word 5-gram in common
        assert found.get("b2") not in (found["a0"], found["a2"])
        collection.add([("b3", prose.altered(texts["b"], 3))], wave="later")
        later = {row["doc_id"]: row["group"] for row in collection.groups().members.to_pylist()}
        assert {one: later.get(one) for one in found} == found


# -- undo --------------------------------------------------------------------------------------------------------------


def test_an_undo_restores_the_previous_value_and_can_be_undone(collection) -> None:
    collection.tag(["d0"], "responsive", "yes")
    collection.tag(["d0", "d1"], "responsive", "no")
    assert collection.undo(2).number == 3
    assert tags_of(collection) == {("d0", "responsive"): "yes"}
    collection.undo(3)
    assert tags_of(collection) == {("d0", "responsive"): "no", ("d1", "responsive"): "no"}
    assert [(one.number, one.undone_by) for one in collection.log()] == [(1, None), (2, None), (3, 4), (4, None)]
    collection.undo(2)  # which is done again, and so can be undone again
    assert tags_of(collection) == {("d0", "responsive"): "yes"}
    collection.undo(1)
    assert tags_of(collection) == {}
    assert [(one.number, one.undoes, one.undone_by) for one in collection.log()] == [
        (1, None, 6), (2, None, 5), (3, 2, 4), (4, 3, None), (5, 2, None), (6, 1, None),
    ]  # fmt: skip


def test_a_conflict_with_a_later_change_is_refused_with_both_numbers(collection) -> None:
    collection.tag(["d0", "d1"], "responsive", "yes")
    collection.tag(["d1"], "responsive", "no")
    collection.tag(["d1"], "other", "x")
    with pytest.raises(ParameterError, match=r"Activity 1 cannot be undone: activity 2 changed 'd1' afterwards"):
        collection.undo(1)
    collection.undo(2)
    collection.undo(1)
    with pytest.raises(ParameterError, match=r"Activity 1 was undone by activity 5"):
        collection.undo(1)
    with pytest.raises(ParameterError, match=r"no activity 9; the last one is 5"):
        collection.undo(9)
    assert tags_of(collection) == {("d1", "other"): "x"}


def test_the_log_is_read_by_time_and_by_document(collection) -> None:
    collection.tag(["d0", "d1"], "hot", by="ada")
    collection.decide(never_group=("d2", "d0"), by="bo")
    collection.decide(note=("d3", "paper copy"), by="bo")
    assert [one.number for one in collection.log(of="d0")] == [1, 2]
    assert [one.number for one in collection.log(of="d2")] == [2]
    assert [one.by for one in collection.log()] == ["ada", "bo", "bo"]
    assert len(collection.log(since="2020-01-01")) == 3
    assert collection.log(since="2999-01-01T00:00+01:00") == []
    with pytest.raises(ParameterError, match="ISO 8601"):
        collection.log(since="yesterday")


# -- groups ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["removed", "new version"])
@pytest.mark.parametrize("options", [{"gamma": GAMMA}, {"threshold": 0.4}], ids=["letters", "words"])
def test_a_decision_ends_with_its_document_though_a_copy_keeps_the_text(place, ending, options) -> None:
    def together() -> set[frozenset[str]]:
        found = dict[int, set[str]]()
        for row in collection.groups(**options).members.to_pylist():
            found.setdefault(row["group"], set()).add(row["doc_id"])
        return {frozenset(one) for one in found.values()}

    with place.open() as collection:
        collection.add([("a", LEASE.format(900)), ("b", LEASE.format(901)), ("c", LEASE.format(900)), ("x", OTHER)])
        collection.decide(never_group=("a", "b"))
        collection.decide(same_group=("a", "x"))
        assert together() == {frozenset("acx")}
        if ending == "removed":
            collection.remove(["a"])
        else:
            collection.add([("a", "Something else, about a bird that sings in the garden behind the old mill.")])
        assert together() == {frozenset("bc"), *([frozenset("ax")] if ending == "new version" else [])}
        assert collection.groups(**options).changes == ()


def test_contradictions_are_refused_and_name_the_decisions(collection) -> None:
    collection.decide(same_group=("d0", "d1"))
    collection.decide(same_group=("d1", "d2"))
    with pytest.raises(ParameterError, match=r"\(this decision\).*activity 1.*activity 2"):
        collection.decide(never_group=("d2", "d0"))
    collection.undo(2)
    collection.decide(never_group=("d2", "d0"))
    with pytest.raises(ParameterError, match=r"never-group 'd0' 'd2' \(activity 4\)"):
        collection.undo(3)
    collection.add([("copy", LEASE.format(900))], wave="later")
    with pytest.raises(ParameterError, match=r"'copy' and 'd0' have the same text|'d0' and 'copy' have the same text"):
        collection.decide(never_group=("copy", "d0"))
    assert len(collection.log()) == 4


def test_a_new_version_that_makes_decisions_contradictory_is_reported_by_groups(collection) -> None:
    collection.decide(never_group=("d0", "x"))
    collection.add([("x", LEASE.format(900))], wave="later")
    with pytest.raises(CollectionError, match=r"never-group 'd0' 'x' \(activity 1\).*same text"):
        collection.groups(gamma=GAMMA)
    collection.undo(1)
    assert {"d0", "x"} <= {*groups_of(collection)[0]}


def test_contradictions_that_new_texts_caused_do_not_lock_other_decisions(collection) -> None:
    collection.decide(never_group=("d0", "d1"))
    collection.decide(never_group=("d2", "d3"))
    collection.tag(["d0"], "hot")
    collection.add([("d1", LEASE.format(900)), ("d3", LEASE.format(902))], wave="later")
    assert collection.undo(3).number == 4
    assert collection.decide(note=("d0", "look again")).number == 5
    assert collection.decide(same_group=("d0", "d1")).number == 6  # they were together before
    collection.decide(same_group=("d0", "d4"))
    with pytest.raises(ParameterError, match=r"never-group 'd0' 'd4' \(this decision\), but same-group .*activity 7"):
        collection.decide(never_group=("d0", "d4"))
    with pytest.raises(CollectionError, match=r"never-group 'd0' 'd1' \(activity 1\)"):
        collection.groups(gamma=GAMMA)
    collection.undo(1)
    with pytest.raises(CollectionError, match=r"never-group 'd2' 'd3' \(activity 2\)"):
        collection.groups(gamma=GAMMA)
    undone = collection.undo(2).number
    assert groups_of(collection) == [["d0", "d1", "d2", "d3", "d4", "d5"]]
    with pytest.raises(ParameterError, match=r"never-group 'd2' 'd3' \(this decision\), but .* have the same text"):
        collection.undo(undone)


# -- principals and notes ----------------------------------------------------------------------------------------------


def principal_of(collection) -> str:
    (group,) = collection.groups(gamma=GAMMA).groups
    return group.principal


def test_a_chosen_principal_stays_principal_over_waves(collection) -> None:
    assert principal_of(collection) == "d0"
    collection.decide(principal="d3")
    assert principal_of(collection) == "d3"
    collection.add([("long", LEASE.format("nine hundred and ninety-nine"))], wave="more")
    collection.add([("d3", LEASE.format(977))], wave="more")
    assert principal_of(collection) == "d3"
    collection.remove(["d3"])
    assert principal_of(collection) != "d3"
    collection.add([("d3", LEASE.format(978))], wave="back")
    assert principal_of(collection) == "d3"


def test_an_undo_of_a_principal_chosen_before_the_first_groups_proposes_one_anew(collection) -> None:
    collection.add([("long", LEASE.format(9_000_000))])
    collection.decide(principal="d2")
    collection.decide(principal="d3")
    assert principal_of(collection) == "d3"
    collection.undo(2)
    assert principal_of(collection) == "d2"
    collection.undo(1)
    assert principal_of(collection) == "long"
    collection.undo(4)
    assert principal_of(collection) == "d2"
    assert collection.fsck().is_whole


def test_notes_are_replaced_and_removed(collection) -> None:
    collection.decide(note=("d0", "first"))
    collection.decide(note=("d0", "second"))
    told = collection.decide(note=("d0", ""))
    assert [(one.was, one.now) for one in told.changes] == [("second", None)]
    collection.groups(gamma=GAMMA)
    told = collection.decide(group_note=(1, "look again"), gamma=GAMMA)
    assert told.changes[0].key == ("group-note", "letters 0.2", "1")
    with pytest.raises(ParameterError, match="one decision"):
        collection.decide(note=("d0", "x"), principal="d0")
    with pytest.raises(ParameterError, match="at most 2,000"):
        collection.decide(note=("d0", "x" * 2_001))


# -- conflicts ---------------------------------------------------------------------------------------------------------


def conflicts_of(collection) -> tuple[set[tuple[str, str]], set[int | None], bool]:
    """The documents whose labels contradict each other, their groups, and whether these are stored."""
    labels = {f"d{i}": "yes" for i in range(5)} | {"d5": "no", "x": "no"}
    found = collection.conflicts(labels, gamma=GAMMA)
    return (
        {(one.a.doc_id, one.b.doc_id) for one in found.conflicts},
        {one.group for one in found.conflicts},
        found.are_groups_stored,
    )


def test_conflicts_heed_decisions_and_have_the_numbers_of_groups(collection) -> None:
    assert [(odd, len({other})) for odd, other in conflicts_of(collection)[0]] == [("d5", 1)]
    assert conflicts_of(collection)[1:] == ({1}, False)
    collection.groups(gamma=GAMMA)
    assert conflicts_of(collection)[1:] == ({1}, True)
    apart = collection.decide(never_group=("d5", "d0"))
    kept = {row["doc_id"]: row["group"] for row in collection.groups(gamma=GAMMA).members.to_pylist()}
    assert "d5" not in kept or kept["d5"] != kept["d0"]
    assert all(kept.get(a) == kept.get(b) for a, b in conflicts_of(collection)[0])
    assert ("d5", "d0") not in conflicts_of(collection)[0]
    collection.undo(apart.number)
    collection.decide(same_group=("x", "d0"))
    assert ("x", "d0") in conflicts_of(collection)[0]  # although their letters differ
    assert {odd for odd, _ in conflicts_of(collection)[0]} == {"x", "d5"}
    labels = {row["doc_id"]: "x" if row["doc_id"] == "x" else "y" for row in collection.documents().table.to_pylist()}
    rows = collection.conflicts(labels, gamma=GAMMA).table.to_pylist()
    assert [(row["id_a"], row["is_match"], row["is_letters_only"]) for row in rows] == [("x", False, False)]
