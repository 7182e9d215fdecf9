"""Rows that somebody deleted in the database, or that a list omits: the commands that would use them say so."""

from __future__ import annotations

import pytest

from contract.damaged_collections import sql
from contract.test_changed_rows import ABOUT_ALL, CHANGED, LETTER, filled, run
from functional.conftest import Ended
from nearkin.errors import CollectionError
from places import SomePlace

LISTS = {
    "list": ["list", "COLLECTION"],
    "list of a wave": ["list", "COLLECTION", "--wave", "later"],
    "info": ["info", "COLLECTION"],
    "waves": ["waves", "COLLECTION"],
}
OF_THE_DOCUMENT = {
    "show": ["show", "COLLECTION", CHANGED],
    "tag": ["tag", "COLLECTION", "hot", CHANGED, "--yes"],
    "remove": ["remove", "COLLECTION", CHANGED, "--yes"],
    "similar": ["similar", "COLLECTION", CHANGED],
}
OTHERS = {
    "tag": ["tag", "COLLECTION", "hot", "memo", "--yes"],
    "untag": ["untag", "COLLECTION", "responsive", "form", "--yes"],
    "remove": ["remove", "COLLECTION", "memo", "--yes"],
    "note": ["decide", "COLLECTION", "--note", "memo", "read it"],
    "undo": ["undo", "COLLECTION", "1", "--yes"],
}
"""Commands that write about documents whose rows are undamaged."""
DELETED = {
    "a document": (
        f"DELETE FROM documents WHERE doc_id = '{CHANGED}'",
        "documents of wave 'first': 1 of 6 rows missing",
    ),
    "all documents": ("DELETE FROM documents", "documents of wave 'first': 6 of 6 rows missing"),
    "a load": ("DELETE FROM loads WHERE load = 1", "loads: 1 of 2 rows missing"),
    "the last load": ("DELETE FROM loads WHERE load = 2", "loads: 1 of 2 rows missing"),
    "a wave": ("DELETE FROM waves WHERE wave = 1", "waves: 1 of 2 rows missing"),
}


def words(ended: Ended) -> str:
    return " ".join(ended.err.split())


def test_a_missing_version_is_said_by_what_lists_versions(place: SomePlace, tmp_path) -> None:
    with place.open() as collection:
        for text in ("one text of it", "another text of it", "and a third of it"):
            collection.add([("memo", text)])
    sql(place, "DELETE FROM documents WHERE doc_id = 'memo' AND version = 2")
    for command in ("history", "show"):
        ended = run(place, [command, "COLLECTION", "memo"], tmp_path / "out")
        assert ended.code == 7, (command, ended)
        assert "is damaged: the row of document 'memo' (version 2) is missing. Run nearkin fsck" in words(ended)


@pytest.mark.parametrize("what", DELETED)
def test_commands_about_all_documents_say_which_rows_are_missing(place: SomePlace, tmp_path, what) -> None:
    filled(place)
    statement, sentence = DELETED[what]
    sql(place, statement)
    before = place.sql("SELECT count(*) FROM activity")
    for name, arguments in {**ABOUT_ALL, **LISTS}.items():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (name, ended)
        assert f"is damaged: {sentence}. Run nearkin fsck" in words(ended), (name, ended)
    assert place.sql("SELECT count(*) FROM activity") == before


@pytest.mark.parametrize("name", OF_THE_DOCUMENT)
def test_a_document_whose_row_is_missing_is_not_called_unknown(place: SomePlace, tmp_path, name) -> None:
    filled(place)
    sql(place, DELETED["a document"][0])
    ended = run(place, OF_THE_DOCUMENT[name], tmp_path / "out")
    assert ended.code == 7, ended
    assert DELETED["a document"][1] in words(ended)


def test_a_list_does_not_omit_a_document_that_is_not_marked_as_current(place: SomePlace, tmp_path) -> None:
    filled(place)
    sql(place, f"UPDATE documents SET is_current = (1 = 0) WHERE doc_id = '{CHANGED}'")
    for name, arguments in LISTS.items():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (name, ended)
        assert f"is damaged: the row of document '{CHANGED}' (version 1) was changed" in words(ended), name
    with place.open(create=False) as collection:
        assert collection.fsck().mended_rows == (f"current version of document '{CHANGED}'",)
    assert run(place, LISTS["list"], tmp_path / "out").code == 0


@pytest.mark.parametrize("statement", ["UPDATE loads SET n_new = 77 WHERE load = 1", DELETED["a load"][0]])
def test_nothing_is_written_if_a_load_is_damaged(place: SomePlace, tmp_path, statement) -> None:
    filled(place)
    sql(place, statement)
    tables = "activity", "documents", "contents"
    before = [place.sql(f"SELECT count(*) FROM {table}") for table in tables]
    (tmp_path / "new.txt").write_text("a text that nobody has stored")
    adding = {"add": ["add", "COLLECTION", str(tmp_path / "new.txt"), "--wave", "third"]}
    for name, arguments in {**OTHERS, **adding}.items():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (name, ended)
        assert ("row of load 1 was changed" if "UPDATE" in statement else DELETED["a load"][1]) in words(ended), name
    assert [place.sql(f"SELECT count(*) FROM {table}") for table in tables] == before


@pytest.mark.parametrize("value", ["NULL", "9", "'x'"])
def test_a_changed_similarity_index_is_reported_and_repaired(place: SomePlace, value) -> None:
    text = " ".join(f"{word} {word}" for word in LETTER.split())
    with place.open(similarity_index="1B:k=3") as collection:
        collection.add([("one", text), ("other", f"{text} again")])
        before = collection.similar("one", tolerance=0.9)
    if place.server is not None and value == "'x'":
        return  # PostgreSQL refuses it
    sql(place, f"UPDATE profiles SET similarity_index = {value}, length = NULL WHERE content = 0")
    with place.open(create=False) as collection:
        with pytest.raises(CollectionError, match=r"similarity index of text 0 was changed.*nearkin fsck"):
            collection.similar("one", tolerance=0.9)
        if value == "'x'":
            with pytest.raises(CollectionError, match=r"similarity index of text 0 was changed.*nearkin fsck"):
                collection.similar("other", threshold=0.5)
        assert collection.fsck().mended_texts == 1
        after = collection.similar("one", tolerance=0.9)
    assert (after.documents, after.similarity_index) == (before.documents, before.similarity_index)


@pytest.mark.parametrize("name", ["documents", "facts", "contents", "seals", "profiles"])
def test_a_table_that_was_dropped_is_named(place: SomePlace, tmp_path, name) -> None:
    filled(place)
    if name == "profiles" and place.server is None:
        sql(place, "DROP VIEW indexed_documents")  # SQLite drops nothing with it
    sql(place, f"DROP TABLE {name}{' CASCADE' if place.server else ''}")
    for arguments in (LISTS["list"], ABOUT_ALL["groups"], ["fsck", "COLLECTION"]):
        ended = run(place, arguments, tmp_path / "out")
        if name == "profiles" and arguments[0] != "fsck":
            continue  # not used
        assert ended.code == 7, (arguments, ended)
        assert f"is damaged: its table {name} is missing. Restore the database from a backup." in words(ended), (
            arguments
        )


@pytest.mark.parametrize("arguments", [*LISTS.values(), *OF_THE_DOCUMENT.values(), *OTHERS.values()], ids=" ".join)
def test_the_commands_run_on_all_rows(tmp_path, arguments) -> None:
    place = SomePlace.new(tmp_path, None)
    filled(place)
    assert run(place, arguments, tmp_path / "out").code == 0
