"""Changes of groups since a wave are those between the groups that were printed then and now, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from nearkin.collection.groups.known_waves import known_waves
from nearkin.errors import ParameterError
from nearkin.reports.sentences.groups import change_sentences, groups_since_sentences

WORDS = "the tenant pays the rent on the first day of each month to the owner of the house".split(" ")  # noqa: SIM905
THRESHOLD = 0.3
WAVES = ("march", "april", "may")


def sentence(kind: str, changed: str = "") -> str:
    """A text of which some words are others; texts of different kinds share no word."""
    marked = {int(place, 16) for place in changed}
    return " ".join(f"{word}{kind}{'x' * (i in marked)}" for i, word in enumerate(WORDS))


class Printed:
    """What a call of groups told: each member's group and version, and each group's principal."""

    def __init__(self, found: Any) -> None:
        rows = found.members.to_pylist()
        self.group = {row["doc_id"]: row["group"] for row in rows}
        self.version = {row["doc_id"]: row["version"] for row in rows}
        self.principal = {one.number: one.principal for one in found.groups}


def expected(then: Printed, now: Printed, known: set[tuple[str, int]], current: set[str]) -> list[tuple[Any, ...]]:
    """Rows (group, group_was, doc_id, change, is_principal, was_principal); ``known`` are the versions stored then."""
    rows = []
    for doc_id in {**then.group, **now.group}:
        was, at = then.group.get(doc_id), now.group.get(doc_id)
        is_one, was_one = now.principal.get(at) == doc_id, then.principal.get(was) == doc_id
        if at is None:
            kind = "left" if doc_id in current else "removed"
        elif was is None:
            kind = "joined" if (doc_id, now.version[doc_id]) in known else "new"
        elif was != at:
            kind = "moved"
        elif then.version[doc_id] != now.version[doc_id]:
            kind = "new version"
        elif is_one != was_one:
            kind = "principal"
        else:
            continue
        rows.append((at, was, doc_id, kind, is_one, was_one))
    return sorted(rows, key=lambda row: (row[0] or row[1], row[2]))


def told(found: Any) -> list[tuple[Any, ...]]:
    names = ("group", "group_was", "doc_id", "change", "is_principal", "was_principal")
    return [tuple(row[name] for name in names) for row in found.documents.to_pylist()]


def versions_of(collection: Any) -> set[tuple[str, int]]:
    listed = collection.documents(which="all").table.to_pylist()
    return {(row["doc_id"], row["version"]) for row in listed}


def three_waves(collection: Any) -> tuple[list[Printed], list[set[tuple[str, int]]]]:
    """Add three waves, with decisions, removals and new versions between; return what was printed after each."""
    printed, stored = [], []

    def grouped() -> None:
        printed.append(Printed(collection.groups(threshold=THRESHOLD)))
        stored.append(versions_of(collection))

    collection.add(
        (
            {"a1": sentence("a"), "a2": sentence("a", "1"), "a3": sentence("a", "f")}
            | {"b1": sentence("b"), "b2": sentence("b", "2"), "c1": sentence("c"), "c2": sentence("c", "3")}
            | {"d1": sentence("d"), "e1": sentence("e"), "e2": sentence("e"), "f1": sentence("f")}
        ).items(),
        wave="march",
    )
    grouped()
    collection.decide(never_group=("a1", "a3"), by="ada")
    collection.decide(principal="b2", by="ada")
    collection.groups(threshold=THRESHOLD)  # not the first after march, so not the state at its end
    collection.remove(["c1"])
    collection.add(
        {"b3": sentence("b", "5"), "d2": sentence("d", "0"), "e2": sentence("e", "1"), "a2": sentence("g")}.items(),
        wave="april",
    )
    grouped()
    collection.decide(same_group=("b1", "d1"), by="bo")
    collection.undo(1, by="bo")
    collection.remove(["e1"])
    collection.add({"g2": sentence("g", "4"), "f2": sentence("f", "7"), "b2": sentence("b", "25")}.items(), wave="may")
    grouped()
    return printed, stored


def test_changes_are_those_between_the_printed_groups(place):
    with place.open() as collection:
        printed, stored = three_waves(collection)
        current = {row["doc_id"] for row in collection.documents().table.to_pylist()}
        kinds = set()
        for i, wave in enumerate(WAVES):
            found = collection.groups_since(wave, threshold=THRESHOLD)
            assert told(found) == expected(printed[i], printed[-1], stored[i], current)
            kinds |= {row[3] for row in told(found)}
            assert (found.n_groups_were, found.n_groups) == (len(printed[i].principal), len(printed[-1].principal))
            assert (found.n_not_grouped, found.n_gone, found.n_decisions) == (0, 0, 0)
            for one in found.changes:
                assert one.n_documents == sum(group == one.number for group in printed[-1].group.values())
                assert one.n_documents_were == sum(group == one.number for group in printed[i].group.values())
                assert one.principal == printed[-1].principal.get(one.number)
                assert one.principal_was == printed[i].principal.get(one.number)
                assert one.is_new == (one.number not in printed[i].principal)
                assert one.is_dissolved == (one.number not in printed[-1].principal)
        assert collection.groups_since("may", threshold=THRESHOLD).changes == ()
    assert kinds >= {"new", "joined", "new version", "moved", "left", "removed"}


def test_merged_and_split_groups_are_named(place):
    with place.open() as collection:
        printed, _ = three_waves(collection)
        changes = {one.number: one for one in collection.groups_since("april", threshold=THRESHOLD).changes}
        of_b, of_d = printed[1].group["b1"], printed[1].group["d1"]
        joint = printed[-1].group["b1"]
        assert changes[joint].merged == tuple({of_b, of_d} - {joint})
        collection.undo(4, by="ada")  # that b1 and d1 are in the same group
        collection.groups(threshold=THRESHOLD)
        changes = {one.number: one for one in collection.groups_since("may", threshold=THRESHOLD).changes}
        (new,) = (one for one in changes.values() if one.is_new)
        assert new.split_from == (joint,)
        assert set(new.moved_documents) == set(changes[joint].moved_away) >= {new.principal}
        assert new.n_documents == len(new.moved_documents)


def test_a_principal_chosen_since_is_listed(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "a2": sentence("a", "1")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        collection.decide(principal="a1", by="ada")  # it changes the stored groups at once
        (change,) = collection.groups_since("march", threshold=THRESHOLD).changes
        assert (change.principal_was, change.principal, change.has_new_principal) == ("a2", "a1", True)
        assert [row[3] for row in told(collection.groups_since("march", threshold=THRESHOLD))] == ["principal"] * 2


def test_what_came_after_the_latest_grouping_is_counted_only(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "a2": sentence("a", "1"), "a3": sentence("a", "2")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        collection.add({"a4": sentence("a", "4"), "x": sentence("x")}.items(), wave="april")
        collection.remove(["a2"])
        collection.decide(never_group=("a1", "a3"), by="ada")
        found = collection.groups_since("march", threshold=THRESHOLD)
        assert (found.changes, found.n_not_grouped, found.n_gone, found.n_decisions) == ((), 2, 1, 1)
        assert (found.n_new_versions, found.n_removed) == (0, 1)
        with pytest.raises(ParameterError, match="not updated since wave 'april'"):
            collection.groups_since("april", threshold=THRESHOLD)


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
        assert (before.n_later_loads, found.n_later_loads) == (0, 1)
        assert {row[2] for row in told(found)} == {"a3", "b1", "b2", "c1", "c2"}
        assert "1 load of this wave came after these groups; its documents are listed as changes." in [
            str(one) for one in groups_since_sentences(found, 20)
        ]
        found = collection.groups_since("april", threshold=THRESHOLD)
        assert ([row[2] for row in told(found)], found.n_later_loads) == (["b1", "b2"], 0)
        with collection.opened.store.reading() as connection:
            assert known_waves(connection, found.tolerance) == ["march", "april"]


def test_a_late_load_of_a_wave_does_not_stand_for_its_end(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a")}.items(), wave="march")
        collection.add({"a2": sentence("a", "1")}.items(), wave="april")
        collection.add({"b1": sentence("b")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        with pytest.raises(ParameterError, match=r"at the end of wave 'march' are not known.*end of: 'april'"):
            collection.groups_since("march", threshold=THRESHOLD)  # these groups have the documents of april
        collection.add({"b2": sentence("b", "2")}.items(), wave="may")
        collection.groups(threshold=THRESHOLD)
        found = collection.groups_since("april", threshold=THRESHOLD)
        assert ([row[2] for row in told(found)], found.n_later_loads) == (["b1", "b2"], 0)


def test_new_versions_after_the_latest_grouping_are_counted_apart(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "a2": sentence("a", "1")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        collection.add({"a1": sentence("a", "2"), "b1": sentence("b")}.items(), wave="april")
        collection.add({"b1": sentence("b", "1")}.items(), wave="may")
        found = collection.groups_since("march", threshold=THRESHOLD)
        assert (found.n_not_grouped, found.n_new_versions, found.n_gone, found.n_removed) == (2, 1, 1, 0)


def test_a_known_document_with_a_new_version_is_not_called_new(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "b1": sentence("b"), "b2": sentence("b", "2")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        collection.add({"a1": sentence("b", "3"), "b3": sentence("b", "4")}.items(), wave="april")
        found = collection.groups(threshold=THRESHOLD)
        (change,) = found.changes
        assert (change.new_documents, change.known_documents) == (("a1", "b3"), ("a1",))
        *_, last = map(str, change_sentences(found))
        assert last == "  group 1: 1 new document (b3); 1 document with a new version (a1)"


def test_waves_whose_groups_are_not_known_are_refused(place):
    with place.open() as collection:
        collection.add([("a1", sentence("a"))], wave="march")
        with pytest.raises(ParameterError, match=r"There are no groups .* yet\. Compute them: .* --threshold 0\.3$"):
            collection.groups_since("march", threshold=THRESHOLD)
        collection.add([("a2", sentence("a", "1"))], wave="april")
        collection.groups(threshold=THRESHOLD)
        collection.groups(threshold=THRESHOLD)
        with pytest.raises(
            ParameterError, match=r"at the end of wave 'march' are not known.*Known at the end of: 'april'"
        ):
            collection.groups_since("march", threshold=THRESHOLD)
        with pytest.raises(ParameterError, match=r"There is no wave 'may'. Waves: march, april"):
            collection.groups_since("may", threshold=THRESHOLD)
        of_others = r"no groups .* stored at --threshold 0\.3: use this option.*nearkin groups .* --threshold 0\.9"
        with pytest.raises(ParameterError, match=rf"{of_others}$"):
            collection.groups_since("april", threshold=0.9)
        too_late = "^Groups computed now would include the waves after 'march': changes since that wave stay unknown"
        with pytest.raises(ParameterError, match=rf"{too_late}\..* {of_others}$"):
            collection.groups_since("march", threshold=0.9)
        collection.add([("a3", sentence("a", "2"))], wave="may")
        collection.groups(threshold=0.4)
        of_april = r"Changes since wave 'april' are known at --threshold 0\.3: use this option\.$"
        with pytest.raises(
            ParameterError,
            match=rf"^There are no groups .* 0\.9 yet\. Groups .* after 'april', and .* since that wave\. {of_april}",
        ):
            collection.groups_since("april", threshold=0.9)
        with pytest.raises(ParameterError, match=rf"at the end of wave 'april' are not known.* 'may'\. {of_april}"):
            collection.groups_since("april", threshold=0.4)
        with pytest.raises(ParameterError, match="since"):
            collection.groups_since(3, threshold=THRESHOLD)
    assert place.sql("SELECT count(*) FROM group_history") == "2"  # the second call changed nothing


def test_read_only_groups_and_changes_store_nothing(place):
    with place.open() as collection:
        collection.add({"a1": sentence("a"), "a2": sentence("a", "1")}.items(), wave="march")
        collection.groups(threshold=THRESHOLD)
        collection.add({"a3": sentence("a", "2"), "b1": sentence("b"), "b2": sentence("b", "2")}.items(), wave="april")
    with place.open(create=False, read_only=True) as reader:
        computed = reader.groups(threshold=THRESHOLD)
        assert reader.groups_since("march", threshold=THRESHOLD).n_not_grouped == 3
    with place.open(create=False) as collection:
        assert collection.groups_since("march", threshold=THRESHOLD).n_not_grouped == 3
        assert collection.groups(threshold=THRESHOLD).to_dict() == computed.to_dict()
        written = collection.groups_since("march", threshold=THRESHOLD).to_dict()
    with place.open(create=False, read_only=True) as reader:
        assert reader.groups_since("march", threshold=THRESHOLD).to_dict() == written


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
        said = r"no groups were computed after the last documents of the wave were added and before the next wave began"
        with pytest.raises(ParameterError, match=said):
            collection.groups_since("check-ins", threshold=THRESHOLD)
        collection.add([("c3", sentence("c", "3"))], wave="check-ins")  # in a later wave: the end stays
        assert collection.groups_since("may", threshold=THRESHOLD).n_not_grouped == 1
        collection.groups(threshold=THRESHOLD)
        with pytest.raises(ParameterError, match=said):  # the state now has the documents of may
            collection.groups_since("check-ins", threshold=THRESHOLD)
