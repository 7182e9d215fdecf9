"""Threads in which requests query the collection, and counts and times of the requests."""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
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


_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class RequestMetrics:
    """Counts and durations of requests by route and status.

    Routes come from a fixed list, so that requests for made-up paths take no memory.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter[tuple[str, str, int]]()
        self._times: dict[tuple[str, str], list[int]] = {}
        self._sums = Counter[tuple[str, str]]()

    def observe(self, method: str, route: str, status: int, elapsed_s: float) -> None:
        """Count a request."""
        key = method, route
        with self._lock:
            self._counts[method, route, status] += 1
            self._times.setdefault(key, [0] * (len(_BOUNDS_S) + 1))[bisect_left(_BOUNDS_S, elapsed_s)] += 1
            self._sums[key] += elapsed_s  # type: ignore[assignment]  # a sum of seconds

    def exposition(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Write everything; ``gauges`` are a help text and a value by name.

        Examples
        --------
        >>> metrics = RequestMetrics()
        >>> metrics.observe("GET", "/api/v1/waves", 200, 0.004)
        >>> text = metrics.exposition({"nearkin_documents": ("Current documents.", 3)})
        >>> text.splitlines()[2], text.splitlines()[5]
        ('nearkin_documents 3', 'nearkin_requests_total{method="GET",route="/api/v1/waves",status="200"} 1')
        """
        lines = list[str]()
        for name, (about, value) in gauges.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value:g}"]
        with self._lock:
            lines += ["# HELP nearkin_requests_total Requests by route and status."]
            lines += ["# TYPE nearkin_requests_total counter"]
            for (method, route, status), n in sorted(self._counts.items()):
                lines.append(f'nearkin_requests_total{{method="{method}",route="{route}",status="{status}"}} {n}')
            name = "nearkin_request_seconds"
            lines += [f"# HELP {name} Time of requests by route.", f"# TYPE {name} histogram"]
            for (method, route), counts in sorted(self._times.items()):
                labels, n = f'method="{method}",route="{route}"', 0
                for bound, count in zip((*(f"{one:g}" for one in _BOUNDS_S), "+Inf"), counts, strict=True):
                    n += count
                    lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {n}')
                lines.append(f"{name}_sum{{{labels}}} {self._sums[method, route]:.6f}")
                lines.append(f"{name}_count{{{labels}}} {n}")
        return "\n".join(lines) + "\n"
