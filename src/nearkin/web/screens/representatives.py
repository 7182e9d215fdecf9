"""Representatives: one document of each group, with the text that the others add, and the documents in no group."""

from __future__ import annotations

import msgspec
import pyarrow as pa
from sqlalchemy import Connection

from nearkin.collection.groups.current import stored_groups
from nearkin.collection.groups.representatives import n_texts_not_compared, representatives
from nearkin.collection.stored.documents import contents_of_current
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.reports.facts.queries import later_facts
from nearkin.web.jobs import JobProgress
from nearkin.web.queries import GroupingQuery, ListPage
from nearkin.web.screen import ChangeForm, Screen
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor

_A_PAGE, _MAX_ADDITIONS, _MAX_EXPORTED = 20, 5, 20_000
_MAX_NEW = 200
"""Maximum number of texts that a page or an export compares, which takes about a second; comparisons are stored."""
_ALL_GROUPS = 1 << 40


class RepresentativesQuery(GroupingQuery, kw_only=True):
    """A page of representatives."""

    page: int = 1


def list_representatives(service: ReviewService, asked: RepresentativesQuery) -> ScreenAnswer:
    """List representatives, those of the largest groups first."""
    opened, page = service.collection.opened, ListPage.asked(asked.page, _A_PAGE)
    with opened.store.reading() as connection:
        groups = stored_groups(connection, asked.tolerance, limit=_A_PAGE, offset=page.start)
    found = list(representatives(opened, asked.tolerance, [one.number for one in groups.groups], max_new=_MAX_NEW))
    n_alone = service.info.get().info.n_documents - groups.n_documents
    values = {
        "groups": groups,
        "found": found,
        "late": list(later_facts(groups.n_not_grouped, groups.n_decisions)) if groups.is_stored else [],
        "n_alone": n_alone,
        "n_additions": _MAX_ADDITIONS,
        "page": page.of(groups.n_groups),
        **_export(service, asked),
    }
    data = {
        "n_groups": groups.n_groups,
        "n_documents_in_no_group": n_alone,
        "page": page.number,
        "representatives": found,
    }
    return ScreenAnswer("representatives.html.j2", values, data)


def export_state(service: ReviewService, asked: GroupingQuery) -> ScreenAnswer:
    """Say whether the list can be exported; the part of the page that is replaced while texts are compared."""
    values = _export(service, asked)
    job = values["job_of_all"]
    data = {"n_not_compared": values["n_not_compared"], "job": None if job is None else msgspec.to_builtins(job)}
    return ScreenAnswer("representatives_export.html.j2", values, data)


def _export(service: ReviewService, asked: GroupingQuery) -> dict[str, object]:
    """Return the values for the part of the page about the export."""
    with service.collection.opened.store.reading() as connection:
        n_documents = stored_groups(connection, asked.tolerance, limit=1).n_documents
        n_left = _n_not_compared(service, connection, asked.tolerance) if n_documents <= _MAX_EXPORTED else 0
    return {
        "n_in_groups": n_documents,
        "max_exported": _MAX_EXPORTED,
        "n_not_compared": n_left,
        "is_ready": n_left <= _MAX_NEW,
        "job_of_all": service.jobs.latest("representatives", asked.measure, asked.tolerance.value),
    }


def _n_not_compared(service: ReviewService, connection: Connection, tolerance: Tolerance) -> int:
    return n_texts_not_compared(connection, service.collection.opened.store, tolerance)


def representatives_table(service: ReviewService, asked: RepresentativesQuery) -> pa.Table:
    """Return a row for each document to review: representatives, then the documents in no group."""
    opened = service.collection.opened
    with opened.store.reading() as connection:
        groups = stored_groups(connection, asked.tolerance, limit=_ALL_GROUPS)
        if not groups.is_stored:
            raise ParameterError(f"The groups {asked.tolerance.in_words()} are not computed yet.")
        if groups.n_documents > _MAX_EXPORTED:
            raise ParameterError(
                f"Representatives are exported for groups with up to {_MAX_EXPORTED:,} documents; these have "
                f"{groups.n_documents:,}. The export of the page Groups has all members with is_principal."
            )
        if (n_left := _n_not_compared(service, connection, asked.tolerance)) > _MAX_NEW:
            raise ParameterError(
                f"{counted(n_left, 'text')} of these groups are not compared with their principals yet, and an export "
                f"compares up to {_MAX_NEW}. Choose 'Compare all texts' on the page Representatives, and export when "
                "that is done."
            )
        numbers = [one.number for one in groups.groups]
        state = GroupState.known(connection, str(asked.tolerance))
        in_groups = set(state.membership.in_groups(numbers).contents.tolist())
        current = contents_of_current(connection)
        alone = [doc_id for doc_id, content in current.items() if content not in in_groups]
    ids, group, n_documents = list[str](), list[int | None](), list[int]()
    adds, lacks = list[str](), list[str]()
    for one in representatives(opened, asked.tolerance, numbers):
        ids.append(one.doc_id)
        group.append(one.group)
        n_documents.append(one.n_documents)
        adds.append("\n".join(added.in_words("adds") for added in one.additions))
        lacks.append("\n".join(lacked.in_words("lacks") for lacked in one.omissions))
    none = [""] * len(alone)
    return pa.table(
        {
            "doc_id": pa.array([*ids, *alone], pa.large_string()),
            "group": pa.array([*group, *[None] * len(alone)], pa.int64()),
            "n_documents": pa.array([*n_documents, *[1] * len(alone)], pa.int64()),
            "adds": pa.array([*adds, *none], pa.large_string()),
            "lacks": pa.array([*lacks, *none], pa.large_string()),
        }
    )


def compare_all(service: ReviewService, visitor: Visitor, body: GroupingQuery) -> GoTo:
    """Compare all texts with the principals of their groups, in the background if that takes long.

    Each comparison is stored, so a job that is begun again continues where an interrupted one ended.
    """
    opened, tolerance = service.collection.opened, body.tolerance

    def work(progress: JobProgress) -> str:
        with opened.store.reading() as connection:
            groups = stored_groups(connection, tolerance, limit=_ALL_GROUPS)
        if groups.n_documents > _MAX_EXPORTED:
            raise ParameterError(f"The groups have more than {_MAX_EXPORTED:,} documents.")
        found = representatives(opened, tolerance, [one.number for one in groups.groups], progress=progress)
        return f"{counted(sum(1 for _ in found), 'representative')} for {counted(groups.n_documents, 'document')}"

    service.jobs.run("representatives", work, by=visitor.name, measure=body.measure, value=tolerance.value)
    return GoTo("/representatives", {"measure": body.measure, "value": tolerance.value})


SCREENS = (
    Screen("/representatives", RepresentativesQuery, list_representatives, representatives_table),
    Screen("/representatives/export", GroupingQuery, export_state),
)
FORMS = (ChangeForm("/representatives/compare", GroupingQuery, compare_all),)
