"""History of a document by version, and of a group by member; and the changes of the groups since a wave."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import msgspec
import pyarrow as pa

from nearkin.collection.dates import DATE_TAG
from nearkin.collection.decisions.deciding import members_of
from nearkin.collection.decisions.principals import overtaken_decisions
from nearkin.collection.groups.changes import GroupsSince, groups_since, known_waves
from nearkin.collection.history import MAX_COMPARED, group_time_line
from nearkin.collection.stored.documents import current_ids
from nearkin.collection.stored.group_state import stored_tolerances
from nearkin.errors import ParameterError
from nearkin.reports.facts.queries import change_words as group_change_words
from nearkin.reports.facts.queries import groups_since_facts, reason_words
from nearkin.reports.facts.stored import setting_words
from nearkin.web.queries import GroupingQuery, ListPage
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService, ScreenAnswer

_CHANGES_OF_A_PAGE = 100
_MEMBERS_OF_A_PAGE, _MAX_EXPORTED = 25, 500  # each is compared with the one before


class HistoryQuery(msgspec.Struct, kw_only=True):
    """A document."""

    id: str


def history(service: ReviewService, asked: HistoryQuery) -> ScreenAnswer:
    """Show all versions of a document, with the change that each made."""
    found = service.collection.history(asked.id)
    return ScreenAnswer("history.html.j2", {"found": found}, found)


class GroupHistoryQuery(GroupingQuery, kw_only=True):
    """A page of the members of a group in order of time, and the field of the tags that have their dates."""

    number: int
    page: int = 1
    date_tag: str = DATE_TAG


def group_history(service: ReviewService, asked: GroupHistoryQuery) -> ScreenAnswer:
    """Show the members of a group in order of time, each with its largest change from the previous member."""
    page = ListPage.asked(asked.page, _MEMBERS_OF_A_PAGE)
    found = group_time_line(
        service.collection.opened, asked.number, asked.tolerance,
        date_tag=asked.date_tag, limit=_MEMBERS_OF_A_PAGE, offset=page.start,
    )  # fmt: skip
    values = {
        "found": found,
        "page": page.of(found.n_documents),
        "max_exported": _MAX_EXPORTED,
        "max_compared": MAX_COMPARED,
    }
    return ScreenAnswer("group_history.html.j2", values, found.to_dict() | {"page": page.number})


def group_history_table(service: ReviewService, asked: GroupHistoryQuery) -> pa.Table:
    """Return a row for each member of a group, in order of time."""
    opened = service.collection.opened
    with opened.store.reading() as connection:
        n_documents = len(members_of(connection, asked.number, str(asked.tolerance)))
    if n_documents > _MAX_EXPORTED:
        raise ParameterError(
            f"The history is exported for groups with up to {_MAX_EXPORTED:,} documents; group {asked.number} has "
            f"{n_documents:,}. Its pages have all of them."
        )
    return group_time_line(opened, asked.number, asked.tolerance, date_tag=asked.date_tag, limit=_MAX_EXPORTED).table


class SinceQuery(GroupingQuery, kw_only=True):
    """A wave, by default the one before the last whose groups are known; and a page of the changes since."""

    wave: str | None = None
    show: Literal["groups", "documents"] = "groups"
    page: int = 1


def since(service: ReviewService, asked: SinceQuery) -> ScreenAnswer:
    """List the groups that are new, grew, merged or dissolved since a wave, or the documents to look at."""
    waves, wave = _waves(service, asked)
    with service.collection.opened.store.reading() as connection:
        others = [tuple(one.split(" ")) for one in stored_tolerances(connection) if one != str(asked.tolerance)]
    values: dict[str, object] = {"waves": waves, "wave": wave, "other_tolerances": others}
    if wave is None:
        return ScreenAnswer("since.html.j2", {**values, "found": None}, {"waves": waves})
    found, page = _since(service, asked, wave), ListPage.asked(asked.page, _CHANGES_OF_A_PAGE)
    start, is_of_groups = page.start, asked.show == "groups"
    n_rows = len(found.changes) if is_of_groups else len(found.documents)
    rows = [] if is_of_groups else _to_look_at(service, found, start)
    values |= {
        "found": found,
        "changes": found.changes[start : start + _CHANGES_OF_A_PAGE] if is_of_groups else (),
        "in_words": group_change_words,
        "rows": rows,
        "gone": {number for one in found.changes for number in (*one.merged, *[one.number] * one.is_dissolved)},
        "facts": list(groups_since_facts(found, len(found.changes))),
        "page": page.of(n_rows),
    }
    data = found.to_dict() | {"waves": waves, "page": page.number, "n_documents": len(found.documents)}
    return ScreenAnswer(
        "since.html.j2", values, data if is_of_groups else data | {"documents": list(map(asdict, rows))}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentToLookAt:
    """A document that changed in its group since a wave.

    Parameters
    ----------
    group, group_was
        None: in no group now, or then.
    change
        As in `GroupsSince.documents`.
    is_current
        Whether it is still stored: it may have been removed since the groups were updated, too.
    overtaken
        Its tags, and decisions on it, that were made for an earlier text.
    """

    doc_id: str
    version: int
    wave: str
    group: int | None
    group_was: int | None
    change: str
    is_current: bool
    reason: str
    overtaken: tuple[str, ...]


def _to_look_at(service: ReviewService, found: GroupsSince, start: int) -> list[DocumentToLookAt]:
    """Return a page of the documents with a change, each with the reason and the decisions on an earlier text."""
    rows = found.documents.slice(start, _CHANGES_OF_A_PAGE).to_pylist()
    new_groups = {one.number for one in found.changes if one.is_new}
    with service.collection.opened.store.reading() as connection:
        overtaken = overtaken_decisions(connection, [row["doc_id"] for row in rows])
        current = current_ids(connection, [row["doc_id"] for row in rows])
    return [
        DocumentToLookAt(
            **{name: row[name] for name in ("doc_id", "version", "wave", "group", "group_was", "change")},
            is_current=row["doc_id"] in current,
            reason=reason_words(row, new_groups),
            overtaken=tuple(map(setting_words, overtaken.get(row["doc_id"], ()))),
        )
        for row in rows
    ]


def since_table(service: ReviewService, asked: SinceQuery) -> pa.Table:
    """Return a row for each document with a change, with the decisions that were made for an earlier text of it."""
    _, wave = _waves(service, asked)
    if wave is None:
        raise ParameterError(f"The groups {asked.tolerance.in_words()} were not stored at the end of any wave.")
    table = _since(service, asked, wave).documents
    with service.collection.opened.store.reading() as connection:
        overtaken = overtaken_decisions(connection, table["doc_id"].to_pylist())
    told = ["; ".join(map(setting_words, overtaken.get(doc_id, ()))) for doc_id in table["doc_id"].to_pylist()]
    return table.append_column("overtaken", pa.array(told, pa.large_string()))


def _waves(service: ReviewService, asked: SinceQuery) -> tuple[list[str], str | None]:
    """Return the waves at whose end the groups are known, and the requested wave."""
    with service.collection.opened.store.reading() as connection:
        waves = known_waves(connection, asked.tolerance)
    return waves, asked.wave or (waves[max(0, len(waves) - 2)] if waves else None)


def _since(service: ReviewService, asked: SinceQuery, wave: str) -> GroupsSince:
    return groups_since(service.collection.opened, wave, asked.tolerance)


SCREENS = (
    Screen("/history", HistoryQuery, history),
    Screen("/group/history", GroupHistoryQuery, group_history, group_history_table),
    Screen("/since", SinceQuery, since, since_table),
)
