"""Tags of people: kept, replaced, logged and removed; the same in both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from contract.leases import GAMMA, OTHER, collection_of_leases, tags_of
from nearkin.collection.collection import Collection
from nearkin.collection.decisions.deciding import tags_as_labels
from nearkin.collection.decisions.log import SettingChange
from nearkin.collection.listing.coding import with_coding
from nearkin.errors import ChangedMeanwhileError, ParameterError, UnknownDocumentError
from places import SomePlace, refused_before_any_database


@pytest.fixture
def collection(place: SomePlace) -> Iterator[Collection]:
    with collection_of_leases(place) as opened:
        yield opened


def test_tags_are_set_replaced_and_removed(collection) -> None:
    told = collection.tag(["d0", "d1", "d0"], " responsive ", "yes", by="ada")
    assert (told.number, len(told.changes), told.n_unchanged) == (1, 2, 0)
    told = collection.tag(["d1", "d2"], "responsive", "no", by="bo")
    assert [(one.subject, one.was, one.now) for one in told.changes] == [("d1", "yes", "no"), ("d2", None, "no")]
    collection.tag(["d1"], "privileged")
    assert tags_of(collection) == {
        ("d0", "responsive"): "yes",
        ("d1", "responsive"): "no",
        ("d2", "responsive"): "no",
        ("d1", "privileged"): "",
    }
    assert collection.untag(["d1", "d3"], "responsive").n_unchanged == 1
    counts = [(one.field, one.value, one.n_documents) for one in collection.tags().counts]
    assert counts == [("privileged", "", 1), ("responsive", "no", 1), ("responsive", "yes", 1)]
    with collection.opened.store.reading() as connection:
        assert tags_as_labels(connection, "responsive") == [("d2", "no"), ("d0", "yes")]


def test_a_tag_stays_over_versions_and_comes_back_with_its_document(collection) -> None:
    collection.tag(["d0"], "hot", by="ada")
    collection.add([("d0", OTHER + " More.")])
    assert tags_of(collection) == {("d0", "hot"): ""}
    collection.remove(["d0"])
    assert tags_of(collection) == {}
    (count,) = collection.tags().counts
    assert (count.n_documents, count.n_removed) == (0, 1)
    collection.add([("d0", OTHER)], wave="again")
    assert tags_of(collection) == {("d0", "hot"): ""}
    collection.remove(["d0"])
    assert len(collection.untag(["d0"], "hot").changes) == 1


def test_unknown_ids_change_nothing_and_are_named(collection) -> None:
    with pytest.raises(UnknownDocumentError, match=r"Not in the collection: 2 of 3 documents: 'no', 'nope'"):
        collection.tag(["d0", "no", "nope"], "hot")
    with pytest.raises(UnknownDocumentError, match="'nope'"):
        collection.tag(["d0", "nope"], "hot")
    assert collection.log() == []
    assert tags_of(collection) == {}
    collection.remove(["d1"])
    for chosen in (["d1"], ["d0", "d1"]):
        with pytest.raises(UnknownDocumentError, match="'d1' was removed"):
            collection.tag(chosen, "hot")
    wrong = ["d1", *(f"no{i}" for i in range(20))]
    named = r"21 of 22 documents: 'd1', 'no0', .*'no8' and 11 more"
    with pytest.raises(UnknownDocumentError, match=named):
        collection.tag(["d0", *wrong], "hot")
    with pytest.raises(UnknownDocumentError, match=named):
        collection.tag_values(dict.fromkeys(["d0", *wrong], "yes"), "hot")
    assert tags_of(collection) == {}


def test_a_group_is_tagged(collection) -> None:
    with pytest.raises(UnknownDocumentError, match=r"no groups at letters 0\.2 yet"):
        collection.tag(field="hot", group=1, gamma=GAMMA)
    collection.groups(gamma=GAMMA)
    assert len(collection.tag(field="hot", group=1, gamma=GAMMA).changes) == 6
    assert collection.log()[0].data == {"field": "hot", "value": "", "group": 1, "tolerance": "letters 0.2"}


def test_a_group_is_not_released(collection) -> None:
    collection.groups(gamma=GAMMA)
    collection.tag(field="privileged", value="yes", group=1, gamma=GAMMA)
    for release in (lambda: collection.tag(field="privileged", value="no", group=1, gamma=GAMMA),
                    lambda: collection.untag(field="privileged", group=1, gamma=GAMMA)):  # fmt: skip
        with pytest.raises(ParameterError):
            release()
    assert set(tags_of(collection).values()) == {"yes"}
    with pytest.raises(ParameterError):
        collection.tag(["d0"], "issue by", "ada")


def test_nothing_changed_is_no_activity_and_a_dry_run_changes_nothing(collection) -> None:
    assert collection.tag(["d0"], "hot", dry_run=True).number is None
    assert collection.log() == []
    collection.tag(["d0"], "hot")
    assert collection.tag(["d0"], "hot").number is None
    assert collection.undo(1, dry_run=True).changes
    assert len(collection.log()) == 1


def test_agreements_are_logged_and_no_limit_counts_them(collection) -> None:
    documents = ["d0", "d1", "d2"]
    collection.tag(documents[:2], "hot", "yes", by="ada")
    tried = collection.tag(documents, "hot", "yes", by="bo", max_changes=0)
    assert (tried.n_changed, tried.n_unchanged, tried.is_dry_run, len(collection.log())) == (1, 2, True, 1)
    told = collection.tag(documents[:2], "hot", "yes", by="bo", max_changes=0)
    assert (told.n_changed, told.n_unchanged, told.is_dry_run, told.number) == (0, 2, False, 2)
    assert [(one.kind, one.subject, one.other, one.now) for one in collection.log()[-1].changes] == [
        ("second", "d0", "hot=bo", "yes"), ("second", "d1", "hot=bo", "yes"),
    ]  # fmt: skip
    told = collection.tag(documents[:2], "hot", "yes", by="bo", max_changes=0)
    assert (told.n_changed, told.n_unchanged, told.number) == (0, 2, None)


@refused_before_any_database
@pytest.mark.parametrize(
    ("field", "value", "by"),
    [("", "", None), ("a=b", "", None), ("a\nb", "", None), ("a", "b\0", None), ("x" * 101, "", None), ("a", "", " "),
     ("a", "y" * 1_001, None)],
)  # fmt: skip
def test_names_that_cannot_be_stored_are_refused(collection, field, value, by) -> None:
    with pytest.raises(ParameterError):
        collection.tag(["d0"], field, value, by=by)
    assert collection.log() == []


# -- values of a table, and removal ------------------------------------------------------------------------------------


def test_values_of_documents_are_one_activity(collection) -> None:
    told = collection.tag_values({"d0": "2024-01-31", "d1": "2024-06-30", "d2": "2024-01-31"}, "date", by="ada")
    assert (told.number, len(told.changes), dict(told.data)) == (1, 3, {"field": "date", "n_values": 2})
    assert collection.tag_values({"d0": "2024-01-31"}, "date", by="ada").number is None
    assert collection.tag_values({"d0": "x", "d1": "y"}, "date", max_changes=1).is_dry_run
    with pytest.raises(UnknownDocumentError, match="'nope'"):
        collection.tag_values({"d0": "x", "nope": "y"}, "date")
    for wrong in ({}, [("d0", "x")], {"d0": " "}, {"d0": 7}):
        with pytest.raises(ParameterError):
            collection.tag_values(wrong, "date")
    assert tags_of(collection) == {
        ("d0", "date"): "2024-01-31",
        ("d1", "date"): "2024-06-30",
        ("d2", "date"): "2024-01-31",
    }
    collection.undo(1)
    assert tags_of(collection) == {}


def test_tables_have_what_reviewers_set_and_who_and_when(collection) -> None:
    collection.tag(["d0"], "hot", by="ada")
    collection.tag(["d0", "d1"], "responsive", "yes", by="bo")
    collection.decide(note=("d1", "=see annex"), by="ada")
    with collection.opened.store.reading() as connection:
        one = with_coding(connection, pa.table({"doc_id": ["d1", None, "d0"]})).to_pydict()
        two = with_coding(connection, pa.table({"id_a": ["d0"], "id_b": ["d1"]})).to_pylist()
    times = [one.pop(f"{column} at") for column in ("note", "tag:hot", "tag:responsive")]
    assert [value is None for value in times[0]] == [False, True, True]
    assert one == {
        "doc_id": ["d1", None, "d0"],
        "note": ["=see annex", None, None],
        "note by": ["ada", None, None],
        "tag:hot": [None, None, "hot"],
        "tag:hot by": [None, None, "ada"],
        "tag:responsive": ["yes", None, "yes"],
        "tag:responsive by": ["bo", None, "bo"],
    }
    assert [(row["a tag:hot"], row["b tag:hot"], row["a note"], row["b note by"]) for row in two] == [
        ("hot", None, None, "ada")
    ]


def test_a_decision_on_a_state_that_changed_is_refused(collection) -> None:
    collection.groups(gamma=GAMMA)
    collection.tag(["d0", "d1"], "privileged", "no", by="ada")
    seen = collection.details("d0").last_activity
    assert (seen, collection.details("d2").last_activity) == (1, 0)
    collection.tag(["d0"], "privileged", "yes", by="bo")
    collection.tag(["d1"], "responsive", "yes", by="bo")  # another field
    with pytest.raises(ChangedMeanwhileError) as refused:
        collection.tag(field="privileged", value="maybe", group=1, gamma=GAMMA, by="ada", seen=seen)
    (activity,) = refused.value.activities
    assert (activity.number, activity.by, activity.at) == (2, "bo", collection.log()[1].at)
    assert activity.changes == (SettingChange("tag", "d0", "privileged", "no", "yes"),)
    with pytest.raises(ChangedMeanwhileError):
        collection.untag(["d0"], "privileged", seen=seen)
    assert collection.tag(["d1"], "privileged", "maybe", seen=seen).number == 4
    assert collection.tag(["d0"], "privileged", "yes", seen=seen).n_unchanged == 1  # the same call
    assert collection.tag(["d0"], "privileged", "no", seen=2).number == 6

    collection.decide(principal="d2", by="bo")
    for decision in ({"principal": "d3"}, {"same_group": ("d2", "x")}, {"split_off": ("d2", "d0")}):
        with pytest.raises(ChangedMeanwhileError):
            collection.decide(**decision, seen=6)
    assert collection.decide(split_off=("d4", "d2"), seen=6).number == 8  # another member
    assert collection.decide(principal="d3", seen=8).number == 9
    for wrong in (-1, True, "5"):
        with pytest.raises(ParameterError):
            collection.tag(["d0"], "hot", seen=wrong)


def test_a_removal_is_an_activity(collection) -> None:
    assert collection.remove(["d0", "d1"], max_changes=1).is_dry_run
    assert collection.remove(["d1", "d0"], dry_run=True).doc_ids == ("d0", "d1")
    assert collection.log() == []
    removed = collection.remove(["d1", "d0"], by="ada")
    assert (removed.number, removed.n_documents, removed.is_dry_run) == (1, 2, False)
    assert collection.remove(wave="wave 1", by="bo").n_documents == 5
    assert collection.remove(wave="wave 1").number is None  # nothing is left of it
    first, second = collection.log()
    assert [(one.subject, one.was, one.now) for one in first.changes] == [
        ("d0", "version 1", None), ("d1", "version 1", None),
    ]  # fmt: skip
    assert (second.by, second.kind, dict(second.data)) == ("bo", "remove", {"wave": "wave 1"})
    with pytest.raises(ParameterError, match=r"removed documents\. It cannot be undone"):
        collection.undo(1)
    assert collection.fsck().is_whole
    with pytest.raises(ParameterError):
        collection.remove(["x"], max_changes=-1)
