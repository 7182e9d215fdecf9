"""A row of a document that somebody changed in the database: every command that would use it reports it and stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contract.damaged_collections import copy_filled, sql
from extracted_documents import incoming, origin
from functional.conftest import Ended, nearkin_here
from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.collection.conflicts.stored_conflicts import conflicting_groups
from nearkin.collection.decisions.overtaken import overtaken_decisions
from nearkin.collection.groups.current import stored_members
from nearkin.collection.groups.members import group_members
from nearkin.collection.groups.representatives import representatives
from nearkin.collection.groups.time_line import group_time_line
from nearkin.collection.loads.adding import add_incoming
from nearkin.collection.plain_sql import install
from nearkin.collection.stored.document_rows import refuse_changed_documents
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.store.place import Place
from nearkin.store.store import Store
from nearkin.workflows.reading.collection_documents import CollectionDocuments
from places import SomePlace
from review_client import Visit, words_of

prose = Prose(41)
FORM = prose.text(40)
LETTER = prose.text(30)
FIRST = [
    ("form", FORM),
    ("form, signed", f"{FORM} Signed by Ada Kern and by nobody else."),
    ("form, noted", f"{FORM} Noted."),
    ("letter", LETTER),
    ("letter, copy", LETTER),
    ("memo", prose.text(25)),
]
LATER = [("form, dated", f"{FORM} On the first day of May."), ("form, noted", f"{FORM} Noted and filed away.")]
CHANGED = "form, signed"
CHANGES = {
    "its id": "doc_id = 'form, forged'",
    "its text": "content = (SELECT d.content FROM documents d WHERE d.doc_id = 'memo')",
    "its wave": "load = (SELECT max(load) FROM loads)",
    "its file": "source = 'another.csv'",
    "it is removed": "is_current = (1 = 0), removed_at = '2026-01-01'",
    "it is an older version": "is_current = (1 = 0)",
    "no checksum": "checksum = NULL",
}
ABOUT_ALL = {
    "groups": ["groups", "COLLECTION"],
    "groups of letters": ["groups", "COLLECTION", "--gamma", "0.2"],
    "families": ["families", "COLLECTION", "--out", "OUT"],
    "conflicts": ["conflicts", "COLLECTION", "--tag", "responsive"],
    "conflicts of a bare tag": ["conflicts", "COLLECTION", "--tag", "privileged"],
    "audit": ["audit", "COLLECTION", "--threshold", "0.5"],
    "dedup": ["dedup", "COLLECTION", "--out", "OUT"],
    "threads": ["threads", "COLLECTION", "--out", "OUT"],
    "sign": ["sign", "COLLECTION", "--out", "OUT.parquet"],
    "remove a wave": ["remove", "COLLECTION", "--wave", "first", "--yes"],
    "overlay": ["groups", "COLLECTION", "--overlay", "relativity", "--out", "OUT.dat"],
    "plain SQL": ["sql", "install", "COLLECTION"],
    "purge": ["purge", "COLLECTION", "letter", "--copies", "--yes"],
    "preview a purge": ["purge", "COLLECTION", "memo", "--dry-run"],
}
"""Commands that a change of any row of documents concerns."""
ABOUT_THE_GROUP = {
    "tag a group": ["tag", "COLLECTION", "hot", "--group", "1", "--yes"],
    "preview the tag of a group": ["tag", "COLLECTION", "hot", "--group", "1"],
    "untag a group": ["untag", "COLLECTION", "responsive", "--group", "1", "--yes"],
    "note on a group": ["decide", "COLLECTION", "--group-note", "1", "read it"],
}
ABOUT_THE_DOCUMENT = {
    "tag": ["tag", "COLLECTION", "hot", CHANGED, "--yes"],
    "untag": ["untag", "COLLECTION", "responsive", CHANGED, "--yes"],
    "remove": ["remove", "COLLECTION", CHANGED, "--yes"],
    "preview a removal": ["remove", "COLLECTION", CHANGED, "--dry-run"],
    "choose a principal": ["decide", "COLLECTION", "--principal", CHANGED],
    "keep apart": ["decide", "COLLECTION", "--never-group", CHANGED, "memo"],
    "note": ["decide", "COLLECTION", "--note", CHANGED, "signed on paper"],
    "show": ["show", "COLLECTION", CHANGED],
    "similar": ["similar", "COLLECTION", CHANGED],
    "versions": ["versions", "COLLECTION", CHANGED],
}
WORDING = Tolerance.of()


def filled(place: SomePlace) -> None:
    """Two waves, tags, groups by wording and by letters, keys of check-ins."""
    copy_filled(place, fill)


def fill(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add(FIRST, wave="first")
        collection.groups()
        collection.add(LATER, wave="later")
        collection.tag(["form", CHANGED], "responsive", "yes", by="ada")
        collection.tag(["form, noted"], "responsive", "no", by="ada")
        collection.tag([CHANGED], "privileged", by="ada")
        collection.groups()
        collection.groups(gamma=0.2)
        collection.check(FORM)
        assert [one.number for one in collection.groups().groups] == [1, 2]


def run(place: SomePlace, arguments: list[str], out: Path) -> Ended:
    given = {"COLLECTION": place.address, "OUT": str(out), "OUT.parquet": f"{out}.parquet", "OUT.dat": f"{out}.dat"}
    of_place = ["--cache", place.cache] if place.server and arguments[0] in _HAVE_CACHE else []
    return nearkin_here(*[given.get(one, one) for one in arguments], *of_place)


_HAVE_CACHE = {"groups", "conflicts", "audit", "similar", "versions", "search"}


def change(place: SomePlace, what: str, doc_id: str = CHANGED) -> None:
    sql(place, f"UPDATE documents SET {CHANGES[what]} WHERE doc_id = '{doc_id}'")


@pytest.mark.parametrize(
    "arguments", [*ABOUT_ALL.values(), *ABOUT_THE_GROUP.values(), *ABOUT_THE_DOCUMENT.values()], ids=" ".join
)
def test_the_commands_run_on_unchanged_rows(tmp_path, arguments) -> None:
    place = SomePlace.new(tmp_path, None)
    filled(place)
    ended = run(place, arguments, tmp_path / "out")
    assert ended.code == (3 if arguments[0] == "threads" else 0), ended  # there are no mails
    assert "was changed in the database" not in ended.err


@pytest.mark.parametrize("what", CHANGES)
def test_a_command_about_all_documents_reports_the_row(place, tmp_path, what) -> None:
    filled(place)
    change(place, what)
    before = place.sql("SELECT count(*) FROM activity")
    for name, arguments in ABOUT_ALL.items():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (name, ended)
        assert "(version 1) was changed in the database. Run nearkin fsck" in " ".join(ended.err.split()), (name, ended)
    assert place.sql("SELECT count(*) FROM activity") == before
    assert place.sql("SELECT count(*) FROM documents WHERE removed_at IS NOT NULL") == str(int("removed" in what))


@pytest.mark.parametrize("what", CHANGES)
def test_a_command_about_the_group_or_the_document_reports_the_row(place, tmp_path, what) -> None:
    filled(place)
    change(place, what)
    before = place.sql("SELECT count(*) FROM activity")
    for name, arguments in {**ABOUT_THE_GROUP, **ABOUT_THE_DOCUMENT}.items():
        ended = run(place, arguments, tmp_path / "out")
        assert ended.code == 7, (name, ended)
        assert "nearkin fsck" in " ".join(ended.err.split()), (name, ended)
    assert place.sql("SELECT count(*) FROM activity") == before


@pytest.mark.parametrize("what", CHANGES)
def test_the_functions_of_the_review_screen_report_the_row(place, what) -> None:
    filled(place)
    change(place, what)
    with place.open(create=False) as collection:
        opened = collection.opened
        for ask in (
            lambda: stored_members(opened, WORDING),
            lambda: group_members(opened, 1, WORDING),
            lambda: group_time_line(opened, 1, WORDING),
            lambda: list(representatives(opened, WORDING, [1])),
            lambda: collection.groups_since("first"),
        ):
            with pytest.raises(CollectionError, match="nearkin fsck") as caught:
                ask()
            assert caught.value.exit_code == 7


@pytest.mark.parametrize("path", ["/group?number=1", "/groups", "/representatives", "/groups.csv", "/list"])
def test_a_page_reports_the_row(place, path) -> None:
    filled(place)
    with place.open(create=False) as collection:
        principal = collection.groups().groups[0].principal  # which every one of these pages shows
    change(place, "its file", principal)
    with place.open(create=False) as collection:
        visit = Visit(collection).sign_in()
        answer = visit.send("GET", path, headers={"sec-fetch-site": "same-origin"})
        visit.service.jobs.close()
    assert answer.status_code >= 400, path
    assert "was changed in the database" in words_of(answer.text), path


@pytest.mark.parametrize("ask", ["similar", "versions", "search", "check", "letters"])
def test_a_query_reports_that_a_text_has_lost_its_document(place, ask) -> None:
    """The text of CHANGED has no document any more, so no row of its own would be read."""
    asks: dict[str, Callable[[Collection], Any]] = {
        "similar": lambda collection: collection.similar("form", threshold=0.5),
        "letters": lambda collection: collection.similar("form", gamma=0.5),
        "versions": lambda collection: collection.versions("form", threshold=0.5),
        "search": lambda collection: collection.search("nobody else"),
        "check": lambda collection: collection.check(FIRST[1][1]),
    }
    filled(place)
    with place.open(create=False) as collection:
        assert CHANGED in str(asks[ask](collection).to_dict())
    change(place, "its text")
    with place.open(create=False) as collection, pytest.raises(CollectionError, match=f"'{CHANGED}'.*was changed"):
        asks[ask](collection)


@pytest.mark.parametrize("what", ["its id", "its file"])
@pytest.mark.parametrize("command", ["tags", "list"])
def test_lists_of_tags_and_documents_report_the_row(place, tmp_path, command, what) -> None:
    filled(place)
    change(place, what)
    ended = run(place, [command, "COLLECTION"], tmp_path / "out")
    assert ended.code == 7, ended
    assert "was changed in the database" in ended.err


def test_a_row_that_changes_while_a_job_reads_is_reported(place) -> None:
    filled(place)
    documents = CollectionDocuments.now(Place.parse(place.address))
    assert sum(batch.num_rows for batch in documents.batches(Silent())) == len(FIRST) + 1
    change(place, "its id")
    with pytest.raises(CollectionError, match=r"'form, forged' .*was changed in the database"):
        list(documents.batches(Silent()))


def test_an_undo_does_not_make_a_changed_document_a_principal(place) -> None:
    filled(place)
    with place.open(create=False) as collection:
        was = collection.groups().groups[0].principal
        other = next(name for name, _ in FIRST[:3] if name != was)
        number = collection.decide(principal=other, by="ada").number
    change(place, "its file", was)
    with place.open(create=False) as collection, pytest.raises(CollectionError, match="was changed in the database"):
        collection.undo(number, by="ada")


def test_decisions_on_an_earlier_text_are_not_told_by_a_changed_row(place) -> None:
    filled(place)
    change(place, "its file", "form, noted")
    with place.open(create=False) as collection, collection.opened.store.reading() as connection:
        assert overtaken_decisions(connection, ["form"]) == {}
        with pytest.raises(CollectionError, match=r"'form, noted'.*was changed in the database"):
            overtaken_decisions(connection, ["form", "form, noted"])


def test_a_row_that_is_repaired_is_used_again(place, tmp_path) -> None:
    filled(place)
    sql(place, f"UPDATE documents SET line = line + 64 WHERE doc_id = '{CHANGED}'")
    assert run(place, ABOUT_ALL["groups"], tmp_path / "out").code == 7
    with place.open(create=False) as collection:
        assert f"the row of document '{CHANGED}' (version 1)" in collection.fsck().mended_rows
        assert collection.groups().groups[0].n_documents == 4
        with collection.opened.store.reading() as connection:
            refuse_changed_documents(connection)


def test_a_document_whose_text_was_moved_is_named_by_a_tag_of_its_group(place, tmp_path) -> None:
    filled(place)
    change(place, "its text")
    ended = run(place, ABOUT_THE_GROUP["tag a group"], tmp_path / "out")
    assert f"is damaged: the row of document '{CHANGED}' (version 1) was changed" in " ".join(ended.err.split())
    assert place.sql("SELECT count(*) FROM tags WHERE field = 'hot'") == "0"


@pytest.mark.parametrize("is_dry_run", [False, True])
def test_a_purge_erases_no_text_of_a_document_whose_row_has_another_text_now(place, tmp_path, is_dry_run) -> None:
    """Without that row, the text seems to belong to the purged document alone."""
    filled(place)
    text = "SELECT count(*) FROM contents WHERE n_bytes > 0"
    before = place.sql(text)
    change(place, "its text", "letter, copy")
    ended = run(place, ["purge", "COLLECTION", "letter", "--dry-run" if is_dry_run else "--yes"], tmp_path / "out")
    assert ended.code == 7, ended
    assert "is damaged: the row of document 'letter, copy' (version 1) was changed" in " ".join(ended.err.split())
    assert place.sql(text) == before
    assert place.sql("SELECT count(*) FROM documents WHERE removed_at IS NOT NULL") == "0"


@pytest.mark.parametrize("name", ABOUT_THE_GROUP)
def test_a_member_whose_row_has_another_text_is_not_omitted(place, tmp_path, name) -> None:
    """Its former text still has a document, so the group seems to be whole."""
    filled(place)
    with place.open(create=False) as collection:
        collection.add([("form, copy", FORM)], wave="copies")
        assert collection.groups().groups[0].n_documents == 5
    change(place, "its text", "form, copy")
    before = place.sql("SELECT count(*) FROM activity")
    ended = run(place, ABOUT_THE_GROUP[name], tmp_path / "out")
    assert ended.code == 7, ended
    assert "is damaged: the row of document 'form, copy' (version 1) was changed" in " ".join(ended.err.split())
    assert place.sql("SELECT count(*) FROM activity") == before


def test_a_row_whose_place_was_taken_is_named(place) -> None:
    """Its id lacks one bit, and could be put right; each database says in its own way that it is there already."""
    filled(place)
    place.sql(f"UPDATE documents SET doc_id = '{chr(ord(CHANGED[0]) ^ 1)}{CHANGED[1:]}' WHERE doc_id = '{CHANGED}'")
    with place.open(create=False) as collection:
        assert collection.add([FIRST[1]], wave="again").n_new == 1
        said = f"the row of document {CHANGED!r} (version 1) was changed, and its place is taken"
        assert collection.fsck().faults == (said,)
    with place.open(create=False, read_only=True) as collection:
        found = collection.fsck()
        assert (found.faults, found.repairable) == ((said,), ())


@pytest.mark.parametrize("what", ["its file", "its id", "it is removed"])
def test_adding_the_document_of_a_changed_row_stores_it_again_and_fsck_still_reports_the_row(place, what) -> None:
    filled(place)
    change(place, what)
    with place.open(create=False) as collection:
        added = collection.add([FIRST[1]], wave="again")
        assert (added.n_new, added.n_new_versions, added.n_repaired) == ((0, 1, 0) if what == "its file" else (1, 0, 0))
        assert not collection.fsck().is_whole
    version = 1 if what == "its id" else 2
    of_document = f"SELECT max(version) FROM documents WHERE doc_id = '{CHANGED}' AND is_current"
    assert place.sql(of_document) == str(version)


@pytest.mark.parametrize("what", [*CHANGES, "an untagged document"])
def test_counts_of_conflicts_on_the_home_page_compare_the_rows_of_tagged_documents_only(place, what) -> None:
    filled(place)
    is_tagged = what in CHANGES
    change(place, what if is_tagged else "its file", CHANGED if is_tagged else "memo")
    with place.open(create=False) as collection, collection.opened.store.reading() as connection:
        if is_tagged:
            with pytest.raises(CollectionError, match="was changed in the database"):
                conflicting_groups(connection, WORDING)
        else:
            assert conflicting_groups(connection, WORDING) == {"privileged": 1, "responsive": 1}


@pytest.mark.parametrize("dry_run", [False, True])
def test_no_changed_row_is_removed_because_a_file_no_longer_contains_its_document(place, dry_run) -> None:
    rules = ReadingRules.of("skip-documents", 1.0)
    mails = [("m", LETTER, origin(one, kind="eml", family="m"), None) for one in "12"]
    member = ("m!a", FORM, origin("3", family="m", position=1), "m")
    of_files: dict[str, Any] = {"threads": 1, "rules": rules, "are_files": True}
    with place.open() as collection:
        add_incoming(collection.opened, [incoming([mails[0], member], "m")], wave="one", **of_files)
    sql(place, "UPDATE documents SET line = 9000 WHERE doc_id = 'm!a'")
    with place.open(create=False) as collection, pytest.raises(CollectionError, match=r"'m!a' .*was changed"):
        add_incoming(collection.opened, [incoming([mails[1]], "m")], wave="two", dry_run=dry_run, **of_files)
    assert place.sql("SELECT count(*) FROM documents WHERE is_current") == "2"


def test_the_documents_to_look_at_are_not_shown_as_removed(place) -> None:
    filled(place)
    with place.open(create=False) as collection:
        visit = Visit(collection).sign_in()
        asked = "/since?wave=first&show=documents"
        own = {"sec-fetch-site": "same-origin"}
        shown = visit.send("GET", asked, headers=own).text
        assert "form, dated" in shown
        change(place, "its id", "form, dated")
        answer = visit.send("GET", asked, headers=own)
        visit.service.jobs.close()
    assert answer.status_code >= 400
    assert "was changed in the database" in words_of(answer.text)


def test_plain_sql_compares_rows_without_the_lock_of_writers(place) -> None:
    filled(place)
    change(place, "its file")
    with (
        place.open(create=False) as collection,
        Store.open(Place.parse(place.address)) as other,
        other.writing(),
        pytest.raises(CollectionError, match="was changed in the database"),
    ):
        install(collection.opened)


def test_a_missing_row_of_a_document_is_reported_by_queries_for_its_text(place) -> None:
    filled(place)
    sql(place, f"DELETE FROM documents WHERE doc_id = '{CHANGED}'")
    with (
        place.open(create=False) as collection,
        pytest.raises(CollectionError, match="documents of wave 'first': 1 of 6 rows missing"),
    ):
        collection.similar("form", threshold=0.5)


def test_deleted_keys_of_check_ins_are_reported_and_stored_again(place) -> None:
    filled(place)
    n_keys = int(place.sql("SELECT count(*) FROM check_keys"))
    sql(place, "DELETE FROM check_keys")
    ended = nearkin_here("fsck", place.address, *(["--cache", place.cache] if place.server else []))
    assert f"rebuilt: index of nearkin check: {n_keys:,} of {n_keys:,} keys were missing" in ended.out + ended.err, (
        ended
    )
    assert int(place.sql("SELECT count(*) FROM check_keys")) == n_keys
    with place.open(create=False) as collection:
        assert collection.check(FORM).verdict == "exact"
        assert not collection.fsck().remade_segments
