"""Collections whose directory is deleted, moved or replaced while they are open: nothing is acknowledged and lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nearkin.collection.check_in.results import CheckIn
from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError, ReplacedCollectionError
from places import SomePlace

TEXT = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord, clause {}."


@pytest.fixture
def matter(tmp_path) -> Path:
    return tmp_path / "matter"


def deleted(matter: Path) -> None:
    shutil.rmtree(matter)


def moved(matter: Path) -> None:
    matter.rename(matter.with_name("elsewhere"))


def emptied(matter: Path) -> None:
    moved(matter)
    matter.mkdir()


def restored(matter: Path) -> None:
    """A backup takes the place of the directory."""
    shutil.copytree(matter, matter.with_name("backup"))
    moved(matter)
    matter.with_name("backup").rename(matter)


def restored_in_place(matter: Path) -> None:
    """A backup is copied into the same file, and the log that does not belong to it is deleted."""
    file = matter / "nearkin.sqlite"
    for name in ("-wal", "-shm"):
        file.with_name(file.name + name).unlink()
    shutil.copy(file, matter.with_name("backup"))
    shutil.copy(matter.with_name("backup"), file)


def without_database(matter: Path) -> None:
    (matter / "nearkin.sqlite").unlink()


def without_log(matter: Path) -> None:
    (matter / "nearkin.sqlite-wal").unlink()


CHANGES = [deleted, moved, emptied, restored, without_database]
CHANGES_OF_LOGS = [restored_in_place, without_log]


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()} if directory.exists() else set()


def assert_nothing_arrived_elsewhere(matter: Path) -> None:
    """Where the collection was moved, it has the document of before, and no other."""
    elsewhere = matter.with_name("elsewhere")
    if elsewhere.exists():
        with Collection.open(elsewhere) as collection:
            assert (collection.info().n_documents, collection.has_document("b")) == (1, False)


@pytest.mark.parametrize("change", [*CHANGES, *CHANGES_OF_LOGS])
def test_nothing_is_acknowledged(matter, change):
    with Collection.open(matter, create=True) as collection:
        collection.add([("a", TEXT.format(1))])
        change(matter)
        before = names_in(matter)
        for write in (
            lambda: collection.add([("b", TEXT.format(2))]),
            lambda: collection.check(TEXT.format(3), store=CheckIn("c")),
            lambda: collection.remove(["a"]),
        ):
            with pytest.raises(
                ReplacedCollectionError, match=r"was deleted, moved or replaced\. Nothing more is"
            ) as caught:
                write()
            assert caught.value.exit_code == 7
        assert names_in(matter) == before
    assert_nothing_arrived_elsewhere(matter)


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_read(matter, change):
    with Collection.open(matter, create=True) as collection:
        collection.add([("a", TEXT.format(1))])
        change(matter)
        for read in (collection.info, lambda: collection.similar("a", gamma=0.5), collection.opened.settle):
            with pytest.raises(ReplacedCollectionError):
                read()


@pytest.mark.parametrize("change", [deleted, restored, *CHANGES_OF_LOGS])
def test_a_load_during_which_it_happens(matter, change, monkeypatch):
    """The transaction began before: it must not commit."""
    monkeypatch.setattr("nearkin.stages.documents.tables._BATCH_BYTES", 1_000)
    with Collection.open(matter, create=True) as collection:
        collection.add([("a", TEXT.format(1))])

        def documents():
            yield from ((f"b{i}", TEXT.format(i)) for i in range(100))
            change(matter)
            yield "c", TEXT.format(3)

        with pytest.raises(ReplacedCollectionError):
            collection.add(documents())
    assert_nothing_arrived_elsewhere(matter)


def test_another_collection_in_the_same_schema(tmp_path, server):
    """Its settings are others: what is stored in it would be counted wrongly."""
    place = SomePlace.new(tmp_path, server)
    with place.open() as collection:
        collection.add([("a", TEXT.format(1))])
        server.sql(f"DROP SCHEMA {place.schema} CASCADE")
        with pytest.raises(CollectionError):
            collection.add([("b", TEXT.format(2))])
        with place.open(alphabet="latin") as other:
            other.add([("c", TEXT.format(3))])
            for write in (lambda: collection.add([("b", TEXT.format(2))]), lambda: collection.remove(["c"])):
                with pytest.raises(ReplacedCollectionError, match=f"the schema {place.schema} was deleted, moved or"):
                    write()
            assert (other.info().n_documents, other.has_document("b")) == (1, False)
