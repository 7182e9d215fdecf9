"""Settings of the service: where it listens, who can connect, and the limits of a request."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from nearkin.errors import ParameterError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Settings of the service.

    Parameters
    ----------
    public_url
        ``https://NAME`` or ``https://NAME:PORT``, which browsers open; None: only this machine can connect.
    proxies
        Addresses and networks of the proxy, whose X-Forwarded headers count; requests of others are refused.
    """

    host: str
    port: int
    max_body_bytes: int = 64 << 20
    request_s: float = 120.0
    n_threads: int = 8
    n_waiting: int = 64
    session_s: int = 12 * 60 * 60
    idle_s: int = 60 * 60
    public_url: str | None = None
    proxies: tuple[str, ...] = ()

    @property
    def is_behind_proxy(self) -> bool:
        """Whether requests come through a proxy that encrypts; otherwise only this machine can connect."""
        return self.public_url is not None

    @property
    def hosts(self) -> frozenset[str]:
        """Values of the Host header that are accepted; any other may be a name that an attacker has rebound."""
        if self.public_url is not None:
            host = urlsplit(self.public_url).netloc.lower()
            return frozenset([host, f"{host}:443"] if self._public_port == 443 else [host])
        names = [f"[{name}]" if ":" in name else name for name in _LOOPBACK]
        return frozenset([f"{name}:{self.port}" for name in names] + names * (self.port == 80))

    @property
    def origins(self) -> frozenset[str]:
        """Origins of the service's own pages."""
        scheme = "https" if self.is_behind_proxy else "http"
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    @property
    def address(self) -> str:
        """URL of the home page."""
        if self.public_url is not None:
            return self.public_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def cookie(self) -> str:
        """Name of the session's cookie: browsers send cookies to every port of a host."""
        return f"nearkin-{self.port}" if self.public_url is None else f"__Host-nearkin-{self._public_port}"

    @property
    def form_cookie(self) -> str:
        """Name of the cookie that belongs to the form of the sign-in."""
        return f"{self.cookie}-form"

    @property
    def _public_port(self) -> int:
        return urlsplit(self.public_url or "").port or 443


def settings_of(
    host: str = "127.0.0.1", port: int = 0, *, behind_proxy: Sequence[str] = (), public_url: str | None = None
) -> ServiceSettings:
    """Return the settings of a service: for this machine alone, or for everybody whom a proxy lets through."""
    if not behind_proxy:
        if not is_loopback(host):
            raise ParameterError(
                f"--host {host} lets other machines connect. That needs users (nearkin users COLLECTION add NAME "
                "--role ROLE), and a proxy that encrypts (--behind-proxy)."
            )
        if public_url is not None:
            raise ParameterError("--public-url needs --behind-proxy.")
        return ServiceSettings(host=host, port=port)
    if public_url is None:
        raise ParameterError("--behind-proxy needs --public-url, the address that browsers open.")
    proxies = tuple(map(_checked_proxy, behind_proxy))
    return ServiceSettings(host=host, port=port, public_url=_checked_url(public_url), proxies=proxies)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host in _LOOPBACK


def _checked_url(public_url: str) -> str:
    """Return a public URL as browsers send it in Origin: in lower case, without the default port."""
    try:
        parts = urlsplit(public_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    is_bare = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    if parts.scheme != "https" or not host or not is_bare or not host.isascii():
        raise ParameterError(
            f"--public-url must be https://NAME or https://NAME:PORT, without a path. Got {public_url!r} instead."
        )
    name = f"[{host}]" if ":" in host else host
    return f"https://{name}" if port in (None, 443) else f"https://{name}:{port}"


def _checked_proxy(proxy: str) -> str:
    try:
        is_everybody = ipaddress.ip_network(proxy).prefixlen == 0
    except ValueError:
        is_everybody = True
    if is_everybody:
        raise ParameterError(
            "--behind-proxy must be the address of the proxy, such as 127.0.0.1, or its network, such as 10.0.8.0/24. "
            f"Got {proxy!r} instead."
        )
    return proxy
