"""Damage of a collection, one kind a test: it is named and never used, and derived data is rebuilt."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from contract.damaged_collections import ERASED, FIRST, FORM, TEXTS, damage_text, filled, is_silent, sql
from made_up_prose import Prose
from nearkin.collection.check_in.results import CheckIn
from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError, InputError
from places import SomePlace

prose = Prose(29)
LONG = prose.text(120)
NEAR = prose.altered(LONG, 1)


def texts_of(collection: Collection) -> dict[str, str]:
    return {doc_id: collection.text(doc_id) for doc_id in TEXTS}


def test_what_changes_a_collection_leaves_it_whole(place: SomePlace) -> None:
    """The digest of a load stays true whatever becomes of its documents."""
    with place.open() as collection:
        for wave in range(3):
            collection.add([(f"d{i}", f"text {i} of wave {i % (wave + 1)}") for i in range(6)], wave=f"w{wave}")
            collection.remove([f"d{wave}"])
        collection.remove(wave="w2")
        collection.add([("d1", "back again"), ("d1", "and once more")], wave="w0")
        collection.add([("x", None), ("y", "a text")], wave="w9")
        collection.check("text 1 of wave 0", store=CheckIn("checked"))
        collection.purge(["y"])
        assert is_silent(collection.fsck())
    with place.open(create=False, read_only=True) as collection:
        assert is_silent(collection.fsck())


# -- texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["text", "digest"])
def test_a_damaged_text_is_never_used(place: SomePlace, column: str) -> None:
    filled(place)
    damage_text(place, column)
    with place.open(create=False) as collection:
        for doc_id in ("a", "g"):
            with pytest.raises(CollectionError, match="damaged") as caught:
                collection.text(doc_id)
            assert caught.value.exit_code == 7
        with pytest.raises(CollectionError, match="damaged"):
            collection.compare("a", "b")
        assert collection.text("b") == TEXTS["b"]
        report = collection.fsck()
        assert report.damaged_documents == ("a (version 1)", "g (version 1)")
        assert len(report.faults) == (0 if column == "text" else 2)  # the digests of both loads have the text's


@pytest.mark.parametrize("doc_id", ["a", "another"])
def test_adding_the_text_again_replaces_it_under_any_id(place: SomePlace, doc_id: str) -> None:
    filled(place)
    damage_text(place)
    with place.open() as collection:
        if doc_id == "a":
            assert not collection.fsck().is_whole
        added = collection.add([(doc_id, FORM)], wave="later")
        assert (added.n_contents, added.n_unchanged) == (0, int(doc_id == "a"))
        assert [collection.text(one) for one in ("a", "g", doc_id)] == [FORM] * 3
        assert is_silent(collection.fsck())
        assert collection.check(FORM).verdict == "exact"
        assert {one.document.doc_id for one in collection.similar("a", gamma=0).documents} >= {"g"}


def test_only_the_texts_since_a_wave_are_checked(place: SomePlace) -> None:
    with place.open() as collection:
        for wave, doc_id in enumerate(("a", "b", "c")):
            collection.add([(doc_id, prose.text(30))], wave=f"w{wave}")
    damage_text(place, content=1)
    with place.open(create=False) as collection:
        since = [collection.fsck(since=f"w{wave}") for wave in range(3)]
        assert [one.n_texts for one in since] == [3, 2, 1]
        assert [one.damaged_documents for one in since] == [("b (version 1)",), ("b (version 1)",), ()]


def test_a_missing_text_is_named(place: SomePlace) -> None:
    filled(place)
    sql(place, "DELETE FROM contents WHERE content = 1")
    with place.open(create=False) as collection:
        with pytest.raises(CollectionError, match="'b' is missing") as caught:
            collection.text("b")
        assert caught.value.exit_code == 7
        report = collection.fsck()
        assert report.damaged_documents == ("b (version 1)",)
        assert "load 1 added 5 documents, and 4 are stored" in report.faults
        assert collection.add(FIRST[:2], wave="later").n_new_versions == 1
        assert texts_of(collection) == TEXTS


def test_an_erased_text_does_not_come_back_because_its_purge_is_lost(place: SomePlace) -> None:
    filled(place)
    sql(place, "DELETE FROM purges")
    with place.open(create=False) as collection:
        assert collection.check(ERASED).is_purged
        with pytest.raises(InputError, match="purged"):
            collection.check(ERASED, store=CheckIn("again", wave="third"))
        assert collection.add([("again", ERASED), ("other", "another text")], wave="third").n_problems == 1


# -- documents and loads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statements", "fault"),
    [
        (["DELETE FROM documents WHERE doc_id IN ('b', 'd')"], "load 1 added 5 documents, and 3 are stored"),
        (["UPDATE documents SET doc_id = 'quite another' WHERE doc_id = 'b'"], "the documents of load 1 differ"),
        (["DELETE FROM loads WHERE load = 1"], "the row of load 1 is missing"),
        (["UPDATE loads SET n_new = n_new + 1 WHERE load = 1"], "load 1 added 6 documents, and 5 are stored"),
        (["UPDATE documents SET is_current = false WHERE doc_id = 'b'"], "1 document neither current nor removed"),
    ],
)
def test_changed_and_missing_documents_are_named(place: SomePlace, statements: list[str], fault: str) -> None:
    filled(place)
    sql(place, *statements)
    for is_read_only in (True, False):
        with place.open(create=False, read_only=is_read_only) as collection:
            assert any(said.startswith(fault) for said in collection.fsck().faults)


def test_a_collection_of_another_format_is_refused(place: SomePlace) -> None:
    filled(place)
    sql(place, "UPDATE facts SET value = '2' WHERE name = 'schema'")
    for create in (False, True):
        with pytest.raises(CollectionError, match="format '2'") as caught:
            place.open(create=create)
        assert caught.value.exit_code == 7


# -- derived data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE contents SET n_letters = n_letters + 1 WHERE content = 0",
        "UPDATE contents SET signature = NULL WHERE content = 0",
        "UPDATE contents SET similarity_index = 7 WHERE content = 1",
        "DELETE FROM check_keys WHERE content = 0",
        "UPDATE check_keys SET key = key + 1 WHERE content = 0",
        "UPDATE checked_contents SET n_samples = n_samples + 1 WHERE content = 1",
        "DELETE FROM facts WHERE name = 'check_keys_end'",
    ],
)
def test_derived_data_is_rebuilt(place: SomePlace, statement: str) -> None:
    filled(place)
    sql(place, statement)
    with place.open(create=False, read_only=True) as collection:
        report = collection.fsck()
        is_lost = "facts" in statement  # what is not derived yet is no damage
        assert (report.is_whole, bool(report.not_rebuilt), report.rebuilt) == (is_lost, not is_lost, ())
    with place.open(create=False) as collection:
        report = collection.fsck()
        assert (report.is_whole, bool(report.rebuilt), report.not_rebuilt) == (True, not is_lost, ())
        assert is_silent(collection.fsck())
        assert collection.check(FORM).documents[0].document.doc_id == "a"
        assert texts_of(collection) == TEXTS


def test_an_index_of_sqlite_that_lacks_rows_is_made_again(tmp_path) -> None:
    place = SomePlace.new(tmp_path, None)
    filled(place)
    right, wrong = "WHERE is_current", "WHERE is_current AND doc_id > 'b'"
    for before, after in ((right, wrong), (wrong, right)):
        with closing(sqlite3.connect(place.file)) as connection, connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'current_documents'", (before, after)
            )
        with closing(sqlite3.connect(place.file)) as connection, connection:
            if after == wrong:
                connection.execute("REINDEX current_documents")
    with place.open() as collection:
        report = collection.fsck()
        assert report.is_whole
        assert "current_documents" in report.rebuilt[0]
        assert is_silent(collection.fsck())
        assert texts_of(collection) == TEXTS


# -- the file ----------------------------------------------------------------------------------------------------------


def test_any_bytes_of_sqlites_file(tmp_path) -> None:
    """Whatever is changed in the file, a text that is read is the right one."""
    place = SomePlace.new(tmp_path, None)
    filled(place)
    with closing(sqlite3.connect(place.file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole, rng = place.file.read_bytes(), random.Random(3)
    used, n_named = [at for at, byte in enumerate(whole) if byte and at > 100], 0
    for _ in range(20):
        data, at = bytearray(whole), rng.choice(used)
        for i in range(at, min(len(data), at + rng.choice([1, 1, 8]))):
            data[i] ^= rng.randrange(1, 256)
        for name in ("-wal", "-shm"):
            place.file.with_name(place.file.name + name).unlink(missing_ok=True)
        place.file.write_bytes(data)
        for doc_id, text in TEXTS.items():
            try:
                with place.open(create=False) as collection:
                    assert collection.text(doc_id) == text
            except CollectionError:
                n_named += 1
        try:
            with place.open(create=False) as collection:
                n_named += not is_silent(collection.fsck())
        except CollectionError:
            n_named += 1
    assert n_named > 5
