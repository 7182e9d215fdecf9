"""Search by words, and lists of documents by their metadata."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.collection.decisions.deciding import tags_of
from nearkin.collection.listing.lists import DocumentFilter, ListedDocuments, Sort, Which, asked_columns, listed
from nearkin.reports.facts.queries import later_facts
from nearkin.web.queries import GroupingQuery
from nearkin.web.screen import Screen
from nearkin.web.service import ReviewService, ScreenAnswer

_PAGE_SIZE, _MAX_SHOWN = 100, 2_000


class SearchQuery(msgspec.Struct, kw_only=True):
    """Words to search for."""

    q: str = ""
    wave: str | None = None


def search(service: ReviewService, asked: SearchQuery) -> ScreenAnswer:
    """Find documents by their words; a document with the query as its id is named first."""
    collection = service.collection
    if not asked.q.strip():
        return ScreenAnswer("search.html.j2", {"query": "", "found": None, "is_id": False}, {})
    found = collection.search(asked.q, wave=asked.wave)
    values = {
        "query": asked.q,
        "found": found,
        "is_id": collection.has_document(asked.q.strip()),
    }
    return ScreenAnswer("search.html.j2", values, found)


def search_table(service: ReviewService, asked: SearchQuery) -> pa.Table:
    """Return a row for each document found."""
    return service.collection.search(asked.q, wave=asked.wave, limit=None).table


class ListQuery(GroupingQuery, kw_only=True):
    """Conditions that listed documents meet."""

    wave: str | None = None
    id: str | None = None
    source: str | None = None
    which: Which = "current"
    since: str | None = None
    before: str | None = None
    has_copies: bool = False
    tag: str | None = None
    group: int | None = None
    sort: Sort = "id"
    limit: int = _PAGE_SIZE

    def wanted(self) -> DocumentFilter:
        """Return the conditions."""
        return DocumentFilter(
            wave=self.wave,
            doc_id=self.id,
            source=self.source,
            which=self.which,
            added_since=self.since,
            added_before=self.before,
            has_copies=self.has_copies,
            tag=self.tag,
            group=self.group,
            tolerance=self.tolerance if self.group is not None else None,
        )


def list_documents(service: ReviewService, asked: ListQuery) -> ScreenAnswer:
    """List documents."""
    limit = max(1, min(asked.limit, _MAX_SHOWN))
    with service.collection.opened.store.reading() as connection:
        found = listed(connection, asked.wanted(), asked.sort, limit)
        rows = found.table.to_pylist()
        tags = tags_of(connection, [row["doc_id"] for row in rows])
    values = {
        "found": found,
        "rows": rows,
        "tags": tags,
        "late": list(later_facts(found.n_not_grouped, found.n_decisions)),
        "more": min(_MAX_SHOWN, limit * 4) if found.is_truncated and limit < _MAX_SHOWN else None,
    }
    return ScreenAnswer("list.html.j2", values, found.to_dict() | {"tags": tags})


def list_table(service: ReviewService, asked: ListQuery) -> pa.Table:
    """Return a row for each document that meets the conditions."""
    wanted = asked.wanted()
    with service.collection.opened.store.reading() as connection:
        found: ListedDocuments = listed(connection, wanted, asked.sort, None)
    return found.table.select(asked_columns(wanted))


SCREENS = (
    Screen("/search", SearchQuery, search, search_table),
    Screen("/list", ListQuery, list_documents, list_table),
)
