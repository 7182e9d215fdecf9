"""What waits to be computed after a page is bounded."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path

import pytest

from nearkin.collection.opened import OpenedCollection
from nearkin.web import later


def test_the_longest_forgotten_of_what_waits_is_not_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "_WAITING_S", 0)
    opened = OpenedCollection.open(tmp_path / "matter", create=True)
    begun, gate, works, computed = threading.Event(), threading.Event(), later.Later(opened), list[int]()
    monkeypatch.setattr(works, "compute", lambda work: work(opened))

    def work(_: OpenedCollection, key: int) -> None:
        begun.set()
        gate.wait(10)
        computed.append(key)

    def get(key: int) -> Future[None] | None:
        try:
            works.get(partial(work, key=key), later.AT_ONCE + 1, None)
        except later.NotYet as not_yet:
            return not_yet.future
        return None

    first = get(0)
    begun.wait(10)
    futures = [get(1 + key % 100) for key in range(300)]
    assert get(0) is first
    gate.set()
    assert wait([future for future in futures if future and not future.cancelled()], timeout=10).not_done == set()
    assert sorted(computed) == [0, *range(38, 101)]
    assert [get(key) for key in range(38, 101)] == [None] * 63
    works.close()


def test_requests_push_out_no_page_and_what_waits_long_has_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(later, "_WAITING_S", 0)
    now = 0.0
    monkeypatch.setattr(later, "monotonic", lambda: now)
    opened = OpenedCollection.open(tmp_path / "matter", create=True)
    begun, gate, works, computed = threading.Event(), threading.Event(), later.Later(opened), list[str]()
    monkeypatch.setattr(works, "compute", lambda work: work(opened))

    def work(_: OpenedCollection, name: str) -> None:
        begun.set()
        gate.wait(10)
        computed.append(name)

    def get(name: str, n_characters: int, *, is_page: bool = True) -> Future[None]:
        key = name if is_page else object()
        with pytest.raises(later.NotYet) as not_yet:
            works.get(partial(work, name=name), n_characters, None, key=key, is_kept=is_page)
        return not_yet.value.future

    first = get("first", 20_000)
    begun.wait(10)
    futures = [get("long page", 900_000)]
    requests = [get(f"request {i}", 1_000_000, is_page=False) for i in range(80)]
    assert [request.cancelled() for request in requests] == [True] * 16 + [False] * 64
    now = 100.0
    futures.append(get("short page", 20_000))
    now = 890.0
    futures.append(get("late page", 20_000))
    gate.set()
    assert wait([first, *futures, *requests[16:]], timeout=10).not_done == set()
    early = ["first", "short page", "long page", "late page"]
    assert computed == [*early, *(f"request {i}" for i in range(16, 80))]
    works.close()
