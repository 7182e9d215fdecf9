"""Settings of the service: where it listens, and the limits of a request."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

Network = IPv4Network | IPv6Network
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Settings of the service.

    Parameters
    ----------
    host : str
        Address that it listens on.
    port : int
    max_body_bytes : int
        Maximum size of the body of a request.
    request_s : float
        Maximum time of a request.
    n_threads : int
        Threads that query the collection.
    n_waiting : int
        Maximum number of requests that wait for a thread.
    session_s : int
        Time after which a session ends.
    idle_s : int
        Time without a request after which the session of a user ends.
    public_url : str, optional
        ``https://NAME`` or ``https://NAME:PORT``, which browsers of other machines open; None: only this machine can
        connect.
    proxies : tuple of networks
        Proxies whose X-Forwarded headers count; nothing is accepted from other addresses.
    max_per_client : int
        Maximum number of open connections of one address of another machine, which may be that of an office with many
        browsers, each with up to six; proxies may have any number.
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
    proxies: tuple[Network, ...] = ()
    max_per_client: int = 128

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
        return frozenset(f"{self.scheme}://{host}" for host in self.hosts)

    @property
    def address(self) -> str:
        """URL of the home page."""
        if self.public_url is not None:
            return self.public_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def scheme(self) -> str:
        """Scheme of the address that browsers open: encrypted, unless only this machine can connect."""
        return "http" if self.public_url is None else "https"

    @property
    def is_secure(self) -> bool:
        """Whether browsers may send cookies over encrypted connections only."""
        return self.public_url is not None

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


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host in _LOOPBACK
