"""Busy and damaged are two things, and scripts tell them apart by exit codes 9 and 7."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from functional.conftest import Ended, nearkin_done, nearkin_here, write_jsonl
from made_up_prose import Prose
from places import SomePlace

prose = Prose(41)
TEXTS = [prose.text(60) for _ in range(3)]


@pytest.fixture
def matter(place: SomePlace, tmp_path: Path) -> SomePlace:
    records = [{"id": f"d{i}", "text": text} for i, text in enumerate(TEXTS)]
    write_jsonl(tmp_path / "r.jsonl", records)
    write_jsonl(tmp_path / "more.jsonl", [{"id": "new", "text": "A document that is new."}])
    (tmp_path / "d0.txt").write_text(TEXTS[0], "utf-8")
    assert run(place, "add", tmp_path / "r.jsonl").code == 0
    return place


def run(place: SomePlace, command: str, *arguments: str | Path) -> Ended:
    # only some commands take the place of the index
    cached = (
        ["--cache", place.cache] if command in ("add", "similar", "versions", "groups", "fsck", "conflicts") else []
    )
    first, *rest = command.split()
    ended = nearkin_here(first, *rest, place.address, *arguments, *cached)
    ended.assert_clean()
    return ended


@contextlib.contextmanager
def somebody_writing(place: SomePlace) -> Iterator[None]:
    """Another program that holds what every writer of a collection takes."""
    if place.server is None:
        with closing(sqlite3.connect(place.file, isolation_level=None, check_same_thread=False)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
        return
    with closing(place.server.connection()) as other, closing(other.cursor()) as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock(hashtext('nearkin'), hashtext('{place.schema}'))")
        yield


WRITING = [
    ("add", ["{folder}/more.jsonl"]),
    ("remove", ["d0"]),
    ("check", ["{folder}/d0.txt", "--store", "--id", "again"]),
    ("groups", []),
]


@pytest.mark.parametrize(("command", "arguments"), WRITING, ids=[command for command, _ in WRITING])
def test_another_writer_is_exit_code_9(matter, tmp_path, monkeypatch, command, arguments) -> None:
    monkeypatch.setattr("nearkin.store.connections.BUSY_S", 0.05)
    given = [one.format(folder=tmp_path) for one in arguments]
    with somebody_writing(matter):
        ended = run(matter, command, *given, "--json")
        told = json.loads(ended.err.splitlines()[-1])
        assert (ended.code, told["exit_code"], told["error"]) == (9, 9, "CollectionBusyError")
        assert "--wait SECONDS" in told["message"]
        for reading, *asked in (["similar", "d0"], ["search", "a"], ["list"], ["show", "d0"], ["history", "d0"]):
            assert run(matter, reading, *asked).code == 0, reading  # who only reads does not wait
    assert run(matter, command, *given).code in (0, 10)


def test_a_table_that_is_locked_is_busy(matter, tmp_path) -> None:
    """By somebody who works in the database without Nearkin, and a limit that the server sets."""
    if matter.server is None:
        return  # SQLite's locks are those above
    matter.server.sql("ALTER ROLE nearkin SET lock_timeout = '100ms'")
    try:
        with closing(matter.server.connection()) as other, closing(other.cursor()) as cursor:
            cursor.execute(f"LOCK TABLE {matter.schema}.documents")
            assert run(matter, "remove", "d0").code == 9
    finally:
        matter.server.sql("ALTER ROLE nearkin RESET lock_timeout")


def test_damage_is_exit_code_7(matter, tmp_path) -> None:
    zeros = "zeroblob(40)" if matter.server is None else "decode(repeat('00', 40), 'hex')"
    matter.sql(f"UPDATE contents SET text = {zeros} WHERE content = 0")
    for command, *arguments in (
        ["compare", "d0", "d1"], ["versions", "d0"], ["similar", "d0"], ["show", "d0"], ["fsck"],
    ):  # fmt: skip
        ended = run(matter, command, *arguments)
        assert ended.code == 7, command
        if command != "fsck":
            assert "'d0': the stored text is damaged (it cannot be unpacked)" in " ".join(ended.err.split())
            assert "of content" not in ended.err
    assert run(matter, "check", tmp_path / "d0.txt").code == 7
    assert run(matter, "add", tmp_path / "r.jsonl", "--wave", "again").code == 0
    assert run(matter, "similar", "d0").code == run(matter, "fsck").code == 0


def test_a_file_of_no_bytes_is_no_collection(tmp_path):
    (tmp_path / "matter").mkdir()
    file = tmp_path / "matter" / "nearkin.sqlite"
    file.touch()
    ended = nearkin_here("info", tmp_path / "matter")
    assert (ended.code, str(tmp_path / "matter") in ended.err) == (7, True)
    assert file.stat().st_size == 0
    (tmp_path / "one.txt").write_text("A letter about boats.")
    nearkin_done("add", tmp_path / "matter", tmp_path / "one.txt", "-q")
    assert "documents 1 " in " ".join(nearkin_here("info", tmp_path / "matter").out.split())


def test_a_command_waits_as_long_as_it_is_told(matter, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("nearkin.store.connections.BUSY_S", 0.05)
    with somebody_writing(matter):
        for command, arguments in WRITING:
            given = [one.format(folder=tmp_path) for one in arguments]
            started = time.monotonic()
            assert run(matter, command, *given, "--wait", "0.4").code == 9
            assert 0.3 < time.monotonic() - started < 30
    command, arguments = WRITING[0]
    with contextlib.ExitStack() as writing:
        writing.enter_context(somebody_writing(matter))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(end_after, 0.5, matter, writing)
            given = [one.format(folder=tmp_path) for one in arguments]
            assert run(matter, command, *given, "--wait", "60").code == 0
    assert run(matter, "remove", "d1", "--wait", "-1").code == 2


def end_after(seconds: float, place: SomePlace, writing: contextlib.ExitStack) -> None:
    time.sleep(seconds)
    writing.close()


@pytest.mark.parametrize(
    "given", ["info URL", "add URL r.jsonl", "sql install URL", "fsck URL", "similar URL a", "dedup URL --out out"]
)
def test_postgresql_without_its_extra_is_exit_code_6(tmp_path, monkeypatch, given) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "psycopg", None)  # as if it were not installed
    write_jsonl(tmp_path / "r.jsonl", [{"id": "a", "text": TEXTS[0]}])
    ended = nearkin_here(*given.replace("URL", "postgresql://ada@127.0.0.1:9/matters").split(), "--json")
    ended.assert_clean()
    told = json.loads(ended.err.splitlines()[-1])
    assert (ended.code, told["exit_code"], told["error"]) == (6, 6, "MissingExtraError")
    assert "pip install 'nearkin[postgresql]'" in told["message"]
    assert not (tmp_path / "out").exists()
