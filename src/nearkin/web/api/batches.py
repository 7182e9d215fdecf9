"""Operations on batches."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from nearkin.collection.decisions.batches import MAX_SIZE, Batch, Kept, batches, hold, make_batches
from nearkin.collection.decisions.log import ActivityResult, ChangeRequest
from nearkin.collection.word_search.searching import found_ids
from nearkin.errors import ParameterError
from nearkin.web.api.documents import PageAsked
from nearkin.web.api.operation import JSONValues, NoParameters, answer_of, answer_type, operation
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor


def get_batches(service: ReviewService, _: Visitor, asked: PageAsked, __: object) -> dict[str, object]:
    """List the batches with their progress."""
    with service.collection.opened.store.reading() as connection:
        found = batches(connection)
    return {"n_found": len(found), "batches": found[asked.offset : asked.offset + asked.limit]}


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
    return make_batches(store, ids, body.name, body.size, keep=body.keep, options=ChangeRequest(by=visitor.name))


class HoldBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A batch by its tag, and whether it is checked out or in."""

    batch: Annotated[str, Meta(description="NAME=NUMBER.")]
    is_out: bool


def post_hold(service: ReviewService, visitor: Visitor, _: NoParameters, body: HoldBody) -> ActivityResult:
    """Check a batch out or in; 409 if somebody else holds it."""
    options, may_take = ChangeRequest(by=visitor.name), visitor.may_resolve
    return hold(service.collection.opened.store, body.batch, is_out=body.is_out, may_take=may_take, options=options)


_ACTIVITY = answer_type(ActivityResult, data=JSONValues)
_BATCHES = answer_of("BatchesPage", n_found=int, batches=list[answer_type(Batch, n_left=int)])  # type: ignore[misc]


OPERATIONS = (
    operation("GET", "/batches", get_batches, _BATCHES),
    operation("POST", "/batches", post_batches, _ACTIVITY),
    operation("POST", "/batches/hold", post_hold, _ACTIVITY),
)
