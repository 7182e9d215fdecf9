"""One byte of any column of any table is changed: what was acknowledged is read back, or the damage is told."""

from __future__ import annotations

import contextlib
import functools
import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import BigInteger, Boolean, Integer, LargeBinary

from made_up_prose import Prose
from nearkin.collection.check_in.results import CheckIn
from nearkin.collection.collection import Collection
from nearkin.collection.info import problems_of, waves_of
from nearkin.collection.plain_sql.duckdb_copy import copy_to_duckdb
from nearkin.collection.verifying import Verified
from nearkin.errors import CollectionError, UnknownDocumentError
from nearkin.store import schema
from places import SomePlace

prose = Prose(23)
FORM = prose.text(30)
FIRST = [("a", FORM), ("b", prose.altered(FORM, 1)), ("c", prose.text(20)), ("d", "No."), ("e", prose.text(25))]
SECOND = [("f", prose.altered(FORM, 2)), ("c", prose.text(90)), ("g", FORM)]
TEXTS = dict(FIRST) | dict(SECOND)
LONG = prose.text(120)
NEAR = prose.altered(LONG, 1)
TABLES = [*schema.metadata.sorted_tables, schema.check_keys]


def filled(place) -> None:
    """Two waves, a new version, a removed document, a problem, groups, keys of check-ins."""
    if place.server is not None:
        fill(place)
    else:
        shutil.copytree(filled_once().name, place.address)


@functools.cache
def filled_once() -> tempfile.TemporaryDirectory[str]:
    """A directory with all of it, to be copied; it goes away with the process."""
    folder = tempfile.TemporaryDirectory()
    fill(SomePlace(folder.name, Path(folder.name)))
    return folder


def fill(place) -> None:
    with place.open() as collection:
        collection.add([*FIRST, ("h", None)], wave="first")
        collection.add(SECOND, wave="second")
        collection.remove(["e"])
        collection.groups(gamma=0.2)
        collection.check(FORM)


def changed(value: object, kind: object) -> object:
    """A value with one byte changed, of which no other row has the same."""
    if isinstance(kind, Boolean):
        return not value
    if isinstance(kind, BigInteger | Integer):
        return int(value) ^ 0x40
    if isinstance(kind, LargeBinary):
        data = bytearray(value)
        data[len(data) // 2] ^= 0x10
        return bytes(data)
    return value[:-1] + ("x" if value[-1] != "x" else "y") if value else "x"


def damage(place, table, name: str, only: str = "") -> None:
    """Change one byte of a row, of those that are meant the one in the middle."""
    keys = [column.name for column in (table.primary_key.columns or table.columns)]
    order = ", ".join(keys)
    with closing(connection_of(place)) as connection, closing(connection.cursor()) as cursor:
        mark = "?" if place.server is None else "%s"
        cursor.execute(f"SELECT {order}, {name} FROM {table.name} WHERE {name} IS NOT NULL {only} ORDER BY {order}")
        rows = cursor.fetchall()
        *where, value = rows[len(rows) // 2]
        is_it = " AND ".join(f"{key} = {mark}" for key in keys)
        new = changed(value, table.c[name].type)
        cursor.execute(f"UPDATE {table.name} SET {name} = {mark} WHERE {is_it}", (new, *where))
        connection.commit()


def connection_of(place):
    """A connection that does not mind what refers to what."""
    if place.server is None:
        return sqlite3.connect(place.file)
    connection = place.server.connection()
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"SET search_path TO {place.schema}; SET session_replication_role = replica")
    return connection


def readable(collection: Collection) -> dict[str, str]:
    """The documents that are read; whatever is not is told."""
    read = {}
    codes = set[int]()
    for doc_id, text in TEXTS.items():
        if doc_id == "e":
            continue
        try:
            read[doc_id] = collection.text(doc_id)
            assert read[doc_id] == text
        except CollectionError as error:
            codes.add(error.exit_code)
    assert codes <= {7}
    with pytest.raises(CollectionError, match=r"removed|damaged|not what was stored") as caught:
        collection.text("e")
    assert isinstance(caught.value, UnknownDocumentError) or caught.value.exit_code == 7
    return read


def is_silent(told: Verified) -> bool:
    return told.is_whole and not (told.mended_texts or told.mended_rows or told.remade_segments)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_changed_byte_is_told_and_mended(place, table) -> None:
    filled(place)
    for name in [column.name for column in table.columns]:
        # a fact that nothing else tells; a document that is there, if not the one that has been removed
        only = "AND name = 'letters'" if table is schema.facts else ""
        only = "AND is_current" if table is schema.documents and name != "removed_at" else only
        damage(place, table, name, only)
        with place.open(create=False) as collection:  # opened anew: nothing is remembered
            readable(collection)
            assert not is_silent(collection.verify()), name
            if table in (schema.contents, schema.documents, schema.loads):  # of which adding makes something
                readable(collection)
                collection.add([*FIRST[:4], ("h", None)], wave="first")
                collection.add(SECOND, wave="second")
            assert len(readable(collection)) == len(TEXTS) - 1, name
            again = collection.verify()
            assert again.is_whole, (name, again)
            assert is_silent(again), (name, again)
            if table in (schema.groupings, schema.groups, schema.members):
                collection.groups(gamma=0.2)


def test_every_fact_is_told_and_mended(place) -> None:
    filled(place)
    for name in place.sql("SELECT name FROM facts").split():
        if place.fact(name):
            damage(place, schema.facts, "value", f"AND name = '{name}'")
            with place.open(create=False) as collection:
                assert len(readable(collection)) == len(TEXTS) - 1, name
                assert not is_silent(collection.verify()), name
                assert is_silent(collection.verify()), name


# -- texts -------------------------------------------------------------------------------------------------------------


def damage_text(place, column: str = "text", content: int = 0) -> None:
    damage(place, schema.contents, column, f"AND content = {content}")


@pytest.mark.parametrize("after_verify", [False, True])
@pytest.mark.parametrize("doc_id", ["a", "another"])
def test_adding_the_text_again_repairs_it_under_any_id(place, doc_id, after_verify) -> None:
    filled(place)
    damage_text(place)
    with place.open() as collection:
        if after_verify:
            assert collection.verify().damaged_documents == ("a (version 1)", "g (version 1)")
        with pytest.raises(CollectionError, match="damaged"):
            collection.text("a")
        added = collection.add([(doc_id, FORM)], wave="later")
        assert (added.n_repaired, added.n_contents, added.n_unchanged) == (1, 0, int(doc_id == "a"))
        assert [collection.text(one) for one in ("a", "g", doc_id)] == [FORM] * 3
        assert is_silent(collection.verify())
        assert collection.check(FORM).verdict == "exact"
        assert {one.document.doc_id for one in collection.similar("a", gamma=0).documents} >= {"g"}


@pytest.mark.parametrize("after_verify", [False, True])
@pytest.mark.parametrize("has_keys", [False, True])
def test_a_text_that_is_stored_and_damaged_is_not_new(place, has_keys, after_verify) -> None:
    with place.open() as collection:
        collection.add(FIRST)
        if has_keys:
            collection.check(FORM)
        damage_text(place)
        if after_verify:
            collection.verify()
        checked = collection.check(FORM)
        assert (checked.verdict, checked.documents[0].document.doc_id) == ("exact", "a")
        assert (checked.documents[0].is_same_text, checked.documents[0].is_damaged) == (True, True)
        assert checked.to_dict()["is_repaired"] is False
        with pytest.raises(CollectionError):
            collection.text("a")


@pytest.mark.parametrize("numbers", ["0", "1, 3"])
@pytest.mark.parametrize("after_verify", [False, True])
def test_adding_texts_that_are_missing_puts_them_back(place, numbers, after_verify) -> None:
    filled(place)
    sql(place, f"DELETE FROM contents WHERE content IN ({numbers})")
    with place.open() as collection:
        if after_verify:
            assert not collection.verify().is_whole
        added = collection.add([*FIRST[:4], ("another", FORM)], wave="first")
        n_missing = len(numbers.split(","))
        assert (added.n_repaired, added.n_missing, added.n_contents, added.n_new) == (n_missing, 0, 0, 1)
        assert added.n_new_versions == 0
        assert len(readable(collection)) == len(TEXTS) - 1
        assert collection.verify().is_whole
        assert is_silent(collection.verify())
        assert collection.check(FORM).documents[0].document.doc_id == "a"


def test_adding_another_text_says_that_the_stored_one_is_missing(place) -> None:
    filled(place)
    sql(place, "DELETE FROM contents WHERE content IN (0, 1)")
    with place.open() as collection:
        for added in (collection.add([("a", FORM)], wave="later"), collection.add([("b", "quite new")], wave="later")):
            assert (added.n_repaired, added.n_missing, added.n_new_versions) == (0, 1, 1)
        assert (collection.text("a"), collection.text("b")) == (FORM, "quite new")
    assert "the text of document 'b' (version 1) is missing" in faults(place)


@pytest.mark.parametrize("only_new", [False, True])
def test_checking_the_text_in_repairs_it(place, only_new) -> None:
    filled(place)
    damage_text(place)
    with place.open() as collection:
        checked = collection.check(FORM, store=CheckIn("new-id", only_new=only_new))
        assert (checked.verdict, checked.is_repaired) == ("exact", True)
        assert not checked.documents[0].is_damaged
        assert (checked.stored_as is None) == only_new
        assert collection.text("a") == FORM
        if not only_new:
            assert collection.text("new-id") == FORM
        assert is_silent(collection.verify())


@pytest.mark.parametrize("text", [LONG, NEAR])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET is_current = (1 = 0) WHERE doc_id = 'a'",
        "UPDATE documents SET is_current = (1 = 0), removed_at = 'x' WHERE doc_id = 'a'",
        "DELETE FROM contents WHERE content = 0",
    ],
)
def test_a_text_is_not_new_because_a_row_is_damaged(place, statement, text) -> None:
    with place.open() as collection:
        collection.add([("a", LONG), ("b", FORM)])
        collection.check(FORM)
    sql(place, statement)
    if "removed_at" in statement and text == NEAR:
        return  # of texts that are only alike the rows are not compared with their checksums
    with place.open() as collection:
        for under in (None, CheckIn("other", only_new=True)):
            with pytest.raises(CollectionError, match=r"'a'.*nearkin verify") as caught:
                collection.check(text, store=under)
            assert caught.value.exit_code == 7
        assert place.sql("SELECT count(*) FROM documents") == "2"
        if "is_current = (1 = 0) WHERE" in statement:
            assert collection.verify().is_whole
            assert collection.check(text).documents[0].document.doc_id == "a"


def test_a_text_that_was_removed_or_replaced_is_new(place) -> None:
    with place.open() as collection:
        collection.add([("a", LONG), ("b", FORM)])
        collection.add([("a", "something else")], wave="later")
        collection.remove(["b"])
        assert [collection.check(text).verdict for text in (LONG, NEAR, FORM)] == ["new"] * 3


def test_a_text_that_shares_wording_with_a_damaged_one_is_not_said_to_be_new(place) -> None:
    with place.open() as collection:
        collection.add([("a", LONG)])
        collection.check("something else")
        damage_text(place)
        with pytest.raises(CollectionError, match=r"like a.*damaged"):
            collection.check(NEAR, store=CheckIn("near", only_new=True))
        assert collection.info().n_documents == 1
        collection.verify()  # its keys are gone by now: whatever it says cannot be known
        checked = collection.check(NEAR)
        assert (checked.verdict, checked.n_damaged, [str(one) for one in checked.damaged]) == ("new", 1, ["a"])
        collection.add([("b", LONG)])
        assert [one.document.doc_id for one in collection.check(NEAR).documents] == ["a", "b"]


def test_a_digest_that_is_damaged_comes_back_with_the_text(place) -> None:
    filled(place)
    damage_text(place, "digest")
    with place.open() as collection:
        added = collection.add([("a", FORM)], wave="first")
        assert (added.n_repaired, added.n_unchanged, added.n_contents) == (1, 1, 0)
        assert collection.text("g") == FORM
        assert is_silent(collection.verify())


def test_what_was_derived_from_a_damaged_text_is_made_again(place) -> None:
    filled(place)
    for column in ("counts", "signature", "n_characters", "text"):
        damage_text(place, column)
    damage(place, schema.profiles, "length", "AND content = 0")
    shutil.rmtree(place.segments)
    with place.open() as collection:
        with contextlib.suppress(CollectionError):
            collection.similar("b", gamma=0.2)  # now the index is made from the damaged store
        collection.add([("x", FORM)])
        assert {one.document.doc_id for one in collection.similar("b", gamma=0.2).documents} >= {"a", "g", "x"}
        assert collection.document("a").n_characters == len(FORM)
        assert is_silent(collection.verify())


# -- rows --------------------------------------------------------------------------------------------------------------


def sql(place, *statements: str) -> None:
    with closing(connection_of(place)) as connection, closing(connection.cursor()) as cursor:
        for statement in statements:
            cursor.execute(statement)
        connection.commit()


def faults(place) -> str:
    with place.open(create=False) as collection:
        told = collection.verify()
    assert not told.is_whole
    return "; ".join([*told.faults, *told.damaged_documents])


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["DELETE FROM documents WHERE doc_id IN ('b', 'd')"], "documents of wave 'first': 2 of 5 rows missing"),
        (["DELETE FROM documents"], "documents of wave 'second': 3 of 3 rows missing"),
        (["DELETE FROM contents WHERE content = 1"], "texts 0 to 4 are not those that were added together: 4 of 5"),
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
            "'other-a' (version 1) is not what was stored",
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
        told = collection.verify()
        assert told.n_texts == 7
        assert told.damaged_documents == ("b (version 1)", "c (version 2)")
        assert any("load" in fault for fault in told.faults)
        with contextlib.suppress(CollectionError):
            assert collection.text("a") == FORM


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM contents WHERE content = 1", r"text of document 'b' \(version 1\) is missing"),
        ("DELETE FROM waves WHERE wave = 1", "loads: 1 row with a reference to missing waves"),
    ],
)
def test_a_collection_that_lacks_rows_is_not_copied(place, tmp_path, statement, said) -> None:
    filled(place)
    file = tmp_path / "copy.duckdb"
    file.write_bytes(b"what was there")
    sql(place, statement)
    with place.open() as collection, pytest.raises(CollectionError, match=said) as caught:
        copy_to_duckdb(collection, file)
    assert caught.value.exit_code == 7
    assert "nearkin verify" in str(caught.value)
    assert [path.read_bytes() for path in tmp_path.glob("*copy.duckdb*")] == [b"what was there"]


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
    with place.open() as collection, collection.store.reading() as connection:
        for ask in (problems_of,) if "problem " in said else (problems_of, waves_of):
            with pytest.raises(CollectionError, match=f"the row of {said} is not what was stored") as caught:
                ask(connection)
            assert caught.value.exit_code == 7


def test_an_older_row_in_the_place_of_a_newer_one_is_told(place) -> None:
    """Every row has its own checksum: it is the sum that is not right."""
    with place.open() as collection:
        collection.add(FIRST)
        sql(place, "CREATE TABLE kept AS SELECT * FROM documents WHERE doc_id = 'b'")
        collection.remove(["b"])
        sql(place, "DELETE FROM documents WHERE doc_id = 'b'", "INSERT INTO documents SELECT * FROM kept")
    assert "documents of wave 'wave 1': not the rows that were stored" in faults(place)


def test_removing_replacing_and_adding_keep_the_seals(place) -> None:
    with place.open() as collection:
        for wave in range(3):
            collection.add([(f"d{i}", f"text {i} of wave {i % (wave + 1)}") for i in range(6)], wave=f"w{wave}")
            collection.remove([f"d{wave}"])
            assert is_silent(collection.verify())
        collection.remove(wave="w2")
        collection.add([("d1", "back again")], wave="w0")
        collection.add([("x", None), ("y", "a text")], wave="w9")
        collection.check("text 1 of wave 0", store=CheckIn("checked"))
        assert is_silent(collection.verify())
        counts = place.sql("SELECT sum(n_rows) FROM seals WHERE part LIKE 'documents of wave%'")
        assert counts == place.sql("SELECT count(*) FROM documents")


@pytest.mark.parametrize("also", ["", ", is_current = (1 = 0)"])
@pytest.mark.parametrize("value", ["''", "'x'", "chr(1)", "'2026-01-01T00:00:00+00:00'"])
@pytest.mark.parametrize("doc_id", ["b", "a"])
def test_a_document_whose_row_says_that_it_was_removed_is_not_lost(place, value, doc_id, also) -> None:
    """What was NULL has no byte to work out again: the row is not believed, and nothing follows from it."""
    filled(place)
    value = value.replace("chr", "char") if place.server is None else value
    sql(place, f"UPDATE documents SET removed_at = {value}{also} WHERE doc_id = '{doc_id}'")
    for _ in range(2):
        with place.open(create=False) as collection:
            with pytest.raises(CollectionError, match=f"'{doc_id}'.*nearkin verify") as caught:
                collection.text(doc_id)
            assert caught.value.exit_code == 7
            told = collection.verify()
            assert not told.is_whole
            assert not told.mended_rows
            assert f"the row of document '{doc_id}' (version 1) is not what was stored" in told.faults
    sql(place, f"UPDATE documents SET removed_at = NULL WHERE doc_id = '{doc_id}'")
    with place.open() as collection:
        collection.verify()
        assert collection.text(doc_id) == TEXTS[doc_id]
        assert is_silent(collection.verify())


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
    assert "whether document 'c' is current is not known" in faults(place)
    with place.open() as collection, pytest.raises(CollectionError, match=r"'c'.*nearkin verify") as caught:
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
            with pytest.raises(CollectionError, match=r"'b'.*nearkin verify") as caught:
                ask()
            assert caught.value.exit_code == 7
        collection.add([("b", TEXTS["b"])], wave="first")  # what comes is stored, whatever became of the row
        assert collection.text("b") == TEXTS["b"]
    assert "'b' (version 1) is not what was stored" in faults(place)


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
                n_told += not is_silent(collection.verify())
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
        told = collection.verify()
        assert told.is_whole
        assert "current_documents" in told.remade_segments[0]
        assert is_silent(collection.verify())
        assert len(readable(collection)) == len(TEXTS) - 1


# -- collections of older versions -------------------------------------------------------------------------------------


def as_version_3(place) -> None:
    """Take away what schema 4 brought."""
    tables = [table.name for table in schema.metadata.sorted_tables if "checksum" in table.c and table.name != "seals"]
    sql(
        place,
        *(f"ALTER TABLE {name} DROP COLUMN checksum" for name in tables),
        "DROP TABLE seals",
        "UPDATE facts SET value = '3' WHERE name = 'schema'",
        "DELETE FROM facts WHERE name IN ('check_keys_lost', 'sealed_since')",
    )


def test_a_collection_of_an_older_version_is_covered_from_when_it_is_opened(place) -> None:
    filled(place)
    as_version_3(place)
    sql(place, "DELETE FROM documents WHERE doc_id = 'd'")
    with place.open(create=False) as collection:
        told = collection.verify()
        assert is_silent(told)  # what was lost before cannot be known
        assert told.sealed_since is not None
        assert told.sealed_since[:10] >= "2025"
        assert collection.info().schema == schema.VERSION
        assert collection.groups(gamma=0.2).changes == ()
        assert collection.add([("d", "No.")]).n_new == 1
        assert is_silent(collection.verify())
    sql(place, "DELETE FROM documents WHERE doc_id = 'd'")
    assert "1 of 1 row missing" in faults(place)


@pytest.mark.parametrize("version", ["1", "3", "5", "x", ""])
def test_another_version_of_the_schema_is_not_believed(place, version) -> None:
    """Nothing is migrated because of a byte that was changed."""
    filled(place)
    sql(place, f"UPDATE facts SET value = '{version}' WHERE name = 'schema'")
    if version == "":
        with pytest.raises(CollectionError, match="damaged"):
            place.open(create=False)
        return
    with place.open(create=False) as collection:
        assert len(readable(collection)) == len(TEXTS) - 1
        assert collection.verify().mended_rows == ("the fact 'schema'",)
