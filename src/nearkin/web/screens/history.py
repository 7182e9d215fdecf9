"""History of a document, version by version; and what changed in the groups since a wave."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.collection.groups.since import GroupsSince, groups_since, known_waves
from nearkin.errors import ParameterError
from nearkin.reports.sentences.groups_since import change_words, groups_since_sentences
from nearkin.web.answers import ScreenAnswer
from nearkin.web.queries import GroupingQuery
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService

_MAX_SHOWN = 200


class HistoryQuery(msgspec.Struct, kw_only=True):
    """A document."""

    id: str


def history(service: ReviewService, asked: HistoryQuery) -> ScreenAnswer:
    """Show all versions of a document, with the change that each made."""
    found = service.collection.history(asked.id)
    return ScreenAnswer("history.html.j2", {"asked": asked, "found": found}, found.to_dict())


class SinceQuery(GroupingQuery, kw_only=True):
    """A wave; by default the one before the last whose groups are known."""

    wave: str | None = None


def since(service: ReviewService, asked: SinceQuery) -> ScreenAnswer:
    """List the groups that are new, grew, merged or dissolved since a wave."""
    waves, wave = _waves(service, asked)
    values = {"asked": asked, "value": asked.tolerance.value, "waves": waves, "wave": wave}
    if wave is None:
        return ScreenAnswer("since.html.j2", {**values, "found": None}, {"waves": waves})
    found = _since(service, asked, wave)
    values |= {
        "found": found,
        "changes": found.changes[:_MAX_SHOWN],
        "in_words": change_words,
        "sentences": list(groups_since_sentences(found, len(found.changes))),
    }
    return ScreenAnswer("since.html.j2", values, found.to_dict() | {"waves": waves})


def since_table(service: ReviewService, asked: SinceQuery) -> pa.Table:
    """Return a row for each document with a change."""
    _, wave = _waves(service, asked)
    if wave is None:
        raise ParameterError("The groups were not stored at the end of any wave.")
    return _since(service, asked, wave).documents


def _waves(service: ReviewService, asked: SinceQuery) -> tuple[list[str], str | None]:
    """Return the waves at whose end the groups are known, and the one that is asked for."""
    with service.collection.opened.store.reading() as connection:
        waves = known_waves(connection, asked.tolerance)
    return waves, asked.wave or (waves[max(0, len(waves) - 2)] if waves else None)


def _since(service: ReviewService, asked: SinceQuery, wave: str) -> GroupsSince:
    return groups_since(service.collection.opened, wave, asked.tolerance)


SCREENS = (Screen("/history", HistoryQuery, history), Screen("/since", SinceQuery, since, since_table))
