"""Operations on searches, also saved ones."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from nearkin.collection.decisions.log import ActivityResult
from nearkin.collection.word_search.saved import SavedSearch
from nearkin.collection.word_search.searching import SearchResult
from nearkin.web.api.operation import JSONValues, Limit, NoParameters, answer_of, answer_type, operation
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor


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


OPERATIONS = (
    operation("GET", "/search", get_search),
    operation("GET", "/searches", get_searches, answer_of("Searches", searches=list[answer_type(SavedSearch)])),  # type: ignore[misc]
    operation("POST", "/searches", post_searches, answer_type(ActivityResult, data=JSONValues)),
)
