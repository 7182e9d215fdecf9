"""Threads over items: results in order, few under way, failures told."""

from __future__ import annotations

import threading
import time

import pytest

from nearkin.engines.local import map_ordered


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_results_come_in_the_order_of_the_items(threads):
    def slow_first(n: int) -> int:
        time.sleep(0.02 if n % 5 == 0 else 0)
        return n * n

    assert list(map_ordered(slow_first, range(40), threads=threads)) == [n * n for n in range(40)]


def test_nothing():
    assert list(map_ordered(str, [], threads=3)) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_few_items_are_under_way(threads):
    taken = done = most = 0

    def items():
        nonlocal taken, most
        for n in range(50):
            taken += 1
            most = max(most, taken - done)
            yield n

    for _ in map_ordered(lambda n: n, items(), threads=threads):
        done += 1
    assert most <= threads + 2


def test_work_is_shared_by_threads():
    barrier = threading.Barrier(3, timeout=20)
    assert list(map_ordered(lambda n: barrier.wait() >= 0 and n, range(3), threads=3)) == [0, 1, 2]


def test_a_failure_comes_where_its_result_would():
    def fail(n: int) -> int:
        if n >= 3:
            raise ValueError(n)
        return n

    got = []
    with pytest.raises(ValueError, match="3"):
        got.extend(iter_into(got, map_ordered(fail, range(50), threads=2)))
    assert got == [0, 1, 2]


def iter_into(got, results):
    for result in results:
        got.append(result)
    return []


def test_a_failure_of_the_source_is_passed_on():
    def items():
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(map_ordered(str, items(), threads=2))


def test_leaving_early_ends_the_threads():
    before = threading.active_count()
    results = map_ordered(lambda n: n, range(1000), threads=4)
    assert next(results) == 0
    results.close()
    assert threading.active_count() == before
