"""Rows of tags, decisions, the log, origins, problems and groups that somebody deleted: no command omits them."""

from __future__ import annotations

import pytest

from contract.damaged_collections import copy_filled, fill, sql
from contract.test_changed_rows import run
from contract.test_missing_rows import words
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
    "a text": ("contents WHERE content = 0", "texts: 7 of 8 texts exist", {"info": SOME["info"]}),
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


def test_groups_do_not_follow_a_decision_that_was_changed_in_the_log(place: SomePlace, tmp_path) -> None:
    copy_filled(place, fill)
    sql(place, "UPDATE changes SET other = 'b' WHERE activity = 4")
    for arguments in OF_PAIRS.values():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, ended
        assert "A row of changes was changed in the store (activity 4" in words(ended)


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_the_commands_run_on_all_rows(tmp_path, arguments) -> None:
    place = SomePlace.new(tmp_path, None)
    copy_filled(place, fill)
    assert run(place, arguments, tmp_path / "out").code == 0
