"""Rows of tags, decisions, the log, origins, problems and groups that somebody deleted: no command omits them."""

from __future__ import annotations

import pytest

from contract.damaged_collections import FORM, copy_filled, fill, sql
from contract.test_changed_rows import run
from contract.test_missing_rows import words
from nearkin.collection.decisions.log import activities, activity_of
from nearkin.errors import CollectionError
from places import SomePlace

SOME = {"list": ["list", "COLLECTION"], "info": ["info", "COLLECTION"], "show": ["show", "COLLECTION", "b"]}
OF_TAGS = {
    "tags": ["tags", "COLLECTION"],
    "list of a tag": ["list", "COLLECTION", "--tag", "privileged"],
    "conflicts": ["conflicts", "COLLECTION", "--tag", "privileged"],
    "tag": ["tag", "COLLECTION", "privileged=part", "d", "--yes"],
    "untag": ["untag", "COLLECTION", "privileged", "d", "--yes"],
    **{name: SOME[name] for name in ("list", "show")},
}
OF_DECISIONS = {
    "groups": ["groups", "COLLECTION"],
    "note": ["decide", "COLLECTION", "--note", "a", "read it"],
    "keep apart": ["decide", "COLLECTION", "--never-group", "b", "c"],
    "show": SOME["show"],
}
OF_PAIRS = {"groups": OF_DECISIONS["groups"], "groups of letters": ["groups", "COLLECTION", "--gamma", "0.2"]}
OF_PROBLEMS = {"waves": ["waves", "COLLECTION"], "info": SOME["info"]}
OF_LOG = {
    "log": ["log", "COLLECTION"],
    "log of a document": ["log", "COLLECTION", "--of", "b"],
    "undo": ["undo", "COLLECTION", "3", "--yes"],
}
OF_ORIGINS = {
    "exceptions": ["exceptions", "COLLECTION"],
    "families": ["families", "COLLECTION", "--out", "OUT"],
    "dedup": ["dedup", "COLLECTION", "--out", "OUT"],
    **SOME,
}
OF_TEXTS = {
    "audit": ["audit", "COLLECTION", "--threshold", "0.5"],
    **{name: OF_ORIGINS[name] for name in ("dedup", "families", "info")},
}
OF_GROUPS = {
    "tag of a group": ["tag", "COLLECTION", "hot", "--group", "1", "--gamma", "0.2", "--yes"],
    "groups": ["groups", "COLLECTION", "--gamma", "0.2"],
    "show": SOME["show"],
}
LAST = "(SELECT max(number) FROM activity)"
DELETED = {
    "a tag": ("tags WHERE doc_id = 'b'", "tags: 1 of 2 rows missing", OF_TAGS),
    "all tags": ("tags", "tags: 2 of 2 rows missing", OF_TAGS),
    "a decision": ("decisions WHERE kind = 'note'", "decisions: 1 of 3 rows missing", OF_DECISIONS),
    "all decisions": ("decisions", "decisions: 3 of 3 rows missing", OF_DECISIONS),
    "an activity": ("activity WHERE number = 2", "activity: 1 of 8 rows missing", {**OF_LOG, "tags": OF_TAGS["tags"]}),
    "the last activity": (f"activity WHERE number = {LAST}", "activity: 1 of 8 rows missing", OF_LOG),
    "a changed value": ("changes WHERE activity = 3 AND number = 0", "changes: 1 of 14 rows missing", OF_LOG),
    "a decision in the log": ("changes WHERE activity = 4", "changes: 1 of 14 rows missing", OF_PAIRS),
    "an origin": ("origins WHERE doc_id = 'd'", "origins: 1 of 4 rows missing", OF_ORIGINS),
    "all origins": ("origins", "origins: 4 of 4 rows missing", OF_ORIGINS),
    "the problem": ("problems", "problems: 1 of 1 row missing", OF_PROBLEMS),
    "the purge": ("purges", "purges: 1 of 1 row missing", {"info": SOME["info"]}),
    "the groups": ("groupings", "groupings: 1 of 1 row missing", OF_GROUPS),
    "the members of groups": ("members", "groups at letters, gamma 0.2 were changed", OF_GROUPS),
    "a text": ("contents WHERE content = 0", "texts: 7 of 8 exist", OF_TEXTS),
}
COMMANDS = {" ".join(one): one for *_, commands in DELETED.values() for one in commands.values()}


@pytest.mark.parametrize("what", DELETED)
def test_commands_that_use_the_rows_say_which_are_missing(place: SomePlace, tmp_path, what) -> None:
    copy_filled(place, fill)
    rows, sentence, commands = DELETED[what]
    sql(place, f"DELETE FROM {rows}")
    counts = [f"SELECT count(*) FROM {table}" for table in ("activity", "changes", "tags", "decisions", "documents")]
    before = [place.sql(count) for count in counts]
    for name, arguments in commands.items():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (name, ended)
        assert sentence in words(ended), (name, ended)
        assert "nearkin fsck" in words(ended), (name, ended)
    assert [place.sql(count) for count in counts] == before


@pytest.mark.parametrize("number", ["1006", "'zz'"])
def test_nothing_is_decided_after_an_activity_whose_number_was_changed(place: SomePlace, tmp_path, number) -> None:
    copy_filled(place, fill)
    if place.server is not None and number == "'zz'":
        return  # PostgreSQL refuses it
    sql(place, f"UPDATE activity SET number = {number} WHERE number = 5")
    tagging, purging = OF_TAGS["tag"], ["purge", "COLLECTION", "d", "--yes"]
    for arguments in (tagging, OF_DECISIONS["note"], purging, ["remove", "COLLECTION", "d", "--yes"]):
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (arguments, ended)
        assert "is damaged: a row of activity was changed in the database" in words(ended)
    assert place.sql("SELECT count(*) FROM activity") == "8"


def test_the_log_does_not_omit_a_value_of_another_activity(place: SomePlace, tmp_path) -> None:
    copy_filled(place, fill)
    sql(place, "UPDATE changes SET activity = 1003 WHERE activity = 3 AND number = 1")
    assert "damaged: changes: rows of no activity" in words(run(place, OF_LOG["log"], tmp_path))
    undone = run(place, OF_LOG["undo"], tmp_path)
    assert (undone.code, place.sql("SELECT count(*) FROM tags")) == (7, "2")
    assert "change 1 of activity 1003 was changed" in words(undone)


@pytest.mark.parametrize("column", ["is_current = 2", "load = 77"])
def test_a_document_is_not_omitted_because_of_a_value_that_nothing_has(place: SomePlace, tmp_path, column) -> None:
    copy_filled(place, fill)
    if place.server is not None and "is_current" in column:
        return  # PostgreSQL refuses it
    sql(place, f"UPDATE documents SET {column} WHERE doc_id = 'd'")
    of_wave, waves = ["list", "COLLECTION", "--wave", "first"], ["waves", "COLLECTION"]
    for arguments in (SOME["list"], of_wave, SOME["info"], waves, OF_DECISIONS["groups"]):
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (arguments, ended)
        assert "nearkin fsck" in words(ended), (arguments, ended)


@pytest.mark.parametrize("table", ["facts", "waves", "loads", "documents", "problems", "tags", "origins", "changes"])
def test_fsck_reports_a_checksum_that_is_no_number(tmp_path, table) -> None:
    place = SomePlace.new(tmp_path, None)  # PostgreSQL refuses it
    copy_filled(place, fill)
    some = {"facts": "name = 'check_keys_end'", "documents": "doc_id = 'd'"}.get(table, "1 = 1")
    sql(place, f"UPDATE {table} SET checksum = 'zz' WHERE {some}")
    ended = run(place, ["fsck", "COLLECTION"], tmp_path / "out")
    assert ended.code == (0 if table == "tags" else 7), ended
    told = "the current tags and decisions, from the activity log" if table == "tags" else "was changed"
    assert told in " ".join((ended.out + ended.err).split()), ended


def test_an_origin_that_names_a_missing_document_is_reported(place: SomePlace, tmp_path) -> None:
    copy_filled(place, fill)
    sql(place, "UPDATE origins SET row = 1003 WHERE doc_id = 'd'")
    for name in ("exceptions", "info", "dedup"):
        ended = run(place, OF_ORIGINS[name], tmp_path / "out")
        assert ended.code == 7, (name, ended)
        assert "row of the origin of document 'd' was changed" in words(ended), (name, ended)


@pytest.mark.parametrize(("table", "column"), [("documents", "row"), ("origins", "number")])
def test_nothing_is_added_after_a_row_whose_number_is_none(tmp_path, table, column) -> None:
    place = SomePlace.new(tmp_path, None)  # PostgreSQL refuses it
    copy_filled(place, fill)
    sql(place, f"UPDATE {table} SET {column} = 'zz' WHERE doc_id = 'd'")
    mail = tmp_path / "new.eml"
    mail.write_text("From: ada@example.org\nSubject: new\n\na text that nobody has stored")
    ended = run(place, ["add", "COLLECTION", str(mail), "--wave", "third"], tmp_path / "out")
    assert ended.code == 7, ended
    assert f"is damaged: {table}: a row with 'zz' as its {column}." in words(ended)


@pytest.mark.parametrize("table", ["check_keys", "checked_contents"])
def test_a_check_does_not_omit_texts_whose_keys_were_deleted(place: SomePlace, table) -> None:
    copy_filled(place, fill)
    with place.open(create=False) as collection:
        before = collection.check(FORM)
        sql(place, f"DELETE FROM {table}")
        with pytest.raises(CollectionError, match=r"keys of check-ins is damaged; nearkin fsck") as caught:
            collection.check(FORM)
        assert caught.value.exit_code == 7
        assert collection.fsck().is_whole
        assert collection.check(FORM).documents == before.documents


@pytest.mark.parametrize(
    ("statement", "sentence", "asked"),
    [
        ("DELETE FROM contents WHERE content = 0", "texts: 7 of 8 exist", ["versions"]),
        ("UPDATE waves SET name = 'forged' WHERE wave = 1", "wave 'forged' was changed", ["similar", "versions"]),
    ],
)
def test_similar_and_versions_name_no_wrong_wave_and_omit_no_text(place: SomePlace, statement, sentence, asked) -> None:
    """A search by `similar` answers for the texts that are left: it takes as long as before in a large collection."""
    copy_filled(place, fill)
    sql(place, statement)
    with place.open(create=False) as collection:
        asks = {"similar": lambda: collection.similar(text=FORM), "versions": lambda: collection.versions("f")}
        for ask in map(asks.__getitem__, asked):
            with pytest.raises(CollectionError, match=sentence) as caught:
                ask()
            assert caught.value.exit_code == 7


def test_groups_do_not_follow_a_decision_that_was_changed_in_the_log(place: SomePlace, tmp_path) -> None:
    copy_filled(place, fill)
    sql(place, "UPDATE changes SET other = 'b' WHERE activity = 4")
    for arguments in OF_PAIRS.values():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, ended
        assert "is damaged: a row of changes was changed in the database (activity 4" in words(ended)


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_the_commands_run_on_all_rows(tmp_path, arguments) -> None:
    place = SomePlace.new(tmp_path, None)
    copy_filled(place, fill)
    assert run(place, arguments, tmp_path / "out").code == 0


def test_one_activity_of_several_is_read_without_the_others(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add([("a", "one text"), ("b", "another text"), ("c", "a third")])
        for pair in (("a", "b"), ("a", "c"), ("b", "c")):
            collection.decide(never_group=pair)
    with place.open(create=False) as collection, collection.opened.store.reading() as connection:
        listed = activities(connection)
        assert len(listed) == 3
        for one in listed:
            assert activity_of(connection, one.number) == one
