"""Webhook: another service is asked before a document is stored; its address comes only from the configuration."""

from __future__ import annotations

import http.client
import ipaddress
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from nearkin._version import __version__
from nearkin.errors import ParameterError, RefusedError
from nearkin.hidden_characters import reveal_line
from nearkin.web.addresses import plain_address
from nearkin.web.name_lookup import addresses_of

Failure = Literal["open", "closed"]
_REJECTED = frozenset((403, 409, 422))
_MAX_LISTED, _MAX_SAID = 10, 300
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""Addresses outside lead to a site's own network, or are translated to an IPv4 address inside of them."""


class _UnansweredError(Exception):
    """The webhook gave no answer, or an invalid one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInEvent:
    """Document that is about to be stored, as the webhook receives it: without its text.

    Parameters
    ----------
    doc_id, wave : str
    by : str
        Name of the visitor.
    verdict : str or None
        That of the check; None if the document is stored without one.
    similar : sequence of str
        Ids of similar documents, the most similar first.
    """

    doc_id: str
    wave: str
    by: str
    verdict: str | None = None
    similar: Sequence[str] = ()

    def body(self) -> bytes:
        """Return the event as JSON."""
        told = {
            "event": "check-in",
            "id": self.doc_id,
            "wave": self.wave,
            "by": self.by,
            "verdict": self.verdict,
            "similar": list(self.similar)[:_MAX_LISTED],
        }
        return json.dumps(told).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Service that is asked before a document is stored.

    Status 2xx accepts a document; 403, 409 and 422 reject it. Everything else is a failure, also a redirect, which is
    never followed.

    Parameters
    ----------
    url : str
        Address, https unless private addresses are allowed.
    failure : {"open", "closed"}
        Whether a document is stored if the webhook fails, or refused.
    allows_private : bool
        Whether the address may be one of this machine or of a private network.
    say : callable
        Receives failures.
    timeout_s : float
        Maximum time of the whole request, from the look-up of the name to the status of the answer.
    """

    url: str
    failure: Failure
    allows_private: bool = False
    say: Callable[[str], None] = print
    timeout_s: float = 3.0

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_address = bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            parts, is_address = urlsplit(""), False
        schemes = ("https", "http") if self.allows_private else ("https",)
        if parts.scheme not in schemes or not is_address or "@" in parts.netloc or not self.url.isascii():
            raise ParameterError(
                f"--webhook must be https://HOST/PATH, or with --webhook-private http://…. Got {self.url!r} instead."
            )

    def ask(self, event: CheckInEvent) -> None:
        """Ask whether a document may be stored.

        Raises
        ------
        RefusedError
            It may not, or the webhook failed and ``failure`` is "closed".
        """
        try:
            status = self._status(event.body())
            if status in _REJECTED:
                raise RefusedError(422, f"The webhook rejected the document, with status {status}. It was not stored.")
            if not 200 <= status < 300:
                raise _UnansweredError(f"it answered with status {status}")
        # UnicodeError: a label of the name has more than 63 characters
        except (OSError, UnicodeError, http.client.HTTPException, _UnansweredError) as error:
            self.say(f"The webhook failed: {reveal_line(str(error)[:_MAX_SAID])}.")  # some errors repeat the answer
            if self.failure == "closed":
                raise RefusedError(
                    503, "The webhook failed, so the document was not stored. The terminal of nearkin serve says why."
                ) from error

    def _status(self, body: bytes) -> int:
        """Send the event to an address that was checked, and return the status of the answer."""
        parts = urlsplit(self.url)
        host, is_encrypted = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if is_encrypted else 80)
        until = time.monotonic() + self.timeout_s
        opened = socket.create_connection((self._address(host, port), port), _left(until))
        if is_encrypted:
            context = ssl.create_default_context()
            opened = context.wrap_socket(opened, server_hostname=host, do_handshake_on_connect=False)
        # a peer that sends a byte now and then would never reach the time-out of the socket
        cut = threading.Timer(_left(until), _cut, [opened])
        cut.start()
        connection = http.client.HTTPConnection(host, port)
        connection.sock = opened
        try:
            if isinstance(opened, ssl.SSLSocket):
                opened.do_handshake()
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            own = f"nearkin/{__version__}"
            headers = {"host": parts.netloc, "content-type": "application/json", "user-agent": own}
            connection.request("POST", target, body, headers)
            return connection.getresponse().status
        finally:
            cut.cancel()
            connection.close()

    def _address(self, host: str, port: int) -> str:
        """Resolve the host once, and return the address to connect to; all of its addresses must be allowed."""
        found = addresses_of(host, port, within_s=self.timeout_s)
        for address in found:
            if not self.allows_private and not _is_public(address):
                raise _UnansweredError(f"{host} is {address}, an address that is not public; see --webhook-private")
        return found[0]


def _left(until: float) -> float:
    """Return the seconds until a moment; never 0, which would mean a socket that does not wait at all."""
    return max(0.001, until - time.monotonic())


def _cut(opened: socket.socket) -> None:
    """End a connection, whatever another thread waits for."""
    try:
        opened.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _is_public(address: str) -> bool:
    """Whether an address belongs to the public internet.

    >>> [_is_public(one) for one in ("93.184.216.34", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1")]
    [True, False, False, False, False]
    """
    found = plain_address(address)
    if isinstance(found, ipaddress.IPv6Address) and (found.sixtofour or found.teredo or found not in _GLOBAL_IPV6):
        return False  # the first two lead to an IPv4 address inside of them
    return found.is_global and not found.is_multicast
