"""A call without an event loop gives what it gives with that of the standard library."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from nearkin.stages.documents.extraction.one_call import result_of


async def of_another_thread(give: Callable[[asyncio.Future[str]], None]) -> str:
    """Wait for a future that a thread completes, as xberg does."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[str] = loop.create_future()
    thread = threading.Timer(0.01, lambda: loop.call_soon_threadsafe(give, future))
    thread.start()
    try:
        return await future
    finally:
        thread.join()


async def twice(call: Callable[[], Awaitable[str]]) -> str:
    return await call() + await call()


def fail(future: asyncio.Future[str]) -> None:
    future.set_exception(ValueError("damaged"))


@pytest.mark.parametrize("run", [result_of, asyncio.run])
def test_results_and_errors_come_from_another_thread(run):
    assert run(of_another_thread(lambda future: future.set_result("a"))) == "a"
    assert run(twice(lambda: of_another_thread(lambda future: future.set_result("a")))) == "aa"
    with pytest.raises(ValueError, match="damaged"):
        run(of_another_thread(fail))


def test_a_pause_is_no_future():
    async def paused() -> str:
        await asyncio.sleep(0)
        return "a"

    assert result_of(paused()) == "a"


def test_what_is_not_there_is_named():
    async def timed() -> str:
        await asyncio.sleep(1)
        return "a"

    with pytest.raises(NotImplementedError, match="call_later"):
        result_of(timed())
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()
