"""Threads of mails, and the page of a thread: its tree with missing mails; inclusive mails are marked."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.errors import ParameterError, UnknownDocumentError
from nearkin.web.current import MAX_DOCUMENTS
from nearkin.web.queries import ListPage
from nearkin.web.screen import ChangeForm, NoQuery, Screen
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor

_A_PAGE, _MAX_ROWS = 50, 1_000


class ThreadsQuery(msgspec.Struct, kw_only=True):
    """A page of threads, and whether only inclusive mails are shown and exported."""

    page: int = 1
    inclusive: bool = False


class ThreadQuery(msgspec.Struct, kw_only=True):
    """A thread by its number, or that of a document."""

    number: int | None = None
    id: str | None = None
    inclusive: bool = False


def threads(service: ReviewService, asked: ThreadsQuery) -> ScreenAnswer:
    """List the threads, the largest first."""
    found, stored = service.threads.found, service.threads.stored()
    page = ListPage.asked(asked.page, _A_PAGE)
    cards = [] if found is None else found.cards(page.start, _A_PAGE)
    values = {
        "found": found,
        "stored": stored,
        "is_outdated": found is not None and found.mails != stored,
        "can_compute": stored.n_documents <= MAX_DOCUMENTS,
        "max_documents": MAX_DOCUMENTS,
        "cards": cards,
        "page": page.of(0 if found is None else found.n_threads),
    }
    data = {
        "is_computed": found is not None,
        "is_outdated": values["is_outdated"],
        "n_mails_stored": stored.n_mails,
        "n_threads": 0 if found is None else found.n_threads,
        "threads": [msgspec.to_builtins(one) for one in cards],
    }
    return ScreenAnswer("threads_of_mails.html.j2", values, data)


def threads_table(service: ReviewService, asked: ThreadsQuery) -> pa.Table:
    """Return a row for each mail and each missing mail, or for each inclusive mail."""
    if (found := service.threads.found) is None:
        raise ParameterError("The threads are not computed yet. Open the page Threads to compute them.")
    return found.inclusive if asked.inclusive else found.table


def thread(service: ReviewService, asked: ThreadQuery) -> ScreenAnswer:
    """Show the tree of a thread, or, before the threads are computed, the page on which to compute them."""
    if (found := service.threads.found) is None:
        return threads(service, ThreadsQuery(inclusive=asked.inclusive))
    number = asked.number if asked.id is None else found.number_of(asked.id)
    card = None if number is None else found.card(number, _MAX_ROWS)
    if card is None:
        what = f"There is no thread {number}." if asked.id is None else "The document is in no thread."
        raise UnknownDocumentError(f"{what} The page Threads lists all of them.")
    before, after = found.neighbours(card.number)
    rows = [one for one in card.rows if one.reason or not asked.inclusive]
    values = {"card": card, "rows": rows, "before": before, "after": after}
    return ScreenAnswer("thread.html.j2", values, msgspec.to_builtins(card))


def update(service: ReviewService, visitor: Visitor, _: NoQuery) -> GoTo:
    """Compute the threads, in the background if that takes long."""
    job = service.jobs.run("threads", service.threads.compute, by=visitor.name)
    return GoTo("/threads" if job.is_over else "/jobs")


SCREENS = (Screen("/threads", ThreadsQuery, threads, threads_table), Screen("/thread", ThreadQuery, thread))
FORMS = (ChangeForm("/threads/update", NoQuery, update, is_change=False),)
