"""Representatives: one document of each group, with what the others add, and the documents that are in no group."""

from __future__ import annotations

import pyarrow as pa
from sqlalchemy import select

from nearkin.collection.groups.current import stored_members
from nearkin.collection.groups.listed import stored_groups
from nearkin.collection.groups.representatives import representatives
from nearkin.errors import ParameterError
from nearkin.store.schema import documents
from nearkin.web.answers import ScreenAnswer
from nearkin.web.queries import GroupingQuery
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService

_A_PAGE, _MAX_ADDITIONS, _MAX_EXPORTED = 20, 5, 20_000
_MAX_NEW = 200
"""Texts that a page compares at most, which takes about a second; those of earlier pages are stored."""


class RepresentativesQuery(GroupingQuery, kw_only=True):
    """A page of representatives."""

    page: int = 1


def list_representatives(service: ReviewService, asked: RepresentativesQuery) -> ScreenAnswer:
    """List representatives, those of the largest groups first."""
    opened, page = service.collection.opened, max(1, min(asked.page, 1 << 40))
    with opened.store.reading() as connection:
        groups = stored_groups(connection, asked.tolerance, limit=_A_PAGE, offset=(page - 1) * _A_PAGE)
    found = representatives(opened, asked.tolerance, [one.number for one in groups.groups], max_new=_MAX_NEW)
    n_alone = service.info.get().info.n_documents - groups.n_documents
    values = {
        "asked": asked,
        "value": asked.tolerance.value,
        "groups": groups,
        "found": found,
        "n_alone": n_alone,
        "n_additions": _MAX_ADDITIONS,
        "page": page,
        "n_pages": -(-groups.n_groups // _A_PAGE),
    }
    data = {
        "n_groups": groups.n_groups,
        "n_documents_in_no_group": n_alone,
        "page": page,
        "representatives": [one.to_dict() for one in found],
    }
    return ScreenAnswer("representatives.html.j2", values, data)


def representatives_table(service: ReviewService, asked: RepresentativesQuery) -> pa.Table:
    """Return a row for each document to review: representatives, then the documents in no group."""
    opened = service.collection.opened
    with opened.store.reading() as connection:
        groups = stored_groups(connection, asked.tolerance, limit=1 << 40)
        ids = connection.execute(select(documents.c.doc_id).where(documents.c.is_current).order_by(documents.c.row))
        everything = list(ids.scalars())
    if groups.n_documents > _MAX_EXPORTED:
        raise ParameterError(
            f"Representatives are exported for groups with up to {_MAX_EXPORTED:,} documents; these have "
            f"{groups.n_documents:,}. The export of the page Groups has all members with is_principal."
        )
    found = representatives(opened, asked.tolerance, [one.number for one in groups.groups])
    in_groups = set(stored_members(opened, asked.tolerance)["doc_id"].to_pylist()) if found else set()
    alone = [doc_id for doc_id in everything if doc_id not in in_groups]
    return pa.table(
        {
            "doc_id": pa.array([*(one.doc_id for one in found), *alone], pa.large_string()),
            "group": pa.array([*(one.group for one in found), *[None] * len(alone)], pa.int64()),
            "n_documents": pa.array([*(one.n_documents for one in found), *[1] * len(alone)], pa.int64()),
            "adds": pa.array(
                [*("\n".join(added.in_words() for added in one.additions) for one in found), *[""] * len(alone)],
                pa.large_string(),
            ),
        }
    )


SCREENS = (Screen("/representatives", RepresentativesQuery, list_representatives, representatives_table),)
