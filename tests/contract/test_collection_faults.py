"""Wrong input, lost connections and damage of the store: a clear error, and right answers before and after."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

import nearkin
import nearkin.runs.progress
from nearkin.errors import CollectionError, ParameterError, UnknownDocumentError
from places import SomePlace

LEASE = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord in the town."
TEXTS = [("a", LEASE.format(900)), ("b", LEASE.format(950)), ("c", "Something else altogether, about boats and rain.")]


@pytest.fixture
def collection(place):
    with place.open() as opened:
        opened.add(TEXTS, wave="first")
        yield opened


def test_what_cannot_be_asked_is_refused_and_what_follows_is_right(collection) -> None:
    for ask in (
        lambda c: c.remove(wave="\ud800"),
        lambda c: c.remove(["\ud800"]),
        lambda c: c.conflicts({"\ud800": "x", "a": "y"}),
        lambda c: c.document("\ud800"),
        lambda c: c.document(5),
        lambda c: c.document("a", version=2**70),
        lambda c: c.document("a", version=True),
        lambda c: c.similar(text=b"abc"),
        lambda c: c.similar("x" * 100_000),
        lambda c: c.remove([5]),
        lambda c: c.add([("d", "d")], wave=5),
        lambda c: c.add([("d", "d")], wave=" \n"),
    ):
        with contextlib.suppress(ParameterError, UnknownDocumentError):
            ask(collection)
    assert collection.text("b") == TEXTS[1][1]
    assert [one.document.doc_id for one in collection.similar("a", gamma=0.1).documents] == ["b"]


def test_a_query_that_was_interrupted_leaves_the_next_one_right(collection, monkeypatch) -> None:
    from nearkin.collection.stored import contents

    def fails(*_: object) -> None:
        raise RuntimeError("a time limit, say")

    with monkeypatch.context() as patched:
        patched.setattr(contents, "unpacked", fails)
        with pytest.raises(RuntimeError):
            collection.text("a")
    assert collection.text("b") == TEXTS[1][1]


def test_documents_without_ids_of_two_loads_are_different_ones(place) -> None:
    with place.open() as opened:
        opened.add([TEXTS[0][1]])
        opened.add([TEXTS[2][1]])
        assert opened.info().n_documents == 2
        assert opened.text("wave 1:1") == TEXTS[0][1]
        assert opened.text("wave 2:1") == TEXTS[2][1]


def test_an_index_made_from_a_damaged_store_is_made_again(place, tmp_path: Path) -> None:
    with place.open() as opened:
        opened.add(TEXTS, wave="first")
        zeros = "zeroblob(length(counts))" if place.server is None else "decode(repeat('00', length(counts)), 'hex')"
        place.sql(f"UPDATE contents SET counts = {zeros} WHERE content = 1")
        shutil.rmtree(place.segments)
        address = place.address
        with nearkin.Collection.open(address, cache=tmp_path / "other") as other:
            assert other.similar("a", gamma=0.1).n_found == 0  # as the damaged store has it
            held = other if place.server is not None else opened
            assert opened.fsck().rebuilt
            assert opened.similar("a", gamma=0.1).n_found == 1
            assert held.similar("a", gamma=0.1).n_found == 1
        with nearkin.Collection.open(address, cache=tmp_path / "other") as other:
            assert other.similar("a", gamma=0.1).n_found == 1


def test_fsck_compares_the_index_with_the_store(collection, place) -> None:
    import hashlib
    import json

    import numpy as np

    (segment,) = [path for path in place.segments.iterdir() if path.is_dir()]
    words = np.load(segment / "words.npy")
    words[:] = words[0]
    np.save(segment / "words.npy", words)
    manifest = json.loads((segment / "segment.json").read_text())
    manifest["files"]["words.npy"] = hashlib.sha256((segment / "words.npy").read_bytes()).hexdigest()
    (segment / "segment.json").write_text(json.dumps(manifest))
    with place.open() as opened:
        told = opened.fsck()
        assert "signatures" in told.rebuilt[0]
        assert opened.fsck().rebuilt == ()


def test_fsck_leaves_what_others_add_meanwhile(collection, place, monkeypatch) -> None:
    from nearkin.collection.stored.load_spans import Loads

    before = Loads.now

    def loads_before(loads, connection):
        monkeypatch.setattr(Loads, "now", before)
        spans = before(loads, connection)
        with place.open() as other:
            other.add([("later", LEASE.format(1000))], wave="later")
        return spans

    monkeypatch.setattr(Loads, "now", loads_before)
    assert collection.fsck().rebuilt == ()
    assert collection.similar("a", gamma=0.1).n_found == 2


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM documents WHERE doc_id = 'c'; DELETE FROM profiles WHERE content = 2; "
        "DELETE FROM contents WHERE content = 2",
        "UPDATE contents SET signature = NULL, is_counted = (1 = 0) WHERE content = 2",
    ],
)
def test_a_store_that_lacks_something_answers_for_the_rest(collection, place, damage: str) -> None:
    for statement in damage.split(";"):
        place.sql(statement)
    shutil.rmtree(place.segments)
    with place.open() as opened:
        assert [one.document.doc_id for one in opened.similar("a", gamma=0.1).documents] == ["b"]
        told = opened.fsck()
        assert told.faults or told.rebuilt
        opened.add([("later", LEASE.format(1000))])
        assert opened.text("later") == LEASE.format(1000)


def test_another_id_of_the_collection_names_no_folder(collection, place) -> None:
    place.sql("UPDATE facts SET value = '../../victim' WHERE name = 'collection'")
    with pytest.raises(CollectionError, match="its id is"):
        place.open()


def test_a_connection_that_was_cut_between_two_queries_is_made_anew(collection, place) -> None:
    if place.server is None:
        return  # a file has no connection to lose
    assert collection.text("a") == TEXTS[0][1]
    wait_ms = 10_000  # until the connections are gone
    place.server.sql(
        f"SELECT pg_terminate_backend(pid, {wait_ms}) FROM pg_stat_activity WHERE application_name = 'nearkin'"
    )
    assert collection.text("b") == TEXTS[1][1]


def test_what_was_added_is_told_as_stored_when_its_index_cannot_be_made(place, monkeypatch) -> None:
    said = []

    class Listening(nearkin.runs.progress.Silent):
        def say(self, message: str) -> None:
            said.append(message)

    with place.open(progress=Listening()) as opened:

        def fails() -> None:
            raise CollectionError("the connection is gone")

        monkeypatch.setattr(opened.opened, "settle", fails)
        assert opened.add(TEXTS).n_new == 3
        assert "stored" in said[-1]
        assert opened.info().n_documents == 3


def test_a_url_without_a_password_is_told(place) -> None:
    if place.server is None:
        return  # a directory asks for none
    with pytest.raises(CollectionError, match="no password supplied"):
        nearkin.Collection.open(place.address.replace(":open-sesame", ""))


class Heard(nearkin.runs.progress.Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def say(self, message: str) -> None:
        self.messages.append(message)


def test_an_index_of_the_time_before_a_backup_was_restored_is_rebuilt_and_not_called_damaged(place):
    with place.open() as collection:
        collection.add([("a", "The tenant pays the rent on the first day of each month.")])
        copy = place.copy_store()
        collection.add([(f"new {n}", f"Another text, the {n}th, about the mill.") for n in range(3)])
    place.put_back(copy)
    heard = Heard()
    with place.open(progress=heard) as collection:
        collection.add([(f"other {n}", f"The door of the {n}th cellar cannot be locked.") for n in range(3)])
        found = collection.similar("other 1", measure="letters", gamma=0.5)
        assert {one.document.doc_id for one in found.documents} == {"other 0", "other 2"}
        assert collection.fsck().is_whole
    assert any("is rebuilt from the database" in one for one in heard.messages)
    assert not any("damaged" in one for one in heard.messages)


def test_a_purge_clears_the_cache_of_every_address(server, tmp_path):
    place = SomePlace.new(tmp_path, server)
    with place.open() as collection:
        collection.add([("a", "The tenant pays the rent on the first day of each month.")])
        collection.similar("a", measure="letters")
        shutil.copytree(place.segments, other := place.cache / f"{place.fact('collection')}-of-another-address")
        assert list(other.iterdir())
        collection.purge(["a"])
        assert not list(other.iterdir())
