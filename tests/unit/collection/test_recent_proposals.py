"""Comparisons of the groups of a page are made once, however many ask for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from nearkin.collection.groups.proposals import GroupProposal, RecentProposals


def test_requests_for_a_page_that_is_being_compared_wait_for_it():
    recent, together, asked = RecentProposals(), threading.Barrier(5), list[Sequence[int]]()

    def compare(numbers: Sequence[int]) -> dict[int, GroupProposal]:
        asked.append(numbers)
        time.sleep(0.02)
        return {number: GroupProposal(None, number) for number in numbers if number != 3}

    def ask(_: int) -> list[int]:
        together.wait()
        return [one.n_indirect for one in recent.of([1, 2, 3], compare).values()]

    with ThreadPoolExecutor(5) as pool:
        assert list(pool.map(ask, range(5))) == [[1, 2]] * 5
    assert asked == [[1, 2, 3]]


def test_a_known_page_does_not_wait_and_a_failed_comparison_is_made_by_the_next():
    recent, is_comparing, may_end = RecentProposals(), threading.Event(), threading.Event()
    recent.of([1], lambda _: {1: GroupProposal("a", 0)})

    def fail(_: Sequence[int]) -> dict[int, GroupProposal]:
        is_comparing.set()
        may_end.wait(10)
        raise ValueError

    with ThreadPoolExecutor(1) as pool:
        failing = pool.submit(recent.of, [2], fail)
        assert is_comparing.wait(10)
        assert recent.of([1], fail) == {1: GroupProposal("a", 0)}
        may_end.set()
        assert isinstance(failing.exception(10), ValueError)
    assert recent.of([2], lambda _: {2: GroupProposal("b", 1)}) == {2: GroupProposal("b", 1)}
