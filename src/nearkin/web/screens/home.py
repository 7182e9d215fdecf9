"""Home: the contents of the collection, and where to begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nearkin.collection.conflicts.by_group import conflicting_groups
from nearkin.collection.groups.current import StoredGroups, stored_groups
from nearkin.collection.stored.group_state import stored_tolerances
from nearkin.reports.facts.queries import later_facts
from nearkin.web.queries import GroupingQuery
from nearkin.web.screen import Screen
from nearkin.web.screens.administration import running_jobs
from nearkin.web.service import ReviewService, ScreenAnswer

_MAX_SHOWN, _MAX_FIELDS, _MAX_TAGS = 8, 5, 50
_SIZES = ((2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, None))
"""Smallest and largest number of documents of the groups that a bar counts."""


def home(service: ReviewService, asked: GroupingQuery) -> ScreenAnswer:
    """Count documents, groups, copies and tags."""
    opened = service.collection.opened
    found, tags = service.info.get(), service.collection.tags().counts
    counts = found.info
    with opened.store.reading() as connection:
        tolerances = stored_tolerances(connection)
        asked = _with_groups(asked, tolerances)
        groups = stored_groups(connection, asked.tolerance, limit=_MAX_SHOWN)
        conflicts = conflicting_groups(connection, asked.tolerance)
    values = {
        "info": counts,
        "groups": groups,
        "late": list(later_facts(groups.n_not_grouped, groups.n_decisions)) if groups.is_stored else [],
        "tags": sorted(tags, key=lambda one: -one.n_documents)[:_MAX_TAGS],
        "n_more_tags": max(0, len(tags) - _MAX_TAGS),
        "sizes": size_rows(groups),
        "n_with_same_text": found.n_with_same_text,
        "n_exceptions": found.n_exceptions,
        "conflicts": sorted(conflicts.items(), key=lambda one: -one[1])[:_MAX_FIELDS],
        "n_more_fields": max(0, len(conflicts) - _MAX_FIELDS),
        **running_jobs(service),
        "other_tolerances": [tuple(one.split(" ")) for one in tolerances if one != str(asked.tolerance)],
        "asked": asked,
    }
    data = {
        "info": counts.to_dict(),
        "n_with_same_text": found.n_with_same_text,
        "n_exceptions": found.n_exceptions,
        "conflicts": conflicts,
        "groups": groups.to_dict(),
        "tags": [{"field": one.field, "value": one.value, "n_documents": one.n_documents} for one in tags],
    }
    return ScreenAnswer("home.html.j2", values, data)


def _with_groups(asked: GroupingQuery, stored: Sequence[str]) -> GroupingQuery:
    if asked != GroupingQuery() or not stored or str(asked.tolerance) in stored:
        return asked
    measure, value = stored[0].split(" ")
    return GroupingQuery(measure="letters" if measure == "letters" else "jaccard", value=float(value))


@dataclass(frozen=True, slots=True)
class SizeRow:
    """Bar of the chart of sizes: groups with ``low`` to ``high`` documents; ``width`` in twentieths of the longest."""

    label: str
    n_groups: int
    width: int
    low: int
    high: int | None


def size_rows(groups: StoredGroups) -> list[SizeRow]:
    """Return the bars of a chart of sizes.

    Examples
    --------
    >>> from nearkin.collection.tolerance import Tolerance
    >>> from nearkin.collection.groups.current import SizeCount
    >>> sizes = SizeCount(2, 10), SizeCount(5, 1), SizeCount(30, 5)
    >>> found = StoredGroups(tolerance=Tolerance.of(), groups=(), sizes=sizes, n_not_grouped=0, is_stored=True)
    >>> [(one.label, one.n_groups, one.width) for one in size_rows(found)]
    [('2', 10, 20), ('3', 0, 0), ('4–5', 1, 2), ('6–10', 0, 0), ('11–20', 0, 0), ('21 or more', 5, 10)]
    """
    counts = [
        sum(
            one.n_groups for one in groups.sizes if low <= one.n_documents and (high is None or one.n_documents <= high)
        )
        for low, high in _SIZES
    ]
    longest = max(1, *counts)
    return [
        SizeRow(
            f"{low} or more" if high is None else str(low) if low == high else f"{low}–{high}",
            n,
            -(-20 * n // longest),
            low,
            high,
        )
        for n, (low, high) in zip(counts, _SIZES, strict=True)
    ]


SCREENS = (Screen("/", GroupingQuery, home),)
