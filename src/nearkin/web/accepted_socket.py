"""Accepted connections whose answers are read: a client that does not read its answer loses the connection."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class AcceptedSocket(socket.socket):
    """Accepted socket that is shut down if its client does not read, and says once when it is closed.

    It sees what the loop of asyncio really sends, below TLS: the protocol above sees only buffers, and not all of them.

    Parameters
    ----------
    accepted : socket
    ended : callable, optional
        Called when it is closed.
    """

    reading_s = 30.0
    min_read_bytes = 64 << 10
    """Minimum number of bytes that a client must read in each `reading_s` seconds while bytes are waiting for it."""
    unsent: ClassVar[set[int]] = set()
    """File descriptors whose clients have not read everything yet."""

    def __init__(self, accepted: socket.socket, ended: Callable[[], None] | None = None) -> None:
        super().__init__(fileno=accepted.detach())
        self._ended, self._n_sent = ended, 0
        self._timer: asyncio.TimerHandle | None = None
        with contextlib.suppress(OSError, AttributeError):
            # few bytes wait in the kernel: what a slow client has taken is noticed soon
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 32 << 10)

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        """Send as much as fits, and watch the client if something is left."""
        return self._watched(lambda: super(AcceptedSocket, self).send(data, flags), memoryview(data).nbytes)

    def sendmsg(self, buffers: Iterable[ReadableBuffer], /, *others: Any) -> int:
        """Send as much as fits, and watch the client if something is left."""
        parts: Sequence[ReadableBuffer] = list(buffers)
        size = sum(memoryview(part).nbytes for part in parts)
        return self._watched(lambda: super(AcceptedSocket, self).sendmsg(parts, *others), size)

    def close(self) -> None:
        """Close it, and say so."""
        self._watch(is_unsent=False)
        super().close()
        if self._ended is not None:
            self._ended()
            self._ended = None

    def _watched(self, sent: Callable[[], int], size: int) -> int:
        try:
            n_sent = sent()
        except BlockingIOError:
            self._watch(is_unsent=True)
            raise
        self._n_sent += n_sent
        self._watch(is_unsent=n_sent < size)
        return n_sent

    def _watch(self, *, is_unsent: bool) -> None:
        if is_unsent and self._timer is None:
            self.unsent.add(self.fileno())
            self._measure()
        elif not is_unsent and self._timer is not None:
            self.unsent.discard(self.fileno())
            self._timer.cancel()
            self._timer = None

    def _measure(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.reading_s, self._check, self._n_sent)

    def _check(self, n_before: int) -> None:
        if self._n_sent - n_before >= self.min_read_bytes:
            self._measure()
            return
        with contextlib.suppress(OSError):  # the client is gone already
            self.shutdown(socket.SHUT_RDWR)  # the loop finds a broken connection and drops what is left
