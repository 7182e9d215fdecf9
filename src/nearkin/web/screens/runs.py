"""Finished runs that were named when the service was started: their reports, and their pairs to accept or reject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
import pyarrow as pa

from nearkin.errors import NearkinError, ParameterError, UnknownDocumentError
from nearkin.manifests.pairs import SIDES
from nearkin.records import I64
from nearkin.web.queries import ListPage
from nearkin.web.screen import ChangeForm, Screen, ScreenFile
from nearkin.web.served_runs import REPORT
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
from nearkin.web.sign_in import Visitor
from nearkin.workflows.pairing.pairs_of_run import PairOfRun, PairsOfRun, ShownText
from nearkin.workflows.pairing.pairs_of_run import Shown as ShownState

_A_PAGE, _PAGES_KEPT = 10, 50


class PairsQuery(msgspec.Struct, kw_only=True):
    """A page of the pairs of a run; by default of the first run that has pairs."""

    run: int | None = None
    show: ShownState = "undecided"
    page: int = 1


def pairs(service: ReviewService, asked: PairsQuery) -> ScreenAnswer:
    """Show some pairs, the most similar first."""
    runs, number = service.runs.of_pairs, _number(service, asked)
    if number is None:
        return ScreenAnswer("pairs_of_run.html.j2", {"run": None}, {"run": None, "pairs": []})
    run, found = service.runs.find(number), _pairs_of(service, number)
    places = found.select(asked.show)
    n_pages = max(1, -(-len(places) // _A_PAGE))
    page = ListPage(max(1, min(asked.page, n_pages)), _A_PAGE, n_pages)  # a decision may have emptied the last page
    after = page.start + _A_PAGE
    shown = found.pairs(places[page.start : after])
    texts, why_not = _texts(found, shown, places[after : after + _PAGES_KEPT * _A_PAGE])
    decided = [one.state for one in found.decisions.all().values()]
    values = {
        "run": run,
        "runs": runs,
        "facts": run.facts(),
        "n_found": len(places),
        "n_accepted": decided.count("accepted"),
        "n_rejected": decided.count("rejected"),
        "pairs": shown,
        "texts": texts,
        "why_not": why_not,
        "page": page,
    }
    data = {
        "run": number,
        "n_found": len(places),
        "page": page.number,
        "n_pages": n_pages,
        "pairs": [_as_data(one, texts) for one in shown],
        "why_no_texts": why_not,
    }
    return ScreenAnswer("pairs_of_run.html.j2", values, data)


def pairs_table(service: ReviewService, asked: PairsQuery) -> pa.Table:
    """Return a row for each pair, with its decision."""
    number = _number(service, asked)
    if number is None:
        raise ParameterError("The service has no runs of nearkin pairs. Name them when you start it: --run DIRECTORY")
    return _pairs_of(service, number).table(asked.show)


def _number(service: ReviewService, asked: PairsQuery) -> int | None:
    """Return the number of the requested run; None if there are no runs."""
    runs = service.runs.of_pairs
    return asked.run if asked.run is not None or not runs else runs[0].number


class PairForm(msgspec.Struct, kw_only=True):
    """A pair by its rows, the decision, and the page from which the form came."""

    run: int
    left_row: int
    right_row: int
    decision: Literal["accepted", "rejected", "undecided"]
    show: ShownState = "undecided"
    page: int = 1


def decide(service: ReviewService, visitor: Visitor, body: PairForm) -> GoTo:
    """Store a decision on a pair."""
    found, rows = _pairs_of(service, body.run), (body.left_row, body.right_row)
    state = None if body.decision == "undecided" else body.decision
    found.decisions.decide(rows, found.names(rows), state, by=visitor.name, may_replace=visitor.may_undo)
    return GoTo("/pairs", {"run": body.run, "show": body.show, "page": body.page})


def _pairs_of(service: ReviewService, number: int) -> PairsOfRun:
    run = service.runs.find(number)
    if run.pairs is None:
        raise UnknownDocumentError(
            f"The run {run.name} has results of nearkin {run.manifest.command}, not of nearkin pairs."
        )
    return run.pairs


def _texts(found: PairsOfRun, shown: list[PairOfRun], soon: I64) -> tuple[tuple[Mapping[int, ShownText], ...], str]:
    """Return the texts of both sides by row, or why they cannot be shown; texts of the next pages are kept."""
    next_rows = found.rows(soon)
    try:
        sides = [found.texts(side, {one.rows[i] for one in shown}, next_rows[i]) for i, side in enumerate(SIDES)]
    except NearkinError as error:
        return ({}, {}), str(error)
    return tuple(sides), ""


def _as_data(one: PairOfRun, texts: tuple[Mapping[int, ShownText], ...]) -> dict[str, object]:
    left, right = (texts[i].get(row) for i, row in enumerate(one.rows))
    return {
        "left_row": one.rows[0],
        "right_row": one.rows[1],
        "left": one.left,
        "right": one.right,
        "cosine": one.cosine,
        "terms": [{"term": term.term, "left_term": term.left_term, "share": term.share} for term in one.terms],
        "decision": None if one.decision is None else one.decision.state,
        "by": None if one.decision is None else one.decision.by,
        "left_text": left and left.text,
        "right_text": right and right.text,
    }


FORMS = (ChangeForm("/pairs/decide", PairForm, decide),)


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
    Screen("/pairs", PairsQuery, pairs, pairs_table),
    Screen(
        "/reports",
        ReportsQuery,
        reports,
        files=(ScreenFile(".html", "text/html; charset=utf-8", report_page, is_sandboxed_page=True),),
    ),
)
