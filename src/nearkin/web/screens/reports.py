"""Reports: finished runs that were named when the service was started, and their own report pages."""

from __future__ import annotations

import msgspec

from nearkin.errors import UnknownDocumentError
from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import Screen, ScreenFile
from nearkin.web.served_runs import REPORT
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor


class ReportsQuery(msgspec.Struct, kw_only=True):
    """The run whose report page is opened."""

    run: int | None = None


def reports(service: ReviewService, _: ReportsQuery) -> ScreenAnswer:
    """List the runs."""
    found = [one.facts() for one in service.runs.all]
    return ScreenAnswer("reports.html.j2", {"runs": found}, {"runs": found})


def report_page(service: ReviewService, _: Visitor, asked: ReportsQuery) -> bytes:
    """Return the page that the run wrote."""
    run = service.runs.find(asked.run)
    if not run.has_report:
        raise UnknownDocumentError(f"The run {run.name} has no {REPORT}.")
    return (run.folder / REPORT).read_bytes()


SCREENS = (
    Screen(
        "/reports", ReportsQuery, reports,
        files=(ScreenFile(".html", "text/html; charset=utf-8", report_page, is_sandboxed_page=True),),
    ),
)  # fmt: skip
