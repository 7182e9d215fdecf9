"""``nearkin serve`` and ``nearkin users``."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearkin.cli.answering import answer
from nearkin.errors import MissingExtraError, ParameterError
from nearkin.options.collection import COLLECTION, CacheOptions, PlaceOptions
from nearkin.options.declared import Same, argument, option
from nearkin.reports.facts.fact import Fact, Part, Table
from nearkin.wording import reveal_line

if TYPE_CHECKING:
    from nearkin.web.users.file import Users


HELP = """
Serve the review screen of a collection to a browser, and its REST API.

Prints a link that works once and opens a session in the browser. By default only this machine can connect. Ctrl-C \
stops the service.

For a team, add users (nearkin users) and put a proxy that encrypts in front (--behind-proxy), such as Caddy or \
nginx. Users then sign in with name and password.

Examples:

  nearkin serve matter

  nearkin serve matter --port 8000 --read-only

  nearkin serve matter --port 8000 --behind-proxy 127.0.0.1 --public-url https://review.example.org
"""
_WAIT_S = 30.0
"""Maximum time that a change waits for others to be stored."""
_service = partial(option, panel="The service")
_team = partial(option, panel="Other machines")


class ServeCommand(CacheOptions):
    """Options of the command."""

    collection: Same[str] = COLLECTION
    host: Same[str] = _service(
        "127.0.0.1", help="Address to listen on. Any but 127.0.0.1, localhost and ::1 needs --behind-proxy."
    )
    port: Same[int] = _service(0, maximum=65_535, help="Port to listen on; 0 chooses a free port.")
    token_file: Same[Path | None] = _service(
        kind=Path, excludes="behind_proxy",
        help="File with the token for scripts, of at least 32 characters; users have tokens of their own. "
        "[default: a new token, printed]",
    )  # fmt: skip
    read_only: Same[bool] = _service(False, help="Change nothing in the collection.")
    by: Same[str | None] = _service(
        excludes="behind_proxy", help="Name that the activity log records. [default: your user name]"
    )
    run: Same[Sequence[Path | str]] = _service(
        (), kind=list, metavar="DIRECTORY",
        help="Results of nearkin dedup, families, regroup or pairs to show as well: their reports, and pairs to accept "
        "or reject. Repeatable.",
    )  # fmt: skip
    behind_proxy: Same[Sequence[str]] = _team(
        (), kind=list, metavar="ADDRESS",
        help="Address or network of a proxy that encrypts. Its headers X-Forwarded-Proto and -For are trusted, and "
        "requests from other addresses are refused. Repeatable.",
    )  # fmt: skip
    public_url: Same[str | None] = _team(
        metavar="URL", help="With --behind-proxy: address that browsers open, such as https://review.example.org."
    )
    users_file: Same[Path | None] = _team(
        kind=Path, needs="behind_proxy", help="File of nearkin users. [default: as for nearkin users]"
    )


def serve(job: ServeCommand) -> None:
    """Serve a collection."""
    from nearkin.collection.collection import Collection

    try:
        from nearkin.web.client import read_token
        from nearkin.web.served_runs import ServedRuns
        from nearkin.web.serving import serve as serve_until_interrupted
        from nearkin.web.settings import settings_of
    except ImportError as error:
        raise MissingExtraError.of("nearkin serve", "web") from error
    settings = settings_of(job.host, job.port, behind_proxy=job.behind_proxy, public_url=job.public_url)
    runs = ServedRuns([Path(folder) for folder in job.run])
    token = None if job.token_file is None else read_token(job.token_file)
    gc.set_threshold(700, 10, 10)  # it runs for long; a short command looks for garbage less often
    gc.freeze()  # what imports made stays
    with Collection.open(job.collection, cache=job.cache, wait=_WAIT_S, read_only=job.read_only) as opened:
        serve_until_interrupted(
            opened,
            settings,
            say=click.echo,
            token=token,
            by=job.by,
            users_file=job.users_file,
            runs=runs,
        )


USERS_HELP = """
Manage the users of nearkin serve, who may sign in from other machines.

ACTION is list (the default), add, role, password, remove, token or revoke. A password has at least 12 characters; the \
terminal asks for it twice, and without a terminal it is the first line of standard input. Changes take effect at the \
next request.

Roles: a viewer reads. A reviewer also sets tags, decides on groups and checks documents in. An admin also sees the \
activity log and starts jobs.

A token lets a script do what its role allows, at most that of its user. It is printed once.

Examples:

  nearkin users matter add ada --role reviewer

  nearkin users matter password ada

  umask 077; nearkin users matter token ada --label nightly --role viewer > token

  nearkin users matter revoke ada --label nightly
"""
_ACTIONS = {
    "list": "", "add": "name role", "role": "name role", "password": "name", "remove": "name",
    "token": "name role label", "revoke": "name label",
}  # fmt: skip
"""Actions, and what each takes."""
_SPELT = {"name": "the NAME of a user", "role": "--role", "label": "--label"}
_user = partial(option, panel="The user")


class UsersCommand(PlaceOptions):
    """Options of the command."""

    action: Same[str] = argument("[ACTION]", "list", required=False, help=f"One of {', '.join(_ACTIONS)}.")
    name: Same[str | None] = argument("[NAME]", required=False, help="Name of a user.")
    role: Same[str | None] = _user(metavar="ROLE", help="viewer, reviewer or admin; with add, role and token.")
    label: Same[str | None] = _user(help="Name of a token; with token and revoke.")
    users_file: Same[Path | None] = option(
        metavar="FILE", kind=Path, panel="The collection",
        help="File of the users. [default: in $XDG_CONFIG_HOME/nearkin/users, else ~/.config/nearkin/users, named "
        "after the collection's id, in PostgreSQL also after host, port, database and schema]",
    )  # fmt: skip


def users(job: UsersCommand) -> None:
    """Manage users."""
    from nearkin.collection.collection import Collection

    try:
        from nearkin.web.users.file import change_users, read_users, usual_users_file
    except ImportError as error:
        raise MissingExtraError.of("nearkin users", "web") from error
    action, name, role, label = job.action, job.name, job.role, job.label
    _check(job)
    with Collection.open(job.collection, read_only=True) as opened:  # a wrong name must not make a file
        store = opened.opened.store
        path = job.users_file or usual_users_file(store.place, store.facts["collection"])
    if action == "token" and name is not None:
        from nearkin.web.users.file import checked_role, new_token, with_token

        token = new_token()
        change_users(path, lambda there: with_token(there, name, label or "", checked_role(role), token))
        click.echo(f"Token {label} of {name}, shown only now:", err=True)
        click.echo(token)
        return
    known_users = read_users(path) if name is None else _changed(path, action, name, role, label)
    summary = {"file": str(path), "users": [user.without_secrets() for user in known_users.users]}
    answer(job, summary, _view(known_users, path))


def _check(job: UsersCommand) -> None:
    if job.action not in _ACTIONS:
        raise ParameterError(f"ACTION must be one of {', '.join(_ACTIONS)}. Got {job.action!r} instead.")
    needed = _ACTIONS[job.action].split()
    if needed != [name for name in ("name", "role", "label") if vars(job)[name] is not None]:
        raise ParameterError(f"{job.action} takes {' and '.join(_SPELT[name] for name in needed) or 'no NAME'}.")


def _changed(path: Path, action: str, name: str, role: str | None, label: str | None) -> Users:
    from nearkin.web.users import file as records
    from nearkin.web.users.file import change_users, checked_name, read_users

    there = read_users(path)
    if action == "add":  # before a password is asked in vain
        records.check_free(there, checked_name(name))
    else:
        records.known(there, name)
    password = _password(name) if action in ("add", "password") else ""

    def change(users: Users) -> Users:
        match action:
            case "add":
                return records.added(users, name, records.checked_role(role), password)
            case "role":
                return records.with_role(users, name, records.checked_role(role))
            case "password":
                return records.with_password(users, name, password)
            case "revoke":
                return records.without_token(users, name, label or "")
            case _:
                return records.removed(users, name)

    return change_users(path, change)


def _password(name: str) -> str:
    """Return a new password: from a terminal, without showing it, or from standard input."""
    if sys.stdin is None:  # it was closed before Python started
        raise ParameterError("Standard input is closed, so no password can be read. Check how the command was started.")
    if sys.stdin.isatty():
        password: str = click.prompt(
            f"Password of {reveal_line(name)}", hide_input=True, confirmation_prompt="The same again", err=True
        )
        return password
    return sys.stdin.readline().rstrip("\r\n")


def _view(known_users: Users, path: Path) -> list[Part]:
    rows = [
        (user.name, user.role, ", ".join(f"{it.label} ({it.role}, {it.made_at[:10]})" for it in user.tokens))
        for user in known_users.users
    ]
    none = "There are no users. Add one: nearkin users COLLECTION add NAME --role ROLE"
    return [Table(("name", "role", "tokens"), rows, empty=none), Fact("file", str(path), tone="quiet")]
