"""Log: the decisions, with person and time."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.collection.decisions.log import activities
from nearkin.collection.decisions.records import (
    GROUP_NOTE,
    NEVER_GROUP,
    NOTE,
    OF_DOCUMENTS,
    PRINCIPAL,
    SAME_GROUP,
    SPLIT_OFF,
    Activity,
)
from nearkin.reports.sentences.changed_values import change_words, changed_documents, changed_names, log_in_words
from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService

_MAX_SHOWN, _MAX_VALUES, _MAX_DOCUMENTS = 200, 20, 3
KINDS = "tag", "untag", NEVER_GROUP, SPLIT_OFF, SAME_GROUP, PRINCIPAL, NOTE, GROUP_NOTE, "undo", *OF_DOCUMENTS
"""Kinds of activities."""


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
        "kinds": KINDS,
        "n_values": _MAX_VALUES,
        "changed_names": changed_names,
        "documents_of": lambda one: changed_documents(one, _MAX_DOCUMENTS),
        "n_documents": _MAX_DOCUMENTS,
        "change_words": change_words,
        "can_undo": lambda one: one.undone_by is None and one.kind not in OF_DOCUMENTS,
    }
    data = {"n_found": len(found), "activities": [one.to_dict() for one in shown]}
    return ScreenAnswer("log.html.j2", values, data)


def log_table(service: ReviewService, asked: LogQuery) -> pa.Table:
    """Return a row for each changed value."""
    return log_in_words(_found(service, asked))


def _found(service: ReviewService, asked: LogQuery) -> list[Activity]:
    with service.collection.opened.store.reading() as connection:
        return activities(connection, since=asked.since, of=asked.of, by=asked.by, kind=asked.kind)


SCREENS = (Screen("/log", LogQuery, log, log_table),)
