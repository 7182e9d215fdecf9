"""``nearkin serve``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nearkin.cli.options.collection import Cache, Place, Wait
from nearkin.cli.options.decisions import By

HELP = """
Open the review screen of a collection in a browser, and serve its REST API.

Prints a link that works once and opens a session in the browser. Only this machine can connect. Ctrl-C stops the \
service.

[bold]Examples[/]

  nearkin serve matter

  nearkin serve matter --port 8000 --read-only
"""
_service = partial(typer.Option, rich_help_panel="The service")
Host = Annotated[str, _service("--host", help="Address to listen on: 127.0.0.1, localhost or ::1.")]
Port = Annotated[int, _service("--port", min=0, max=65_535, help="Port to listen on; 0 takes any free port.")]
TokenFile = Annotated[
    Path | None,
    _service(
        "--token-file",
        help="File with the token of scripts, at least 32 characters. [dim]default: a new token, printed[/]",
        show_default=False,
    ),
]
ReadOnlyService = Annotated[bool, _service("--read-only", help="Change nothing in the collection.")]


def serve(
    collection: Place,
    host: Host = "127.0.0.1",
    port: Port = 0,
    token_file: TokenFile = None,
    read_only: ReadOnlyService = False,
    by: By = None,
    cache: Cache = None,
    wait: Wait = None,
) -> None:
    """Serve a collection."""
    from nearkin.collection.collection import Collection
    from nearkin.errors import MissingExtraError

    try:
        from nearkin.web.serving import check_host
        from nearkin.web.serving import serve as serve_until_interrupted
        from nearkin.web.settings import ServiceSettings
        from nearkin.web.tokens import read_token
    except ImportError as error:
        raise MissingExtraError.of("nearkin serve", "web") from error
    check_host(host)
    token = None if token_file is None else read_token(token_file)
    with Collection.open(collection, cache=cache, wait=wait, read_only=read_only) as opened:
        serve_until_interrupted(opened, ServiceSettings(host=host, port=port), say=typer.echo, token=token, by=by)
