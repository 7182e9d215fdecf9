"""Collections that are damaged, or whose process is killed or disk is full: nothing that was acknowledged is lost."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from commands import quick_python
from contract.test_collection_index import answers, check, small_disk
from contract.test_collections import state
from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError, NearkinError, OutputError
from places import SomePlace

ROOT = Path(__file__).parents[2]
TEXT = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord, clause {}."
FIRST = [(f"d{i}", TEXT.format(i)) for i in range(12)]
SECOND = [
    *[(f"d{i}", TEXT.format(i) + " Amended.") for i in range(3)],
    *[(f"e{i}", TEXT.format(i * 7)) for i in range(30)],
]

# A process that adds a wave and is killed at a moment that can be counted.
KILLED = """
import json, os, signal, sys
address, cache, when, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
documents = [tuple(pair) for pair in json.loads(sys.stdin.read())]
from sqlalchemy import event
from sqlalchemy.engine import Engine
import nearkin.collection.stored.segment_files as files
import nearkin.collection.stored.segments as segments
import nearkin.stages.documents.tables as tables
from nearkin.collection.collection import Collection
tables._BATCH_BYTES = 1_000
left = [n]

def strike(*_, **__):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def before(module, name):
    function = getattr(module, name)
    def struck(*arguments, **named):
        strike()
        return function(*arguments, **named)
    setattr(module, name, struck)

def middle_of_a_file(file, array):
    strike()
    file.write(array.tobytes()[:100])
    file.flush()
    strike()
    file.seek(0)
    file.truncate()
    whole(file, array)

with Collection.open(address, create=True, cache=cache) as collection:
    if when == "statement":
        event.listen(Engine, "before_cursor_execute", strike)
        import nearkin.collection.loads.loading as writing
        before(writing, "insert_rows")
    elif when == "commit":
        event.listen(Engine, "commit", strike)
    elif when == "build":
        before(segments, "build")
    elif when == "file":
        import numpy as np
        whole = np.save
        np.save = middle_of_a_file
    elif when == "manifest":
        before(files, "write_json")
    elif when == "rename":
        before(files.os, "rename")
    elif when == "remove":
        before(files.shutil, "rmtree")
    added = collection.add(documents, wave="second")
    print("added", added.n_new, flush=True)
    for i in range(3):
        collection.similar("d0", gamma=0.5)
"""


def killed(place: SomePlace, when: str, n: int) -> tuple[bool, bool]:
    """Whether the process was killed, and whether it had said that the wave was added."""
    command = quick_python(KILLED, place.address, place.cache, when, str(n))
    ended = subprocess.run(command, input=json.dumps(SECOND), capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode != 0, "added" in ended.stdout


@pytest.fixture
def first(place):
    """A collection with one wave."""
    with place.open() as collection:
        collection.add(FIRST, wave="first")
    return place


def uninterrupted(place: SomePlace) -> tuple[list[object], list[object], list[object], list[object]]:
    """State and answers before and after the second wave, in a place of its own."""
    with place.another().open() as collection:
        collection.add(FIRST, wave="first")
        before = state(collection), answers(collection)
        collection.add(SECOND, wave="second")
        return (*before, state(collection), answers(collection))


MOMENTS = [
    *(("statement", n) for n in (1, 5, 12, 20)), ("commit", 1), ("build", 1), ("file", 1), ("file", 2),
    ("file", 9), ("file", 14), ("manifest", 1), ("rename", 1), ("remove", 1), ("remove", 2),
]  # fmt: skip


@pytest.mark.slow
def test_killed_at_any_moment(place):
    """Each in a collection of its own; whatever was acknowledged is there, and the rest can be added again."""
    before, answers_before, after, answers_after = uninterrupted(place)
    was_stored = []
    moments = MOMENTS[::2] if place.kind == "sqlite" else MOMENTS[2::3]
    for when, n in moments:
        own = place.another()
        with own.open() as collection:
            collection.add(FIRST, wave="first")
        is_killed, is_acknowledged = killed(own, when, n)
        assert is_killed, (when, n)
        with own.open(create=False) as collection:
            now = state(collection)
            assert now in (before, after)
            assert now == after or not is_acknowledged
            assert answers(collection) == (answers_before if now == before else answers_after)
            assert collection.fsck().is_whole
            collection.add(SECOND, wave="second")
            assert state(collection) == after
            assert answers(collection) == answers_after
            assert [wave.name for wave in collection.info().waves] == ["first", "second"]
        was_stored.append(now == after)
    assert set(was_stored) == {True, False}


@pytest.mark.parametrize(("moment", "n"), [("before_cursor_execute", 1), ("before_cursor_execute", 7), ("commit", 1)])
def test_killed_while_it_is_made(place, moment, n):
    """What is there then is no collection, and becomes one."""
    code = KILLED.replace("with Collection", "event.listen(Engine, sys.argv[5], strike)\nwith Collection")
    if place.kind == "postgresql" and moment == "commit":
        n += 1  # before that, it only looked
    command = quick_python(code, place.address, place.cache, "never", str(n), moment)
    ended = subprocess.run(command, input="[]", capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert "There is no collection" in refused(place)
    with place.open() as collection:
        assert collection.add(FIRST).n_new == len(FIRST)


# -- a full disk ------------------------------------------------------------------------------------------------------


def test_a_disk_that_fills_while_documents_are_added(tmp_path):
    place = SomePlace.new(tmp_path, None)
    before, answers_before, after, answers_after = uninterrupted(place)
    large = [(f"large{i}", random.Random(i).randbytes(60_000).hex()) for i in range(40)]
    with small_disk(Path(place.address), "1500k"):
        with place.open() as collection:
            collection.add(FIRST, wave="first")
            with pytest.raises(OutputError, match="the disk is full") as caught:
                collection.add(large)
            assert "The transaction that failed stored nothing" in str(caught.value)
            assert state(collection) == before
            assert answers(collection) == answers_before
            assert collection.add(SECOND, wave="second").n_new == 30  # there is room for these
        with place.open() as collection:
            assert state(collection) == after
            assert answers(collection) == answers_after
            assert collection.fsck().is_whole


@pytest.mark.parametrize("size_bytes", [0, 100_000])
def test_files_that_may_not_grow(tmp_path, size_bytes):
    """Cut off at some size, as on a full disk, in a process of its own: a message, and nothing is lost."""
    place = SomePlace.new(tmp_path, None)
    before, _, after, answers_after = uninterrupted(place)
    with place.open() as collection:
        collection.add(FIRST, wave="first")
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size_bytes}, {size_bytes}))\nleft = [0]\n"
    code = KILLED.replace("left = [n]", limit)
    command = quick_python(code, place.address, place.cache, "never", "0")
    ended = subprocess.run(command, input=json.dumps(SECOND), capture_output=True, text=True, timeout=60, cwd=ROOT)
    if ended.returncode:
        assert "nearkin.errors." in ended.stderr.strip().splitlines()[-1], ended.stderr
    with place.open() as collection:
        assert state(collection) == (before if ended.returncode else after)
        collection.add(SECOND, wave="second")
        assert state(collection) == after
        assert answers(collection) == answers_after


# -- a store that is damaged, or not one ------------------------------------------------------------------------------


def refused(place: SomePlace, *, create: bool = False) -> str:
    with pytest.raises(NearkinError) as caught, place.open(create=create) as collection:
        collection.add([("x", "x")])
    assert "open-sesame" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("schema", "xx"), ("schema", None), ("alphabet", "greek"),],
)  # fmt: skip
def test_damaged_facts_are_refused_in_words(first, name, value):
    if value is None:
        first.sql(f"DELETE FROM facts WHERE name = '{name}'")
    else:
        first.sql(f"UPDATE facts SET value = '{value}' WHERE name = '{name}'")
    assert first.schema in refused(first) or name in refused(first)
    assert first.sql("SELECT count(*) FROM documents") == str(len(FIRST))


@pytest.mark.parametrize("content", [b"garbage", b"garbage" * 10_000, b"SQLite format 3\0" + b"\0" * 5_000])
def test_a_file_that_is_no_database(tmp_path, content):
    place = SomePlace.new(tmp_path, None)
    Path(place.address).mkdir()
    place.file.write_bytes(content)
    for create in (False, True):
        assert "damaged" in refused(place, create=create)
    assert place.file.read_bytes() == content


def test_a_database_of_something_else(tmp_path):
    place = SomePlace.new(tmp_path, None)
    Path(place.address).mkdir()
    with closing(sqlite3.connect(place.file)) as connection, connection:
        connection.execute("CREATE TABLE cats (name TEXT)")
        connection.execute("INSERT INTO cats VALUES ('Tom')")
    assert "There is no collection" in refused(place)


def test_a_file_that_is_cut_off(tmp_path):
    """At any page: it is told that it is damaged, or, where nothing that is asked for is missing, answered."""
    place = SomePlace.new(tmp_path, None)
    with place.open() as collection:
        for i in range(10):
            collection.add([(f"{name}-{i}", text * (i + 1)) for name, text in FIRST])
        collection.remove(["d3-1"])
        right = answers_of_copy(collection)
    with closing(sqlite3.connect(place.file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = place.file.read_bytes()
    n_told = 0
    for size in (*range(100, len(whole), len(whole) // 25 + 1), len(whole) - 4_096, len(whole) - 1):
        for name in ("-wal", "-shm"):
            place.file.with_name(place.file.name + name).unlink(missing_ok=True)
        place.file.write_bytes(whole[:size])
        try:
            with place.open(create=False) as collection:
                assert answers_of_copy(collection) == right
                collection.add([("x", "x")])
        except CollectionError as error:
            n_told += "damaged" in str(error) or "malformed" in str(error)
    assert n_told > 20


def answers_of_copy(collection: Collection) -> list[str]:
    return [str(one.document) for one in collection.similar("d0-0", gamma=0.5, limit=500).documents]


@pytest.mark.parametrize("there", ["notes.txt", "nearkin.sqlite/x", ".hidden"])
def test_a_directory_of_something_else_is_left_alone(tmp_path, there):
    place = SomePlace.new(tmp_path, None)
    path = Path(place.address) / there
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    refused(place, create=True)
    assert [one for one in Path(place.address).rglob("*") if one.is_file()] == [path]


def test_an_index_is_made_by_who_comes_after_a_kill(first):
    """Killed between the commit and the index: the next one makes it, and says nothing of damage."""
    is_killed, is_acknowledged = killed(first, "build", 1)
    assert (is_killed, is_acknowledged) == (True, False)
    right = uninterrupted(first)[3]
    with first.open() as collection:
        assert answers(collection) == right
    check(first, right, is_told=False)


def test_a_file_instead_of_a_directory(tmp_path):
    place = SomePlace.new(tmp_path, None)
    Path(place.address).write_text("mine")
    refused(place)
    refused(place, create=True)
    assert Path(place.address).read_text() == "mine"
