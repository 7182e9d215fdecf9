"""Connections of clients: the maximum number of a client, and the time in which a request must arrive."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from nearkin.web.accepted_socket import AcceptedSocket
from nearkin.web.addresses import network_of, plain_address
from nearkin.web.settings import Network

_SAY_AGAIN_S = 60.0
_FAREWELL_S = 24 * 60 * 60.0
"""Time for closing TLS, in which a whole answer must be sent: `TimedConnection` ends a connection much earlier."""
_MIN_PER_CLIENT = 4
"""Number of connections that a client can always have, unless the service has too many."""


class LimitedListener(socket.socket):
    """Listening socket that closes further connections of a client that has many.

    It counts connections from the moment they are accepted, so those that never complete the handshake of TLS count,
    too. An IPv6 address counts together with its network of 64 bits.

    Parameters
    ----------
    family : int
    max_per_client : int or None
        Maximum number of open connections; None: any, for a service whose clients all have the address of this machine.
    max_total : int
        Number of connections that the service answers. A client may have a quarter of those that are left, but always
        `_MIN_PER_CLIENT`: so several clients together leave places for others (A. K. Choudhury, E. L. Hahne, "Dynamic
        Queue Length Thresholds for Shared-Memory Packet Switches", 1998).
    unlimited : sequence of networks
        Proxies, whose connections are those of many clients.
    say : callable
        Receives who is refused, at most once a minute.
    """

    def __init__(
        self,
        family: int,
        *,
        max_per_client: int | None = None,
        max_total: int = 512,
        unlimited: Sequence[Network] = (),
        say: Callable[[str], None] = print,
    ) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._max, self._max_total, self._unlimited, self._say = max_per_client, max_total, tuple(unlimited), say
        self._open, self._said_at = Counter[str](), float("-inf")

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises
        ------
        ConnectionAbortedError
            Its client has too many; the loop of asyncio goes on with the next one.
        """
        accepted, address = super().accept()
        client = self._client_of(str(address[0]))
        if client is None or self._max is None:
            return AcceptedSocket(accepted), address
        allowed = min(self._max, max(_MIN_PER_CLIENT, (self._max_total - self._open.total()) // 4))
        if self._open[client] >= allowed:
            accepted.close()
            self._tell(client, allowed)
            raise ConnectionAbortedError
        self._open[client] += 1
        return AcceptedSocket(accepted, lambda: self._ended(client)), address

    def _client_of(self, address: str) -> str | None:
        """Return the key of an address; None if its connections are not limited."""
        try:
            found = plain_address(address)
        except ValueError:
            return "unknown"
        return None if any(found in network for network in self._unlimited) else network_of(address)

    def _ended(self, client: str) -> None:
        self._open[client] -= 1
        if self._open[client] <= 0:
            del self._open[client]

    def _tell(self, client: str, allowed: int) -> None:
        now = time.monotonic()
        if now - self._said_at >= _SAY_AGAIN_S:
            self._said_at = now
            self._say(f"Connections refused: {client} has {allowed} open connections, the maximum of one client now.")


class TimedConnection(H11Protocol):
    """Connection of HTTP that is closed if the head of a request does not arrive in time.

    uvicorn itself waits without end for the first request, and for the rest of a request whose first byte has arrived.
    After an answer that did not need the body, such as a refusal, the rest of the body has the same time. The gate
    limits the time of bodies that it lets through. The farewell after the last answer has the same time, which asyncio
    would count from the moment when the answer was written. While an answer is still on its way, its client is not
    late: `AcceptedSocket` limits how slowly it is read.
    """

    wait_s = 10.0
    _awaited: tuple[object, object] | None = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived; less than a request does not prolong the time."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, or for the rest of a body that is not read."""
        super().on_response_complete()
        self._watch()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, but not one whose answer is still being sent: TLS would truncate it."""
        if not self._is_sending():
            super().timeout_keep_alive_handler()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_for(None)
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start a new time limit whenever the connection waits for something else."""
        state, cycle = self.conn.their_state, self.cycle
        is_answered = cycle is not None and cycle.response_complete
        is_awaited = state is h11.IDLE or (is_answered and (state is h11.SEND_BODY or self.transport.is_closing()))
        self._wait_for((state, cycle) if is_awaited else None)

    def _wait_for(self, awaited: tuple[object, object] | None) -> None:
        if awaited == self._awaited:
            return
        self._awaited = awaited
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if awaited is None else self.loop.call_later(self.wait_s, self._late)

    def _late(self) -> None:
        if self._is_sending():
            self._timer = self.loop.call_later(self.wait_s, self._late)
        else:
            self.transport.abort()  # not close(), which waits until TLS has said farewell

    def _is_sending(self) -> bool:
        return self.transport.get_extra_info("socket").fileno() in AcceptedSocket.unsent


class ReviewLoop(asyncio.SelectorEventLoop):
    """Event loop of the service: a TLS handshake has the time limit of a request's head, not the minute of asyncio.

    And a farewell has not the half minute of asyncio, which would cut off answers that are read slowly. uvicorn passes
    no such limits on; others than the loop of selectors accept connections without asking the listener.
    """

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        """Begin to accept connections."""
        if options.get("ssl") is not None:
            options["ssl_handshake_timeout"] = TimedConnection.wait_s
            options["ssl_shutdown_timeout"] = _FAREWELL_S
        return await super().create_server(*args, **options)
