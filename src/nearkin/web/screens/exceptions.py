"""Exceptions: added files that gave no text, or only a part of it, each with the reason."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.collection.listing.exceptions import REASONS, StoredExceptions, WhichExceptions
from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService

_MAX_SHOWN = 300


class ExceptionsQuery(msgspec.Struct, kw_only=True):
    """Exceptions of a wave, for a reason, of ids, with or without a part of the text."""

    wave: str | None = None
    reason: str | None = None
    id: str | None = None
    which: WhichExceptions = "all"


def exceptions(service: ReviewService, asked: ExceptionsQuery) -> ScreenAnswer:
    """List the exceptions, and count them by wave and reason."""
    found = _found(service, asked)
    values = {
        "asked": asked,
        "found": found,
        "rows": found.exceptions[:_MAX_SHOWN],
        "waves": [one.name for one in service.info.get().info.waves],
        "reasons": REASONS,
    }
    return ScreenAnswer("exceptions.html.j2", values, found.to_dict(_MAX_SHOWN))


def exceptions_table(service: ReviewService, asked: ExceptionsQuery) -> pa.Table:
    """Return a row for each exception."""
    return _found(service, asked).table


def _found(service: ReviewService, asked: ExceptionsQuery) -> StoredExceptions:
    return service.collection.exceptions(wave=asked.wave, reason=asked.reason, doc_id=asked.id, which=asked.which)


SCREENS = (Screen("/exceptions", ExceptionsQuery, exceptions, exceptions_table),)
