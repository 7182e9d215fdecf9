"""Settings of the service: where it listens, and the limits of a request."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    host: str
    port: int
    max_body_bytes: int = 64 << 20
    request_s: float = 120.0
    n_threads: int = 8
    n_waiting: int = 64
    session_s: int = 12 * 60 * 60

    @property
    def hosts(self) -> frozenset[str]:
        """Values of the Host header that are accepted; any other may be a name that an attacker has rebound."""
        names = [f"[{name}]" if ":" in name else name for name in _LOOPBACK]
        return frozenset([f"{name}:{self.port}" for name in names] + names * (self.port == 80))

    @property
    def origins(self) -> frozenset[str]:
        """Origins of the service's own pages."""
        return frozenset(f"http://{host}" for host in self.hosts)

    @property
    def address(self) -> str:
        """URL of the home page."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def cookie(self) -> str:
        """Name of the session's cookie: browsers send cookies to every port of a host."""
        return f"nearkin-{self.port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host in _LOOPBACK
