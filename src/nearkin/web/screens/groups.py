"""Groups, their files and representatives; and the page of a group, whose members are compared one by one."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import zipfile
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from markupsafe import Markup
from sqlalchemy import Connection

from nearkin.collection.decisions.coding import layout_of
from nearkin.collection.decisions.principals import n_later_decisions, n_later_documents
from nearkin.collection.groups.current import ids_not_grouped, neighbours_of, stored_groups
from nearkin.collection.groups.members import (
    MAX_COMPARED,
    Group,
    compared_groups,
    group_members,
    stored_members,
    with_tags_now,
)
from nearkin.collection.groups.representatives import Representative, n_texts_not_compared, representatives
from nearkin.collection.measuring import ComparedDocuments, compare
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import columns, table_of
from nearkin.collection.stored.documents import contents_of_current, document
from nearkin.collection.stored.group_state import GroupState, stored_tolerances
from nearkin.collection.stored.word_sets import lengths_of
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import NearkinError, ParameterError
from nearkin.nouns import counted
from nearkin.reports.comparison import comparison_fragment
from nearkin.reports.facts.comparing import similarity_facts
from nearkin.reports.facts.fact import warning
from nearkin.reports.facts.queries import later_facts, tolerance_facts
from nearkin.tabular import as_json
from nearkin.web.jobs import JobProgress
from nearkin.web.later import NotYet, state_of_groups
from nearkin.web.queries import GroupingQuery, ListPage, OverlayQuery, SizesQuery
from nearkin.web.screen import ChangeForm, Screen, ScreenFile
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor
from nearkin.workflows.collection.overlays import write_group_overlay
from nearkin.workflows.collection.tables import write_table

PARAMETERS, LEFT_OUT = "parameters.json", "left-out.csv"
_SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of the files in an archive, so that the same groups give the same bytes."""


def members_table(service: ReviewService, query: SizesQuery) -> pa.Table:
    """Return a row for each member of the stored groups of the requested sizes."""
    members = stored_members(service.collection.opened, query.tolerance)
    numbers, sizes = np.unique(members["group"].to_numpy(), return_counts=True)
    most = len(members) if query.max_documents is None else query.max_documents
    wanted = numbers[(sizes >= query.min_documents) & (sizes <= most)]
    return members.filter(pa.array(np.isin(members["group"].to_numpy(), wanted)))


def overlay_archive(service: ReviewService, _: Visitor, query: OverlayQuery) -> bytes:
    """Return a ZIP archive of the overlay and of the parameters that made it.

    Documents that were added or changed since the groups were updated are left out, and listed in a file of their own.
    """
    members = stored_members(service.collection.opened, query.tolerance)
    with service.collection.opened.store.reading() as connection:
        late = set(ids_not_grouped(connection, query.tolerance))
    left_out = sorted(late.difference(members["doc_id"].to_pylist()))
    with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
        out = Path(folder, f"overlay.{query.format}")
        n_documents = write_group_overlay(service.collection, members, query.tool, out, left_out=left_out)
        files = {out.name: out.read_bytes()}
        if left_out:
            write_table(pa.table({"doc_id": left_out}), Path(folder, LEFT_OUT))
            files[LEFT_OUT] = Path(folder, LEFT_OUT).read_bytes()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        files[PARAMETERS] = _parameters(service, query, n_documents, len(left_out)).encode()
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _SAME_TIME), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _parameters(service: ReviewService, query: OverlayQuery, n_documents: int, n_left_out: int) -> str:
    with service.collection.opened.store.reading() as connection:
        stored = stored_groups(connection, query.tolerance, limit=1)
    parameters = {
        **service.parameters("/groups.zip", query),
        **as_json(query.tolerance),
        "n_groups": stored.n_groups,
        "n_documents_in_groups": stored.n_documents,
        "n_documents_added_since": stored.n_not_grouped,
        "n_decisions_since": stored.n_decisions,
        "n_documents_left_out": n_left_out,
        "n_documents": n_documents,
    }
    return json.dumps(parameters, ensure_ascii=False, indent=1) + "\n"


_A_PAGE = 50
TOOLS = {
    "relativity": "Relativity",
    "everlaw": "Everlaw",
    "reveal": "Reveal",
    "purview": "Purview",
    "plain": "another tool",
}
"""Review tools that get overlays, by the names of `workflows.overlay.TOOLS`."""
_COMPARING_S = 0.4
"""Time of a page for comparisons that are not stored yet; the others follow."""
_FOLLOWING_S = 1.5
_MAX_MEMBERS = 150
"""Members of a page, which make fewer than 3,000 elements."""


class GroupsQuery(SizesQuery, kw_only=True):
    """A page of groups at a tolerance."""

    page: int = 1


class GroupQuery(GroupingQuery, kw_only=True):
    """A group at a tolerance, and the member that is compared with its principal."""

    number: int
    member: str | None = None


def groups(service: ReviewService, query: GroupsQuery) -> ScreenAnswer:
    """List the stored groups, the largest first."""
    page = ListPage.asked(query.page, _A_PAGE)
    with service.collection.opened.store.reading() as connection:
        stored = stored_groups(
            connection, query.tolerance, limit=_A_PAGE, offset=page.start,
            min_documents=query.min_documents, max_documents=query.max_documents,
        )  # fmt: skip
        tolerances = stored_tolerances(connection)
        n_pairs = GroupState.known(connection, str(query.tolerance)).n_not_compared
    sizes = [(group.number, group.n_documents) for group in stored.groups]
    state, n_characters = state_and_length(service, query.tolerance, [number for number, _ in sizes])
    beside, not_yet = dict[int, Group](), None
    try:
        work = partial(compared_groups, tolerance=query.tolerance, sizes=tuple(sizes))
        beside = service.later.get(work, n_characters // 3, state)  # only their similarities
    except NotYet as later:
        not_yet = later
    facts = list(later_facts(stored.n_not_grouped, stored.n_decisions)) if stored.is_stored else []
    facts += tolerance_facts(query.tolerance, n_pairs) if stored.is_stored else []
    for_all = f"a page compares {MAX_COMPARED:,} documents; for all: nearkin groups COLLECTION"
    left = 0 if not_yet else len(stored.groups) - len(beside)
    facts += warning("groups without indirect members", left, f"{for_all} {query.tolerance.in_options()}")
    values = {
        "groups": stored,
        "compared": beside,
        "page": page.of(stored.n_groups),
        "tools": TOOLS,
        "facts": facts,
        "is_filtered": query.min_documents > 2 or query.max_documents is not None,
        "tolerances": [tuple(tolerance.split(" ")) for tolerance in tolerances],
    }
    listed = [
        asdict(entry)
        | {"proposed_principal": group and group.proposed_principal, "n_indirect": group and group.n_chained}
        for entry in stored.groups
        for group in [beside.get(entry.number)]
    ]
    data = {**stored.to_dict(), "groups": listed, "n_not_compared": n_pairs, "expected_recall": query.tolerance.recall}
    return ScreenAnswer("groups.html.j2", values, data, not_yet)


def one_group(service: ReviewService, group_query: GroupQuery) -> ScreenAnswer:
    """Show the members of a group, and one of them compared with the principal."""
    opened, tolerance = service.collection.opened, group_query.tolerance
    state, n_characters = state_and_length(service, tolerance, [group_query.number])
    work = partial(
        group_members, number=group_query.number, tolerance=tolerance, within_s=_COMPARING_S, limit=_MAX_MEMBERS
    )
    group = service.later.get(work, n_characters, state)
    with opened.store.reading() as connection:
        group = with_tags_now(connection, group)
        before, after = neighbours_of(connection, group_query.tolerance, group_query.number)
        state = GroupState.known(connection, str(group_query.tolerance))
        late = n_later_documents(connection, state), n_later_decisions(connection, state)
        keyed = quick_tags(connection)
    others = [group_member.document.doc_id for group_member in group.members if not group_member.is_principal]
    picked = group_query.member if group_query.member in others else next(iter(others), None)
    beside = None
    with contextlib.suppress(NotYet):
        beside = None if picked is None else _compared(service, group.principal.document.doc_id, picked)
    values = {
        "group": group,
        "before": before,
        "after": after,
        "late": list(later_facts(*late)),
        "picked": picked,
        "tag_counts": Counter(written_tag(*tag) for group_member in group.members for tag in group_member.tags.items()),
        "quick_tags": keyed,
        **({} if beside is None else beside.values),
    }
    return ScreenAnswer("group.html.j2", values, group)


class DifferencesQuery(GroupingQuery, kw_only=True):
    """A group at a tolerance, and `GroupMembers.n_shown` of the answer before this one."""

    number: int
    n_shown: int = 0


def differences(service: ReviewService, differences_query: DifferencesQuery) -> ScreenAnswer:
    """Compare more members of a group with the principal; the parts of the page that say what differs."""
    number, tolerance = differences_query.number, differences_query.tolerance
    state, n_characters = state_and_length(service, tolerance, [number])
    work = partial(
        group_members, number=number, tolerance=tolerance, within_s=_FOLLOWING_S,
        n_shown=max(0, differences_query.n_shown), limit=_MAX_MEMBERS,
    )  # fmt: skip
    group = service.later.get(work, n_characters, state)
    return ScreenAnswer("group_differences.html.j2", {"group": group}, group)


class MemberQuery(msgspec.Struct, kw_only=True):
    """Two documents of a group."""

    a: str
    b: str


def member(service: ReviewService, query: MemberQuery) -> ScreenAnswer:
    """Compare a member with the principal; the part of the page that changes with the member."""
    return _compared(service, query.a, query.b)


def _compared(service: ReviewService, principal: str, doc_id: str) -> ScreenAnswer:
    pair = compared(service, principal, doc_id)
    values = {
        "pair": pair,
        "facts": similarity_facts(pair),
        "fragment": Markup(comparison_fragment(pair.comparison)),  # it escapes the texts
    }
    return ScreenAnswer("group_member.html.j2", values, pair)


def compared(service: ReviewService, a: str, b: str, **options: Any) -> ComparedDocuments:
    """Compare two documents; see `Collection.compare`. All options can be hashed."""
    versions = options.get("version_a"), options.get("version_b")
    with service.collection.opened.store.reading() as connection:
        both = [document(connection, doc_id, version) for doc_id, version in zip((a, b), versions, strict=True)]
    n_characters = sum(side.n_characters for side in both)
    return service.later.get(partial(compare, a=a, b=b, **options), n_characters, tuple(both))


def state_and_length(service: ReviewService, tolerance: Tolerance, numbers: Sequence[int]) -> tuple[Hashable, int]:
    """Return what `state_of_groups` says, and a quarter of the size of some groups: most of it is not aligned."""
    with service.collection.opened.store.reading() as connection:
        texts = GroupState.known(connection, str(tolerance)).membership.in_groups(numbers).contents.tolist()
        return state_of_groups(connection), sum(lengths_of(connection, texts).values()) // 4


def quick_tags(connection: Connection) -> dict[int, str]:
    """Return the tags that the keys 1 to 9 of the coding panel set, by key."""
    return {int(key): tag for key, tag in layout_of(connection).tags_by_key().items() if key in "123456789"}


def written_tag(field: str, value: str) -> str:
    """Return a tag as it is entered.

    Examples
    --------
    >>> written_tag("responsive", "yes"), written_tag("privileged", "")
    ('responsive=yes', 'privileged')
    """
    return f"{field}={value}" if value else field


def update(service: ReviewService, visitor: Visitor, body: GroupingQuery) -> GoTo:
    """Update the groups at a tolerance."""
    if begin_update(service, body, by=visitor.name) is not None:
        return GoTo("/jobs")
    return GoTo("/groups", {"measure": body.measure, "value": body.tolerance.value})


def begin_update(service: ReviewService, query: GroupingQuery, *, by: str) -> int | None:
    """Update the groups; return the number of the job if it failed or takes long, None if it is done."""
    begun = service.jobs.update_groups(query.tolerance, by=by)
    with contextlib.suppress(NearkinError):  # the job has its message
        service.jobs.wait(begun.number)
    now = service.jobs.find(begun.number)
    return begun.number if now is None or now.state != "done" else None


_REPRESENTATIVES_A_PAGE, _MAX_ADDITIONS, _MAX_EXPORTED = 20, 5, 20_000
_MAX_NEW = 200
"""Maximum number of texts that a page or an export compares, which takes about a second; comparisons are stored."""
_ALL_GROUPS = 1 << 40


class RepresentativesQuery(GroupingQuery, kw_only=True):
    """A page of representatives."""

    page: int = 1


def list_representatives(service: ReviewService, criteria: RepresentativesQuery) -> ScreenAnswer:
    """List representatives, those of the largest groups first."""
    opened, page = service.collection.opened, ListPage.asked(criteria.page, _REPRESENTATIVES_A_PAGE)
    with opened.store.reading() as connection:
        groups = stored_groups(connection, criteria.tolerance, limit=_REPRESENTATIVES_A_PAGE, offset=page.start)
    numbers = [group.number for group in groups.groups]
    state, n_characters = state_and_length(service, criteria.tolerance, numbers)
    job = service.jobs.latest("representatives", criteria.measure, criteria.tolerance.value)
    not_yet = None
    try:
        work = partial(_representatives, tolerance=criteria.tolerance, numbers=tuple(numbers), max_new=_MAX_NEW)
        listed = service.later.get(work, n_characters, (state, job and (job.number, job.is_over)))
    except NotYet as later:
        not_yet, listed = later, _representatives(opened, criteria.tolerance, numbers, max_new=0)
    n_alone = service.info.get().info.n_documents - groups.n_documents
    values = {
        "groups": groups,
        "found": listed,
        "late": list(later_facts(groups.n_not_grouped, groups.n_decisions)) if groups.is_stored else [],
        "n_alone": n_alone,
        "n_additions": _MAX_ADDITIONS,
        "page": page.of(groups.n_groups),
        **_export(service, criteria),
    }
    data = {"n_groups": groups.n_groups, "n_documents_in_no_group": n_alone, "page": page.number}
    return ScreenAnswer("representatives.html.j2", values, data | {"representatives": listed}, not_yet)


def _representatives(
    opened: OpenedCollection, tolerance: Tolerance, numbers: Sequence[int], max_new: int
) -> list[Representative]:
    return list(representatives(opened, tolerance, numbers, max_new=max_new))


def export_state(service: ReviewService, query: GroupingQuery) -> ScreenAnswer:
    """Say whether the list can be exported; the part of the page that is replaced while texts are compared."""
    values = _export(service, query)
    data = {"n_not_compared": values["n_not_compared"], "job": values["job_of_all"]}
    return ScreenAnswer("representatives_export.html.j2", values, data)


def _export(service: ReviewService, query: GroupingQuery) -> dict[str, object]:
    with service.collection.opened.store.reading() as connection:
        n_documents = stored_groups(connection, query.tolerance, limit=1).n_documents
        store = service.collection.opened.store
        n_left = n_texts_not_compared(connection, store, query.tolerance) if n_documents <= _MAX_EXPORTED else 0
    return {
        "n_in_groups": n_documents,
        "max_exported": _MAX_EXPORTED,
        "n_not_compared": n_left,
        "is_ready": n_left <= _MAX_NEW,
        "job_of_all": service.jobs.latest("representatives", query.measure, query.tolerance.value),
    }


def representatives_table(service: ReviewService, query: RepresentativesQuery) -> pa.Table:
    """Return a row for each document to review: representatives, then the documents in no group."""
    opened = service.collection.opened
    with opened.store.reading() as connection:
        groups = stored_groups(connection, query.tolerance, limit=_ALL_GROUPS)
        if not groups.is_stored:
            raise ParameterError(f"The groups {query.tolerance.in_words()} are not computed yet.")
        if groups.n_documents > _MAX_EXPORTED:
            raise ParameterError(
                f"Representatives are exported for groups with up to {_MAX_EXPORTED:,} documents; these have "
                f"{groups.n_documents:,}. The export of the page Groups has all members with is_principal."
            )
        if (n_left := n_texts_not_compared(connection, opened.store, query.tolerance)) > _MAX_NEW:
            raise ParameterError(
                f"{counted(n_left, 'text')} of these groups are not compared with their principals yet, and an export "
                f"compares up to {_MAX_NEW}. Choose 'Compare all texts' on the page Representatives, and export when "
                "that is done."
            )
        numbers = [group.number for group in groups.groups]
        state = GroupState.known(connection, str(query.tolerance))
        in_groups = set(state.membership.in_groups(numbers).contents.tolist())
        current = contents_of_current(connection)
        alone = [doc_id for doc_id, content in current.items() if content not in in_groups]
    rows: list[dict[str, object]] = [
        {
            "doc_id": entry.doc_id, "group": entry.group, "n_documents": entry.n_documents,
            "adds": "\n".join(side.in_words("adds") for side in entry.additions),
            "lacks": "\n".join(side.in_words("lacks") for side in entry.omissions),
        }
        for entry in representatives(opened, query.tolerance, numbers)
    ]  # fmt: skip
    rows += [{"doc_id": doc_id, "n_documents": 1, "adds": "", "lacks": ""} for doc_id in alone]
    return table_of(rows, *columns("doc_id group n_documents adds lacks"))


def compare_all(service: ReviewService, visitor: Visitor, body: GroupingQuery) -> GoTo:
    """Compare all texts with the principals of their groups, in the background if that takes long."""
    opened, tolerance = service.collection.opened, body.tolerance

    def work(progress: JobProgress) -> str:
        with opened.store.reading() as connection:
            groups = stored_groups(connection, tolerance, limit=_ALL_GROUPS)
        if groups.n_documents > _MAX_EXPORTED:
            raise ParameterError(f"The groups have more than {_MAX_EXPORTED:,} documents.")
        entries = representatives(opened, tolerance, [group.number for group in groups.groups], progress=progress)
        return f"{counted(sum(1 for _ in entries), 'representative')} for {counted(groups.n_documents, 'document')}"

    service.jobs.run("representatives", work, by=visitor.name, of=tolerance)
    return GoTo("/representatives", {"measure": body.measure, "value": tolerance.value})


SCREENS = (
    Screen(
        "/groups",
        GroupsQuery,
        groups,
        members_table,
        files=(ScreenFile(".zip", "application/zip", overlay_archive, query=OverlayQuery),),
    ),
    Screen("/group", GroupQuery, one_group),
    Screen("/group/member", MemberQuery, member, is_part=True),
    Screen("/group/differences", DifferencesQuery, differences, is_part=True),
    Screen("/representatives", RepresentativesQuery, list_representatives, representatives_table),
    Screen("/representatives/export", GroupingQuery, export_state, is_part=True),
)
FORMS = (
    ChangeForm("/groups/update", GroupingQuery, update),
    ChangeForm("/representatives/compare", GroupingQuery, compare_all),
)
