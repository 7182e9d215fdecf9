"""Progress reports on request: to an object with the methods of `Progress`, or to a function that receives messages."""

from __future__ import annotations

from collections.abc import Callable

from nearkin.errors import ParameterError
from nearkin.runs.progress import Progress, Silent, Unit

Listener = Progress | Callable[[str], object]


class Messages(Silent):
    """Progress that passes the name of each stage and every message to a function.

    Parameters
    ----------
    receive : callable
    """

    def __init__(self, receive: Callable[[str], object]) -> None:
        self._receive = receive

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Pass on the name of a stage."""
        self._receive(stage)

    def say(self, message: str) -> None:
        """Pass on a message."""
        self._receive(message)


def progress_of(given: Listener | None) -> Progress:
    """Return what a job reports to.

    Raises
    ------
    ParameterError
        It is neither.

    Examples
    --------
    >>> heard = []
    >>> progress_of(heard.append, "dedup").say("4 documents")
    >>> heard
    ['4 documents']
    """
    if given is None:
        return Silent()
    if callable(given):
        return Messages(given)
    if all(callable(getattr(given, name, None)) for name in ("start", "advance", "finish", "say")):
        return given
    raise ParameterError.of("progress", "a function such as print, or None", given)
