"""What administrators see: the log of decisions, the jobs in the background, and the users."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from nearkin.collection.decisions.log import (
    GROUP_NOTE,
    NEVER_GROUP,
    NOTE,
    OF_DOCUMENTS,
    PRINCIPAL,
    SAME_GROUP,
    SPLIT_OFF,
    Activity,
    activities,
)
from nearkin.reports.facts.changed_values import changed_documents, log_in_words
from nearkin.web.jobs import Job
from nearkin.web.screen import NoQuery, Screen
from nearkin.web.service import ReviewService, ScreenAnswer, address


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
    >>> words_of(Job(number=1, measure="jaccard", value=0.5, by="ada", asked_at="2026-03-01"))
    'groups: jaccard, 0.5'
    """
    if job.kind == "groups":
        return f"groups: {job.measure}, {job.value}"
    if job.kind == "representatives":
        return f"representatives: {job.measure} {job.value}"
    return {
        "threads": "threads", "audit": "audit", "reading": "files read again", "storing": "texts stored",
        "change": "a change that took long",
    }[job.kind]  # fmt: skip


def place_of(job: Job) -> str:
    """Return the address of the page that shows the result of a job."""
    if job.kind in ("groups", "representatives"):
        return address(f"/{job.kind}", measure=job.measure, value=job.value)
    if job.kind == "reading":
        return address("/exceptions/read", job=job.number)
    return {"threads": "/threads", "audit": "/defensibility", "storing": "/exceptions", "change": "/log"}[job.kind]


_MAX_SHOWN, _MAX_VALUES, _MAX_DOCUMENTS = 200, 20, 3
KINDS = "tag", "untag", NEVER_GROUP, SPLIT_OFF, SAME_GROUP, PRINCIPAL, NOTE, GROUP_NOTE, "undo", *OF_DOCUMENTS
"""Kinds of activities."""


class LogQuery(msgspec.Struct, kw_only=True):
    """Activities: of a document, since a time, of a person, of a kind."""

    of: str | None = None
    since: str | None = None
    by: str | None = None
    kind: str | None = None


def log(service: ReviewService, asked: LogQuery) -> ScreenAnswer:
    """List the activities, the newest first."""
    found = _found(service, asked)
    shown = found[::-1][:_MAX_SHOWN]
    values = {
        "activities": shown,
        "n_found": len(found),
        "kinds": KINDS,
        "n_values": _MAX_VALUES,
        "documents_of": lambda one: changed_documents(one, _MAX_DOCUMENTS),
        "n_documents": _MAX_DOCUMENTS,
        "can_undo": lambda one: one.undone_by is None and one.kind not in OF_DOCUMENTS,
    }
    data = {"n_found": len(found), "activities": [one.to_dict() for one in shown]}
    return ScreenAnswer("log.html.j2", values, data)


def log_table(service: ReviewService, asked: LogQuery) -> pa.Table:
    """Return a row for each changed value."""
    return log_in_words(_found(service, asked))


def _found(service: ReviewService, asked: LogQuery) -> list[Activity]:
    with service.collection.opened.store.reading() as connection:
        return activities(connection, since=asked.since, of=asked.of, by=asked.by, kind=asked.kind)


def users(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the users, without secrets."""
    found = () if service.users is None else service.users().users
    rows = [one.without_secrets() for one in found]
    return ScreenAnswer("users.html.j2", {"users": rows, "is_team": service.users is not None}, {"users": rows})


SCREENS = (
    Screen("/jobs", NoQuery, jobs),
    Screen("/jobs/list", JobsQuery, job_list),
    Screen("/log", LogQuery, log, log_table),
    Screen("/users", NoQuery, users),
)
