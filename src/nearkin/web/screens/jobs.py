"""Jobs: the work of the service in the background, and its progress."""

from __future__ import annotations

import msgspec

from nearkin.web.answers import ScreenAnswer
from nearkin.web.jobs import Job
from nearkin.web.screen import NoQuery, Screen
from nearkin.web.service import ReviewService, address


class JobsQuery(msgspec.Struct, kw_only=True):
    """Jobs to list: the latest ones, or only unfinished ones."""

    is_running: bool = msgspec.field(default=False, name="running")


def jobs(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the latest jobs."""
    found = service.jobs.listed()
    return ScreenAnswer("jobs.html.j2", _values(found, JobsQuery()), {"jobs": msgspec.to_builtins(found)})


def job_list(service: ReviewService, asked: JobsQuery) -> ScreenAnswer:
    """List jobs; the part of a page that is replaced while one runs."""
    found = service.jobs.listed()
    if asked.is_running:
        found = [one for one in found if not one.is_over]
    return ScreenAnswer("job_list.html.j2", _values(found, asked), {"jobs": msgspec.to_builtins(found)})


def running_jobs(service: ReviewService) -> dict[str, object]:
    """Return the values of `job_list.html.j2` for the unfinished jobs."""
    return _values([one for one in service.jobs.listed() if not one.is_over], JobsQuery(is_running=True))


def _values(found: list[Job], asked: JobsQuery) -> dict[str, object]:
    return {
        "jobs": found,
        "is_running": any(not one.is_over for one in found),
        "is_running_only": asked.is_running,
        "words_of": words_of,
        "place_of": place_of,
    }


def words_of(job: Job) -> str:
    """Describe a job.

    Examples
    --------
    >>> words_of(Job(number=1, measure="words", value=0.5, by="ada", asked_at="2026-03-01"))
    'groups: words, 0.5'
    """
    if job.kind == "groups":
        return f"groups: {job.measure}, {job.value}"
    if job.kind == "representatives":
        return f"representatives: {job.measure}, {job.value}"
    return {"threads": "threads", "audit": "audit", "reading": "files read again", "storing": "texts stored"}[job.kind]


def place_of(job: Job) -> str:
    """Return the address of the page that shows the result of a job."""
    if job.kind in ("groups", "representatives"):
        return address(f"/{job.kind}", measure=job.measure, value=job.value)
    if job.kind == "reading":
        return address("/exceptions/read", job=job.number)
    return {"threads": "/threads", "audit": "/defensibility", "storing": "/exceptions"}[job.kind]


SCREENS = (Screen("/jobs", NoQuery, jobs), Screen("/jobs/list", JobsQuery, job_list))
