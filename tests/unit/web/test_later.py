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
