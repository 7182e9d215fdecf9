"""Stored sets of word 5-grams: complete after every load, erased by a purge, checked and rebuilt."""

from __future__ import annotations

import numpy as np
import pytest

from made_up_prose import Prose
from nearkin.collection.check_in.results import CheckIn
from nearkin.collection.plain_sql import install
from nearkin.collection.stored.shingle_table import are_kept
from nearkin.collection.stored.word_sets import word_sets
from places import SomePlace

prose = Prose(31)
LONG = prose.text(60)
TEXTS = {"a": prose.text(40), "b": "No", "c": "", "d": LONG}
LATER = {"e": prose.altered(LONG, 1), "a": prose.text(30), "f": LONG}


def rows(place: SomePlace, table: str, columns: str = "content, hashes") -> list[tuple[object, ...]]:
    return [tuple(row) for row in place.rows(f"SELECT {columns} FROM {place.schema}.{table} ORDER BY 1, 2")]


def expected(collection) -> list[tuple[int, bytes]]:
    """The sets, made anew of every stored text."""
    with collection.opened.store.reading() as connection:
        query = "SELECT DISTINCT content, doc_id, version FROM documents ORDER BY content"
        texts = {
            content: collection.text(doc_id, version=version)
            for content, doc_id, version in connection.exec_driver_sql(query)
        }
    sets = word_sets(collection.opened.counting, list(texts.values()))
    assert all((np.diff(one.astype(object)) > 0).all() for one in sets)
    return [(content, one.astype(">u8").tobytes()) for content, one in zip(texts, sets)]


@pytest.fixture
def place(server, tmp_path) -> SomePlace:
    return SomePlace.new(tmp_path, server)


@pytest.fixture
def collection(place):
    with place.open() as collection:
        collection.add(TEXTS.items())
        install(collection.opened)
        yield collection


def test_only_collections_that_ask_have_them(place):
    with place.open() as collection:
        collection.add(TEXTS.items())
        with collection.opened.store.reading() as connection:
            assert not are_kept(connection)
        assert rows(place, "check_keys", "content, key") == []
        install(collection.opened)
        assert rows(place, "shingles") == expected(collection)


def test_every_load_stores_them_with_its_documents(collection, place):
    assert rows(place, "shingles") == expected(collection)
    collection.add(LATER.items(), wave="later")
    assert rows(place, "shingles") == expected(collection)
    assert collection.check(prose.text(20), store=CheckIn("g")).verdict == "new"
    assert collection.check(LONG, store=CheckIn("h")).verdict != "new"
    collection.add([("i", prose.text(25))])
    right = expected(collection)
    assert rows(place, "shingles") == right
    keys = rows(place, "check_keys", "content, key")
    assert {row[0] for row in keys} == {content for content, _ in right}
    with collection.opened.store.writing() as connection:
        for table in ("check_keys", "checked_contents"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
        collection.opened.store.write_facts(connection, {"check_keys_end": "0"})
    install(collection.opened)
    assert rows(place, "check_keys", "content, key") == keys
    assert collection.fsck().rebuilt == ()


def test_texts_that_came_without_them_get_them_at_the_next_load(collection, place):
    with collection.opened.store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM shingles WHERE content > 1")
        collection.opened.store.write_facts(connection, {"shingles_end": "2"})
    collection.add(LATER.items())
    assert rows(place, "shingles") == expected(collection)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM shingles WHERE content = 3",
        "UPDATE shingles SET hashes = (SELECT hashes FROM shingles WHERE content = 0) WHERE content = 3",
        "DELETE FROM facts WHERE name = 'shingles'",
    ],
)
def test_damage_is_found_and_repaired(collection, place, damage):
    assert collection.fsck().rebuilt == ()
    place.sql(damage)
    assert any("word 5-grams" in one for one in collection.fsck().rebuilt)
    assert rows(place, "shingles") == expected(collection)
    assert not any("word 5-grams" in one for one in collection.fsck().rebuilt)


def test_a_purge_erases_them(collection, place):
    collection.add(LATER.items())
    before = rows(place, "shingles")
    own = dict(before)[3]
    collection.purge(["d"], copies=True)
    assert rows(place, "shingles") == [row for row in before if row[0] != 3]
    assert collection.fsck().rebuilt == ()
    files = [path for path in place.cache.parent.rglob("*") if path.is_file()]
    assert not any(bytes(own)[:64] in path.read_bytes() for path in files)
    collection.add([("j", prose.text(30))])
    assert len(rows(place, "shingles")) == len(before)


def test_a_repaired_text_gets_its_set(collection, place):
    before = rows(place, "shingles")
    place.sql("UPDATE contents SET text = decode(repeat('00', 20), 'hex') WHERE content = 3")
    install(collection.opened)
    place.sql("DELETE FROM shingles WHERE content = 3")
    collection.add([("d", LONG)])
    assert rows(place, "shingles") == before
