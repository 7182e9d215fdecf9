"""Members that a file had in an earlier wave and has no more; the same in both databases."""

from __future__ import annotations

import pytest

from contract.damaged_collections import is_silent
from extracted_documents import LEASE, LETTER, Row, incoming, origin, unread
from nearkin.collection.loads.adding import add_incoming
from nearkin.stages.documents.rules import ReadingRules


@pytest.fixture
def collection(place):
    with place.open() as opened:
        yield opened
        assert is_silent(opened.fsck())


def add(collection, *rows: Row, wave=None, file="m", **wanted):
    """Add the documents of one file."""
    rules = ReadingRules.of("skip-documents", 1.0)
    told = {"are_files": True, **wanted}
    return add_incoming(collection.opened, [incoming(rows, file)], wave=wave, threads=1, rules=rules, **told)


def mail(data: str, **values: object) -> Row:
    told = {"kind": "eml", "family": "m", **values}
    return "m", LETTER, origin(data, **told), None


def member(name: str, text: str | None = None, parent: str = "m", **values: object) -> Row:
    doc_id = f"{parent}!{name}"
    told = {"family": "m", "position": 1, **values}
    found = origin("e", **told) if text is not None or "exception" in values else unread("e", **told)
    return doc_id, text, found, parent


def current(collection) -> list[str]:
    return sorted(one["doc_id"] for one in collection.documents().table.to_pylist())


def excepted(collection) -> list[str]:
    return [one.doc_id for one in collection.exceptions().exceptions]


A, B, LOCKED = member("a", "one"), member("b", LEASE), member("locked.pdf")
CUT = member("#3", exception="damaged", sentence="cut", sha256=None, size_bytes=None)


def test_an_attachment_that_a_mail_lost_is_removed_with_an_entry_in_the_log(collection) -> None:
    add(collection, mail("1"), A, B, LOCKED, wave="one")
    collection.tag(["m!b"], "hot")
    dry = add(collection, mail("2"), A, wave="two", dry_run=True)
    assert (dry.removed, dry.removed_unread, dry.is_dry_run) == (("m!b",), ("m!locked.pdf",), True)
    assert (current(collection), excepted(collection)) == (["m", "m!a", "m!b"], ["m!locked.pdf"])
    assert [one.name for one in collection.info().waves] == ["one"]
    added = add(collection, mail("2"), A, wave="two")
    assert (added.removed, added.removed_unread, added.n_unchanged) == (("m!b",), ("m!locked.pdf",), 2)
    assert (current(collection), excepted(collection)) == (["m", "m!a"], [])
    entry = collection.log()[-1]
    assert (entry.kind, entry.data) == ("remove", {"gone_in": "two"})
    assert [(one.subject, one.was) for one in entry.changes] == [("m!b", "version 1"), ("m!locked.pdf", "no text")]
    assert collection.text("m!b", version=1) == LEASE
    assert "hot" in str(collection.details("m!b", version=1).tags)
    assert not add(collection, mail("2"), A, wave="two").removed
    add(collection, mail("3"), A, B, wave="three")  # it comes back
    assert current(collection) == ["m", "m!a", "m!b"]


def test_a_mail_without_any_attachment_left(collection) -> None:
    add(collection, mail("1"), A, B)
    assert add(collection, mail("2", family=None)).removed == ("m!a", "m!b")
    assert current(collection) == ["m"]


def test_an_archive_that_can_be_read_again_is_no_exception(collection) -> None:
    add(collection, ("m", None, unread("1", kind="zip"), None), ("n", "text", None, None))
    assert excepted(collection) == ["m"]
    add(collection, member("a", "one", family=None))
    assert excepted(collection) == []


@pytest.mark.parametrize(
    "rows",
    [
        [("m", None, unread("2", kind="eml"), None)],
        [mail("2", exception="damaged", sentence="cut", is_partial=True)],
        [mail("2"), CUT],
        [mail("2"), member("x", None, exception="time-out", sentence="10 s")],
        [("m", None, None, None), ("m!#1", None, None, "m")],
        [mail("2", kind="text", declared_kind="eml", family=None)],
    ],
)
def test_what_could_not_be_read_is_not_gone(collection, rows) -> None:
    add(collection, mail("1"), A, B, wave="one")
    added = add(collection, *rows, ("n", "text", None, None), wave="two")
    assert not added.removed
    assert {"m!a", "m!b"} <= set(current(collection))


def test_an_earlier_wave_that_is_given_again_changes_nothing(collection) -> None:
    add(collection, mail("1"), A, B, wave="one")
    new = member("new", "text of the second wave")
    add(collection, mail("2"), A, new, wave="two")
    again = add(collection, mail("1"), A, B, LOCKED, wave="one")
    assert (again.n_new, again.removed) == (0, ())
    assert (current(collection), excepted(collection)) == (["m", "m!a", "m!new"], ["m!locked.pdf"])


def test_others_keep_theirs(collection) -> None:
    """Files whose names begin alike, load files, checked-in documents, and files that are named like members."""
    add(collection, mail("1"), A, B)
    add(collection, member("p", "other", parent="m!x.zip", family=None), file="m!x.zip")
    add(collection, ("m!q", None, unread("9"), None), ("n", "text", None, None), file="m!q")
    add(collection, member("p", "other still", parent="m2", family=None), file="m2")
    add(collection, ("REC-1", LETTER, None, None), ("REC-2", LEASE, None, "REC-1"), file="load.dat")
    assert not add(collection, mail("3"), are_files=False).removed
    assert add(collection, ("REC-1", LETTER, None, None), file="load.dat").removed == ()
    added = add(collection, mail("4"), B)
    assert (added.removed, added.removed_unread) == (("m!a",), ())
    assert current(collection) == ["REC-1", "REC-2", "m", "m!b", "m!x.zip!p", "m2!p", "n"]
