"""Jobs in the background, one at a time, with their progress; they go on when the page is closed."""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from typing import Literal, TypeVar

import msgspec

from nearkin.collection.groups.current import group
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import NearkinError
from nearkin.nouns import counted
from nearkin.runs.progress import Unit
from nearkin.web.queries import SliderMeasure
from nearkin.workflows.resources import Resources

_KEPT, _STOPPING_S = 50, 5.0
_WAIT_S = 2.0
"""Time for which a page waits for its job."""
JobKind = Literal["groups", "threads", "audit", "reading", "storing", "representatives", "change"]
_SHARED = frozenset[JobKind](("groups", "threads", "audit", "representatives"))
"""Jobs that depend only on the collection: a waiting job serves all requests for it."""
Found = TypeVar("Found")
JobState = Literal["waiting", "running", "done", "failed"]


class Job(msgspec.Struct, kw_only=True):
    """A job: an update of groups or threads, an audit, reading or storing of files, comparisons, or a long change.

    ``measure`` and ``value`` are the tolerance of the groups that it is about.
    ``stage`` is what it does now: ``n_done`` of ``n_total`` (0 if unknown) of a unit. ``message`` says why it failed,
    or what it found.
    """

    number: int
    kind: JobKind = "groups"
    measure: SliderMeasure | None = None
    value: float | None = None
    by: str
    state: JobState = "waiting"
    stage: str = ""
    n_done: int = 0
    n_total: int = 0
    unit: str = ""
    asked_at: str
    ended_at: str | None = None
    message: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state not in ("waiting", "running")


class _Stopped(Exception):
    """The service is ending."""


_BUG = "The job failed because of a bug in Nearkin; the terminal of nearkin serve shows where."


class JobRunner:
    """Runs jobs in a separate thread.

    A job stores its result in one transaction, or one for each wave or some hundred comparisons.
    """

    def __init__(self, opened: OpenedCollection) -> None:
        self._opened = opened
        self._changed = threading.Condition()
        self._waiting = deque[tuple[Job, Callable[[JobProgress], str]]]()
        self._errors = dict[int, NearkinError]()
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._jobs = list[Job]()

    def update_groups(self, tolerance: Tolerance, *, by: str) -> Job:
        """Start an update of the groups, unless the same update is waiting already; return the job."""

        def update(progress: JobProgress) -> str:
            grouped = group(self._opened, tolerance, threads=Resources().n_threads, progress=progress)
            return f"{counted(len(grouped.groups), 'group')} with {counted(len(grouped.members), 'document')}"

        return self.begin("groups", update, by=by, of=tolerance)

    def begin(self, kind: JobKind, work: Callable[[JobProgress], str], *, by: str, of: Tolerance | None = None) -> Job:
        """Start a job and return it; if an equal job is waiting already, return that.

        Parameters
        ----------
        work
            Receives the progress, and returns what it found, in words.
        """
        measure, value = (None, None) if of is None else (of.measure, of.value)
        job = Job(number=0, kind=kind, measure=measure, value=value, by=by, asked_at=_now())  # type: ignore[arg-type]
        with self._changed:
            for waiting, _ in self._waiting if kind in _SHARED else ():
                if (waiting.kind, waiting.measure, waiting.value) == (kind, measure, value):
                    return msgspec.structs.replace(waiting)
            self._list(job)
            self._waiting.append((job, work))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nearkin-jobs", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return msgspec.structs.replace(job)

    def _list(self, job: Job) -> None:
        job.number = max((job.number for job in self._jobs), default=0) + 1
        self._jobs = [*self._jobs[1 - _KEPT :], job]

    def follow(self, change: Future[Found], *, by: str, in_words: Callable[[Found], str]) -> Job:
        """Return a job for a change that a thread has begun and whose request is answered before it is done."""
        job = Job(number=0, kind="change", by=by, state="running", asked_at=_now())
        with self._changed:
            self._list(job)
            listed = msgspec.structs.replace(job)
        change.add_done_callback(lambda done: self._finish(job, lambda: in_words(done.result())))
        return listed

    def wait(self, number: int, seconds: float = _WAIT_S) -> Job | None:
        """Wait for a job for some time, and return its state; raise the error if it failed."""
        with self._changed:
            self._changed.wait_for(lambda: (job := self._find(number)) is None or job.is_over, seconds)
            if number in self._errors:
                raise self._errors.pop(number)
        return self.find(number)

    def run(self, kind: JobKind, work: Callable[[JobProgress], str], *, by: str, of: Tolerance | None = None) -> Job:
        """Begin a job, and return its state when it is done, or after two seconds; raise the error if it failed."""
        job = self.begin(kind, work, by=by, of=of)
        return self.wait(job.number) or job

    def listed(self) -> list[Job]:
        """Return the latest jobs, the newest first."""
        with self._changed:
            return [msgspec.structs.replace(job) for job in reversed(self._jobs)]

    def find(self, number: int) -> Job | None:
        """Return the current state of a job."""
        with self._changed:
            job = self._find(number)
            return None if job is None else msgspec.structs.replace(job)

    def latest(self, kind: JobKind, measure: SliderMeasure, value: float) -> Job | None:
        """Return the latest job of a kind about the groups at a tolerance."""
        wanted = kind, measure, value
        return next((job for job in self.listed() if (job.kind, job.measure, job.value) == wanted), None)

    @property
    def has_any(self) -> bool:
        """Whether there are jobs."""
        return bool(self._jobs)

    @property
    def n_unfinished(self) -> int:
        """Number of jobs that wait or run."""
        with self._changed:
            return sum(not job.is_over for job in self._jobs)

    def close(self) -> None:
        """Stop: a running job is interrupted at its next step."""
        with self._changed:
            self._is_closing = True
            for job in self._jobs:
                if not job.is_over:
                    _end(job, "failed", "The service ended during this job.")
            self._waiting.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(_STOPPING_S)

    def _find(self, number: int) -> Job | None:
        return next((job for job in self._jobs if job.number == number), None)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                if self._is_closing:
                    return
                job, work = self._waiting.popleft()
                job.state = "running"
            self._finish(job, partial(work, JobProgress(self._changed, job)))

    def _finish(self, job: Job, work: Callable[[], str]) -> None:
        try:
            self._ended(job, "done", work())
        except _Stopped:
            return
        except NearkinError as error:
            self._ended(job, "failed", str(error), error)
        except Exception:  # noqa: BLE001  (no job may end the thread of all jobs)
            traceback.print_exc()
            self._ended(job, "failed", _BUG)

    def _ended(self, job: Job, state: JobState, message: str, error: NearkinError | None = None) -> None:
        with self._changed:
            if self._is_closing:
                return
            _end(job, state, message)
            if error is not None:
                self._errors[job.number] = error
                self._errors.pop(job.number - _KEPT, None)
            self._changed.notify_all()


class JobProgress:
    """Progress of a job, written into it; ends the job if the service ends."""

    def __init__(self, changed: threading.Condition, job: Job) -> None:
        self._changed, self._job = changed, job

    @property
    def number(self) -> int:
        """Number of the job."""
        return self._job.number

    @contextlib.contextmanager
    def _job_now(self) -> Iterator[Job]:
        with self._changed:
            if self._job.is_over:
                raise _Stopped
            yield self._job

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Begin a stage."""
        with self._job_now() as job:
            job.stage, job.n_done, job.n_total, job.unit = stage, 0, total, unit

    def advance(self, n: int) -> None:
        """Count units."""
        with self._job_now() as job:
            job.n_done += n

    def finish(self) -> None:
        """End the stage."""

    def say(self, message: str) -> None:
        """Keep the message until the next one."""
        with self._job_now() as job:
            job.message = message


def _end(job: Job, state: JobState, message: str) -> None:
    job.state, job.message, job.ended_at = state, message, _now()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
