"""Operations on groups, waves, tags and the log, and jobs that update groups."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from nearkin.collection.decisions.deciding import TagCount, tag
from nearkin.collection.decisions.log import Activity, ActivityResult, ChangeRequest, activities
from nearkin.collection.groups.current import StoredGroups, stored_groups
from nearkin.collection.groups.members import GroupMembers, group_members
from nearkin.collection.info import Wave
from nearkin.collection.stored.group_state import GroupState
from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.web.api.operation import (
    JSONValues,
    Limit,
    NoParameters,
    Offset,
    OperationAnswer,
    answer_of,
    answer_type,
    operation,
)
from nearkin.web.jobs import Job
from nearkin.web.queries import GroupingQuery, GroupMeasure
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor

Number = Annotated[int, Meta(ge=1, le=2**31 - 1)]
_MAX_IDS = 10_000
_TAG_VALUE = "The value that the documents get; null removes the field, and an empty string is a tag without a value."


_SEEN = (
    "Number of the last activity that the client knows, such as 'last_activity' of a document; the request is refused "
    "with 409 if a later one changed the field of a document that it would change."
)


class ListedGroupsAsked(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A page of the groups at a tolerance."""

    limit: Limit = 50
    offset: Offset = 0


def get_groups(service: ReviewService, _: Visitor, asked: ListedGroupsAsked, __: object) -> dict[str, object]:
    """List the stored groups, the largest first."""
    tolerance = asked.tolerance
    with service.collection.opened.store.reading() as connection:
        found = stored_groups(connection, tolerance, limit=asked.limit, offset=asked.offset)
        n_pairs = GroupState.known(connection, str(tolerance)).n_not_compared
    return {**found.to_dict(), "expected_recall": tolerance.recall, "n_not_compared": n_pairs}


class GroupAsked(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A group at a tolerance."""

    number: Number
    limit: Limit = 200


def get_group(service: ReviewService, _: Visitor, asked: GroupAsked, __: object) -> GroupMembers:
    """Return a group with its members."""
    return group_members(service.collection.opened, asked.number, asked.tolerance, limit=asked.limit)


class UpdateAsked(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A tolerance."""


def update_groups(service: ReviewService, visitor: Visitor, asked: UpdateAsked, _: object) -> OperationAnswer:
    """Update the groups at a tolerance: begins a job and returns it."""
    return OperationAnswer(202, service.jobs.update_groups(asked.tolerance, by=visitor.name))


def get_jobs(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> dict[str, object]:
    """List the jobs, the newest first."""
    return {"jobs": service.jobs.listed()}


class JobAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A job."""

    number: Number


def get_job(service: ReviewService, _: Visitor, asked: JobAsked, __: object) -> Job:
    """Return a job with its progress."""
    found = service.jobs.find(asked.number)
    if found is None:
        raise UnknownDocumentError(f"There is no job {asked.number}. GET /api/v1/jobs lists the latest ones.")
    return found


def get_waves(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> dict[str, object]:
    """List the waves."""
    found = service.info.get().info
    return {"n_documents": found.n_documents, "waves": found.waves}


class PageAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A page of a list."""

    limit: Limit = 200
    offset: Offset = 0


def get_tags(service: ReviewService, _: Visitor, asked: PageAsked, __: object) -> dict[str, object]:
    """Count the tags."""
    found = service.collection.tags().counts
    return {"n_found": len(found), "tags": found[asked.offset : asked.offset + asked.limit]}


class TagBody(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A tag, and the documents that get it: some ids, or all members of a group at a tolerance.

    ``tag_value`` is required: null removes the field, and an empty string is a bare tag. ``value`` is the limit of the
    measure at which the groups were formed. With ``max_changes`` a request that would change more is a dry run.
    """

    measure: Annotated[
        GroupMeasure | msgspec.UnsetType, Meta(description="Measure of the groups; jaccard unless it is given.")
    ] = msgspec.UNSET  # type: ignore[assignment]  # whether it was given matters
    field: Annotated[str, Meta(min_length=1)]
    value_of_tag: Annotated[str | None, Meta(description=_TAG_VALUE)] = msgspec.field(name="tag_value")
    ids: Annotated[list[str], Meta(max_length=_MAX_IDS)] = msgspec.field(default_factory=list)
    group: Number | None = None
    dry_run: bool = False
    max_changes: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    seen: Annotated[int, Meta(ge=0, le=2**63 - 1, description=_SEEN)] | None = None

    @property
    def changes(self) -> bool:
        """Whether the tag is to be set."""
        return not self.dry_run

    @property
    def chosen_measure(self) -> GroupMeasure:
        """The measure, also if it was not given."""
        return self.measure or "jaccard"


def post_tags(service: ReviewService, visitor: Visitor, _: NoParameters, body: TagBody) -> ActivityResult:
    """Set or remove a tag, or say what this would change."""
    if body.value is not None and body.group is None:
        rule = "is the limit of the measure of a group, and needs 'group'. The value of the tag is 'tag_value'."
        raise ParameterError(rule, parameter="body.value")
    if body.measure is not msgspec.UNSET and body.group is None:
        raise ParameterError("is the measure of a group, and needs 'group'.", parameter="body.measure")
    try:
        options = ChangeRequest(by=visitor.name, dry_run=body.dry_run, max_changes=body.max_changes, seen=body.seen)
        return tag(
            service.collection.opened.store,
            body.ids,
            body.field,
            body.value_of_tag,
            group=body.group,
            tolerance=body.tolerance,
            options=options,
        )
    except ParameterError as error:
        error.parameter = "tag_value" if error.parameter == "value" else error.parameter
        raise


class LogAsked(PageAsked, kw_only=True, forbid_unknown_fields=True):
    """Activities: of a document, since a time, of a person, of a kind."""

    of: str | None = None
    since: Annotated[str, Meta(description="Date or time in ISO 8601.")] | None = None
    by: str | None = None
    kind: str | None = None


def get_log(service: ReviewService, _: Visitor, asked: LogAsked, __: object) -> dict[str, object]:
    """List the activities, the newest first."""
    with service.collection.opened.store.reading() as connection:
        found = activities(connection, since=asked.since, of=asked.of, by=asked.by, kind=asked.kind)
    return {"n_found": len(found), "activities": found[::-1][asked.offset : asked.offset + asked.limit]}


_GROUPS = answer_type(StoredGroups, expected_recall=float | None, n_not_compared=int)
_WAVES = answer_of("Waves", n_documents=int, waves=list[answer_type(Wave)])  # type: ignore[misc]
_TAGS = answer_of("TagsPage", n_found=int, tags=list[answer_type(TagCount)])  # type: ignore[misc]
_LOG = answer_of("LogPage", n_found=int, activities=list[answer_type(Activity, data=JSONValues)])  # type: ignore[misc]
OPERATIONS = (
    operation("GET", "/groups", get_groups, _GROUPS),
    operation("POST", "/groups", update_groups, Job, statuses=(202,)),
    operation("GET", "/groups/{number}", get_group, answer_type(GroupMembers, principal=str)),
    operation("GET", "/jobs", get_jobs, answer_of("Jobs", jobs=list[Job])),
    operation("GET", "/jobs/{number}", get_job),
    operation("GET", "/waves", get_waves, _WAVES),
    operation("GET", "/tags", get_tags, _TAGS),
    operation("POST", "/tags", post_tags, answer_type(ActivityResult, data=JSONValues)),
    operation("GET", "/log", get_log, _LOG),
)
