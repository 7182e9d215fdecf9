"""Origins of stored documents, texts of other extractors, and files that gave no text; the same in both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contract.damaged_collections import is_silent
from extracted_documents import HEADERS, LEASE, LETTER, add_extracted, origin, unread
from nearkin.errors import UnknownDocumentError
from nearkin.results import DocumentFilter
from nearkin.store import schema


@pytest.fixture
def collection(place):
    with place.open() as opened:
        yield opened
        assert is_silent(opened.fsck())


def origins_in(collection) -> list[tuple[object, ...]]:
    with collection.opened.store.reading() as connection:
        rows = connection.execute(schema.origins.select().order_by(schema.origins.c.number)).all()
    return [(row.doc_id, row.row, row.extractor, (row.sha256 or "")[:1], row.exception) for row in rows]


def add_unread(collection, doc_id: str, found, **wanted):
    """Add a file that gives no text, and a text: a load of nothing else would be refused."""
    return add_extracted(collection, [(doc_id, None, found, None), ("note", "A note.", None, None)], **wanted)


def figures(added) -> tuple[int, ...]:
    return added.n_new, added.n_new_versions, added.n_unchanged, added.n_problems


def listed(collection, **wanted: str) -> list[tuple[str, str, bool]]:
    return [(one.doc_id, one.exception, one.is_partial) for one in collection.exceptions(**wanted).exceptions]


def test_an_origin_is_stored_whole(collection) -> None:
    mail = origin("a", kind="eml", warnings="no charset", n_pages=3, family="m", mail=HEADERS)
    part = origin("b", declared_kind="doc", exception="partial", sentence="1 image", is_partial=True,
                  family="m", position=1)  # fmt: skip
    added = add_extracted(collection, [("m", LETTER, mail, None), ("m!a", LEASE, part, "m"), ("t", "text", None, None)])
    assert (added.n_exceptions, added.n_problems) == (1, 0)
    found = collection.details("m")
    assert (found.parent, found.origin) == (None, mail)
    assert (collection.details("m!a").parent, collection.details("m!a").origin) == ("m", part)
    assert (collection.details("t").parent, collection.details("t").origin) == (None, None)
    assert found.to_dict()["origin"]["mail"]["sent_at"] == "2026-03-01T12:30:15.123456+00:00"
    table = collection.documents().table
    assert table.select(["doc_id", "kind", "extractor"]).to_pylist() == [
        {"doc_id": "m", "kind": "eml", "extractor": "nearkin html 2"},
        {"doc_id": "m!a", "kind": "html", "extractor": "nearkin html 2"},
        {"doc_id": "t", "kind": None, "extractor": None},
    ]
    assert [(one["doc_id"], one["kind"]) for one in collection.documents(sort="added", limit=2).table.to_pylist()] == [
        ("t", None), ("m!a", "html"),
    ]  # fmt: skip
    empty = origin("e", kind="text", extractor=None, exception="empty", sentence="the file is empty")
    add_extracted(collection, [("e", "", empty, None)])  # a plain text file like t, and an exception
    assert collection.documents(DocumentFilter(doc_id="e")).table["kind"].to_pylist() == [None]


def test_texts_that_were_not_extracted_have_none(collection) -> None:
    collection.add([("a", LEASE), ("b", None)])
    assert origins_in(collection) == [("b", None, None, "", "empty")]


def test_a_changed_file_is_a_change_whatever_the_extractor(collection) -> None:
    add_extracted(collection, [("a", LEASE, origin("a", extractor="xberg 1.0.0"), None)])
    assert figures(add_extracted(collection, [("a", LETTER, origin("b", extractor="xberg 2.0.0"), None)]))[1] == 1
    # other bytes with the same text: the origin follows
    add_extracted(collection, [("a", LETTER, origin("c", extractor="xberg 2.0.0"), None)])
    assert collection.details("a").origin.sha256 == "c" * 64
    assert figures(add_extracted(collection, [("a", LEASE, origin("c", extractor="xberg 3.0.0"), None)]))[1] == 1


def test_a_text_without_an_origin_gets_one(collection) -> None:
    collection.add([("a", LEASE)])
    assert figures(add_extracted(collection, [("a", LEASE, origin("a"), None)])) == (0, 0, 1, 0)
    assert collection.details("a").origin == origin("a")


def test_a_file_without_a_text_is_an_exception_until_it_is_read(collection) -> None:
    for _ in range(2):
        added = add_unread(collection, "a", unread("a"), wave="one")
        assert (added.n_exceptions, added.n_problems) == (1, 1)
        assert origins_in(collection) == [("a", None, "nearkin html 2", "a", "encrypted")]
    add_unread(collection, "a", unread("b", exception="damaged"), wave="two")  # another file
    assert listed(collection) == [("a", "damaged", False)]
    assert [one[-1] for one in origins_in(collection)] == ["damaged"]
    add_extracted(collection, [("a", LEASE, origin("c"), None)], wave="three")
    assert (listed(collection), collection.text("a")) == ([], LEASE)
    add_unread(collection, "a", unread("d"))  # the stored text is that of an earlier file
    assert listed(collection) == [("a", "encrypted", False)]
    add_extracted(collection, [("a", LEASE, origin("c"), None)])
    assert listed(collection) == []


def test_one_id_twice_in_a_load(collection) -> None:
    rows = [("a", None, unread("a"), None), ("a", LEASE, origin("b"), None), ("b", LEASE, origin("c"), None),
            ("b", None, unread("d"), None), ("b", None, unread("d"), None)]  # fmt: skip
    add_extracted(collection, rows)
    assert listed(collection) == [("a", "encrypted", False), ("b", "encrypted", False)]
    collection.add([("a", LEASE)])  # the exceptions of an id are those of the last load that brought it
    assert listed(collection) == [("b", "encrypted", False)]


@pytest.fixture
def matter(collection):
    """Exceptions of several kinds in two waves."""
    partial = origin("b", kind="doc", exception="partial", sentence="1 image", is_partial=True)
    rows = [("1.pdf", None, unread("a"), None), ("2.doc", LEASE, partial, "box.zip"), ("3.txt", " \n", None, None),
            ("4.txt", "0", None, None)]  # fmt: skip
    add_extracted(collection, rows, wave="one")
    collection.add([("5.txt", None), ("x" * 3_000, LETTER), ("7.txt", LETTER), ("8.txt", LEASE)], wave="two")
    add_unread(collection, "6.pdf", unread("c", exception="image only"), wave="two")
    return collection


def test_files_without_a_text_are_removed(matter) -> None:
    dry = matter.remove(["1.pdf", "2.doc"], dry_run=True)
    assert (dry.n_documents, dry.n_unread, len(listed(matter))) == (1, 1, 6)
    removed = matter.remove(["1.pdf", "2.doc"])
    assert (removed.n_documents, removed.n_unread) == (1, 1)
    assert [one[0] for one in listed(matter, wave="one")] == ["3.txt"]
    assert matter.remove(["5.txt"], dry_run=True).unread_ids == ("5.txt",)
    assert "5.txt" in [one[0] for one in listed(matter, wave="two")]
    assert matter.remove(["5.txt"]).n_unread == 1
    assert [one[0] for one in listed(matter, wave="two")] == ["6.pdf", "x" * 450 + "…"]
    assert matter.remove([], wave="two").n_unread == 2
    assert listed(matter, wave="two") == []
    assert matter.fsck().is_whole
    for doc_id in ("1.pdf", "5.txt"):
        with pytest.raises(UnknownDocumentError):
            matter.remove([doc_id])


def test_a_replaced_text_is_no_exception(matter) -> None:
    add_extracted(matter, [("2.doc", LETTER, origin("e", kind="doc"), "box.zip")])
    matter.add([("3.txt", LETTER)])
    assert [one[0] for one in listed(matter, wave="one")] == ["1.pdf"]


def test_a_purge_erases_origins(place, collection) -> None:
    secret = replace(HEADERS, subject="Zebra quartz umbrella", sender="counsel@example.org")
    rows = [
        ("m", LEASE, origin("a", kind="eml", family="m", mail=secret), None),
        ("copy", LEASE, origin("b", kind="eml", mail=secret), None),
        ("was", LEASE, origin("c", kind="eml", mail=secret), None),
        ("other", LETTER, origin("d", kind="eml"), None),
    ]
    add_extracted(collection, rows)
    add_extracted(collection, [("was", LETTER, origin("e", kind="eml"), None)])
    add_unread(collection, "m", unread("f", sentence="locked by Zebra quartz"))
    collection.purge(["m"], copies=True)
    assert [(one[0], one[3]) for one in origins_in(collection)] == [("other", "d"), ("was", "e")]
    assert listed(collection) == []
    if place.server is None:
        files = [path.read_bytes() for path in place.cache.parent.rglob("*") if path.is_file()]
        assert not any(word in data for data in files for word in (b"Zebra quartz", b"counsel@example.org"))


def test_a_purge_takes_files_without_a_text(place, collection) -> None:
    secret = {"sentence": "locked by Zebra quartz", "kind": "pdf"}
    rows = [
        ("m", LEASE, origin("a", kind="eml", family="m"), None),
        ("m!locked.pdf", None, unread("b", family="m", **secret), "m"),
        ("m!in.zip!deep.pdf", None, unread("c", family="m", **secret), "m!in.zip"),
        ("m!b.txt", LETTER, origin("d", family="m"), "m"),
        ("alone.pdf", None, unread("e", **secret), None),
        ("other.pdf", None, unread("f"), None),
    ]
    add_extracted(collection, rows)
    collection.add([("null", None), ("word", "A word.")])
    dry = collection.purge(["m", "alone.pdf", "null"], dry_run=True)
    assert len(listed(collection)) == 5
    done = collection.purge(["m", "alone.pdf", "null"])
    assert (done.unread, done.inside) == (("alone.pdf", "m!in.zip!deep.pdf", "m!locked.pdf", "null"), ("m!b.txt",))
    assert (dry.unread, dry.inside, dry.n_texts) == (done.unread, done.inside, done.n_texts)
    assert [one[0] for one in listed(collection)] == ["other.pdf"]
    assert [(one.subject, one.now) for one in collection.log()[-1].changes] == [
        ("m", "version 1"), *((doc_id, "no text") for doc_id in done.unread),
    ]  # fmt: skip
    with pytest.raises(UnknownDocumentError, match="alone"):
        collection.purge(["alone.pdf"])
    collection.remove(["other.pdf"])
    assert [(one.kind, one.changes[0].was) for one in collection.log()[1:2]] == [("remove", "no text")]
    assert origins_in(collection) == [("m!b.txt", 1, "nearkin html 2", "d", None)]
    if place.server is None:
        files = [path.read_bytes() for path in place.cache.parent.rglob("*") if path.is_file()]
        assert not any(b"Zebra quartz" in data for data in files)
