"""Rows that are missing, added, exchanged or of an older version: what is lost is named."""

from __future__ import annotations

import contextlib
import itertools
import random
import sqlite3
from contextlib import closing

import pytest

from contract.damaged_collections import (
    FIRST,
    FORM,
    LONG,
    TEXTS,
    damage_text,
    faults,
    filled,
    is_silent,
    readable,
    sql,
)
from example_counts import every
from nearkin.collection.check_in.results import CheckIn
from nearkin.collection.info import waves_of
from nearkin.collection.listing.problems import problems_of
from nearkin.errors import CollectionError
from places import SomePlace


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["DELETE FROM documents WHERE doc_id IN ('b', 'd')"], "documents of wave 'first': 2 of 5 rows missing"),
        (["DELETE FROM documents"], "documents of wave 'second': 4 of 4 rows missing"),
        (["DELETE FROM contents WHERE content = 1"], "texts 0 to 4 differ from those that were added together: 4 of 5"),
        (["DELETE FROM waves WHERE wave = 2"], "waves: 1 of 2 rows missing"),
        (["DELETE FROM loads WHERE load = 2"], "loads: 1 of 2 rows missing"),
        (["DELETE FROM problems"], "problems: 1 of 1 row missing"),
        (["DELETE FROM facts WHERE name = 'check_keys'"], "facts: 1 of"),
        (["DELETE FROM seals WHERE part = 'documents of wave 1'"], "seal of the documents of wave 'first' is missing"),
        (["DELETE FROM groupings", "DELETE FROM groups", "DELETE FROM members"], "groupings"),
        (
            ["INSERT INTO documents SELECT 99, 'z', version, content, load, source, line, is_current, NULL, NULL "
             "FROM documents WHERE doc_id = 'a'"],
            "'z' (version 1) was not written by Nearkin",
        ),
        (
            ["UPDATE documents SET content = 3 - content WHERE doc_id IN ('a', 'd')",
             "UPDATE documents SET doc_id = CASE doc_id WHEN 'a' THEN 'other-d' ELSE 'other-a' END "
             "WHERE doc_id IN ('a', 'd')"],
            "'other-a' (version 1) was changed",
        ),
        (
            ["DELETE FROM documents WHERE load = 2", "DELETE FROM contents WHERE content > 4", "DELETE FROM loads "
             "WHERE load = 2", "DELETE FROM waves WHERE wave = 2"],
            "waves: 1 of 2 rows missing",
        ),
    ],
)  # fmt: skip
def test_rows_that_are_missing_added_or_exchanged_are_told(place, statements, said) -> None:
    filled(place)
    sql(place, *statements)
    assert said in faults(place)


def test_the_only_text_of_a_part_of_the_index_is_missing(place) -> None:
    with place.open() as collection:
        collection.add([("a", LONG), ("b", FORM)])
        collection.add([("c", "one text more")], wave="later")
        collection.similar("a")
    sql(place, "DELETE FROM contents WHERE content = 2")
    for _ in range(2):
        assert "the text of document 'c' (version 1) is missing" in faults(place)
        with place.open() as collection:
            assert collection.text("a") == LONG
            assert collection.similar("a").n_found >= 0
            with pytest.raises(CollectionError, match="'c'"):
                collection.text("c")


@pytest.mark.parametrize(
    "statement",
    ["UPDATE loads SET n_new = 77, n_problems = 88 WHERE load = 1", "DELETE FROM loads WHERE load = 2"],
)
def test_texts_are_checked_whatever_became_of_loads(place, statement) -> None:
    filled(place)
    damage_text(place, content=1)
    damage_text(place, content=6)
    sql(place, statement)
    with place.open() as collection:
        told = collection.fsck()
        assert told.n_texts == 7
        assert told.damaged_documents == ("b (version 1)", "c (version 2)")
        assert any("load" in fault for fault in told.faults)
        with contextlib.suppress(CollectionError):
            assert collection.text("a") == FORM


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE loads SET n_new = 77, n_new_versions = 88 WHERE load = 1", "load 1"),
        ("UPDATE waves SET name = 'other' WHERE wave = 1", "wave 'other'"),
        ("UPDATE problems SET problem = 'nothing at all'", "problem 0 of load 1"),
    ],
)
def test_changed_rows_are_not_listed(place, statement, said) -> None:
    filled(place)
    sql(place, statement)
    with place.open() as collection, collection.opened.store.reading() as connection:
        for ask in (problems_of,) if "problem " in said else (problems_of, waves_of):
            with pytest.raises(CollectionError, match=f"the row of {said} was changed") as caught:
                ask(connection)
            assert caught.value.exit_code == 7


def test_an_older_row_in_the_place_of_a_newer_one_is_told(place) -> None:
    """Every row has its own checksum: it is the sum that is not right."""
    with place.open() as collection:
        collection.add(FIRST)
        sql(place, "CREATE TABLE kept AS SELECT * FROM documents WHERE doc_id = 'b'")
        collection.remove(["b"])
        sql(place, "DELETE FROM documents WHERE doc_id = 'b'", "INSERT INTO documents SELECT * FROM kept")
    assert "documents of wave 'wave 1': rows differ from those stored" in faults(place)


def test_removing_replacing_and_adding_keep_the_seals(place) -> None:
    with place.open() as collection:
        for wave in range(3):
            collection.add([(f"d{i}", f"text {i} of wave {i % (wave + 1)}") for i in range(6)], wave=f"w{wave}")
            collection.remove([f"d{wave}"])
            assert is_silent(collection.fsck())
        collection.remove(wave="w2")
        collection.add([("d1", "back again")], wave="w0")
        collection.add([("x", None), ("y", "a text")], wave="w9")
        collection.check("text 1 of wave 0", store=CheckIn("checked"))
        assert is_silent(collection.fsck())
        counts = place.sql("SELECT sum(n_rows) FROM seals WHERE part LIKE 'documents of wave%'")
        assert counts == place.sql("SELECT count(*) FROM documents")


REMOVED_AT = ["''", "'x'", "chr(1)", "'2026-01-01T00:00:00+00:00'"]


@pytest.mark.parametrize(
    ("also", "doc_id", "value"),
    every(3, list(itertools.product(["", ", is_current = (1 = 0)"], ["b", "a"], REMOVED_AT))),
)
def test_a_document_whose_row_says_that_it_was_removed_is_not_lost(place, value, doc_id, also) -> None:
    """What was NULL has no byte to work out again: the row is not believed, and nothing follows from it."""
    filled(place)
    value = value.replace("chr", "char") if place.server is None else value
    sql(place, f"UPDATE documents SET removed_at = {value}{also} WHERE doc_id = '{doc_id}'")
    for _ in range(2):
        with place.open(create=False) as collection:
            with pytest.raises(CollectionError, match=f"'{doc_id}'.*nearkin fsck") as caught:
                collection.text(doc_id)
            assert caught.value.exit_code == 7
            told = collection.fsck()
            assert not told.is_whole
            assert not told.mended_rows
            assert f"the row of document '{doc_id}' (version 1) was changed" in told.faults
    sql(place, f"UPDATE documents SET removed_at = NULL WHERE doc_id = '{doc_id}'")
    with place.open() as collection:
        collection.fsck()
        assert collection.text(doc_id) == TEXTS[doc_id]
        assert is_silent(collection.fsck())


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM documents WHERE doc_id = 'c' AND version = 2",
        "UPDATE documents SET doc_id = 'quite another' WHERE doc_id = 'c' AND version = 2",
    ],
)
def test_an_older_version_does_not_become_current_because_the_newest_is_lost(place, statement) -> None:
    filled(place)
    sql(place, statement)
    assert "unknown whether document 'c' is current" in faults(place)
    with place.open() as collection, pytest.raises(CollectionError, match=r"'c'.*nearkin fsck") as caught:
        collection.text("c")
    assert caught.value.exit_code == 7


def test_a_row_that_was_changed_is_neither_removed_nor_read(place) -> None:
    filled(place)
    sql(place, "UPDATE documents SET content = 3, source = 'another source' WHERE doc_id = 'b'")
    with place.open() as collection:
        for ask in (
            lambda: collection.text("b"),
            lambda: collection.remove(["b"]),
            lambda: collection.similar("b"),
            lambda: collection.compare("a", "b"),
        ):
            with pytest.raises(CollectionError, match=r"'b'.*nearkin fsck") as caught:
                ask()
            assert caught.value.exit_code == 7
        collection.add([("b", TEXTS["b"])], wave="first")  # what comes is stored, whatever became of the row
        assert collection.text("b") == TEXTS["b"]
    assert "'b' (version 1) was changed" in faults(place)


def test_any_bytes_of_sqlites_file(tmp_path) -> None:
    """Whatever is changed in the file: right texts or exit code 7, and no other error."""
    place = SomePlace.new(tmp_path, None)
    filled(place)
    with closing(sqlite3.connect(place.file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole, rng = place.file.read_bytes(), random.Random(3)
    used, n_told = [at for at, byte in enumerate(whole) if byte and at > 100], 0
    for _ in range(25):
        data, at = bytearray(whole), rng.choice(used)
        for i in range(at, min(len(data), at + rng.choice([1, 1, 8]))):
            data[i] ^= rng.randrange(1, 256)
        for name in ("-wal", "-shm"):
            place.file.with_name(place.file.name + name).unlink(missing_ok=True)
        place.file.write_bytes(data)
        code = 7
        try:
            with place.open(create=False) as collection:
                readable(collection)
                collection.check(FORM)
                n_told += not is_silent(collection.fsck())
                readable(collection)
        except CollectionError as error:
            code = error.exit_code
            n_told += 1
        assert code == 7
    assert n_told > 12


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
        told = collection.fsck()
        assert told.is_whole
        assert "current_documents" in told.remade_segments[0]
        assert is_silent(collection.fsck())
        assert len(readable(collection)) == len(TEXTS) - 1


@pytest.mark.parametrize("version", ["6", "2", "x"])
def test_a_collection_of_another_format_is_refused(place, version) -> None:
    filled(place)
    sql(place, f"UPDATE facts SET value = '{version}' WHERE name = 'schema'")
    for create in (False, True):
        with pytest.raises(CollectionError, match=f"format '{version}'") as caught:
            place.open(create=create)
        assert caught.value.exit_code == 7
