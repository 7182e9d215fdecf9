"""Serving a collection: the socket, the printed link, and the loop until it is interrupted."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from nearkin.collection.check_in.candidates import Query
from nearkin.collection.collection import Collection
from nearkin.collection.decisions.log import checked_by
from nearkin.errors import OutputError, ParameterError
from nearkin.kernels import choosing
from nearkin.paths import why
from nearkin.web.app import application
from nearkin.web.served_runs import ServedRuns
from nearkin.web.service import NO_RUNS, ReviewService, Workers
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import SIGN_IN, SignIn
from nearkin.web.users.file import CurrentUsers, read_users, usual_users_file
from nearkin.web.users.sign_in import Sessions, UserSignIn

_BACKLOG = 128
_MAX_CONNECTIONS = 512
_IDLE_S = 8
"""Longer than common clients keep an idle connection (httpx: 5 s), so that they send no request into its end."""


def serve(
    collection: Collection,
    settings: ServiceSettings,
    *,
    say: Callable[[str], None],
    token: str | None = None,
    by: str | None = None,
    users_file: Path | None = None,
    runs: ServedRuns = NO_RUNS,
) -> None:
    """Serve a collection until the process is interrupted.

    Parameters
    ----------
    say
        Receives the one-time link as soon as connections are accepted, and another one whenever it was used.
    """
    if settings.is_behind_proxy:
        store = collection.opened.store
        users_file = users_file or usual_users_file(store.place, store.facts["collection"])
        check_users(users_file)
    choosing.ALWAYS = "compiled"  # loaded once, before somebody waits for them
    threading.Thread(target=Query.of, args=(collection.opened.counting, "some words"), daemon=True).start()
    with listening(settings.host, settings.port) as opened:
        bound = replace(settings, port=opened.getsockname()[1])
        workers = Workers(bound.n_threads, bound.n_waiting)
        service = ReviewService(collection, workers, runs=runs)
        if users_file is None:
            entry: SignIn | UserSignIn = _by_link(bound, say, token, by)
        else:
            entry = users_of(service, bound, users_file, say)
            say(f"Users sign in at {bound.address}{SIGN_IN}")
        with contextlib.suppress(KeyboardInterrupt):  # how it is stopped
            uvicorn.Server(server_config(application(service, bound, entry), bound)).run(sockets=[opened])


def server_config(app: ASGIApp, settings: ServiceSettings) -> uvicorn.Config:
    """Return the settings of the server library; only the proxy is believed who sent a request, and how."""
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        loop="asyncio",
        http="h11",
        ws="none",
        proxy_headers=settings.is_behind_proxy,
        forwarded_allow_ips=list(settings.proxies),
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=5,
    )


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
    """Refuse to be reached by other machines without users."""
    if not read_users(users_file).users:
        raise ParameterError(
            f"Other machines may connect only if there are users, and {users_file} has none. Run: nearkin users "
            "COLLECTION add NAME --role ROLE"
        )


def link_of(settings: ServiceSettings, link: str) -> str:
    """Return the address of a one-time link."""
    return f"{settings.address}{SIGN_IN}?link={link}"


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open a socket that accepts connections."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = why(error) if isinstance(error, OSError) else "there is no such port"
            raise OutputError(f"Cannot listen on {host}, port {port}: {reason}.") from error
        opened.listen(_BACKLOG)
        yield opened
