"""Bounded pool of threads in which requests query the collection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from nearkin.errors import CollectionBusyError

Found = TypeVar("Found")


class Workers:
    """Threads for work that blocks; a queue of bounded length.

    Parameters
    ----------
    n_threads : int
    n_waiting : int
        Maximum length of the queue.
    """

    def __init__(self, n_threads: int, n_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="nearkin-web")
        self._max_running, self.n_running = n_threads + n_waiting, 0

    async def run(self, work: Callable[[], Found]) -> Found:
        """Do the work in a thread and return its result.

        Work that was begun is finished, even if the request is given up.

        Raises
        ------
        CollectionBusyError
            Too many requests wait already.
        """
        if self.n_running >= self._max_running:
            raise CollectionBusyError("Too many requests are waiting. Try again in a moment.")
        self.n_running += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        future.add_done_callback(lambda done: self._ended(loop, done))
        return await asyncio.wrap_future(future)

    def _ended(self, loop: asyncio.AbstractEventLoop, done: Future[Found]) -> None:
        """Count in the thread of the loop, which is the only one that reads the number."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._count_down)

    def _count_down(self) -> None:
        self.n_running -= 1

    def close(self) -> None:
        """End the threads once their work is done."""
        self._pool.shutdown(wait=True, cancel_futures=True)
