"""Home: what the collection holds, and where to begin."""

from __future__ import annotations

from nearkin.collection.groups.listed import StoredGroups, stored_groups, stored_tolerances
from nearkin.collection.tolerance import described
from nearkin.web.answers import ScreenAnswer
from nearkin.web.queries import GroupingQuery
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService

_MAX_SHOWN = 8
_SIZES = ((2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, None))
"""Smallest and largest number of documents of the groups that a bar counts."""


def home(service: ReviewService, asked: GroupingQuery) -> ScreenAnswer:
    """Count documents, groups, copies and tags."""
    opened = service.collection.opened
    found, tags = service.info.get(), service.collection.tags().counts
    counts = found.info
    with opened.store.reading() as connection:
        groups = stored_groups(connection, asked.tolerance, limit=_MAX_SHOWN)
        tolerances = stored_tolerances(connection)
    values = {
        "info": counts,
        "groups": groups,
        "tags": tags,
        "sizes": size_rows(groups),
        "n_exact_copies": counts.n_documents - found.n_current_texts,
        "other_tolerances": [described(one) for one in tolerances if one != str(asked.tolerance)],
        "asked": asked,
    }
    data = {
        "info": counts.to_dict(),
        "n_exact_copies": values["n_exact_copies"],
        "groups": groups.to_dict(),
        "tags": [{"field": one.field, "value": one.value, "n_documents": one.n_documents} for one in tags],
    }
    return ScreenAnswer("home.html.j2", values, data)


def size_rows(groups: StoredGroups) -> list[tuple[str, int, int]]:
    """Return the bars of a chart of sizes: a label, the number of groups, and the width in twentieths of the longest.

    Examples
    --------
    >>> from nearkin.collection.tolerance import Tolerance
    >>> found = StoredGroups(
    ...     tolerance=Tolerance.of(), groups=(), sizes=((2, 10), (5, 1), (30, 5)), n_not_grouped=0, is_stored=True
    ... )
    >>> size_rows(found)
    [('2', 10, 20), ('3', 0, 0), ('4–5', 1, 2), ('6–10', 0, 0), ('11–20', 0, 0), ('21 or more', 5, 10)]
    """
    rows = list[tuple[str, int]]()
    for low, high in _SIZES:
        n = sum(n for size, n in groups.sizes if size >= low and (high is None or size <= high))
        label = f"{low} or more" if high is None else str(low) if low == high else f"{low}–{high}"
        rows.append((label, n))
    longest = max([1, *(n for _, n in rows)])
    return [(label, n, -(-20 * n // longest)) for label, n in rows]


SCREENS = (Screen("/", GroupingQuery, home),)
