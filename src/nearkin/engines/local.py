"""Engines of a run, and threads over batches: kernels and Arrow release the interpreter lock, so steps overlap."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster


Item = TypeVar("Item")
Result = TypeVar("Result")


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int
) -> Generator[Result, None, None]:
    """Yield the results of ``function`` in the order of ``items``."""
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


Work = TypeVar("Work")


class Engine(Protocol):
    """An engine; each job asks it once for its own implementation."""

    @property
    def name(self) -> Literal["local", "spark"]:
        """Name for options, manifests and the identity of a run."""

    def choose(self, *, local: Callable[[], Work], cluster: Callable[[Cluster], Work]) -> Work:
        """Call the function for this engine."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Threads of this process."""

    @property
    def name(self) -> Literal["local", "spark"]:
        """Name of the engine; see `Engine`."""
        return "local"

    def choose(self, *, local: Callable[[], Work], cluster: Callable[[Cluster], Work]) -> Work:
        """Call the local function; see `Engine`."""
        return local()


LOCAL = LocalEngine()
