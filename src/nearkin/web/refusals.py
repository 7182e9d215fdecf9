"""Errors that belong to requests, with the statuses of all errors."""

from __future__ import annotations

from collections.abc import Mapping

from nearkin.errors import (
    CollectionBusyError,
    InputError,
    NearkinError,
    ParameterError,
    UnknownDocumentError,
)


class RefusedError(NearkinError):
    """A request is refused with a status of HTTP."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, dict(headers or {})


class BodyTooLargeError(RefusedError):
    """The body of a request exceeds the limit."""

    def __init__(self, message: str) -> None:
        super().__init__(413, message)


_STATUS: tuple[tuple[type[NearkinError], int], ...] = (
    (UnknownDocumentError, 404),
    (ParameterError, 400),
    (InputError, 422),
    (CollectionBusyError, 503),
)


def status_of(error: NearkinError) -> int:
    """Return the status of an error."""
    if isinstance(error, RefusedError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
