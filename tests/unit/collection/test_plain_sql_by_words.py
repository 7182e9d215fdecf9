"""Stored sets of word 5-grams, printed queries, the installation in a directory, and numbers of files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.collection.plain_sql.installing import check_flagging, functions, install
from nearkin.collection.plain_sql.queries import similar_query
from nearkin.collection.stored import shingle_table
from nearkin.collection.stored.word_sets import jaccard, word_sets
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.collection.indexing import index_files
from nearkin.workflows.reading.request import ReadingRequest

prose = Prose(41)
LONG = prose.text(80)
TEXTS = {"a": LONG, "b": prose.altered(LONG, 1), "c": prose.altered(LONG, 4), "d": prose.text(50), "e": ""}


@pytest.fixture
def collection(tmp_path: Path):
    with Collection.open(tmp_path / "m", create=True) as opened:
        opened.add(TEXTS.items())
        yield opened


def ask(tmp_path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(tmp_path / "m" / "nearkin.sqlite")) as connection:
        return connection.execute(query).fetchall()


def test_a_printed_query_computes_jaccard_similarities(collection, tmp_path) -> None:
    query = similar_query("a", Tolerance.of(threshold=0.2), dialect="sqlite")
    with pytest.raises(sqlite3.OperationalError, match="no such table: shingles"):
        ask(tmp_path, query)
    installed = install(collection.opened)
    assert (installed.dialect, installed.functions, installed.flag_measure) == ("sqlite", (), None)
    assert "shingles" in installed.tables
    own, *others = word_sets(collection.opened.counting, [TEXTS[name] for name in "abc"])
    assert ask(tmp_path, query) == [
        (name, 1, "wave 1", jaccard(own, other), 0) for name, other in zip("bc", others, strict=True)
    ]
    with collection.opened.store.writing() as connection:
        collection.opened.store.write_facts(connection, {shingle_table.SETS.end: "2"})
    with pytest.raises(sqlite3.OperationalError, match="run nearkin sql install"):
        ask(tmp_path, query)
    install(collection.opened)
    ask(tmp_path, query)
    with collection.opened.store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM shingles WHERE content = 0")
    with pytest.raises(sqlite3.OperationalError, match="damaged; run nearkin fsck"):
        ask(tmp_path, query)


def test_sets_follow_the_texts(collection) -> None:
    store, counting = collection.opened.store, collection.opened.counting

    def differs() -> str | None:
        with store.reading() as connection:
            return shingle_table.difference(connection, store, counting, Silent())

    assert differs() is None  # not installed
    install(collection.opened)
    collection.add([("f", prose.text(30)), ("e", "Now it has words.")])
    assert differs() is None
    with store.writing() as connection:
        shingle_table.forget(connection, store, [1])
        assert shingle_table.SETS.reach(connection, store).lost == ()
    assert "do not match" in str(differs()), "the text is still there"
    with store.writing() as connection:
        shingle_table.restore(connection, store, counting, 1, TEXTS["b"])
    assert differs() is None
    with store.writing() as connection:
        connection.exec_driver_sql("UPDATE shingles SET hashes = x'00' WHERE content = 0")
    assert "do not match" in str(differs())
    with store.writing() as connection:
        shingle_table.remake(connection, store, counting, Silent())
    assert differs() is None
    with store.writing() as connection:
        store.delete_fact(connection, shingle_table.SETS.method)
    assert "missing" in str(differs())


@pytest.mark.parametrize("dialect", ["postgresql", "sqlite", "duckdb"])
def test_a_query_is_whole(dialect) -> None:
    query = similar_query("it's", Tolerance.of(threshold=0.25), dialect=dialect)
    assert "'it''s'" in query
    assert "0.25" in query
    assert not {"{", "}"} & set(query.replace("'{}'", "").replace(".{16}", ""))
    assert "{" not in functions("nearkin")


@pytest.mark.parametrize(
    ("limit", "measure"),
    [(0, "words"), (1.5, "words"), (True, "words"), (1, "letters"), (-0.1, "letters"), (0.5, "si")],
)
def test_limits_of_flagging_are_checked(limit, measure) -> None:
    with pytest.raises(ParameterError):
        check_flagging("postgresql://nobody@localhost:1/none", limit, measure=measure, stops_flagging=False)
    with pytest.raises(ParameterError, match="give both"):
        check_flagging("postgresql://nobody@localhost:1/none", None, measure="words", stops_flagging=False)
    check_flagging("postgresql://nobody@localhost:1/none", 1, measure="words", stops_flagging=False)
    check_flagging("postgresql://nobody@localhost:1/none", 0, measure="letters", stops_flagging=False)


def test_numbers_of_files_are_those_of_a_collection(collection, tmp_path) -> None:
    install(collection.opened)
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    texts = ReadingRequest(inputs=[str(folder)], rules=ReadingRules()).opened(Silent())
    found = {Path(one.doc_id).stem: one for one in index_files(texts, None, Silent())}
    indexes = dict(ask(tmp_path, "SELECT doc_id, similarity_index FROM indexed_documents"))
    keys = ask(tmp_path, "SELECT doc_id, key FROM check_keys JOIN documents USING (content)")
    assert set(found) == set(TEXTS)
    for name, one in found.items():
        assert one.similarity_index == indexes[name]
        given = [one.text_key, *one.band_keys, *one.sample_keys]
        assert sorted(given) == sorted(key for doc_id, key in keys if doc_id == name)
        assert one.to_dict()["problem"] is None
    assert np.mean([len(one.band_keys) for one in found.values()]) == 12 * 4 / 5
