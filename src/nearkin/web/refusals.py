"""Statuses of HTTP that belong to errors."""

from __future__ import annotations

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

_STATUS: tuple[tuple[type[NearkinError], int], ...] = (
    (UnknownDocumentError, 404),
    (ParameterError, 400),
    (InputError, 422),
    (CollectionBusyError, 503),
    (ReplacedCollectionError, 503),
    (UnavailableCollectionError, 503),
)


def status_of(error: NearkinError) -> int:
    """Return the status of an error."""
    if isinstance(error, RefusedError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def refused(status: int, why: str) -> Response:
    """Return a refusal as plain text."""
    return PlainTextResponse(f"{why}\n", status)
