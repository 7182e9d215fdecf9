"""Statuses of HTTP that belong to errors."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import PlainTextResponse, Response

from nearkin.errors import (
    CollectionBusyError,
    InputError,
    NearkinError,
    ParameterError,
    RefusedError,
    ReplacedCollectionError,
    UnavailableCollectionError,
    UnknownDocumentError,
)
from nearkin.message_pieces import AdviceKind

_STATUS: tuple[tuple[type[NearkinError], int], ...] = (
    (UnknownDocumentError, 404),
    (ParameterError, 400),
    (InputError, 422),
    (CollectionBusyError, 503),
    (ReplacedCollectionError, 503),
    (UnavailableCollectionError, 503),
)

OVER_HTTP: Mapping[AdviceKind, str] = {
    "read only": "",
    "command": "",
    "stop": "",
    "group": " GET /api/v1/groups lists the groups.",
    "groups": " POST /api/v1/groups computes them.",
    "undo": " One of them can be undone on the page of the log.",
}
"""Advice for scripts, in place of the advice to run a command; a script may not reach the machine of the service."""


def status_of(error: NearkinError) -> int:
    """Return the status of an error."""
    if isinstance(error, RefusedError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def refused(status: int, why: str) -> Response:
    """Return a refusal as plain text."""
    return PlainTextResponse(f"{why}\n", status)
