"""Threads over batches: kernels and Arrow release the interpreter lock, so reading, hashing and writing overlap."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int
) -> Generator[Result, None, None]:
    """Yield the results of ``function`` in the order of ``items``.

    At most ``threads + 1`` items are in progress, so memory is bounded.

    Examples
    --------
    >>> list(map_ordered(lambda x: x * x, range(4), threads=2))
    [0, 1, 4, 9]
    """
    with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
        under_way: deque[Future[Result]] = deque()
        try:
            for item in items:
                under_way.append(pool.submit(function, item))
                while len(under_way) > threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
