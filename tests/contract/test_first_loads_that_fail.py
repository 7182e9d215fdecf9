"""A new collection whose first load fails: it is removed, unless somebody else uses it."""

from __future__ import annotations

import resource
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError, MissingCollectionError, OutputError, ParameterError, SourceError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.store import creation, store
from nearkin.workflows.collection.adding import add_files, undo_creation
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from places import SomePlace


def test_a_first_load_that_fails_leaves_a_collection_that_another_process_has_opened(place, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "text": null}\n')
    texts = ReadingRequest(inputs=[str(bad)], text="text", doc_id="id").opened(Silent())
    with place.open() as first, place.open() as second:
        with pytest.raises(SourceError) as caught:
            add_files(first, texts, wave=None, resources=Resources(1), progress=Silent())
        assert "remains, because another process has opened it." in caught.value.__notes__[0]
        assert second.add([("a", "one")]).n_new == 1
    with place.open(create=False) as collection:
        assert collection.fsck().is_whole


def test_a_collection_that_a_second_process_fills_is_undamaged(place):
    """It is open beside the one that makes it, and afterwards."""
    with place.open(), place.open() as second:
        second.add([("a", "one text")])
    with place.open(create=False) as collection:
        checked = collection.fsck()
        assert (checked.is_whole, checked.rebuilt) == (True, ())


def test_a_first_load_that_fails_leaves_nothing(place, tmp_path):
    bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
    bad.write_text('{"id": "a", "text": null}\n')
    good.write_text('{"id": "a", "text": "the rent is 900 crowns"}\n')
    without_digits = Ignored.of(None, numbers=True)

    def add(path, ignored):
        texts = ReadingRequest(inputs=[str(path)], text="text", doc_id="id").opened(Silent())
        with Collection.open(place.address, create=True, cache=place.cache, ignored=ignored) as collection:
            add_files(collection, texts, wave=None, resources=Resources(1), progress=Silent())
            return collection.opened.counting.ignored

    with pytest.raises(SourceError):
        add(bad, without_digits)
    with pytest.raises(MissingCollectionError):
        place.open(create=False)
    assert not (tmp_path / place.address).exists()
    assert add(good, None) == NOTHING
    with pytest.raises(ParameterError, match="which cannot be changed"):
        add(good, without_digits)
    with Collection.open(place.address, cache=place.cache) as collection:
        assert collection.fsck().is_whole


@contextmanager
def files_of_at_most(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_nothing_stays_in_the_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for size in (0, 10_000):  # already for the file, or for its tables
        with files_of_at_most(size), pytest.raises(OutputError):
            Collection.open("new/folder/matter", create=True)
        assert not Path("new").exists()
    with Collection.open("new/folder/matter", create=True) as collection:
        monkeypatch.chdir("/")
        with files_of_at_most(0):
            undo_creation(collection, error := ValueError())
    assert (list(tmp_path.iterdir()), hasattr(error, "__notes__")) == ([], False)


def test_the_reason_why_an_empty_collection_remains_is_the_real_one(place):
    with place.open() as collection:
        if place.server is None:
            collection.close()
            place.file.write_bytes(b"something else")
            reason = f"{place.file} cannot be removed: file is not a database."
        else:
            place.sql("CREATE VIEW mine AS SELECT * FROM documents")
            reason = "cannot drop table documents because other objects depend on it (2BP01)."
        undo_creation(collection, error := ValueError())
        (note,) = error.__notes__
        assert note.startswith(f"The empty collection {collection.place} remains: ")
        assert note.endswith(reason)


def test_a_collection_that_another_process_removes_meanwhile_is_created_again(place, monkeypatch):
    first = [place.open()]
    owner, name = (store, "engine_of") if place.server is None else (creation, "is_bare")
    real = getattr(owner, name)

    def late(*arguments):
        if first:
            first.pop().opened.store.undo_creation()
        return real(*arguments)

    monkeypatch.setattr(owner, name, late)
    with place.open() as collection:
        assert collection.add([("a", "one")]).n_new == 1


def test_a_collection_that_is_always_removed_meanwhile_is_refused_with_the_reason(place, monkeypatch):
    name = "engine_of" if place.server is None else "whole_facts"
    real = getattr(store, name)

    def late(*arguments):
        if place.server is None:
            shutil.rmtree(place.address)
        else:
            place.server.sql(f"DROP SCHEMA {place.schema} CASCADE")
        return real(*arguments)

    monkeypatch.setattr(store, name, late)
    with pytest.raises(CollectionError, match="another process has removed it meanwhile"):
        place.open()
    monkeypatch.undo()
    with pytest.raises(MissingCollectionError):
        place.open(create=False)
    assert not Path(place.address).exists()


def test_a_table_that_is_missing_is_no_collection_that_another_process_removed(server, tmp_path):
    place = SomePlace.new(tmp_path, server)
    place.open().close()
    place.sql("DROP TABLE waves CASCADE")
    with pytest.raises(CollectionError, match="its table waves is missing"):
        place.open()


def test_a_collection_that_another_process_creates_meanwhile_is_in_use(place, monkeypatch):
    real, first = store._has_tables, []

    def early(*arguments):
        found = real(*arguments)
        if not first:
            first.append(None)
            first.append(place.open())
        return found

    monkeypatch.setattr(store, "_has_tables", early)
    with place.open() as collection, first[1] as other:
        undo_creation(other, error := ValueError())
        assert error.__notes__[0].endswith("remains, because another process has opened it.")
        assert collection.add([("a", "one")]).n_new == 1
