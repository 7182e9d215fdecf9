"""Client of a running service: checks of a file, and tokens in files."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import msgspec

from nearkin import errors
from nearkin.collection.check_in.results import Checked, CheckOptions
from nearkin.errors import CollectionError, NearkinError, ParameterError, RefusedError, SourceError
from nearkin.paths import why
from nearkin.store.environment import service_token
from nearkin.web.settings import is_loopback

if TYPE_CHECKING:
    from nearkin.options.check import CheckCommand


_TIMEOUT_S, _MIN_TOKEN = 150.0, 32


def checked_by(server: str, token: str, content: bytes, query: Mapping[str, object]) -> Mapping[str, Any]:
    """Let a service check a file, and return its answer as JSON types."""
    connection = _connection(server)
    given = {key: str(value).lower() if isinstance(value, bool) else value for key, value in query.items()}
    path = "/api/v1/check?" + urlencode({key: value for key, value in given.items() if value is not None})
    headers = {"authorization": f"Bearer {token}", "content-type": "application/octet-stream"}
    try:
        connection.request("POST", path, content, headers)
        answer = connection.getresponse()
        status, body = answer.status, answer.read()
    except TimeoutError as error:
        raise CollectionError(
            f"The service at {server} did not answer within {_TIMEOUT_S:g} s. If the document was to be stored, check "
            "whether it is before you try again."
        ) from error
    except ssl.SSLError as error:  # its number is not one of the system's
        reason = getattr(error, "verify_message", "") or str(error.reason or error)
        raise CollectionError(f"The connection to {server} is not secure: {reason}.") from error
    except (OSError, http.client.HTTPException) as error:
        reason = why(error) if isinstance(error, OSError) else str(error)
        raise CollectionError(f"The service at {server} does not answer: {reason}. Start it: nearkin serve") from error
    finally:
        connection.close()
    try:
        reply = json.loads(body)
        if status == 200:
            return dict(reply)
        if status == 202:
            raise CollectionError(
                f"The service at {server} takes long; its job {reply['number']} says what becomes of the document: GET "
                f"/api/v1/jobs/{reply['number']}"
            )
        raise _kind(reply["error"])(str(reply["message"]))
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, NearkinError):
            raise
        raise CollectionError(f"{server} is not a Nearkin service: it answered with status {status}.") from error


def read_token(path: Path) -> str:
    """Return the token in a file, without surrounding white space."""
    try:
        mode, token = path.stat().st_mode, path.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        raise SourceError(f"{path}: a token has ASCII characters only.") from None
    except OSError as error:
        raise SourceError(f"{path}: {why(error)}.") from error
    if mode & 0o077:
        raise SourceError(f"{path}: other users may read this file. Run: chmod 600 {path}")
    if len(token) < _MIN_TOKEN or not token.isprintable() or " " in token:
        raise SourceError(f"{path}: a token has at least {_MIN_TOKEN} printable characters without spaces.")
    return token


def _connection(server: str) -> http.client.HTTPConnection:
    try:
        parts = urlsplit(server)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in ("http", "https") or not host or parts.path.strip("/") or parts.query or parts.username:
        raise ParameterError.of("server", "a URL such as http://127.0.0.1:8000", server)
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=ssl.create_default_context())
    if not is_loopback(host):
        raise ParameterError(
            f"--server must be https:// for another machine than this one: the token would be readable. Got {server!r}."
        )
    return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)


def _kind(name: object) -> type[NearkinError]:
    """Return the error that the service had; any other refusal is that of a collection that cannot be used."""
    kind = getattr(errors, str(name), None)
    if not isinstance(kind, type) or not issubclass(kind, NearkinError) or issubclass(kind, RefusedError):
        return CollectionError
    return kind


def check_by_server(job: CheckCommand, server: str, options: CheckOptions) -> Checked:
    """Let a service check a file."""
    token = service_token() if job.token_file is None else read_token(job.token_file)
    if not token:
        raise ParameterError("--server needs the token of the service: --token-file, or the variable NEARKIN_TOKEN.")
    name = os.fsencode(job.checked_file).decode("utf-8", "replace")
    storing = {"store": True, "id": job.doc_id or name, "wave": job.wave, "only_new": job.only_new}
    query = {
        "threshold": options.threshold,
        "containment": options.containment,
        "parts": options.containment is not None,
        "measure": options.measure,
        "tolerance": options.tolerance,
        "limit": options.limit,
        "name": name,
        "encoding": job.encoding,
        **(storing if job.store else {}),
    }
    answer = checked_by(server, token, _content(job.checked_file), query)
    try:
        return checked_of(answer, options)
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise CollectionError(f"The service at {server} runs another version of Nearkin than this command.") from error


def _content(file: Path) -> bytes:
    from nearkin.stages.documents.reader import standard_input

    try:
        return standard_input().read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise SourceError(f"{file}: {why(error)}.") from error


def checked_of(answer: Mapping[str, Any], options: CheckOptions) -> Checked:
    """Return the result whose `Checked.to_dict` is the answer."""
    documents = [{**row, "document": row} for row in answer["documents"]]
    return msgspec.convert({**answer, "documents": documents, "options": options}, Checked)
