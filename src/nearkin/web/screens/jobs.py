"""Jobs: what the service does in the background, and how far it is."""

from __future__ import annotations

import msgspec

from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import NoQuery, Screen
from nearkin.web.service import ReviewService


def jobs(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the latest jobs."""
    return _listed(service, "jobs.html.j2")


def job_list(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the latest jobs; the part of the page that is replaced while one runs."""
    return _listed(service, "job_list.html.j2")


def _listed(service: ReviewService, template: str) -> ScreenAnswer:
    found = service.jobs.listed()
    values = {"jobs": found, "is_running": any(not one.is_over for one in found)}
    return ScreenAnswer(template, values, {"jobs": msgspec.to_builtins(found)})


SCREENS = (Screen("/jobs", NoQuery, jobs), Screen("/jobs/list", NoQuery, job_list))
