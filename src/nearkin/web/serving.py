"""Serving a collection: the socket, the printed link, and the loop until it is interrupted."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace

from nearkin.collection.collection import Collection
from nearkin.collection.decisions.activity import checked_by
from nearkin.errors import OutputError, ParameterError
from nearkin.paths import why
from nearkin.web.app import application
from nearkin.web.gate import SIGN_IN
from nearkin.web.screens import SCREENS
from nearkin.web.service import ReviewService
from nearkin.web.settings import ServiceSettings, is_loopback
from nearkin.web.sign_in import SignIn
from nearkin.web.workers import Workers

_BACKLOG = 128
_MAX_CONNECTIONS = 512


def serve(
    collection: Collection,
    settings: ServiceSettings,
    *,
    say: Callable[[str], None],
    token: str | None = None,
    by: str | None = None,
) -> None:
    """Serve a collection until the process is interrupted.

    Parameters
    ----------
    collection : Collection
        It stays open.
    settings : ServiceSettings
        Port 0 takes any free port.
    say : callable
        Receives the one-time link as soon as connections are accepted, and another one whenever it was used.
    token : str, optional
        Token of scripts.
    by : str, optional
        Name of the user in the activity log; by default that of the system's user.

    Raises
    ------
    ParameterError
        The host is not this machine.
    OutputError
        The port cannot be opened.
    """
    import uvicorn

    check_host(settings.host)
    with listening(settings.host, settings.port) as opened:
        bound = replace(settings, port=opened.getsockname()[1])
        entry = SignIn(
            checked_by(by),
            session_s=bound.session_s,
            token=token,
            say=lambda link: say(f"Link used. New link for another browser: {link_of(bound, link)}"),
        )
        service = ReviewService(collection, Workers(bound.n_threads, bound.n_waiting), [one.path for one in SCREENS])
        config = uvicorn.Config(
            application(service, bound, entry),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=5,
            ws="none",
        )
        say(f"Open this link, which works once: {link_of(bound, entry.link)}")
        if token is None:
            say(f"Token of scripts: {entry.token}")
        with contextlib.suppress(KeyboardInterrupt):  # how it is stopped
            uvicorn.Server(config).run(sockets=[opened])


def check_host(host: str) -> None:
    """Refuse an address that other machines can reach.

    Raises
    ------
    ParameterError
    """
    if not is_loopback(host):
        raise ParameterError(
            f"--host must be 127.0.0.1, localhost or ::1. Got {host!r} instead. Other machines cannot connect without "
            "users and TLS; use a tunnel, such as ssh -L."
        )


def link_of(settings: ServiceSettings, link: str) -> str:
    """Return the address of a one-time link."""
    return f"{settings.address}{SIGN_IN}?link={link}"


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open a socket that accepts connections.

    Raises
    ------
    OutputError
        The port is in use, or may not be opened.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = why(error) if isinstance(error, OSError) else "there is no such port"
            raise OutputError(f"Cannot listen on {host}, port {port}: {reason}.") from error
        opened.listen(_BACKLOG)
        yield opened
