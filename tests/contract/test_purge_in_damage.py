"""A purge of a damaged collection: what is reported erased is erased, also if rows were changed or deleted by hand."""

from __future__ import annotations

import pytest

from contract.damaged_collections import copy_filled, sql
from contract.test_collection_purge import LEASE, SECRET, found_in
from functional.conftest import nearkin_here
from nearkin.collection.decisions.purging import Purged
from nearkin.errors import CollectionError, ParameterError, UnknownDocumentError
from places import SomePlace

DRAFT = "An early draft of the memorandum, which nobody else has read, and which was never sent to anybody."
PIECES = [SECRET.encode()[:30], b"zebra quartz", b"umbrella", b"early draft"]


def fill(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add([*((f"d{i}", LEASE.format(900 + i)) for i in range(4)), ("s", DRAFT)], wave="first")
        collection.add([("s", SECRET), ("t", "Another text of the second wave.")], wave="second")
        collection.check(SECRET)
        collection.groups()
        collection.search("umbrella")


def filled(place: SomePlace) -> None:
    copy_filled(place, fill)


def purge(place: SomePlace, *doc_ids: str, **options: bool) -> Purged:
    with place.open(create=False) as collection:
        return collection.purge(list(doc_ids), by="ada", **options)


def left_of_it(place: SomePlace) -> list[tuple[str, int]]:
    """Pieces of the texts in the files of the collection, or of its index, apart from copies that the test made."""
    return [one for one in found_in(place.cache.parent, PIECES) if not one[0].startswith("copy-")]


DAMAGE = {
    "a row of another document": ("UPDATE documents SET source = 'other.csv' WHERE doc_id = 'd1'", 0),
    "many rows of others": ("UPDATE documents SET source = 'other.csv' WHERE doc_id <> 's'", 0),
    "the source of its own row": ("UPDATE documents SET source = 'other.csv' WHERE doc_id = 's'", 0),
    "its id": ("UPDATE documents SET doc_id = 'forged' WHERE doc_id = 's' AND version = 2", 0),
    "its id and no checksum": (
        "UPDATE documents SET doc_id = 'forged', checksum = NULL WHERE doc_id = 's' AND version = 2",
        0,
    ),
    "its text": (
        "UPDATE documents SET content = 70000 WHERE doc_id = 's' AND version = 1",
        1,
    ),
    "its first version is missing": ("DELETE FROM documents WHERE doc_id = 's' AND version = 1", 1),
    "all of its rows are missing": ("DELETE FROM documents WHERE doc_id = 's'", 2),
    "the row of a load": ("UPDATE loads SET n_new = 7000000 WHERE load = 1", 0),
    "a load is missing": ("DELETE FROM loads WHERE load = 2", 0),
    "a seal": ("DELETE FROM seals WHERE part = 'documents of wave 2'", 0),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_reported_erased_is_erased(place: SomePlace, what) -> None:
    filled(place)
    statement, n_lost = DAMAGE[what]
    others = "SELECT count(*) FROM contents WHERE n_bytes > 0"
    n_before = int(place.sql(others))
    sql(place, statement)
    with pytest.raises(CollectionError, match=r"erase nonetheless: nearkin purge --damaged\. Nothing was erased"):
        purge(place, "s")
    assert int(place.sql(others)) == n_before
    planned = purge(place, "s", damaged=True, dry_run=True)
    assert int(place.sql(others)) == n_before
    told = purge(place, "s", damaged=True)
    assert (told.n_texts, told.n_without_document, told.copies) == (2, n_lost, ())
    assert (planned.n_texts, planned.damage) == (2, told.damage)
    assert told.damage
    assert left_of_it(place) == []
    assert int(place.sql(others)) == n_before - 2
    current = "SELECT count(*) FROM documents JOIN contents ON contents.content = documents.content"
    assert place.sql(f"{current} WHERE is_current AND n_bytes = 0") == "0"
    assert place.sql("SELECT count(*) FROM documents WHERE is_current") == "5"
    assert "s" in place.sql("SELECT subject FROM changes WHERE kind = 'purge'").split()


@pytest.mark.parametrize("what", ["a row of another document", "its id", "its first version is missing"])
def test_the_damage_is_still_reported_and_nothing_else_is(place: SomePlace, what) -> None:
    filled(place)
    sql(place, DAMAGE[what][0])
    told = purge(place, "s", damaged=True)
    with place.open(create=False) as collection:
        report = collection.fsck()
    assert len(report.faults) == len(told.damage), (report.faults, told.damage)
    assert (report.damaged_documents, report.mended_texts) == ((), 0)


def test_a_text_that_an_undamaged_document_has_is_refused_unless_it_goes_too(place: SomePlace) -> None:
    filled(place)
    with place.open(create=False) as collection:
        collection.add([("copy", SECRET)], wave="third")
    sql(place, DAMAGE["a row of another document"][0])
    with pytest.raises(ParameterError, match="'copy' has the same text"):
        purge(place, "s", damaged=True)
    assert purge(place, "s", damaged=True, copies=True).copies == ("copy",)
    assert left_of_it(place) == []


def test_what_fsck_repairs_is_repaired_first(place: SomePlace) -> None:
    filled(place)
    sql(place, "UPDATE documents SET line = line + 64 WHERE doc_id = 'd1'")
    with pytest.raises(
        CollectionError, match=r"can be repaired. Run nearkin fsck COLLECTION first. Nothing was erased"
    ):
        purge(place, "s", damaged=True)
    with place.open(create=False) as collection:
        assert collection.fsck().is_whole
    assert (told := purge(place, "s", damaged=True)).n_texts == 2
    assert told.damage == ()


def test_an_unknown_document_is_named_if_no_text_has_lost_its_document(place: SomePlace) -> None:
    filled(place)
    sql(place, DAMAGE["a row of another document"][0])
    with pytest.raises(UnknownDocumentError, match="no document 'nope'"):
        purge(place, "nope", damaged=True)


def test_the_command_says_what_may_still_be_stored(place: SomePlace) -> None:
    filled(place)
    sql(place, DAMAGE["its first version is missing"][0])
    of_place = ["--cache", str(place.cache)] if place.server else []
    refused = nearkin_here("purge", place.address, "s", "--yes", *of_place)
    assert refused.code == 7, refused
    ended = nearkin_here("purge", place.address, "s", "--damaged", "--yes", *of_place)
    assert ended.code == 0, ended
    said = " ".join((ended.out + ended.err).split())
    assert "Erased 2 texts, among them the text of 1 version of s" in said
    assert "documents of wave 'first': 1 of 5 rows missing. 1 text without a document was erased. If an" in said


def name_another_wave(place: SomePlace) -> str:
    """Damage the second load; return the statement that restores it."""
    wave, n_new = (place.sql(f"SELECT {name} FROM loads WHERE load = 2") for name in ("wave", "n_new"))
    sql(place, "UPDATE loads SET wave = (SELECT wave FROM loads WHERE load = 1), n_new = 7000000 WHERE load = 2")
    return f"UPDATE loads SET wave = {wave}, n_new = {n_new} WHERE load = 2"


def test_a_load_that_names_another_wave_leaves_the_seals_of_both_right(place: SomePlace) -> None:
    """The seals show to which wave its documents belong, so `fsck` names the load, and no wave."""
    filled(place)
    right = name_another_wave(place)
    told = purge(place, "s", damaged=True)
    assert told.damage == ("the row of load 2 was changed",)
    with place.open(create=False) as collection:
        assert collection.fsck().faults == told.damage
    sql(place, right)
    with place.open(create=False) as collection:
        assert collection.fsck().is_whole
        assert collection.info().n_documents == 5
