"""Calls of an asynchronous function, one after another, without the machinery for many at a time."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")


def result_of(call: Coroutine[Any, Any, T]) -> T:
    """Return the result of a call that awaits futures of other threads.

    Raises
    ------
    NotImplementedError
        The call awaits something else, such as a timer.

    Examples
    --------
    >>> async def double(number):
    ...     return 2 * number
    >>> result_of(double(4))
    8
    """
    loop = _OneCallLoop()
    # Not documented, but meant for event loops, all of which call it: futures of other threads ask for the running one.
    # Without it, no document is extracted, and test_one_call.py fails.
    asyncio._set_running_loop(loop)  # type: ignore[arg-type]  # it has the methods that futures call
    try:
        while True:
            loop.wait_for(call.send(None))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        asyncio._set_running_loop(None)
        call.close()


class _OneCallLoop:
    """Event loop of one call: that of the standard library takes a tenth of the time of a short file, and sockets."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[..., object], tuple[object, ...], Context | None]]
        self._calls = queue.SimpleQueue()

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self)  # type: ignore[arg-type]

    def call_soon(self, callback: Callable[..., object], *args: object, context: Context | None = None) -> None:
        """Call a function with the next turn."""
        self._calls.put((callback, args, context))

    call_soon_threadsafe = call_soon

    def get_debug(self) -> bool:
        """Return False."""
        return False

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"a call that needs {name} of its event loop")

    def wait_for(self, future: asyncio.Future[Any] | None) -> None:
        """Make calls until a future is done; None is no future but a pause."""
        while future is not None and not future.done():
            callback, args, context = self._calls.get()
            if context is None:
                callback(*args)
            else:
                context.run(callback, *args)
