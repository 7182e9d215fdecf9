"""Serving a collection: the socket, the printed link, and the loop until it is interrupted."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from nearkin.collection.collection import Collection
from nearkin.collection.decisions.activity import checked_by
from nearkin.errors import NearkinError, OutputError, ParameterError
from nearkin.paths import why
from nearkin.web.app import application
from nearkin.web.connections import LimitedListener, TimedConnection
from nearkin.web.exposure import Exposure, exposure_of
from nearkin.web.screens import SCREENS
from nearkin.web.served_runs import ServedRuns
from nearkin.web.service import NO_RUNS, ReviewService
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import SIGN_IN, Authenticator, SignIn
from nearkin.web.users.file import CurrentUsers, has_users, read_users, usual_users_file
from nearkin.web.users.sessions import Sessions
from nearkin.web.users.sign_in import UserSignIn
from nearkin.web.webhook import Webhook
from nearkin.web.workers import Workers

_BACKLOG = 128
_MAX_CONNECTIONS = 512
_IDLE_S = 8
"""Longer than common clients keep an idle connection (httpx: 5 s), so that they send no request into its end."""
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Cipher suites of TLS 1.2, as RFC 9325 recommends; some versions of uvicorn would take those of TLS 1.0 instead."""


def serve(
    collection: Collection,
    settings: ServiceSettings,
    *,
    say: Callable[[str], None],
    token: str | None = None,
    by: str | None = None,
    exposure: Exposure | None = None,
    users_file: Path | None = None,
    webhook: Webhook | None = None,
    runs: ServedRuns = NO_RUNS,
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
    exposure : Exposure, optional
        How other machines connect; by default only this one can, with the link.
    users_file : Path, optional
        Users that other machines sign in as; by default the usual file of the collection.
    webhook : Webhook, optional
        It is asked before a document is stored.
    runs : ServedRuns, optional
        Finished runs that are shown, too.

    Raises
    ------
    ParameterError
        The host is not this machine and there is no `exposure`, or there are no users.
    CollectionError
        The users file cannot be used.
    OutputError
        The port cannot be opened.
    """
    if exposure is None:
        exposure_of(settings.host)  # refuses one that is not loopback
    else:
        opened_store = collection.opened.store
        users_file = users_file or usual_users_file(opened_store.place, opened_store.facts["collection"], say)
        check_users(users_file)
    is_team = exposure is not None
    proxies = () if exposure is None else exposure.proxies
    listener = partial(
        LimitedListener,
        max_per_client=settings.max_per_client if is_team else None,
        max_total=_MAX_CONNECTIONS,
        unlimited=proxies,
        say=say,
    )
    with listening(settings.host, settings.port, listener) as opened:
        port = opened.getsockname()[1]
        url = None if exposure is None else exposure.url(settings.host, port)
        bound = replace(settings, port=port, public_url=url, proxies=proxies)
        workers = Workers(bound.n_threads, bound.n_waiting)
        service = ReviewService(collection, workers, [one.path for one in SCREENS], webhook=webhook, runs=runs)
        if exposure is None or users_file is None:
            entry: Authenticator = _by_link(bound, say, token, by)
            say_unused_users(collection, say)
        else:
            entry = users_of(service, bound, users_file, say)
            say(f"Users sign in at {bound.address}{SIGN_IN}")
        config = _config(application(service, bound, entry), exposure)
        with contextlib.suppress(KeyboardInterrupt):  # how it is stopped
            uvicorn.Server(config).run(sockets=[opened])


def _config(app: ASGIApp, exposure: Exposure | None) -> uvicorn.Config:
    """Return the settings of the server library, loaded; with TLS, version 1.2 is the minimum on every system."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        loop="nearkin.web.connections:ReviewLoop",
        http=TimedConnection,
        proxy_headers=False,  # request_source.py reads them, from known proxies only
        ssl_certfile=None if exposure is None else exposure.tls_cert,
        ssl_keyfile=None if exposure is None else exposure.tls_key,
        ssl_ciphers=_CIPHERS,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=5,
        ws="none",
    )
    config.load()
    if config.ssl is not None:  # a Python of the system may take the minimum from the settings of OpenSSL
        config.ssl.minimum_version = max(config.ssl.minimum_version, ssl.TLSVersion.TLSv1_2)
    return config


def _by_link(settings: ServiceSettings, say: Callable[[str], None], token: str | None, by: str | None) -> SignIn:
    """Make the sign-in of this machine, and print its link."""
    entry = SignIn(
        checked_by(by),
        session_s=settings.session_s,
        token=token,
        say=lambda link: say(f"Link used. New link for another browser: {link_of(settings, link)}"),
    )
    say(f"Open this link, which works once: {link_of(settings, entry.link)}")
    if token is None:
        say(f"Token for scripts: {entry.token}")
    return entry


def say_unused_users(collection: Collection, say: Callable[[str], None]) -> None:
    """Say that the users of a collection count only in a service for other machines, if it has users."""
    store = collection.opened.store
    with contextlib.suppress(NearkinError, OSError):  # a file that cannot be used matters only to that service
        if has_users(store.place, store.facts["collection"]):
            say(
                "The users of this collection count only with --tls-cert and --tls-key, or with --behind-proxy. Here "
                "they cannot sign in, and their tokens are refused."
            )


def users_of(
    service: ReviewService, settings: ServiceSettings, users_file: Path, say: Callable[[str], None]
) -> UserSignIn:
    """Make the sign-in of other machines."""
    current = CurrentUsers(users_file, say)
    service.users = current.now
    return UserSignIn(
        current,
        Sessions(idle_s=settings.idle_s, session_s=settings.session_s),
        page=service.sign_in_page,
        styles=service.static.by_name["review.css"].content,
        say=say,
    )


def check_users(users_file: Path) -> None:
    """Refuse to be reached by other machines without users.

    Raises
    ------
    ParameterError
    CollectionError
        The users file cannot be used.
    """
    if not read_users(users_file).users:
        raise ParameterError(
            f"Other machines may connect only if there are users, and {users_file} has none. Run: nearkin users "
            "COLLECTION add NAME --role ROLE"
        )


def link_of(settings: ServiceSettings, link: str) -> str:
    """Return the address of a one-time link."""
    return f"{settings.address}{SIGN_IN}?link={link}"


@contextlib.contextmanager
def listening(
    host: str, port: int, listener: Callable[[int], socket.socket] = socket.socket
) -> Iterator[socket.socket]:
    """Open a socket that accepts connections.

    Parameters
    ----------
    host : str
    port : int
    listener : callable
        Makes a socket for streams of an address family.

    Raises
    ------
    OutputError
        The port is in use, or may not be opened.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with listener(family) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = why(error) if isinstance(error, OSError) else "there is no such port"
            raise OutputError(f"Cannot listen on {host}, port {port}: {reason}.") from error
        opened.listen(_BACKLOG)
        yield opened
