"""What is known of stored documents: shown, listed, with their history; the same in a directory and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase

import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.listing.lists import DocumentFilter, ListedDocuments, listed_batches
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, UnknownDocumentError
from places import SomePlace

RENT = "The rent of {} crowns is due on the first day of each month."
FIRST = [
    ("lease-1", RENT.format(900)),
    ("lease-2", RENT.format(900)),
    ("Lease-3", RENT.format(950)),
    ("note_1", "Call the owner."),
    ("note%1", "Call the tenant, and the owner of the house next door."),
    ("é[1]*", "Nothing."),
]
SECOND = [("lease-1", RENT.format(925)), ("new", RENT.format(950)), ("note_1", "Call the owner.")]


@contextmanager
def filled(place: SomePlace) -> Iterator[Collection]:
    with place.open() as collection:
        collection.add(FIRST, wave="march")
        collection.add(SECOND, wave="april")
        collection.remove(["note%1"])
        yield collection


@pytest.fixture
def collection(place: SomePlace):
    with filled(place) as collection:
        yield collection


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def unchanged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The same, made once for the tests that only read."""
    server = request.getfixturevalue("server") if request.param == "postgresql" else None
    with filled(SomePlace.new(tmp_path_factory.mktemp("unchanged"), server)) as collection:
        yield collection


def listed(collection: Collection, **wanted: object) -> ListedDocuments:
    beside = {name: wanted.pop(name) for name in ("sort", "limit", "date_tag") if name in wanted}
    limits = {name: wanted.pop(name) for name in ("gamma", "threshold") if name in wanted}
    return collection.documents(DocumentFilter(**wanted, tolerance=Tolerance.if_given(**limits)), **beside)


def ids(collection: Collection, **wanted: object) -> list[str]:
    return listed(collection, **wanted).table["doc_id"].to_pylist()


# -- one document -----------------------------------------------------------------------------------------------------


def test_a_document_has_its_text_its_versions_and_its_copies(unchanged: Collection) -> None:
    now, before = unchanged.details("lease-1"), unchanged.details("lease-1", version=1)

    assert (now.text, now.document.wave, now.document.is_current) == (RENT.format(925), "april", True)
    assert (now.versions, now.copies, now.n_copies, now.removed_at) == ((1, 2), (), 0, None)
    assert (before.text, before.document.wave, before.document.is_current) == (RENT.format(900), "march", False)
    assert (before.copies, before.n_copies) == (("lease-2",), 1)
    assert before.added_at <= now.added_at
    assert unchanged.details("lease-2").copies == ()  # the other one is an older version
    assert unchanged.details("new").to_dict()["copies"] == ["Lease-3"]


def test_a_removed_document_is_shown_by_its_version(unchanged: Collection) -> None:
    with pytest.raises(UnknownDocumentError, match=r"was removed at "):
        unchanged.details("note%1")
    found = unchanged.details("note%1", version=1)
    assert (found.document.is_current, found.removed_at is None, found.text) == (False, False, FIRST[4][1])


@pytest.mark.parametrize("doc_id", ["none", "", "\0", "\ud800"])
def test_an_unknown_document(unchanged: Collection, doc_id: str) -> None:
    for ask in (unchanged.details, unchanged.history):
        with pytest.raises(UnknownDocumentError):
            ask(doc_id)
    with pytest.raises(ParameterError):
        unchanged.history(7)


# -- lists ------------------------------------------------------------------------------------------------------------


def test_current_documents_are_listed_by_id(unchanged: Collection) -> None:
    found = unchanged.documents()

    assert found.table["doc_id"].to_pylist() == ["Lease-3", "lease-1", "lease-2", "new", "note_1", "é[1]*"]
    assert found.n_found == 6
    assert found.table["n_copies"].to_pylist() == [1, 0, 0, 1, 0, 0]
    assert found.table["wave"].to_pylist() == ["march", "april", "march", "april", "march", "march"]
    assert found.table["n_characters"].to_pylist() == [len(unchanged.text(one)) for one in ids(unchanged)]
    assert set(found.table["is_current"].to_pylist()) == {True}


@pytest.mark.parametrize("which", ["current", "removed", "all"])
def test_copies_are_the_other_current_documents_with_the_text(collection: Collection, which: str) -> None:
    """Also of versions that are not current, and of those whose text came back."""
    collection.add([("lease-1", RENT.format(900)), ("x", "Call the tenant, and the owner of the house next door.")])
    rows = listed(collection, which="all").table.to_pylist()
    texts = {(one["doc_id"], one["version"]): collection.text(one["doc_id"], version=one["version"]) for one in rows}
    current = {one["doc_id"]: texts[one["doc_id"], one["version"]] for one in rows if one["is_current"]}
    for sort, limit in (("id", None), ("added", 3), ("length", 3)):
        for one in listed(collection, which=which, sort=sort, limit=limit).table.to_pylist():
            text = texts[one["doc_id"], one["version"]]
            assert one["n_copies"] == sum(doc_id != one["doc_id"] and own == text for doc_id, own in current.items())


@pytest.mark.parametrize(
    "pattern", ["*", "lease-*", "Lease*", "l?ase-1", "note_1", "note%1", "note?1", "é[1]*", "*[1]\\*", "[l]*", ""]
)
def test_patterns_know_two_signs_and_capitals(unchanged: Collection, pattern: str) -> None:
    every = {doc_id for doc_id, _ in (*FIRST, *SECOND)}
    expected = {one for one in every if fnmatchcase(one, pattern.replace("[", "[[]"))}
    assert set(ids(unchanged, doc_id=pattern, which="all")) == expected


def test_conditions_hold_together(collection: Collection) -> None:
    assert ids(collection, wave="april") == ["lease-1", "new"]
    assert ids(collection, wave="april", doc_id="l*") == ["lease-1"]
    assert ids(collection, has_copies=True) == ["Lease-3", "new"]
    assert ids(collection, which="removed") == ["note%1"]
    every = listed(collection, which="all")
    assert list(zip(every.table["doc_id"].to_pylist(), every.table["version"].to_pylist(), strict=True)) == [
        ("Lease-3", 1), ("lease-1", 1), ("lease-1", 2), ("lease-2", 1), ("new", 1), ("note%1", 1), ("note_1", 1),
        ("é[1]*", 1),
    ]  # fmt: skip
    collection.add([FIRST[4]], wave="may")  # added again, it is no longer removed
    assert ids(collection, which="removed") == []


def test_documents_added_since_a_time(unchanged: Collection) -> None:
    added_at = unchanged.details("lease-2").added_at
    assert len(ids(unchanged, added_since=added_at)) == 6
    assert len(ids(unchanged, added_since="2020-01-01")) == 6
    assert ids(unchanged, added_since="2999-01-01T00:00+02:00") == []


def test_orders(unchanged: Collection) -> None:
    assert ids(unchanged, sort="added") == ["new", "lease-1", "é[1]*", "note_1", "Lease-3", "lease-2"]
    assert ids(unchanged, sort="length", limit=4) == ["Lease-3", "lease-1", "lease-2", "new"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"which": "old"}, {"sort": "age"}, {"limit": 0}, {"limit": True}, {"added_since": "yesterday"},
        {"added_since": 7}, {"doc_id": 7}, {"source": "\0"}, {"wave": ""}, {"group": 0}, {"group": True},
        {"group": 1, "which": "all"}, {"threshold": 0.5}, {"added_before": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_conditions_are_refused(unchanged: Collection, wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        listed(unchanged, **wrong)
    with pytest.raises(UnknownDocumentError, match="'march', 'april'"):
        listed(unchanged, wave="june")


def test_a_list_comes_in_batches(place: SomePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nearkin.collection.listing.lists._ROWS_AT_A_TIME", 7)
    monkeypatch.setattr("nearkin.collection.listing.lists._STREAMED", {"yield_per": 7})
    with place.open() as collection:
        collection.add([(f"d{i:03}", f"document {i}") for i in range(40)])
        with collection.opened.store.reading() as connection:
            batches = list(listed_batches(connection, DocumentFilter()))
        assert [len(batch) for batch in batches] == [7, 7, 7, 7, 7, 5]
        assert ids(collection) == [f"d{i:03}" for i in range(40)]


# -- lists by decisions and groups -------------------------------------------------------------------------------------


@pytest.fixture
def decided(collection: Collection) -> Collection:
    """Tags with dates, and groups: lease-1, lease-2, Lease-3 and new are alike by letters."""
    collection.tag(["lease-1"], "date", "2024-03-01", by="ada")
    collection.tag(["new"], "date", "2023-12-31", by="ada")
    collection.tag(["lease-2", "note_1"], "privileged", by="ada")
    collection.groups(gamma=0.2)
    return collection


def test_documents_with_a_tag(decided: Collection) -> None:
    assert ids(decided, tag="date") == ["lease-1", "new"]
    assert ids(decided, tag="date=2023-12-31") == ["new"]
    assert ids(decided, tag="privileged") == ["lease-2", "note_1"]
    assert ids(decided, tag="privileged", doc_id="l*") == ["lease-2"]
    assert ids(decided, tag="none") == []
    decided.remove(["note_1"])
    assert ids(decided, tag="privileged") == ["lease-2"]
    for wrong in ("", "a=", 7):
        with pytest.raises(ParameterError):
            listed(decided, tag=wrong)


def test_members_of_a_group_are_those_of_groups(decided: Collection) -> None:
    members = decided.groups(gamma=0.2).members.to_pylist()
    expected = {one["doc_id"]: one["is_principal"] for one in members}
    found = listed(decided, group=members[0]["group"], gamma=0.2).table.to_pylist()

    assert {one["doc_id"]: one["is_principal"] for one in found} == expected
    assert {one["group"] for one in found} == {members[0]["group"]}
    assert decided.documents().table["group"].null_count == len(decided.documents().table)


def test_groups_must_be_there_and_news_are_counted(decided: Collection) -> None:
    number = decided.groups(gamma=0.2).groups[0].number
    assert listed(decided, group=number, gamma=0.2).n_not_grouped == 0
    decided.add([("later", RENT.format(975))])
    members = listed(decided, group=number, gamma=0.2)
    assert (members.n_not_grouped, members.n_decisions) == (1, 0)
    member = members.table["doc_id"][0].as_py()
    decided.decide(never_group=(member, "later"))
    assert listed(decided, group=number, gamma=0.2).n_decisions == 1
    assert [one.n_decisions for one in decided.details(member).groups] == [1]
    with pytest.raises(ParameterError, match=r"nearkin groups COLLECTION"):
        listed(decided, group=number)
    with pytest.raises(UnknownDocumentError, match="no group 77"):
        listed(decided, group=77, gamma=0.2)


def test_orders_by_wave_and_by_date(decided: Collection) -> None:
    assert ids(decided, sort="wave") == ["Lease-3", "lease-2", "note_1", "é[1]*", "lease-1", "new"]
    found = decided.documents(sort="date").table
    assert found["doc_id"].to_pylist() == ["new", "lease-1", "Lease-3", "lease-2", "note_1", "é[1]*"]
    assert found["date"].to_pylist() == ["2023-12-31", "2024-03-01", None, None, None, None]
    every = listed(decided, which="all").table.to_pylist()  # a date is of the current version
    assert [one["date"] for one in every if one["doc_id"] == "lease-1"] == [None, "2024-03-01"]
    decided.tag(["lease-2"], "date", "May", by="ada")
    with pytest.raises(ParameterError, match=r"'lease-2' must be a date"):
        decided.documents(sort="date")
    with pytest.raises(ParameterError, match="'signed'"):
        decided.documents(sort="date", date_tag="signed")


def test_a_document_has_its_tags_its_note_and_its_groups(decided: Collection) -> None:
    number = decided.groups(gamma=0.2).groups[0].number
    decided.decide(note=("lease-2", "signed on paper"), by="ada")
    decided.decide(group_note=(number, "the rents"), gamma=0.2, by="ada")
    found = decided.details("lease-2")

    assert (dict(found.tags), found.note) == ({"privileged": ""}, "signed on paper")
    (group,) = found.groups
    assert (group.number, group.n_documents, group.note) == (number, 4, "the rents")
    assert group.principal == decided.groups(gamma=0.2).groups[0].principal
    assert found.to_dict()["groups"][0]["tolerance"] == "letters 0.2"
    assert decided.details("note_1").groups == ()
    assert decided.details("lease-1", version=1).groups == ()


# -- history ----------------------------------------------------------------------------------------------------------


def test_the_history_of_a_document(collection: Collection) -> None:
    collection.remove(["lease-1"])
    collection.add([SECOND[0]], wave="may")
    collection.remove(["lease-1"])
    one, two, three = collection.history("lease-1").versions

    assert [(each.document.version, each.document.wave) for each in (one, two, three)] == [
        (1, "march"), (2, "april"), (3, "may"),
    ]  # fmt: skip
    assert one.change is None
    assert (two.change.n_words_removed, two.change.n_words_added, two.change.is_same_text) == (1, 1, False)
    assert [piece.text.strip() for piece in two.change.passage if piece.kind != "equal"] == ["900", "925"]
    assert (three.change.is_same_text, three.change.passage) == (True, ())
    assert [each.removed_at is None for each in (one, two, three)] == [True, False, False]
    assert not any(each.document.is_current for each in (one, two, three))


# -- removal ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dry_run", [True, False])
def test_unknown_documents_are_named_and_nothing_is_removed(unchanged: Collection, dry_run: bool) -> None:
    with pytest.raises(UnknownDocumentError, match=r"Not in the collection: 2 of 3 documents: 'x', 'y'\. Nothing"):
        unchanged.remove(["x", "new", "y"], dry_run=dry_run)
    assert len(ids(unchanged)) == 6
