"""One byte of any column of any table is changed: what was acknowledged is read back, or the damage is reported."""

from __future__ import annotations

import contextlib
import shutil

import pytest

from contract.damaged_collections import (
    FIRST,
    FORM,
    LONG,
    NEAR,
    SECOND,
    TABLES,
    TEXTS,
    damage,
    damage_text,
    faults,
    filled,
    is_silent,
    readable,
    sql,
)
from nearkin.collection.check_in.results import CheckIn
from nearkin.collection.stored.group_history import HISTORY
from nearkin.errors import CollectionError
from nearkin.store import schema

SOME = {"sqlite": slice(None, None, 3), "postgresql": slice(1, None, 4)}
"""Columns of which a byte is changed: the same code notices it in every column; the soak tests take all of them."""


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_changed_byte_is_told_and_mended(place, table) -> None:
    names = [column.name for column in table.columns]
    change_a_byte_of_each(place, table, names[SOME[place.kind]])


@pytest.mark.soak
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_changed_byte_of_any_column_is_told_and_mended(place, table) -> None:
    change_a_byte_of_each(place, table, [column.name for column in table.columns])


def change_a_byte_of_each(place, table, names) -> None:
    filled(place)
    for name in names:
        # a fact that nothing else tells; a document that is there, if not the one that has been removed
        only = "AND name = 'letters'" if table is schema.facts else ""
        only = "AND is_current" if table is schema.documents and name != "removed_at" else only
        only = "AND content < 7" if table is schema.contents else only  # the last one was erased
        damage(place, table, name, only)
        with place.open(create=False) as collection:  # opened anew: nothing is remembered
            readable(collection)
            assert not is_silent(collection.fsck()), name
            if table in (schema.contents, schema.documents, schema.loads):  # of which adding makes something
                readable(collection)
                collection.add([*FIRST[:4], ("h", None)], wave="first")
                collection.add(SECOND, wave="second")
            assert len(readable(collection)) == len(TEXTS) - 1, name
            again = collection.fsck()
            assert again.is_whole, (name, again)
            assert is_silent(again), (name, again)
            if table in (schema.groupings, schema.groups, schema.members, HISTORY):
                collection.groups(gamma=0.2)


def test_every_fact_is_told_and_mended(place) -> None:
    filled(place)
    names = sorted(filter(place.fact, place.sql("SELECT name FROM facts").split()))
    for name in names[SOME[place.kind]]:
        damage(place, schema.facts, "value", f"AND name = '{name}'")
        with place.open(create=False) as collection:
            assert len(readable(collection)) == len(TEXTS) - 1, name
            assert not is_silent(collection.fsck()), name
            assert is_silent(collection.fsck()), name


# -- texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after_fsck", [False, True])
@pytest.mark.parametrize("doc_id", ["a", "another"])
def test_adding_the_text_again_repairs_it_under_any_id(place, doc_id, after_fsck) -> None:
    filled(place)
    damage_text(place)
    with place.open() as collection:
        if after_fsck:
            assert collection.fsck().damaged_documents == ("a (version 1)", "g (version 1)")
        with pytest.raises(CollectionError, match="damaged"):
            collection.text("a")
        added = collection.add([(doc_id, FORM)], wave="later")
        assert (added.n_repaired, added.n_contents, added.n_unchanged) == (1, 0, int(doc_id == "a"))
        assert [collection.text(one) for one in ("a", "g", doc_id)] == [FORM] * 3
        assert is_silent(collection.fsck())
        assert collection.check(FORM).verdict == "exact"
        assert {one.document.doc_id for one in collection.similar("a", gamma=0).documents} >= {"g"}


@pytest.mark.parametrize("after_fsck", [False, True])
@pytest.mark.parametrize("has_keys", [False, True])
def test_a_text_that_is_stored_and_damaged_is_not_new(place, has_keys, after_fsck) -> None:
    with place.open() as collection:
        collection.add(FIRST)
        if has_keys:
            collection.check(FORM)
        damage_text(place)
        if after_fsck:
            collection.fsck()
        checked = collection.check(FORM)
        assert (checked.verdict, checked.documents[0].document.doc_id) == ("exact", "a")
        assert (checked.documents[0].is_same_text, checked.documents[0].is_damaged) == (True, True)
        assert checked.to_dict()["is_repaired"] is False
        with pytest.raises(CollectionError):
            collection.text("a")


@pytest.mark.parametrize("numbers", ["0", "1, 3"])
@pytest.mark.parametrize("after_fsck", [False, True])
def test_adding_texts_that_are_missing_puts_them_back(place, numbers, after_fsck) -> None:
    filled(place)
    sql(place, f"DELETE FROM contents WHERE content IN ({numbers})")
    with place.open() as collection:
        if after_fsck:
            assert not collection.fsck().is_whole
        added = collection.add([*FIRST[:4], ("another", FORM)], wave="first")
        n_missing = len(numbers.split(","))
        assert (added.n_repaired, added.n_missing, added.n_contents, added.n_new) == (n_missing, 0, 0, 1)
        assert added.n_new_versions == 0
        assert len(readable(collection)) == len(TEXTS) - 1
        assert collection.fsck().is_whole
        assert is_silent(collection.fsck())
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
        assert is_silent(collection.fsck())


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
            with pytest.raises(CollectionError, match=r"'a'.*nearkin fsck") as caught:
                collection.check(text, store=under)
            assert caught.value.exit_code == 7
        assert place.sql("SELECT count(*) FROM documents") == "2"
        if "is_current = (1 = 0) WHERE" in statement:
            assert collection.fsck().is_whole
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
        with pytest.raises(CollectionError, match=r"similar to a.*damaged"):
            collection.check(NEAR, store=CheckIn("near", only_new=True))
        assert collection.info().n_documents == 1
        assert collection.fsck().remade_segments == ()  # its keys cannot be compared, and are kept
        with pytest.raises(CollectionError, match=r"similar to a.*damaged"):
            collection.check(NEAR)
        sql(place, "DELETE FROM check_keys", "DELETE FROM checked_contents")
        collection.fsck()  # without keys it cannot be known any more what the text is similar to
        checked = collection.check(NEAR)
        assert (checked.verdict, checked.n_damaged, [str(one) for one in checked.damaged]) == ("new", 1, ["a"])
        collection.add([("b", LONG)])
        assert [one.document.doc_id for one in collection.check(NEAR).documents] == ["a", "b"]


def test_keys_of_a_damaged_text_are_kept_when_those_of_others_are_stored_again(place) -> None:
    with place.open() as collection:
        collection.add([("a", LONG), ("b", FORM)])
        collection.check("something else")
        damage_text(place)
        sql(place, "DELETE FROM check_keys WHERE content = 1")
        assert "index of nearkin check" in " ".join(collection.fsck().remade_segments)
        with pytest.raises(CollectionError, match=r"similar to a.*damaged"):
            collection.check(NEAR)
        assert collection.check(FORM).verdict == "exact"
        assert collection.fsck().remade_segments == ()
        collection.add([("a", LONG)])
        assert is_silent(collection.fsck())
        assert [one.document.doc_id for one in collection.check(NEAR).documents] == ["a"]


def test_a_digest_that_is_damaged_comes_back_with_the_text(place) -> None:
    filled(place)
    damage_text(place, "digest")
    with place.open() as collection:
        added = collection.add([("a", FORM)], wave="first")
        assert (added.n_repaired, added.n_unchanged, added.n_contents) == (1, 1, 0)
        assert collection.text("g") == FORM
        assert is_silent(collection.fsck())


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
        assert is_silent(collection.fsck())
