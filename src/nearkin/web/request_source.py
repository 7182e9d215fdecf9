"""Host and sender of a request, also behind proxies."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Scope

from nearkin.errors import RefusedError
from nearkin.web.addresses import plain_address
from nearkin.web.settings import ServiceSettings


@dataclass(frozen=True, slots=True)
class RequestSource:
    """Host and sender of a request.

    Parameters
    ----------
    host : str
        In lower case; empty if the request named none, or several.
    address : str
        Address of the sender, for limits; "unknown" if the server does not know it.
    """

    host: str
    address: str


def source_of(scope: Scope, headers: Headers, settings: ServiceSettings) -> RequestSource:
    """Return host and sender of a request.

    The headers X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-For count only from proxies that the settings name,
    and then nothing is accepted from other addresses: it did not come over TLS.

    Raises
    ------
    RefusedError
        It came past the proxy, or the browser spoke to the proxy without encryption.
    """
    peer = str((scope.get("client") or ("unknown",))[0])
    if not settings.proxies:
        return RequestSource(_only(headers, "host"), peer)
    if not _is_proxy(peer, settings):
        raise RefusedError(403, "Requests come through the proxy. Open the public address of the service.")
    if _last(headers, "x-forwarded-proto").lower() != "https":
        raise RefusedError(
            403, "The proxy must encrypt the connection of the browser, and send the header X-Forwarded-Proto: https."
        )
    host = _only(headers, "x-forwarded-host" if "x-forwarded-host" in headers else "host")
    return RequestSource(host, _sender(headers, peer, settings))


def _sender(headers: Headers, peer: str, settings: ServiceSettings) -> str:
    """Return the last address of X-Forwarded-For that is not a proxy; earlier addresses may be forged."""
    sender = peer
    for address in reversed(_listed(headers, "x-forwarded-for")):
        try:
            sender = str(plain_address(address))
        except ValueError:
            return "unknown"
        if not _is_proxy(address, settings):
            return sender
    return sender


def _is_proxy(address: str, settings: ServiceSettings) -> bool:
    try:
        found = plain_address(address)
    except ValueError:
        return False
    return any(found in network for network in settings.proxies)


def _only(headers: Headers, name: str) -> str:
    values = headers.getlist(name)
    return values[0].strip().lower() if len(values) == 1 else ""


def _listed(headers: Headers, name: str) -> list[str]:
    return [one.strip() for value in headers.getlist(name) for one in value.split(",") if one.strip()]


def _last(headers: Headers, name: str) -> str:
    return next(reversed(_listed(headers, name)), "")
