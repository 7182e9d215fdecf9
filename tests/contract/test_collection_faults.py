"""Wrong input, lost connections and damage of the store: a clear error, and right answers before and after."""

from __future__ import annotations

import contextlib
import shutil

import pytest

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


def test_a_purge_clears_the_cache_of_every_address(server, tmp_path):
    place = SomePlace.new(tmp_path, server)
    with place.open() as collection:
        collection.add([("a", "The tenant pays the rent on the first day of each month.")])
        collection.similar("a", measure="letters")
        shutil.copytree(place.segments, other := place.cache / f"{place.fact('collection')}-of-another-address")
        assert list(other.iterdir())
        collection.purge(["a"])
        assert not list(other.iterdir())
