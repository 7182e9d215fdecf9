"""Operations on tags, searches, batches and the log."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from nearkin.collection.decisions.batches import MAX_SIZE, Batch, Kept, batches, hold, make_batches
from nearkin.collection.decisions.deciding import TagCount, tag
from nearkin.collection.decisions.log import Activity, ActivityResult, activities
from nearkin.collection.word_search.saved import SavedSearch
from nearkin.collection.word_search.searching import SearchResult, found_ids
from nearkin.errors import ParameterError
from nearkin.web.api.documents import Number, PageAsked
from nearkin.web.api.operation import JSONValues, Limit, NoParameters, answer_of, answer_type, operation
from nearkin.web.queries import GroupingQuery
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor

_MAX_IDS = 10_000
_TAG_VALUE = "The value that the documents get; null removes the field, and an empty string is a tag without a value."
_SEEN = (
    "Number of the last activity that the client knows, such as 'last_activity' of a document; the request is refused "
    "with 409 if a later one changed the field of a document that it would change."
)


def get_tags(service: ReviewService, _: Visitor, body: PageAsked, __: object) -> dict[str, object]:
    """Count the tags."""
    counts = service.collection.tags().counts
    return {"n_found": len(counts), "tags": counts[body.offset : body.offset + body.limit]}


class TagBody(GroupingQuery, kw_only=True, forbid_unknown_fields=True):
    """A tag, and the documents that get it: some ids, or all members of a group at a tolerance.

    ``tag_value`` is required: null removes the field, and an empty string is a bare tag. ``value`` is the limit of the
    measure at which the groups were formed. With ``max_changes`` a request that would change more is a dry run.
    """

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


def post_tags(service: ReviewService, visitor: Visitor, _: NoParameters, body: TagBody) -> ActivityResult:
    """Set or remove a tag, or say what this would change."""
    if body.value is not None and body.group is None:
        rule = "is the limit of the measure of a group, and needs 'group'. The value of the tag is 'tag_value'."
        raise ParameterError(rule, parameter="body.value")
    try:
        options = visitor.change(dry_run=body.dry_run, max_changes=body.max_changes, seen=body.seen)
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


class SearchAsked(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Words to search for."""

    q: Annotated[str, Meta(description='Words, "phrases", beginnings of words*, fields; AND, OR, NOT and parentheses.')]
    wave: str | None = None
    limit: Limit = 50


def get_search(service: ReviewService, _: Visitor, body: SearchAsked, __: object) -> SearchResult:
    """Find documents by their words."""
    return service.collection.search(body.q, wave=body.wave, limit=body.limit)


def get_searches(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> dict[str, object]:
    """List the saved searches."""
    return {"searches": service.collection.saved_searches()}


class SaveBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A query and its name; null forgets it."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    query: str | None
    dry_run: bool = False

    @property
    def changes(self) -> bool:
        """Whether it is to be saved."""
        return not self.dry_run


def post_searches(service: ReviewService, visitor: Visitor, _: NoParameters, body: SaveBody) -> ActivityResult:
    """Save a query under a name, or forget it."""
    return service.collection.save_search(body.name, body.query, by=visitor.name, dry_run=body.dry_run)


class LogAsked(PageAsked, kw_only=True, forbid_unknown_fields=True):
    """Activities: of a document, since a time, of a person, of a kind."""

    of: str | None = None
    since: Annotated[str, Meta(description="Date or time in ISO 8601.")] | None = None
    by: str | None = None
    kind: str | None = None


def get_log(service: ReviewService, _: Visitor, body: LogAsked, __: object) -> dict[str, object]:
    """List the activities, the newest first."""
    with service.collection.opened.store.reading() as connection:
        log = activities(connection, since=body.since, of=body.of, by=body.by, kind=body.kind)
    return {"n_found": len(log), "activities": log[::-1][body.offset : body.offset + body.limit]}


def get_batches(service: ReviewService, _: Visitor, body: PageAsked, __: object) -> dict[str, object]:
    """List the batches with their progress."""
    with service.collection.opened.store.reading() as connection:
        stored_batches = batches(connection)
    return {"n_found": len(stored_batches), "batches": stored_batches[body.offset : body.offset + body.limit]}


class BatchesBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Documents to put into batches: those of a search, or some ids."""

    name: Annotated[str, Meta(min_length=1, description="Field of the tag that the documents get.")]
    size: Annotated[int, Meta(ge=1, le=MAX_SIZE)]
    q: str | None = None
    ids: list[str] = msgspec.field(default_factory=list)
    keep: Annotated[list[Kept], Meta(description="What is never divided.")] = msgspec.field(default_factory=list)


def post_batches(service: ReviewService, visitor: Visitor, _: NoParameters, body: BatchesBody) -> ActivityResult:
    """Make batches."""
    store, ids = service.collection.opened.store, body.ids
    if (body.q is None) is not bool(ids):
        raise ParameterError("give either 'q' or 'ids'.", parameter="body")
    if body.q is not None:
        with store.reading() as connection:
            ids = found_ids(connection, body.q, wave=None)
    return make_batches(store, ids, body.name, body.size, keep=body.keep, options=visitor.change())


class HoldBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A batch by its tag, and whether it is checked out or in."""

    batch: Annotated[str, Meta(description="NAME=NUMBER.")]
    is_out: bool


def post_hold(service: ReviewService, visitor: Visitor, _: NoParameters, body: HoldBody) -> ActivityResult:
    """Check a batch out or in; 409 if somebody else holds it."""
    return hold(service.collection.opened.store, body.batch, is_out=body.is_out, options=visitor.change())


_TAGS = answer_of("TagsPage", n_found=int, tags=list[answer_type(TagCount)])  # type: ignore[misc]
_LOG = answer_of("LogPage", n_found=int, activities=list[answer_type(Activity, data=JSONValues)])  # type: ignore[misc]
_ACTIVITY = answer_type(ActivityResult, data=JSONValues)
_BATCHES = answer_of("BatchesPage", n_found=int, batches=list[answer_type(Batch, n_left=int)])  # type: ignore[misc]


OPERATIONS = (
    operation("GET", "/tags", get_tags, _TAGS),
    operation("POST", "/tags", post_tags, _ACTIVITY),
    operation("GET", "/search", get_search),
    operation("GET", "/searches", get_searches, answer_of("Searches", searches=list[answer_type(SavedSearch)])),  # type: ignore[misc]
    operation("POST", "/searches", post_searches, _ACTIVITY),
    operation("GET", "/log", get_log, _LOG),
    operation("GET", "/batches", get_batches, _BATCHES),
    operation("POST", "/batches", post_batches, _ACTIVITY),
    operation("POST", "/batches/hold", post_hold, _ACTIVITY),
)
