"""Connections of other machines: over TLS, or through a proxy; everything else is refused before the service starts."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from nearkin.errors import ParameterError, SourceError
from nearkin.paths import why
from nearkin.web.settings import Network, is_loopback

_ALL = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Connections of other machines: by TLS of the service itself, or of a proxy.

    Parameters
    ----------
    public_url : str or None
        None: the address that it listens on, with its port.
    tls_cert, tls_key : Path or None
        Certificate with its chain, and its key; None: the proxy encrypts.
    proxies : tuple of networks
    """

    public_url: str | None
    tls_cert: Path | None
    tls_key: Path | None
    proxies: tuple[Network, ...] = ()

    def url(self, host: str, port: int) -> str:
        """Return the address that browsers open."""
        if self.public_url is not None:
            return self.public_url
        name = f"[{host}]" if ":" in host else host
        return f"https://{name}" if port == 443 else f"https://{name}:{port}"


def exposure_of(
    host: str,
    *,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    behind_proxy: Sequence[str] = (),
    public_url: str | None = None,
) -> Exposure | None:
    """Return the way in which other machines reach the service; None if only this machine can connect.

    Parameters
    ----------
    host : str
        Address that the service listens on.
    tls_cert, tls_key : Path, optional
        PEM files.
    behind_proxy : sequence of str
        Addresses or networks of proxies.
    public_url : str, optional

    Raises
    ------
    ParameterError
        The connection would not be encrypted, or the options contradict one another.
    SourceError
        Certificate or key cannot be used, or others may read the key.
    """
    has_tls = tls_cert is not None or tls_key is not None
    if not has_tls and not behind_proxy:
        if not is_loopback(host):
            raise ParameterError(
                f"--host {host} lets other machines connect. That needs users (nearkin users COLLECTION add NAME "
                "--role ROLE), and --tls-cert with --tls-key, or --behind-proxy. If nobody else needs the service, use "
                "a tunnel, such as ssh -L."
            )
        if public_url is not None:
            raise ParameterError("--public-url needs --tls-cert with --tls-key, or --behind-proxy.")
        return None
    if has_tls and behind_proxy:
        raise ParameterError("Give --tls-cert with --tls-key, or --behind-proxy, which encrypts itself; not both.")
    url = None if public_url is None else _checked_url(public_url)
    if behind_proxy:
        if url is None:
            raise ParameterError("--behind-proxy needs --public-url, the address that browsers open.")
        return Exposure(public_url=url, tls_cert=None, tls_key=None, proxies=tuple(map(_network, behind_proxy)))
    if tls_cert is None or tls_key is None:
        raise ParameterError("--tls-cert and --tls-key need each other.")
    if url is None and host in _ALL:
        raise ParameterError(f"--host {host} needs --public-url, the address that browsers open.")
    _check_files(tls_cert, tls_key)
    return Exposure(public_url=url, tls_cert=tls_cert, tls_key=tls_key)


def _checked_url(given: str) -> str:
    """Return a public URL as browsers send it in Origin: in lower case, without the default port.

    >>> _checked_url("https://Review.example.org:443/")
    'https://review.example.org'
    """
    try:
        parts = urlsplit(given)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    is_bare = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    if parts.scheme != "https" or not host or not is_bare or not host.isascii():
        raise ParameterError(
            f"--public-url must be https://NAME or https://NAME:PORT, without a path. Got {given!r} instead."
        )
    name = f"[{host}]" if ":" in host else host
    return f"https://{name}" if port in (None, 443) else f"https://{name}:{port}"


def _network(given: str) -> Network:
    try:
        found = ipaddress.ip_network(given)
    except ValueError:
        found = None
    if found is None or found.prefixlen == 0:
        raise ParameterError(
            "--behind-proxy must be the address of the proxy, such as 127.0.0.1, or its network, such as 10.0.8.0/24. "
            f"Got {given!r} instead."
        )
    return found


def _check_files(cert: Path, key: Path) -> None:
    """Refuse a key that others may read, and files that TLS cannot use."""
    try:
        mode = key.stat().st_mode
    except OSError as error:
        raise SourceError(f"{key}: {why(error)}.") from error
    if mode & 0o027:  # its group may read it, as Debian's ssl-cert does
        raise SourceError(f"{key}: other users may read or change this key. Run: chmod 640 {key}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key, password=lambda: "")
    except ssl.SSLError as error:
        raise SourceError(
            f"{cert} and {key} must be a certificate and its key, in PEM form, and the key not encrypted."
        ) from error
    except OSError as error:
        raise SourceError(f"{cert}: {why(error)}.") from error
