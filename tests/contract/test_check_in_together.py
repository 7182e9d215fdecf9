"""Check-in beside other writers: what was stored meanwhile is found, and nothing is stored twice."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from contract.test_check_in import OTHER, ids
from made_up_prose import Prose
from nearkin.collection.check_in import check_in as rooms
from nearkin.collection.check_in import checking
from nearkin.collection.check_in.results import CheckIn
from nearkin.collection.measuring import verified
from nearkin.errors import CollectionBusyError

prose = Prose(18)


def test_look_alikes_that_are_checked_in_at_once_see_each_other(place):
    text = prose.text(200)
    texts = [prose.altered(text, 1) for _ in range(6)]
    with place.open() as collection:
        collection.add([("seed", OTHER)])

    def one(i: int) -> str:
        with place.open() as own:
            while True:
                try:
                    return own.check(texts[i], store=CheckIn(f"draft {i}")).verdict
                except CollectionBusyError:
                    time.sleep(0.05)

    with ThreadPoolExecutor(len(texts)) as pool:
        verdicts = list(pool.map(one, range(len(texts))))
    assert sorted(verdicts) == ["near"] * 5 + ["new"]


def test_under_the_lock_only_what_came_since_is_compared(place, monkeypatch):
    text = prose.text(200)
    near, compared = prose.altered(text, 1), []

    def told(connection, *rest):
        is_writing = connection.get_execution_options().get("is_writing", False)
        for content, shares in verified(connection, *rest):
            compared.append((is_writing, content.number))
            yield content, shares

    monkeypatch.setattr(checking, "verified", told)
    with place.open() as collection, place.open() as another:
        collection.add([("first", text)])
        assert collection.check(near, store=CheckIn("second")).verdict == "near"
        assert compared == [(False, 0)]
        for number, came in enumerate((prose.altered(near, 1), text, near)):
            compared.clear()
            with_keys = rooms.with_keys

            def meanwhile(*given, with_keys=with_keys, came=came, number=number):
                seen = with_keys(*given)
                another.add([(f"came {number}", came)])
                return seen

            with monkeypatch.context() as patched:
                patched.setattr(rooms, "with_keys", meanwhile)
                checked = collection.check(near, store=CheckIn(f"late {number}"))
            assert f"came {number}" in ids(checked)
            assert [content for is_writing, content in compared if is_writing] == ([2] if number == 0 else [])
        assert collection.info().n_texts == 3
        assert collection.fsck().is_whole


def test_a_text_that_two_check_in_at_once_is_stored_once(place):
    text = prose.text(200)
    with place.open() as collection:
        collection.add([("seed", OTHER)])
    together = threading.Barrier(2)

    def store(doc_id: str) -> str:
        with place.open(wait=30) as own:
            together.wait(30)
            return own.check(text, store=CheckIn(doc_id)).verdict

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(store, ["a", "b"])) == ["exact", "new"]
    with place.open() as collection:
        assert (collection.info().n_texts, collection.info().n_documents) == (2, 3)
