"""Service over one collection: the open collection, the templates, and the threads, which all screens use."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from nearkin._version import __version__
from nearkin.collection.collection import Collection
from nearkin.collection.decisions.coding import Queue
from nearkin.collection.decisions.log import NEVER_GROUP, SAME_GROUP, SPLIT_OFF, activity_of, next_number
from nearkin.collection.listing.details import GroupOfDocument, group_of
from nearkin.collection.stored.group_state import stored_tolerances
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionBusyError, RefusedError
from nearkin.reports.comparison import shown_pieces
from nearkin.reports.facts.activities import activity_in_words, change_words, changed_names
from nearkin.reports.facts.queries import relation_words, without_passage
from nearkin.reports.facts.stored import state_of
from nearkin.reports.pages import page_environment, report_environment
from nearkin.reports.quantities import first_difference_text, minute
from nearkin.stages.documents.members import origin_text
from nearkin.web.current import CurrentAudits, CurrentInfo, CurrentThreads
from nearkin.web.jobs import Job, JobRunner
from nearkin.web.later import Later, NotYet
from nearkin.web.queries import DoneQuery, GroupingQuery, ToleranceQuery
from nearkin.web.roles import SCREEN_PATHS
from nearkin.web.sent_files import LatestOfSent, SentAgain, SentText
from nearkin.web.served_runs import ServedRuns
from nearkin.web.sign_in import own_address
from nearkin.wording import distance_text

if TYPE_CHECKING:
    from nearkin.collection.decisions.log import Activity
    from nearkin.web.sign_in import Visitor
    from nearkin.web.users.file import Users


@dataclass(frozen=True, slots=True)
class ScreenAnswer:
    """Answer of a screen; its page shows the rest while ``not_yet`` is computed, and its JSON waits for that."""

    template: str
    values: Mapping[str, Any]
    data: object
    not_yet: NotYet | None = None

    def whole_data(self) -> object:
        """Return the data; raise `NotYet` if they are not complete."""
        if self.not_yet is not None:
            raise self.not_yet
        return self.data


@dataclass(frozen=True, slots=True)
class GoTo:
    """Address to go to after a change, so that reloading the page changes nothing again."""

    path: str
    query: Mapping[str, object] = field(default_factory=dict)


MAX_TEXT = 200_000  # characters: a browser is slow with more
NOTHING_DONE, NO_RUNS = DoneQuery(), ServedRuns()
_OF_A_PAGE = frozenset(("page", "limit"))
_N_WRITERS = 4
"""Changes that are prepared at the same time; one at a time is written."""
Found = TypeVar("Found")


class ReviewService:
    """The service over one collection.

    Parameters
    ----------
    runs
        Finished runs that are shown, too.
    """

    def __init__(
        self,
        collection: Collection,
        workers: Workers,
        *,
        runs: ServedRuns = NO_RUNS,
    ) -> None:
        self.runs, self.collection, self.workers = runs, collection, workers
        self.writers = Workers(_N_WRITERS, workers.n_waiting)  # a change that waits for another one delays no reader
        self.users: Callable[[], Users] | None = None  # None: only this machine can connect
        self.static = StaticFilesOfPages()
        self.sent = LatestOfSent[str, SentText](16, 64 << 20, lambda sent: len(sent.text))
        self.sent_again: LatestOfSent[int, SentAgain] = LatestOfSent(8, 128 << 20, lambda sent: sent.n_bytes)
        self.queues: LatestOfSent[str, Queue] = LatestOfSent(64, 1_000_000, len)
        self.later = Later(collection.opened)
        self.jobs = JobRunner(collection.opened)
        self.audits = CurrentAudits(collection.opened)
        self.threads, self.info = CurrentThreads(collection.opened), CurrentInfo(collection.opened)
        self._templates = report_environment("nearkin.web")
        self._templates.globals |= {
            "address": address,
            "change_words": change_words,
            "changed_names": changed_names,
            "first_difference": first_difference_text,
            "origin_text": origin_text,
            "own_address": own_address,
            "relation_words": relation_words,
            "static": self.static.address,
            "without_passage": without_passage,
            "collection_name": self.name,
            "version": __version__,
        }
        self._templates.filters |= {
            "minute": minute,
            "state": state_of,
            "activity": activity_in_words,
            "distance": distance_text,
            "spaced": shown_pieces,
        }

    @property
    def name(self) -> str:
        """Name of the collection on pages: its directory without the path, or its database."""
        directory = self.collection.place.directory
        return str(self.collection.place) if directory is None else directory.absolute().name

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed."""
        return self.collection.opened.store.access.is_read_only

    def check_may_change(self) -> None:
        """Refuse a change if nothing may be changed."""
        if self.is_read_only:
            raise RefusedError(403, "The service was started with --read-only: it changes nothing.")

    async def whole(self, work: Callable[[], Found]) -> Found:
        """Return the result of work that asks ``later`` for others; no thread waits for these.

        Raises
        ------
        CollectionBusyError
            Too many were asked for since, or the service is ending.
        """
        while True:
            try:
                return await self.workers.run(work)
            except NotYet as later:
                done = asyncio.wrap_future(later.future)
            done.add_done_callback(lambda late: late.cancelled() or late.exception())  # the work says it
            await asyncio.wait([done])  # which does not cancel what others wait for, too
            if done.cancelled():
                raise CollectionBusyError("Too many comparisons of long texts are waiting. Try again in a moment.")

    async def change(
        self, work: Callable[[], Found], answer_by: float, *, by: str, in_words: Callable[[Found], str] = lambda _: ""
    ) -> Found | Job:
        """Do work that changes the collection, and return its result; or the job that says what becomes of it.

        Raises
        ------
        CollectionBusyError
            It was not begun in time, and is not done.
        """
        future = self.writers.begin(work)
        done = asyncio.wrap_future(future)
        await asyncio.wait([done], timeout=max(0.0, answer_by - time.monotonic()))
        if done.done():
            return done.result()
        done.add_done_callback(lambda late: late.cancelled() or late.exception())  # the job says it
        if future.cancel():
            raise CollectionBusyError("The changes before this one took too long, so it was not begun. Try again.")
        return self.jobs.follow(future, by=by, in_words=in_words)

    def last_activity(self) -> int:
        """Return the number of the last activity; 0 before the first."""
        with self.collection.opened.store.reading() as connection:
            return next_number(connection) - 1

    def metrics_text(self) -> str:
        """Write what is running and waiting, as Prometheus reads it; a proxy counts the requests."""
        gauges = {
            "nearkin_requests_running": self.workers.n_running,
            "nearkin_changes_running": self.writers.n_running,
            "nearkin_writers_waiting": self.collection.opened.store.n_waiting,
            "nearkin_jobs_running": self.jobs.n_unfinished,
        }
        return "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in gauges.items())

    def page(
        self,
        answer: ScreenAnswer,
        visitor: Visitor,
        *,
        asked: msgspec.Struct | None = None,
        here: str = "",
        place: str = "/",
        done: DoneQuery = NOTHING_DONE,
        seen: int | None = None,
    ) -> str:
        """Render an answer.

        Parameters
        ----------
        asked
            Parameters of the screen; templates have them as ``asked``, without the page as ``params``, and ``value`` of
            their tolerance.
        done
            The activity that led to the page, which the page names and offers to undo, or that nothing was changed;
            and the job of an update that failed or takes long.
        seen
            What `last_activity` returned before the answer was made; its forms send it back.
        """
        activity = self._activity(done.done, visitor)
        asked = answer.values.get("asked", asked)
        values = {
            "visitor": visitor,
            "is_read_only": self.is_read_only or visitor.role == "viewer",
            "screens": frozenset(path for path in SCREEN_PATHS if self._has(path) and visitor.may_open(path)),
            "asked": asked,
            "not_yet": answer.not_yet,
            "params": {} if asked is None else _parameters(asked),
            "value": asked.tolerance.value if isinstance(asked, ToleranceQuery) else None,
            "here": here,
            "place": place,
            "seen": seen,
            "done": activity,
            "is_unchanged": done.is_unchanged,
            "moved": self._moved(activity, asked),
            "job": None if done.job is None else self.jobs.find(done.job),
        }
        return self._templates.get_template(answer.template).render(values | dict(answer.values))

    def _moved(self, activity: Activity | None, parameters: object) -> list[tuple[str, GroupOfDocument | None]]:
        """Return the two documents of a decision on groups, each with its group now, if any; none without groups."""
        if activity is None or activity.kind not in (NEVER_GROUP, SPLIT_OFF, SAME_GROUP) or not activity.changes:
            return []
        tolerance = str(parameters.tolerance if isinstance(parameters, GroupingQuery) else Tolerance.of())
        only = activity.changes[0]
        both = (only.other, only.subject) if only.now == only.other else (only.subject, only.other)
        with self.collection.opened.store.reading() as connection:
            if tolerance not in stored_tolerances(connection):
                return []
            return [(doc_id, group_of(connection, doc_id, tolerance)) for doc_id in both]

    def _has(self, path: str) -> bool:
        shown: dict[str, object] = {
            "/reports": self.runs.all,
            "/pairs": self.runs.of_pairs,
            "/jobs": self.jobs.has_any,
            "/users": self.users,
        }
        return bool(shown.get(path, True))

    def parameters(self, path: str, struct: msgspec.Struct) -> dict[str, object]:
        """Return the parameters of an export as JSON types, except the page, because an export has all rows."""
        return {"nearkin": __version__, "collection": self.name, "export": path, **_parameters(struct)}

    def sign_in_page(self, token: str, going: str, message: str) -> str:
        """Render the form of the sign-in."""
        return self._templates.get_template("sign_in.html.j2").render(token=token, going=going, message=message)

    def _activity(self, number: int | None, visitor: Visitor) -> Activity | None:
        """Return an activity of the visitor; the whole log is for those who may open it."""
        if number is None or not 0 < number < 2**63:
            return None
        with self.collection.opened.store.reading() as connection:
            activity = activity_of(connection, number)
        return activity if activity is None or activity.by == visitor.name or visitor.role == "admin" else None


def _parameters(struct: msgspec.Struct) -> dict[str, object]:
    given = {name: value for name, value in msgspec.to_builtins(struct).items() if name not in _OF_A_PAGE}
    return given | ({"value": struct.tolerance.value} if isinstance(struct, ToleranceQuery) else {})


def address(path: str, **query: object) -> str:
    """Return a path with parameters; those that are None or False are omitted.

    Examples
    --------
    >>> address("/document", id="a/b?c&d", version=None)
    '/document?id=a%2Fb%3Fc%26d'
    """
    given = {
        name: "1" if value is True else value
        for name, value in query.items()
        if value is not None and value is not False
    }
    return path + ("?" + urlencode(given, doseq=True, quote_via=quote, errors="replace") if given else "")


_SCRIPTS = ("htmx.min.js", "review.js", "keys.js")


@dataclass(frozen=True, slots=True)
class StaticFile:
    """File that pages refer to."""

    content: bytes
    kind: str

    @property
    def digest(self) -> str:
        """Short digest; a page names it, so that a browser never keeps an old file."""
        return hashlib.sha256(self.content).hexdigest()[:16]


class StaticFilesOfPages:
    """All files that pages refer to, by name."""

    def __init__(self) -> None:
        self.by_name: Mapping[str, StaticFile] = {
            "review.css": StaticFile(_stylesheet().encode(), "text/css; charset=utf-8"),
            **{name: StaticFile(_read("nearkin.web", "static", name), "text/javascript") for name in _SCRIPTS},
            "icon.svg": StaticFile(_read("nearkin.web", "static", "icon.svg"), "image/svg+xml"),
            "comparison.js": StaticFile(_read("nearkin.reports", "templates", "comparison.js"), "text/javascript"),
        }
        self._addresses = {name: f"/static/{name}?v={file.digest}" for name, file in self.by_name.items()}

    def address(self, name: str) -> str:
        """Return the address of a file."""
        return self._addresses[name]


def _stylesheet() -> str:
    environment = page_environment("nearkin.web")
    return "\n".join(
        environment.get_template(name).render() for name in ("style.css.j2", "comparison.css", "review.css.j2")
    )


def _read(package: str, *names: str) -> bytes:
    return files(package).joinpath(*names).read_bytes()


class Workers:
    """Threads for work that blocks; a queue of bounded length."""

    def __init__(self, n_threads: int, n_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="nearkin-web")
        self._max_running, self.n_waiting, self.n_running = n_threads + n_waiting, n_waiting, 0

    async def run(self, work: Callable[[], Found]) -> Found:
        """Do the work in a thread and return its result; see `begin`."""
        return await asyncio.wrap_future(self.begin(work))

    def begin(self, work: Callable[[], Found]) -> Future[Found]:
        """Let a thread do the work. Work that was begun is finished, even if the request is given up."""
        if self.n_running >= self._max_running:
            raise CollectionBusyError("Too many requests are waiting. Try again in a moment.")
        self.n_running += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        future.add_done_callback(lambda done: self._ended(loop, done))
        return future

    def _ended(self, loop: asyncio.AbstractEventLoop, done: Future[Found]) -> None:
        """Count in the thread of the loop, which is the only one that reads the number."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._count_down)

    def _count_down(self) -> None:
        self.n_running -= 1

    def close(self) -> None:
        """End the threads once their work is done."""
        self._pool.shutdown(wait=True, cancel_futures=True)
