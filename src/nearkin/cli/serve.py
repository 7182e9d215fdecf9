"""``nearkin serve``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nearkin.cli.options.collection import Cache, Place, Wait
from nearkin.cli.options.decisions import By

HELP = """
Serve the review screen of a collection to a browser, and its REST API.

Prints a link that works once and opens a session in the browser. By default only this machine can connect. Ctrl-C \
stops the service.

For a team, add users (nearkin users) and put a proxy that encrypts in front (--behind-proxy), such as Caddy or \
nginx. Users then sign in with name and password.

[bold]Examples[/]

  nearkin serve matter

  nearkin serve matter --port 8000 --read-only

  nearkin serve matter --port 8000 --behind-proxy 127.0.0.1 --public-url https://review.example.org
"""
_service = partial(typer.Option, rich_help_panel="The service")
Host = Annotated[
    str, _service("--host", help="Address to listen on. Any but 127.0.0.1, localhost and ::1 needs --behind-proxy.")
]
Port = Annotated[int, _service("--port", min=0, max=65_535, help="Port to listen on; 0 chooses a free port.")]
TokenFile = Annotated[
    Path | None,
    _service(
        "--token-file",
        help="File with the token for scripts, of at least 32 characters; users have tokens of their own. "
        "[dim]default: a new token, printed[/]",
        show_default=False,
    ),
]
_team = partial(typer.Option, rich_help_panel="Other machines", show_default=False)
BehindProxy = Annotated[
    list[str] | None,
    _team(
        "--behind-proxy",
        metavar="ADDRESS",
        help="Address or network of a proxy that encrypts. Its headers X-Forwarded-Proto and -For are trusted, and "
        "requests from other addresses are refused. Repeatable.",
    ),
]
PublicUrl = Annotated[
    str | None,
    _team(
        "--public-url",
        metavar="URL",
        help="With --behind-proxy: address that browsers open, such as https://review.example.org.",
    ),
]
ServedUsersFile = Annotated[
    Path | None,
    _team("--users-file", help="File of nearkin users. [dim]default: as for nearkin users[/]"),
]
Runs = Annotated[
    list[Path] | None,
    _service(
        "--run",
        metavar="DIRECTORY",
        help="Results of nearkin dedup, families, regroup or pairs to show as well: their reports, and pairs to accept "
        "or reject. Repeatable.",
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
    run: Runs = None,
    behind_proxy: BehindProxy = None,
    public_url: PublicUrl = None,
    users_file: ServedUsersFile = None,
    cache: Cache = None,
    wait: Wait = None,
) -> None:
    """Serve a collection."""
    from nearkin.collection.collection import Collection
    from nearkin.errors import MissingExtraError, ParameterError

    try:
        from nearkin.web.client import read_token
        from nearkin.web.served_runs import ServedRuns
        from nearkin.web.serving import serve as serve_until_interrupted
        from nearkin.web.settings import settings_of
    except ImportError as error:
        raise MissingExtraError.of("nearkin serve", "web") from error
    settings = settings_of(host, port, behind_proxy=behind_proxy or (), public_url=public_url)
    if settings.is_behind_proxy and (by is not None or token_file is not None):
        raise ParameterError(
            "--by and --token-file are for the service of this machine alone. Users have names and tokens of their own."
        )
    if users_file is not None and not settings.is_behind_proxy:
        raise ParameterError("--users-file needs --behind-proxy.")
    runs = ServedRuns(run or ())
    token = None if token_file is None else read_token(token_file)
    with Collection.open(collection, cache=cache, wait=wait, read_only=read_only) as opened:
        serve_until_interrupted(opened, settings, say=typer.echo, token=token, by=by, users_file=users_file, runs=runs)
