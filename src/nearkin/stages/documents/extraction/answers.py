"""Files to extract, and their nodes on the way from a worker to the reader."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nearkin.stages.documents.extraction.nodes import ExtractedNode, NodeOrder

HELD_BYTES = 32 << 20
"""Texts of a file that wait for the files before it; then its worker waits, too."""
_NODE_BYTES = 500
"""About the size of a node without its text."""


class Dropped(Exception):
    """Nobody reads the answers any more."""


@dataclass(frozen=True, slots=True)
class FileToExtract:
    """A file, and how to read it.

    Parameters
    ----------
    path, name : str
    kind : str or None
        See `ExtractionRequest`.
    encoding : str
    size_bytes : int or None
        If it is known.
    """

    path: str
    name: str
    kind: str | None = None
    encoding: str = "utf-8"
    size_bytes: int | None = None


class WorkerAnswer:
    """Nodes of one file, on their way from a worker to the reader.

    Parameters
    ----------
    file : FileToExtract
    weight : int
        What it weighs in a message of several files.
    read : callable
        Called when nodes have been taken, or are no longer wanted.

    Attributes
    ----------
    order : NodeOrder
        The nodes that have come from one worker after another.
    """

    __slots__ = (
        "_changed", "_error", "_is_complete", "_is_dropped", "_lock", "_n_bytes", "_nodes", "_read", "file",
        "order", "room_bytes", "weight",
    )  # fmt: skip

    def __init__(self, file: FileToExtract, weight: int, read: Callable[[], None]) -> None:
        self.file = file
        self.weight = weight
        self.order = NodeOrder()
        self.room_bytes = HELD_BYTES
        self._read = read
        self._nodes: list[ExtractedNode] = []
        self._n_bytes = 0
        self._is_complete = False
        self._error: Exception | None = None
        self._lock = threading.Lock()
        self._changed: threading.Condition | None = None  # of a lock, ten objects: most answers are never waited for
        self._is_dropped = False

    def put(self, node: ExtractedNode) -> None:
        """Add a node; wait while many are held. `Dropped` if nobody reads any more."""
        with self._lock:
            self._wait_for(lambda: self._n_bytes < self.room_bytes or self._is_dropped)
            self._add(node)
            self._notify()

    def _wait_for(self, is_so: Callable[[], object]) -> None:
        """Wait, with the lock held, until something is so."""
        if is_so():
            return
        if self._changed is None:
            self._changed = threading.Condition(self._lock)
        self._changed.wait_for(is_so)

    def _notify(self) -> None:
        if self._changed is not None:
            self._changed.notify_all()

    def complete(self, error: Exception | None = None, last: ExtractedNode | None = None) -> None:
        """End the nodes, after the last one."""
        with self._lock:
            if last is not None and not self._is_dropped:
                self._add(last)
            self._is_complete, self._error = True, error
            self._notify()

    def _add(self, node: ExtractedNode) -> None:
        if self._is_dropped:
            raise Dropped
        self._nodes.append(node)
        self._n_bytes += len(node.text or b"") + _NODE_BYTES

    @property
    def is_dropped(self) -> bool:
        """Whether nobody reads the nodes any more."""
        return self._is_dropped

    @property
    def held_bytes(self) -> int:
        """Size of the nodes that wait for their reader."""
        return 0 if self._is_dropped else self._n_bytes

    @property
    def is_over(self) -> bool:
        """Whether nothing is held, and nothing comes."""
        return self._is_dropped or (self._is_complete and not self._nodes)

    def drop(self) -> None:
        """Let the worker go on without being read."""
        with self._lock:
            self._is_dropped = True
            self._notify()
        self._read()

    def nodes(self) -> Iterator[ExtractedNode]:
        """Yield the nodes as they come."""
        while True:
            with self._lock:
                self._wait_for(lambda: self._nodes or self._is_complete)
                if not self._nodes:
                    if self._error is not None:
                        raise self._error
                    return
                nodes, self._nodes, self._n_bytes = self._nodes, [], 0
                self._notify()
            self._read()
            yield from nodes
