"""Body of a request as it arrives: its limit, and the rest that nobody reads before an answer."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from nearkin.errors import BodyTooLargeError

_REST_S = 10.0
_MAX_REST_BODIES = 16
"""Maximum size of a discarded rest, in multiples of the largest body."""


class IncomingBody:
    """Body of a request, of which at most a number of bytes is read.

    Parameters
    ----------
    scope : Scope
    receive : Receive
    max_bytes : int
    message : str
        Message of the error if the body is larger.
    """

    def __init__(self, scope: Scope, receive: Receive, max_bytes: int, message: str) -> None:
        self._receive, self._max_bytes, self._message = receive, max_bytes, message
        self._n_bytes = 0
        headers = Headers(scope=scope)
        self._is_closing = "close" in headers.get("connection", "").lower() or scope.get("http_version") == "1.0"
        self._is_read = "content-length" not in headers and "transfer-encoding" not in headers

    async def receive(self) -> Message:
        """Return the next part.

        Raises
        ------
        BodyTooLargeError
        """
        message = await self._next()
        if self._n_bytes > self._max_bytes:
            raise BodyTooLargeError(self._message)
        return message

    def has_rest(self, *, is_closing: bool) -> bool:
        """Whether the connection is closed after the answer while a part of the body has not been read."""
        return (is_closing or self._is_closing) and not self._is_read

    async def discard_rest(self) -> None:
        """Read what has not been read, within limits.

        A connection that is closed while its client still sends is reset, and the client does not get the answer.
        """
        end = self._n_bytes + _MAX_REST_BODIES * self._max_bytes
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REST_S):
                while not self._is_read and self._n_bytes <= end:
                    await self._next()

    async def _next(self) -> Message:
        message = await self._receive()
        self._n_bytes += len(message.get("body", b""))
        self._is_read = message["type"] != "http.request" or not message.get("more_body", False)
        return message
