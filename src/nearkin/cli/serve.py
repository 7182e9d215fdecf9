"""``nearkin serve``."""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.options.collection import Cache, Place, Wait
from nearkin.cli.options.decisions import By

if TYPE_CHECKING:
    from nearkin.web.webhook import Webhook

HELP = """
Serve the review screen of a collection to a browser, and its REST API.

Prints a link that works once and opens a session in the browser. By default only this machine can connect. Ctrl-C \
stops the service.

For a team, add users (nearkin users) and encrypt: with --tls-cert and --tls-key, or with --behind-proxy. Users then \
sign in with name and password, from other machines too.

[bold]Examples[/]

  nearkin serve matter

  nearkin serve matter --port 8000 --read-only

  nearkin serve matter --host 0.0.0.0 --port 8443 --tls-cert cert.pem --tls-key key.pem \
--public-url https://review.example.org:8443

  nearkin serve matter --port 8000 --behind-proxy 127.0.0.1 --public-url https://review.example.org
"""
_OF_A_SERVICE = (700, 10, 10)
"""Thresholds for the search for garbage in a process that runs for long; a short command searches less often."""
_service = partial(typer.Option, rich_help_panel="The service")
Host = Annotated[
    str, _service("--host", help="Address to listen on. Any but 127.0.0.1, localhost and ::1 needs users and TLS.")
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
TlsCert = Annotated[Path | None, _team("--tls-cert", metavar="FILE", help="Certificate with its chain, in PEM form.")]
TlsKey = Annotated[
    Path | None,
    _team(
        "--tls-key",
        metavar="FILE",
        help="Private key of the certificate; other users must not be able to read the file.",
    ),
]
BehindProxy = Annotated[
    list[str] | None,
    _team(
        "--behind-proxy",
        metavar="ADDRESS",
        help="Address or network of a proxy that encrypts. Its headers X-Forwarded-Proto, -Host and -For are trusted, "
        "and requests from other addresses are refused. Repeatable.",
    ),
]
PublicUrl = Annotated[
    str | None,
    _team(
        "--public-url",
        metavar="URL",
        help="Address that browsers open, such as https://review.example.org. [dim]default: --host and --port[/]",
    ),
]
ServedUsersFile = Annotated[
    Path | None,
    _team("--users-file", help="File of nearkin users. [dim]default: as for nearkin users[/]"),
]
_hook = partial(typer.Option, rich_help_panel="Webhook", show_default=False)
WebhookUrl = Annotated[
    str | None,
    _hook(
        "--webhook",
        metavar="URL",
        help="Ask this https address before a document is stored: status 2xx accepts it; 403, 409 and 422 reject it. "
        "Needs --webhook-fail.",
    ),
]
WebhookFail = Annotated[
    str | None,
    _hook(
        "--webhook-fail",
        metavar="open|closed",
        help="If the webhook fails, or does not answer within 3 s: store the document (open), or refuse it (closed).",
    ),
]
WebhookPrivate = Annotated[
    bool,
    _hook("--webhook-private", help="Allow http, and addresses of this machine and of private networks."),
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
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    behind_proxy: BehindProxy = None,
    public_url: PublicUrl = None,
    users_file: ServedUsersFile = None,
    webhook: WebhookUrl = None,
    webhook_fail: WebhookFail = None,
    webhook_private: WebhookPrivate = False,
    cache: Cache = None,
    wait: Wait = None,
) -> None:
    """Serve a collection."""
    from nearkin.collection.collection import Collection
    from nearkin.errors import MissingExtraError

    try:
        from nearkin.web.exposure import exposure_of
        from nearkin.web.served_runs import ServedRuns
        from nearkin.web.serving import serve as serve_until_interrupted
        from nearkin.web.settings import ServiceSettings
        from nearkin.web.tokens import read_token
    except ImportError as error:
        raise MissingExtraError.of("nearkin serve", "web") from error
    exposure = exposure_of(
        host, tls_cert=tls_cert, tls_key=tls_key, behind_proxy=behind_proxy or (), public_url=public_url
    )
    _check_users(
        has_exposure=exposure is not None,
        has_users_file=users_file is not None,
        has_own=by is not None or token_file is not None,
    )
    hook = _webhook(webhook, webhook_fail, allows_private=webhook_private)
    runs = ServedRuns(run or ())
    token = None if token_file is None else read_token(token_file)
    gc.freeze()  # what was imported stays
    gc.set_threshold(*_OF_A_SERVICE)
    with Collection.open(collection, cache=cache, wait=wait, read_only=read_only) as opened:
        serve_until_interrupted(
            opened,
            ServiceSettings(host=host, port=port),
            say=typer.echo,
            token=token,
            by=by,
            exposure=exposure,
            users_file=users_file,
            webhook=hook,
            runs=runs,
        )


def _webhook(url: str | None, failure: str | None, *, allows_private: bool) -> Webhook | None:
    """Return the webhook."""
    from nearkin.errors import ParameterError
    from nearkin.web.webhook import Webhook

    if url is None:
        if failure is not None or allows_private:
            raise ParameterError("--webhook-fail and --webhook-private need --webhook.")
        return None
    match failure:
        case "open" | "closed":
            return Webhook(url=url, failure=failure, allows_private=allows_private, say=typer.echo)
    raise ParameterError(f"--webhook needs --webhook-fail, which must be open or closed. Got {failure!r} instead.")


def _check_users(*, has_exposure: bool, has_users_file: bool, has_own: bool) -> None:
    """Refuse options for a single user in a service for a team, and options for a team in a service of one machine."""
    from nearkin.errors import ParameterError

    if has_exposure and has_own:
        raise ParameterError(
            "--by and --token-file are for the service of this machine alone. Users have names and tokens of their own."
        )
    if has_users_file and not has_exposure:
        raise ParameterError("--users-file needs --tls-cert with --tls-key, or --behind-proxy.")
