"""Engines: threads of this process, or a Spark cluster. Both give the same results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster

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
    """Threads of this process.

    Examples
    --------
    >>> LOCAL.choose(local=lambda: "here", cluster=lambda chosen: "there")
    'here'
    """

    @property
    def name(self) -> Literal["local", "spark"]:
        """Name of the engine; see `Engine`."""
        return "local"

    def choose(self, *, local: Callable[[], Work], cluster: Callable[[Cluster], Work]) -> Work:
        """Call the local function; see `Engine`."""
        return local()


LOCAL = LocalEngine()
