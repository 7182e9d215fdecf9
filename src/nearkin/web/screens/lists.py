"""Home, search by words, lists of documents by their metadata, and threads of mails."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa

from nearkin.collection.conflicts.counts import conflicting_groups
from nearkin.collection.decisions.deciding import tags_of
from nearkin.collection.decisions.log import ChangeRequest, batch_names
from nearkin.collection.groups.current import stored_groups
from nearkin.collection.listing.lists import DocumentFilter, ListedDocuments, Sort, Which, asked_columns, listed
from nearkin.collection.stored.group_state import stored_tolerances
from nearkin.collection.word_search.saved import facets, save_search
from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.reports.facts.queries import later_facts
from nearkin.reports.figures import binned_sizes
from nearkin.web.current import MAX_DOCUMENTS
from nearkin.web.queries import GroupingQuery, ListPage
from nearkin.web.screen import ChangeForm, NoQuery, Screen
from nearkin.web.screens.administration import running_jobs
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor

_PAGE_SIZE = 150
"""Documents of a page, which make fewer than 3,000 elements, with three tags each."""


class SearchQuery(msgspec.Struct, kw_only=True):
    """Words to search for."""

    q: str = ""
    wave: str | None = None


def search(service: ReviewService, query: SearchQuery) -> ScreenAnswer:
    """Find documents by their words; a document with the query as its id is named first."""
    collection = service.collection
    if not query.q.strip():
        saved = collection.saved_searches()
        nothing = {"query": "", "found": None, "is_id": False, "saved": saved}
        return ScreenAnswer("search.html.j2", nothing, {"saved": saved})
    documents = collection.search(query.q, wave=query.wave)
    values = {
        "query": query.q,
        "found": documents,
        "is_id": collection.has_document(query.q.strip()),
    }
    return ScreenAnswer("search.html.j2", values, documents)


def search_table(service: ReviewService, query: SearchQuery) -> pa.Table:
    """Return a row for each document found."""
    return service.collection.search(query.q, wave=query.wave, limit=None).table


def search_facets(service: ReviewService, query: SearchQuery) -> ScreenAnswer:
    """Count what the found documents have in common; the part of the page that follows."""
    with service.collection.opened.store.reading() as connection:
        counts = facets(connection, query.q, wave=query.wave)
    return ScreenAnswer("facets.html.j2", {"found": counts}, counts)


class SaveSearchForm(msgspec.Struct, kw_only=True):
    """A query and its name, or with ``is_forgotten`` only the name."""

    name: str
    q: str = ""
    is_forgotten: bool = False


def save(service: ReviewService, visitor: Visitor, body: SaveSearchForm) -> GoTo:
    """Save a query, or forget one."""
    query = None if body.is_forgotten else body.q
    activity_result = save_search(service.collection.opened.store, body.name, query, ChangeRequest(by=visitor.name))
    return GoTo("/search", {} if activity_result.number is None else {"done": activity_result.number})


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
    page: int = 1

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


def list_documents(service: ReviewService, query: ListQuery) -> ScreenAnswer:
    """List documents."""
    page = ListPage.asked(query.page, _PAGE_SIZE)
    with service.collection.opened.store.reading() as connection:
        documents = listed(connection, query.wanted(), query.sort, _PAGE_SIZE, offset=page.start)
        rows = documents.table.to_pylist()
        tags = tags_of(connection, [row["doc_id"] for row in rows])
    values = {
        "found": documents,
        "rows": rows,
        "tags": tags,
        "late": list(later_facts(documents.n_not_grouped, documents.n_decisions)),
        "page": page.of(documents.n_found),
    }
    return ScreenAnswer("list.html.j2", values, documents.to_dict() | {"page": page.number, "tags": tags})


def list_table(service: ReviewService, query: ListQuery) -> pa.Table:
    """Return a row for each document that meets the conditions."""
    wanted = query.wanted()
    with service.collection.opened.store.reading() as connection:
        documents: ListedDocuments = listed(connection, wanted, query.sort, None)
    return documents.table.select(asked_columns(wanted))


_N_GROUPS, _MAX_FIELDS, _MAX_TAGS = 8, 5, 50
_SIZES = ((2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, None))
"""Smallest and largest number of documents of the groups that a bar counts."""


def home(service: ReviewService, query: GroupingQuery) -> ScreenAnswer:
    """Count documents, groups, copies and tags."""
    opened = service.collection.opened
    info, tags = service.info.get(), service.collection.tags().counts
    counts = info.info
    with opened.store.reading() as connection:
        tolerances = stored_tolerances(connection)
        query = _with_groups(query, tolerances)
        groups = stored_groups(connection, query.tolerance, limit=_N_GROUPS)
        conflicts = conflicting_groups(connection, query.tolerance)
        in_batches = batch_names(connection)
    tags = tuple(tag for tag in tags if tag.field not in in_batches)
    sizes = {size.n_documents: size.n_groups for size in groups.sizes}
    values = {
        "info": counts,
        "groups": groups,
        "late": list(later_facts(groups.n_not_grouped, groups.n_decisions)) if groups.is_stored else [],
        "tags": sorted(tags, key=lambda count: -count.n_documents)[:_MAX_TAGS],
        "n_more_tags": max(0, len(tags) - _MAX_TAGS),
        "sizes": binned_sizes([*sizes], [*sizes.values()], _SIZES),
        "n_with_same_text": info.n_with_same_text,
        "n_exceptions": info.n_exceptions,
        "conflicts": sorted(conflicts.items(), key=lambda count: -count[1])[:_MAX_FIELDS],
        "n_more_fields": max(0, len(conflicts) - _MAX_FIELDS),
        **running_jobs(service),
        "other_tolerances": [
            tuple(tolerance.split(" ")) for tolerance in tolerances if tolerance != str(query.tolerance)
        ],
        "asked": query,
    }
    data = {
        "info": counts,
        "n_with_same_text": info.n_with_same_text,
        "n_exceptions": info.n_exceptions,
        "conflicts": conflicts,
        "groups": groups,
        "tags": [{"field": tag.field, "value": tag.value, "n_documents": tag.n_documents} for tag in tags],
    }
    return ScreenAnswer("home.html.j2", values, data)


def _with_groups(query: GroupingQuery, stored: Sequence[str]) -> GroupingQuery:
    if query != GroupingQuery() or not stored or str(query.tolerance) in stored:
        return query
    measure, value = stored[0].split(" ")
    return GroupingQuery(measure="letters" if measure == "letters" else "jaccard", value=float(value))


_THREADS_A_PAGE, _MAX_ROWS = 50, 1_000


class ThreadsQuery(msgspec.Struct, kw_only=True):
    """A page of threads, and whether only inclusive mails are shown and exported."""

    page: int = 1
    inclusive: bool = False


class ThreadQuery(msgspec.Struct, kw_only=True):
    """A thread by its number, or that of a document."""

    number: int | None = None
    id: str | None = None
    inclusive: bool = False


def threads(service: ReviewService, query: ThreadsQuery) -> ScreenAnswer:
    """List the threads, the largest first."""
    threads_found, stored = service.threads.found, service.threads.stored()
    page = ListPage.asked(query.page, _THREADS_A_PAGE)
    cards = [] if threads_found is None else threads_found.cards(page.start, _THREADS_A_PAGE)
    values = {
        "found": threads_found,
        "stored": stored,
        "is_outdated": threads_found is not None and threads_found.mails != stored,
        "can_compute": stored.n_documents <= MAX_DOCUMENTS,
        "max_documents": MAX_DOCUMENTS,
        "cards": cards,
        "page": page.of(0 if threads_found is None else threads_found.n_threads),
    }
    data = {
        "is_computed": threads_found is not None,
        "is_outdated": values["is_outdated"],
        "n_mails_stored": stored.n_mails,
        "n_threads": 0 if threads_found is None else threads_found.n_threads,
        "threads": cards,
    }
    return ScreenAnswer("threads_of_mails.html.j2", values, data)


def threads_table(service: ReviewService, query: ThreadsQuery) -> pa.Table:
    """Return a row for each mail and each missing mail, or for each inclusive mail."""
    if (threads_found := service.threads.found) is None:
        raise ParameterError("The threads are not computed yet. Open the page Threads to compute them.")
    return threads_found.inclusive if query.inclusive else threads_found.table


def thread(service: ReviewService, query: ThreadQuery) -> ScreenAnswer:
    """Show the tree of a thread, or, before the threads are computed, the page on which to compute them."""
    if (threads_found := service.threads.found) is None:
        return threads(service, ThreadsQuery(inclusive=query.inclusive))
    number = query.number if query.id is None else threads_found.number_of(query.id)
    card = None if number is None else threads_found.card(number, _MAX_ROWS)
    if card is None:
        what = f"There is no thread {number}." if query.id is None else "The document is in no thread."
        raise UnknownDocumentError(f"{what} The page Threads lists all of them.")
    before, after = threads_found.neighbours(card.number)
    rows = [row for row in card.rows if row.reason or not query.inclusive]
    values = {"card": card, "rows": rows, "before": before, "after": after}
    return ScreenAnswer("thread.html.j2", values, card)


def update(service: ReviewService, visitor: Visitor, _: NoQuery) -> GoTo:
    """Compute the threads, in the background if that takes long."""
    job = service.jobs.run("threads", service.threads.compute, by=visitor.name)
    return GoTo("/threads" if job.is_over else "/jobs")


SCREENS = (
    Screen("/search", SearchQuery, search, search_table),
    Screen("/search/facets", SearchQuery, search_facets, is_part=True),
    Screen("/list", ListQuery, list_documents, list_table),
    Screen("/", GroupingQuery, home),
    Screen("/threads", ThreadsQuery, threads, threads_table),
    Screen("/thread", ThreadQuery, thread),
)
FORMS = (
    ChangeForm("/threads/update", NoQuery, update, is_change=False),
    ChangeForm("/search/save", SaveSearchForm, save),
)
