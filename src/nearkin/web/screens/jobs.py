"""Jobs: what the service does in the background, and how far it is."""

from __future__ import annotations

import msgspec

from nearkin.web.answers import ScreenAnswer
from nearkin.web.jobs import Job
from nearkin.web.screen import NoQuery, Screen
from nearkin.web.service import ReviewService, address


def jobs(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the latest jobs."""
    return _listed(service, "jobs.html.j2")


def job_list(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the latest jobs; the part of the page that is replaced while one runs."""
    return _listed(service, "job_list.html.j2")


def _listed(service: ReviewService, template: str) -> ScreenAnswer:
    found = service.jobs.listed()
    values = {
        "jobs": found,
        "is_running": any(not one.is_over for one in found),
        "words_of": words_of,
        "place_of": place_of,
    }
    return ScreenAnswer(template, values, {"jobs": msgspec.to_builtins(found)})


def words_of(job: Job) -> str:
    """Say what a job does.

    Examples
    --------
    >>> words_of(Job(number=1, measure="words", value=0.5, by="ada", asked_at="2026-03-01"))
    'groups: words, 0.5'
    """
    if job.kind == "groups":
        return f"groups: {job.measure}, {job.value}"
    return {"threads": "threads", "audit": "audit", "reading": "files read again", "storing": "texts stored"}[job.kind]


def place_of(job: Job) -> str:
    """Return the address of the page that shows what a job found."""
    if job.kind == "groups":
        return address("/groups", measure=job.measure, value=job.value)
    if job.kind == "reading":
        return address("/exceptions/read", job=job.number)
    return {"threads": "/threads", "audit": "/defensibility", "storing": "/exceptions"}[job.kind]


SCREENS = (Screen("/jobs", NoQuery, jobs), Screen("/jobs/list", NoQuery, job_list))
