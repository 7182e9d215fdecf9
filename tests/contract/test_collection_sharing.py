"""Many at once: readers with their snapshots, threads, processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.similar import documents_among, near
from nearkin.collection.stored import segments
from nearkin.collection.stored.contents import contents_of
from nearkin.collection.stored.documents import document
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionBusyError

TEXT = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord, clause {}."


def some(first: int, n: int) -> list[tuple[str, str]]:
    return [(f"d{i}", TEXT.format(i)) for i in range(first, first + n)]


def ids_like(collection: Collection, doc_id: str = "d0") -> set[str]:
    return {one.document.doc_id for one in collection.similar(doc_id, gamma=0.5, limit=1_000).documents}


def names(first: int, end: int) -> set[str]:
    return {f"d{i}" for i in range(first, end)}


def test_a_reader_that_began_before_a_commit_sees_the_old_state(place):
    with place.open() as writer, place.open() as reader:
        writer.add(some(0, 3))
        tolerance = Tolerance.of(gamma=0.5)
        for is_removal in (False, True):
            with reader.opened.snapshot() as seen:
                for is_after in (False, True):
                    if is_after and is_removal:
                        writer.remove(["d1"])
                    elif is_after:
                        writer.add([*some(3, 40), ("d2", "another text")])
                    one = document(seen.connection, "d0")
                    query = contents_of(seen.connection, [one.content])[one.content]
                    found = near(reader.opened, seen, query, tolerance)
                    others, _ = documents_among(reader.opened, seen, query, tolerance, found, limit=100, leave_out=one)
                    told = {str(other.document) for other in others}
                    assert told == ({"d1", "d2"} if not is_removal else names(1, 43) - {"d2"})
                with reader.opened.snapshot() as newer:  # another reader, while the first still looks
                    assert (document(newer.connection, "d2").version == 2) is True
        assert ids_like(reader) == names(3, 43)


def test_threads_ask_while_one_adds(place):
    """Each answer is that of some moment: all of the waves up to one, and nothing else."""
    n_waves, waves, wrong = 5, 5, []
    is_done = threading.Event()
    with place.open() as collection:
        collection.add(some(0, waves))

        def ask() -> int:
            n_asked = last = 0
            while not is_done.is_set() or not n_asked:
                found = ids_like(collection)
                n_asked += 1
                if found != names(1, len(found) + 1) or (len(found) + 1) % waves or len(found) < last:
                    wrong.append(found)
                last = len(found)
            return n_asked

        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(ask) for _ in range(4)]
            try:
                for wave in range(1, n_waves):
                    collection.add(some(wave * waves, waves), threads=2)
            finally:
                is_done.set()
            n_asked = sum(one.result(60) for one in asked)
        assert not wrong
        assert n_asked >= 4
        assert ids_like(collection) == names(1, n_waves * waves)


def jaccard(a: str, b: str) -> float:
    own, other = ({tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in (a.split(), b.split()))
    return len(own & other) / len(own | other)


def test_answers_by_words_are_those_of_brute_force_while_others_write(place, monkeypatch):
    """Documents that nobody touches are found exactly, others with the similarity of one of their texts."""
    monkeypatch.setattr(segments, "_MAX_UNSAVED", 4)  # segments are merged again and again
    chance, words = random.Random(1), [f"w{i}" for i in range(300)]
    base = [chance.choice(words) for _ in range(40)]

    def like(n_changed: int) -> str:
        places = set(chance.sample(range(40), n_changed))
        return " ".join(chance.choice(words) if i in places else word for i, word in enumerate(base))

    stays = {f"s{i}": like(i % 4) for i in range(12)}
    moves = {f"m{i}": [like(i % 3) for _ in range(6)] for i in range(8)}
    expected = {one: jaccard(stays["s0"], text) for one, text in stays.items()}
    expected = {one: value for one, value in expected.items() if value >= 0.3 and one != "s0"}
    is_done = threading.Event()
    with place.open(wait=60) as collection:
        collection.add(list(stays.items()))

        def ask() -> int:
            n_asked = 0
            while not is_done.is_set() or not n_asked:
                found = {one.document.doc_id: one.jaccard for one in collection.similar("s0", threshold=0.3).documents}
                n_asked += 1
                assert {one: value for one, value in found.items() if one in stays} == pytest.approx(expected)
                for one in found.keys() & moves.keys():
                    assert found[one] in [pytest.approx(jaccard(stays["s0"], text)) for text in moves[one]]
            return n_asked

        def write(ids: list[str]) -> None:
            for version in range(6):
                collection.add([(one, moves[one][version]) for one in ids], wave="moves")
                if version == 3:
                    collection.remove(ids[:1])
            collection.remove(ids[1:2])
            collection.purge(ids[1:2])

        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(ask) for _ in range(4)]
            try:
                list(pool.map(write, (list(moves)[:4], list(moves)[4:])))
            finally:
                is_done.set()
            assert sum(one.result(120) for one in asked) >= 4
        now = stays | {one: texts[-1] for one, texts in moves.items() if one not in ("m1", "m5")}
        found = {one.document.doc_id: one.jaccard for one in collection.similar("s0", threshold=0.3).documents}
        last = {one: jaccard(stays["s0"], text) for one, text in now.items() if one != "s0"}
        assert found == pytest.approx({one: value for one, value in last.items() if value >= 0.3})


def test_threads_that_all_write_lose_nothing(place, monkeypatch):
    """Those who are told to wait try again."""
    monkeypatch.setattr("nearkin.store.connections.BUSY_S", 0.05)
    with place.open() as collection:

        def add(i: int) -> None:
            for _ in range(400):
                try:
                    assert collection.add(some(10 * i, 10), wave=f"wave {i % 3}").n_new == 10
                    return
                except CollectionBusyError:
                    time.sleep(0.01)
            raise AssertionError("it is busy for ever")

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(add, range(6)))
        assert ids_like(collection) == names(1, 60)
        assert sorted((one.name, one.n_current) for one in collection.info().waves) == [
            (f"wave {i}", 20) for i in range(3)
        ]


def asks(collection: Collection, answers) -> None:
    answers.put((os.getpid(), ids_like(collection), str(collection.place)))


def adds(collection: Collection, answers) -> None:
    collection.add(some(10, 10))
    answers.put((os.getpid(), ids_like(collection), str(collection.place)))


def in_a_process(method: str, function, collection: Collection):
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    process = context.Process(target=function, args=(collection, answers))
    process.start()
    try:
        pid, found, place = answers.get(timeout=25)
        process.join(60)
    finally:
        process.kill()
    assert process.exitcode == 0
    assert pid != os.getpid()
    assert place == str(collection.place)
    return found


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_share_a_collection(place, method):
    """The parent's connections are in use before and after; the child has its own."""
    with place.open() as collection:
        collection.add(some(0, 10))
        assert ids_like(collection) == names(1, 10)
        with collection.opened.snapshot() as seen:
            assert in_a_process(method, asks, collection) == names(1, 10)
            assert in_a_process(method, adds, collection) == names(1, 20)
            assert len(seen.segments) == 1
            assert seen.connection.exec_driver_sql("SELECT count(*) FROM documents").scalar() == 10
        assert ids_like(collection) == names(1, 20)
        collection.add(some(20, 10))
        assert ids_like(collection) == names(1, 30)


_OF_THE_PARENT: list[object] = []


def tells_its_connection(collection: Collection, answers) -> None:
    with collection.opened.store.reading() as connection:
        driver = connection.connection.driver_connection
    answers.put((os.getpid(), any(driver is one for one in _OF_THE_PARENT), str(collection.place)))


def test_a_child_does_not_speak_on_a_connection_of_its_parent(place):
    """Though one lies idle in the pool that it inherits."""
    with place.open() as collection:
        collection.add(some(0, 3))
        for _ in range(8):
            with collection.opened.store.reading() as connection:
                _OF_THE_PARENT.append(connection.connection.driver_connection)
        assert len(set(map(id, _OF_THE_PARENT))) < 8  # they are used again
        try:
            assert in_a_process("fork", tells_its_connection, collection) is False
            assert ids_like(collection) == names(1, 3)
        finally:
            _OF_THE_PARENT.clear()


def test_a_child_is_forked_while_another_thread_makes_the_index(place, monkeypatch):
    """What the thread holds locked is not locked in the child for ever."""
    is_building, may_go_on, build = threading.Event(), threading.Event(), segments.build

    def slow(*arguments):
        if threading.current_thread() is not threading.main_thread():
            is_building.set()
            may_go_on.wait(60)
        return build(*arguments)

    with place.open() as collection:
        collection.add(some(0, 10))
    shutil.rmtree(place.segments)
    monkeypatch.setattr(segments, "build", slow)
    with place.open() as collection, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ids_like, collection)
        try:
            assert is_building.wait(30)
            assert in_a_process("fork", asks, collection) == names(1, 10)
        finally:
            may_go_on.set()
        assert asked.result(30) == names(1, 10)


def test_a_collection_travels_by_pickle(place, tmp_path, monkeypatch):
    with place.open() as collection:
        collection.add(some(0, 5))
        data = pickle.dumps(collection)
    monkeypatch.chdir(tmp_path)
    with pickle.loads(data) as collection:
        assert ids_like(collection) == names(1, 5)
        assert collection.opened.index.folder == place.segments


def test_a_directory_is_meant_where_the_process_was_when_it_opened_it(tmp_path, monkeypatch):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    with Collection.open("matter", create=True) as collection:
        monkeypatch.chdir(elsewhere)
        collection.add(some(0, 5))
        assert ids_like(collection) == names(1, 5)
        with pickle.loads(pickle.dumps(collection)) as other:
            assert ids_like(other) == names(1, 5)
    assert list(elsewhere.iterdir()) == []
    assert {path.name for path in Path(here / "matter").iterdir()} >= {"nearkin.sqlite", "segments"}


@pytest.mark.parametrize("n", [2, 6])
def test_processes_that_make_the_index_at_once_all_answer(place, n):
    """And leave one whole index, with nothing half-written beside it."""
    with place.open() as collection:
        collection.add(some(0, 200))
        shutil.rmtree(place.segments)
        opened = [place.open() for _ in range(n)]  # objects of their own, as processes have
        is_ready = threading.Barrier(n)

        def ask(own: Collection) -> set[str]:
            is_ready.wait(30)
            return ids_like(own)

        with ThreadPoolExecutor(n) as pool:
            assert list(pool.map(ask, opened)) == [names(1, 200)] * n
        for own in opened:
            own.close()
        assert [path.name for path in place.segments.iterdir()] == ["000000000000-000000000200"]
        assert set(collection.fsck().rebuilt) == set()
