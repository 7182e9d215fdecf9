"""``nearkin check --server``: the file goes to a service that has the collection open."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from nearkin.collection.check_in.received import checked_of
from nearkin.collection.check_in.results import Checked, CheckOptions
from nearkin.errors import CollectionError, ParameterError, SourceError
from nearkin.paths import why
from nearkin.store.environment import service_token
from nearkin.web.client import checked_by, read_token


def check_by_server(
    server: str,
    token_file: Path | None,
    file: Path,
    encoding: str,
    *,
    options: CheckOptions,
    under: Mapping[str, object],
) -> Checked:
    """Let a service check a file.

    Parameters
    ----------
    server : str
        URL of the service.
    token_file : Path or None
        By default the token is that of the environment.
    file : Path
        "-" for standard input.
    encoding : str
    options : CheckOptions
    under : mapping of str to object
        Parameters ``store``, ``id``, ``wave`` and ``only_new`` of the API.

    Raises
    ------
    ParameterError
        There is no token.
    SourceError
        The file cannot be read.
    NearkinError
        The error that the service had.
    """
    token = service_token() if token_file is None else read_token(token_file)
    if not token:
        raise ParameterError("--server needs the token of the service: --token-file, or the variable NEARKIN_TOKEN.")
    name = os.fsencode(file).decode("utf-8", "replace")
    is_stored = bool(under["store"])
    query = {
        "threshold": options.threshold,
        "containment": options.containment,
        "parts": options.containment is not None,
        "measure": options.measure,
        "tolerance": options.tolerance,
        "limit": options.limit,
        "name": name,
        "encoding": encoding,
        **(under if is_stored else {}),
        **({"id": under["id"] or name} if is_stored else {}),
    }
    answer = checked_by(server, token, _content(file), query)
    try:
        return checked_of(answer, options)
    except (KeyError, TypeError) as error:
        raise CollectionError(f"The service at {server} runs another version of Nearkin than this command.") from error


def _content(file: Path) -> bytes:
    from nearkin.stages.documents.head import standard_input

    try:
        return standard_input(None).read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise SourceError(f"{file}: {why(error)}.") from error
