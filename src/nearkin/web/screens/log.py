"""Log: who decided what, and when."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.collection.decisions.log import activities, table_of_log
from nearkin.collection.decisions.records import OF_DOCUMENTS, Activity
from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService

_MAX_SHOWN = 200


class LogQuery(msgspec.Struct, kw_only=True):
    """Activities: of a document, since a time, of a person, of a kind."""

    of: str | None = None
    since: str | None = None
    by: str | None = None
    kind: str | None = None


def log(service: ReviewService, asked: LogQuery) -> ScreenAnswer:
    """List the activities, the newest first."""
    found = _found(service, asked)
    shown = found[::-1][:_MAX_SHOWN]
    values = {
        "asked": asked,
        "activities": shown,
        "n_found": len(found),
        "can_undo": lambda one: one.undone_by is None and one.kind not in OF_DOCUMENTS,
    }
    data = {"n_found": len(found), "activities": [one.to_dict() for one in shown]}
    return ScreenAnswer("log.html.j2", values, data)


def log_table(service: ReviewService, asked: LogQuery) -> pa.Table:
    """Return a row for each changed value."""
    return table_of_log(_found(service, asked))


def _found(service: ReviewService, asked: LogQuery) -> list[Activity]:
    with service.collection.opened.store.reading() as connection:
        return activities(connection, since=asked.since, of=asked.of, by=asked.by, kind=asked.kind)


SCREENS = (Screen("/log", LogQuery, log, log_table),)
