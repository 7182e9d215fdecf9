"""The service of a team behind a real socket, as `serve` opens it, and clients that read and write bytes."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import uvicorn

from nearkin.web.connections import LimitedListener
from nearkin.web.exposure import Exposure
from nearkin.web.serving import _config, listening
from team_client import Team

PERSON = "127.0.0.1"


@contextlib.contextmanager
def team_server(team: Team, exposure: Exposure | None = None, **limits: Any) -> Iterator[tuple[str, int]]:
    """Serve as `serve` does; without the signals of the main thread."""
    with listening(PERSON, 0, partial(LimitedListener, say=team.said.append, **limits)) as opened:
        server = uvicorn.Server(_config(team.app, exposure))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            yield opened.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def connected(place: tuple[str, int], source: str = PERSON) -> socket.socket:
    """A client's connection."""
    return socket.create_connection(place, timeout=20, source_address=(source, 0))


def received(opened: socket.socket) -> bytes:
    """What comes until the other side closes the connection."""
    found = b""
    with contextlib.suppress(ConnectionResetError, ssl.SSLEOFError):
        while part := opened.recv(1 << 16):
            found += part
    return found
