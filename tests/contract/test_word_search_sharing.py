"""Searches for words while others read and write, and searches that are interrupted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from contract.test_word_search import SENTENCES, found
from nearkin.collection.stored.reach import DerivedData
from places import SomePlace


def test_while_another_process_writes_the_texts_are_read(place: SomePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nearkin.store.connections.BUSY_S", 0.05)
    with place.open() as collection, place.open() as other:
        collection.add(SENTENCES)
        with other.opened.store.writing():
            answer = collection.search("rent")
        assert ([one.document.doc_id for one in answer.documents], answer.n_read) == (["note", "lease", "copy"], 5)
        assert collection.search("rent").n_read == 0


def test_threads_search_while_documents_are_added(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add([(f"first {i}", f"rent {i}") for i in range(20)])

        def ask(_: int) -> int:
            answer = collection.search("rent", limit=None)
            assert len(answer.documents) == answer.n_found
            return answer.n_found

        with ThreadPoolExecutor(4) as threads:
            asked = threads.map(ask, range(12))
            for wave in range(3):
                collection.add([(f"wave {wave}: {i}", f"rent {wave} {i}") for i in range(20)])
            assert {*asked} <= {20, 40, 60, 80}
        assert ask(0) == 80
        assert collection.fsck().rebuilt == ()


def test_words_are_stored_in_transactions_of_some_texts(place: SomePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before an interruption stays, and other writers have their turn."""
    monkeypatch.setattr("nearkin.collection.word_search.searching._TEXTS_OF_A_TRANSACTION", 2)
    write, n_written = DerivedData.write, 0

    def interrupted(*arguments: object) -> None:
        nonlocal n_written
        n_written += 1
        if n_written == 3:
            raise KeyboardInterrupt
        write(*arguments)

    with place.open() as collection:
        collection.add(SENTENCES)
        with monkeypatch.context() as changed:
            changed.setattr(DerivedData, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                collection.search("rent")
        assert place.sql("SELECT count(*) FROM search_lengths") == "4"
        assert found(collection, "rent") == ["note", "lease", "copy"]
        assert place.sql("SELECT count(*) FROM search_lengths") == "5"
        assert collection.fsck().rebuilt == ()


def test_a_purge_keeps_the_tables_with_their_privileges(place: SomePlace) -> None:
    with place.open() as collection:
        collection.add(SENTENCES)
        collection.search("rent")
        if place.server is not None:
            place.sql("GRANT SELECT ON search_words, search_lengths TO PUBLIC")
        collection.purge(["note"])
        assert place.sql("SELECT count(*) FROM search_lengths") == "0"
        assert collection.fsck().rebuilt == ()
        answer = collection.search("rent")
        assert ([one.document.doc_id for one in answer.documents], answer.n_read) == (["lease", "copy"], 0)
        if place.server is not None:
            granted = "FROM pg_class WHERE relname LIKE 'search_%' AND relkind = 'r' AND relacl::text LIKE '%=r/%'"
            own = f"{granted} AND relnamespace = '{place.schema}'::regnamespace"
            assert place.sql(f"SELECT count(*) {own}") == "2"


def test_an_interrupted_search_stores_nothing(place: SomePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    with place.open() as collection:
        collection.add(SENTENCES[:3])
        collection.search("rent")
        collection.add(SENTENCES[3:])

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as changed:
            changed.setattr(DerivedData, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                collection.search("rent")
        assert collection.fsck().rebuilt == ()
        assert found(collection, "rent") == ["note", "lease", "copy"]
