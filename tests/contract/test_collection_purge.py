"""A purge erases texts from the store, its files and the index, and the log records it; the same in both databases."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from nearkin.collection.check_in.results import CheckIn
from nearkin.errors import CollectionBusyError, DocumentError, InputError, ParameterError, UnknownDocumentError

LEASE = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord of the house."
SECRET = (
    "Memorandum of counsel: zebra quartz umbrella. Settle for ninety thousand, privileged and confidential, before the "
    "hearing of the seventeenth, and tell nobody outside of the room about the amount."
)
GAMMA = 0.3


@pytest.fixture
def collection(place):
    with place.open() as opened:
        opened.add([*((f"d{i}", LEASE.format(900 + i)) for i in range(6)), ("s", "An early draft of the memorandum.")])
        opened.add([("s", SECRET)], wave="second")
        opened.check(SECRET)
        opened.groups(gamma=GAMMA)
        opened.groups()
        assert opened.search("umbrella").n_found == 1
        yield opened


def pieces_of(place, collection) -> list[bytes]:
    """Bytes of the text, and of all that is derived from it."""
    with collection.opened.store.reading() as connection:
        query = "SELECT text, counts, signature, digest FROM contents ORDER BY content DESC LIMIT 1"
        text, counts, signature, _ = (bytes(one) for one in connection.exec_driver_sql(query).one())
    return [text, text[20:60], counts, signature, SECRET.encode()[:30], b"zebra quartz", b"umbrella"]


def found_in(folder: Path, pieces: list[bytes]) -> list[tuple[str, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [(path.name, i) for path in files for i, one in enumerate(pieces) if one in path.read_bytes()]


def test_nothing_of_the_text_stays_in_any_file(place, collection) -> None:
    pieces = pieces_of(place, collection)
    folder = place.cache.parent  # of the collection, or of the index of one in PostgreSQL
    assert {i for _, i in found_in(folder, pieces)} >= ({0, 1, 2, 3} if place.server is None else {3})
    told = collection.purge(["s"], by="ada")
    assert (told.number, told.n_texts, told.n_versions, told.copies) == (1, 2, 2, ())
    assert found_in(folder, pieces) == []
    assert place.sql("SELECT count(*) FROM contents WHERE n_bytes = 0") == "2"
    assert place.sql("SELECT count(*) FROM check_keys WHERE content > 5") == "0"
    assert place.sql("SELECT count(*) FROM facts WHERE name = 'purge_unfinished'") == "0"


def test_a_purge_is_no_damage_and_is_in_the_log(collection) -> None:
    collection.purge(["s"], by="ada")
    told = collection.fsck()
    assert (told.is_whole, told.rebuilt) == (True, ())
    (activity,) = collection.log(of="s")
    assert (activity.kind, activity.by, activity.data) == ("purge", "ada", {"n_texts": 2})
    assert [one.now for one in activity.changes] == ["version 1", "version 2"]
    assert all(len(one.other) == 64 for one in activity.changes)
    assert "zebra" not in str(activity)
    with pytest.raises(ParameterError, match="cannot be undone"):
        collection.undo(1)


def test_what_is_left_answers(collection) -> None:
    before = [one.document.doc_id for one in collection.similar("d0", gamma=GAMMA).documents]
    collection.purge(["s"])
    with pytest.raises(UnknownDocumentError, match="'s' was removed"):
        collection.text("s")
    with pytest.raises(UnknownDocumentError, match=r"text of 's' was purged \(activity 1\)"):
        collection.text("s", version=2)
    assert [one.document.doc_id for one in collection.similar("d0", gamma=GAMMA).documents] == before
    assert collection.check(SECRET).verdict == "new"
    assert (collection.search("umbrella").n_found, collection.search("tenant").n_found) == (0, 6)
    assert collection.check(LEASE.format(903)).verdict == "exact"
    assert {one["doc_id"] for one in collection.groups(gamma=GAMMA).members.to_pylist()} == {f"d{i}" for i in range(6)}
    collection.add([("s", "A new text, which is harmless.")], wave="third")
    assert collection.text("s") == "A new text, which is harmless."
    assert collection.versions("s").n_found == 0
    versions = [(one.is_erased, one.change) for one in collection.history("s").versions]
    assert versions == [(True, None), (True, None), (False, None)]
    assert collection.fsck().is_whole


def test_an_erased_text_is_not_stored_again(collection) -> None:
    collection.purge(["s"])
    added = collection.add([("t", SECRET), ("u", "Another one of them."), ("v", "And one more.")], wave="third")
    assert (added.n_new, added.n_problems) == (2, 1)
    assert [(one.doc_id, one.exception) for one in collection.exceptions().exceptions] == [("t", "not stored")]
    again = collection.add([("w", SECRET)], wave="fourth")
    assert (again.n_new, again.n_problems, again.n_contents) == (0, 1, 0)
    with pytest.raises(DocumentError, match="its text was purged"):
        collection.add([("t", SECRET)], wave="fourth", on_error="stop")
    with pytest.raises(InputError, match="its text was purged"):
        collection.check(SECRET, store=CheckIn(doc_id="t", wave="fifth"))
    with pytest.raises(InputError, match="its text was purged"):
        collection.check(SECRET, store=CheckIn(doc_id="t", only_new=True))
    assert (collection.check(SECRET).is_purged, collection.check("Another text.").is_purged) == (True, False)
    assert not collection.has_document("t")
    collection.add([("v", SECRET.upper())], wave="fifth")
    checked = collection.check(SECRET)
    assert (checked.verdict, checked.is_purged) == ("exact", True)
    assert collection.fsck().is_whole


def test_a_text_that_others_have_is_refused_unless_copies_go_too(collection) -> None:
    collection.add([("copy", SECRET)], wave="third")
    with pytest.raises(ParameterError, match=r"'copy' has the same text"):
        collection.purge(["s"])
    assert collection.text("s") == SECRET
    assert collection.log() == []
    planned = collection.purge(["s"], copies=True, dry_run=True)
    assert (planned.number, planned.copies, planned.n_versions) == (None, ("copy",), 3)
    assert collection.purge(["s"], copies=True).copies == ("copy",)
    assert not collection.has_document("copy")


def test_a_reader_keeps_the_files_from_being_rewritten_and_fsck_finishes(place, collection) -> None:
    pieces, folder = pieces_of(place, collection), place.cache.parent
    begun, done = threading.Event(), threading.Event()

    def read() -> None:
        with place.open(create=False) as other, other.opened.store.reading() as connection:
            connection.exec_driver_sql("SELECT count(*) FROM contents").all()
            begun.set()
            done.wait(60)

    reader = threading.Thread(target=read)
    reader.start()
    begun.wait(60)
    try:
        with pytest.raises(CollectionBusyError, match="The texts are erased, but the files"):
            collection.purge(["s"])
    finally:
        done.set()
        reader.join()
    with pytest.raises(UnknownDocumentError):
        collection.text("s", version=2)
    assert collection.fsck().is_whole
    assert found_in(folder, pieces) == []
    assert place.sql("SELECT count(*) FROM facts WHERE name = 'purge_unfinished'") == "0"


def test_what_is_put_back_by_hand_is_reported(place, collection) -> None:
    collection.purge(["s"])
    place.sql("UPDATE contents SET text = (SELECT text FROM contents WHERE content = 0) WHERE content = 7")
    assert collection.fsck().faults == ("text 7 was erased, but something of it is stored",)
