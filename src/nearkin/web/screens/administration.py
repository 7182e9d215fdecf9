"""What administrators see: log, jobs, users, the page for defensibility; and finished runs, with pairs to accept."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import distributions
from typing import Literal

import msgspec
import pyarrow as pa

from nearkin._version import __version__
from nearkin.collection.decisions.batches import second_looks
from nearkin.collection.decisions.log import (
    BATCH,
    CODE,
    CODING,
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
from nearkin.collection.groups.current import StoredGroups, stored_groups
from nearkin.collection.info import info
from nearkin.collection.integrity import fsck
from nearkin.collection.stored.group_state import stored_tolerances
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import NearkinError, ParameterError, UnknownDocumentError
from nearkin.manifests.pairs import SIDES
from nearkin.records import I64
from nearkin.reports.facts.activities import changed_documents, log_in_words
from nearkin.tabular import as_json
from nearkin.web.current import AUDITED
from nearkin.web.jobs import Job, JobKind
from nearkin.web.queries import ListPage
from nearkin.web.screen import ChangeForm, NoQuery, Screen, ScreenFile
from nearkin.web.served_runs import REPORT
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer, address
from nearkin.web.sign_in import Visitor
from nearkin.workflows.pairing.pairs_of_run import PairOfRun, PairsOfRun, ShownText
from nearkin.workflows.pairing.pairs_of_run import Shown as ShownState
from nearkin.workflows.resources import Resources


class JobsQuery(msgspec.Struct, kw_only=True):
    """Jobs to list: the latest ones, or only unfinished ones."""

    is_running: bool = msgspec.field(default=False, name="running")


def jobs(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the latest jobs."""
    listed = service.jobs.listed()
    return ScreenAnswer("jobs.html.j2", _values(listed, JobsQuery()), {"jobs": listed})


def job_list(service: ReviewService, query: JobsQuery) -> ScreenAnswer:
    """List jobs; the part of a page that is replaced while one runs."""
    listed = service.jobs.listed()
    if query.is_running:
        listed = [job for job in listed if not job.is_over]
    return ScreenAnswer("job_list.html.j2", _values(listed, query), {"jobs": listed})


def running_jobs(service: ReviewService) -> dict[str, object]:
    """Return the values of `job_list.html.j2` for the unfinished jobs."""
    return dict(job_list(service, JobsQuery(is_running=True)).values)


def _values(listed: list[Job], query: JobsQuery) -> dict[str, object]:
    return {
        "jobs": listed,
        "is_running": any(not job.is_over for job in listed),
        "is_running_only": query.is_running,
        "words_of": words_of,
        "place_of": place_of,
    }


_JOBS: dict[JobKind, tuple[str, str]] = {
    "groups": ("groups", "/groups"), "representatives": ("representatives", "/representatives"),
    "threads": ("threads", "/threads"), "audit": ("audit", "/defensibility"),
    "reading": ("files read again", "/exceptions/read"), "storing": ("texts stored", "/exceptions"),
    "change": ("a change that took long", "/log"),
}  # fmt: skip
"""Words for each kind of jobs, and the page that shows the result."""


def words_of(job: Job) -> str:
    """Describe a job.

    Examples
    --------
    >>> words_of(Job(number=1, measure="jaccard", value=0.5, by="ada", asked_at="2026-03-01"))
    'groups: jaccard, 0.5'
    """
    return _JOBS[job.kind][0] + ("" if job.measure is None else f": {job.measure}, {job.value}")


def place_of(job: Job) -> str:
    """Return the address of the page that shows the result of a job."""
    number = job.number if job.kind == "reading" else None
    return address(_JOBS[job.kind][1], measure=job.measure, value=job.value, job=number)


_MAX_SHOWN, _MAX_VALUES, _MAX_DOCUMENTS = 200, 20, 3
KINDS = (
    *("tag", "untag", CODE, CODING, BATCH, NEVER_GROUP, SPLIT_OFF, SAME_GROUP, PRINCIPAL, NOTE, GROUP_NOTE, "undo"),
    *OF_DOCUMENTS,
)
"""Kinds of activities."""


class LogQuery(msgspec.Struct, kw_only=True):
    """Activities: of a document, since a time, of a person, of a kind."""

    of: str | None = None
    since: str | None = None
    by: str | None = None
    kind: str | None = None


def log(service: ReviewService, query: LogQuery) -> ScreenAnswer:
    """List the activities, the newest first."""
    listed = _found(service, query)
    shown = listed[::-1][:_MAX_SHOWN]
    values = {
        "activities": shown,
        "n_found": len(listed),
        "kinds": KINDS,
        "n_values": _MAX_VALUES,
        "documents_of": lambda activity: changed_documents(activity, _MAX_DOCUMENTS),
        "n_documents": _MAX_DOCUMENTS,
        "can_undo": lambda activity: activity.undone_by is None and activity.kind not in OF_DOCUMENTS,
    }
    data = {"n_found": len(listed), "activities": shown}
    return ScreenAnswer("log.html.j2", values, data)


def log_table(service: ReviewService, query: LogQuery) -> pa.Table:
    """Return a row for each changed value."""
    return log_in_words(_found(service, query))


def _found(service: ReviewService, query: LogQuery) -> list[Activity]:
    with service.collection.opened.store.reading() as connection:
        return activities(connection, since=query.since, of=query.of, by=query.by, kind=query.kind)


def users(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the users, without secrets."""
    accounts = () if service.users is None else service.users().users
    rows = [user.without_secrets() for user in accounts]
    return ScreenAnswer("users.html.j2", {"users": rows, "is_team": service.users is not None}, {"users": rows})


_VERIFYING = (
    """python3 -c "import hashlib, json; data = json.load(open('defensibility.json', 'rb'))['data']; """
    """told = json.dumps(data, sort_keys=True, separators=(',', ':'), ensure_ascii=False); """
    """print(hashlib.sha256(told.encode('utf-8', 'backslashreplace')).hexdigest())\""""
)
"""Command that prints the SHA-256 of downloaded data, as `digest_of` computes it."""
_USED = ("numpy", "pyarrow", "sqlalchemy", "numba", "rapidfuzz", "starlette", "jinja2", "msgspec", "uvicorn")


class DefensibilityQuery(msgspec.Struct, kw_only=True):
    """Whether to compare every stored text with its digest, which takes a while."""

    is_checked: bool = msgspec.field(default=False, name="integrity")


def defensibility(service: ReviewService, query: DefensibilityQuery) -> ScreenAnswer:
    """Gather parameters, versions, counts, groups, the digest of the log, audits and, if asked for, the integrity."""
    listed, made = service.collection.log(), service.audits.made
    with service.collection.opened.store.reading() as connection:
        looks = second_looks(connection)
        tolerances = [one for one in map(Tolerance.of_stored, stored_tolerances(connection)) if one is not None]
        groups = [_counts(stored_groups(connection, tolerance, limit=1)) for tolerance in tolerances]
    log = as_json(listed)
    data = {
        "collection": service.name,
        "counts": {name: value for name, value in info(service.collection.opened).to_dict().items() if name != "place"},
        "groups": groups,
        "versions": {"nearkin": __version__, "python": platform.python_version(), **_libraries()},
        "log": {
            "n_activities": len(log),
            "by_kind": dict(sorted(Counter(str(activity["kind"]) for activity in log).items())),
            "sha256": digest_of(log),
        },
        "second_looks": as_json(looks),
        "integrity": _integrity(service) if query.is_checked else None,
        "audits": None if made is None else as_json(made) | {"is_outdated": service.audits.are_outdated(made)},
    }
    sha256 = digest_of(data)
    values = {
        "data": data,
        "sha256": sha256,
        "verifying": _VERIFYING,
        "audits": () if made is None else made.audits,
        "other_audits": [
            f"nearkin audit COLLECTION {tolerance.in_options()}" for tolerance in tolerances if tolerance not in AUDITED
        ],
    }
    return ScreenAnswer("defensibility.html.j2", values, {"data": data, "sha256": sha256})


def _integrity(service: ReviewService) -> dict[str, object]:
    """Check the integrity and rebuild nothing, because opening a page must change nothing."""
    return fsck(service.collection.opened, threads=Resources().n_threads, rebuilds=False).to_dict()


def digest_of(data: object) -> str:
    """Return the SHA-256 of data as JSON: sorted keys, no white space between elements, UTF-8.

    Examples
    --------
    >>> digest_of({"b": 1, "a": "é"}) == hashlib.sha256('{"a":"é","b":1}'.encode()).hexdigest()
    True
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _counts(groups: StoredGroups) -> dict[str, object]:
    counts = {name: getattr(groups, name) for name in ("n_groups", "n_documents", "n_not_grouped", "n_decisions")}
    return {"tolerance": groups.tolerance.in_words()} | counts


def _libraries() -> dict[str, str]:
    versions = {str(distribution.metadata["Name"]).lower(): distribution.version for distribution in distributions()}
    return {name: versions[name] for name in _USED if name in versions}


def audit(service: ReviewService, visitor: Visitor, _: NoQuery) -> GoTo:
    """Audit the searches by letters and by wording, in the background if that takes long."""
    job = service.jobs.run("audit", service.audits.measure, by=visitor.name)
    return GoTo("/defensibility" if job.is_over else "/jobs")


_A_PAGE, _PAGES_KEPT = 10, 50


class PairsQuery(msgspec.Struct, kw_only=True):
    """A page of the pairs of a run; by default of the first run that has pairs."""

    run: int | None = None
    show: ShownState = "undecided"
    page: int = 1


def pairs(service: ReviewService, query: PairsQuery) -> ScreenAnswer:
    """Show some pairs, the most similar first."""
    runs, number = service.runs.of_pairs, _number(service, query)
    if number is None:
        return ScreenAnswer("pairs_of_run.html.j2", {"run": None}, {"run": None, "pairs": []})
    run, all_pairs = service.runs.find(number), _pairs_of(service, number)
    places = all_pairs.select(query.show)
    n_pages = max(1, -(-len(places) // _A_PAGE))
    page = ListPage(max(1, min(query.page, n_pages)), _A_PAGE, n_pages)  # a decision may have emptied the last page
    after = page.start + _A_PAGE
    shown = all_pairs.pairs(places[page.start : after])
    texts, why_not = _texts(all_pairs, shown, places[after : after + _PAGES_KEPT * _A_PAGE])
    decided = [entry.state for entry in all_pairs.decisions.all().values()]
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
        "pairs": [_as_data(entry, texts) for entry in shown],
        "why_no_texts": why_not,
    }
    return ScreenAnswer("pairs_of_run.html.j2", values, data)


def pairs_table(service: ReviewService, query: PairsQuery) -> pa.Table:
    """Return a row for each pair, with its decision."""
    number = _number(service, query)
    if number is None:
        raise ParameterError("The service has no runs of nearkin pairs. Name them when you start it: --run DIRECTORY")
    return _pairs_of(service, number).table(query.show)


def _number(service: ReviewService, query: PairsQuery) -> int | None:
    runs = service.runs.of_pairs
    return query.run if query.run is not None or not runs else runs[0].number


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
    all_pairs, rows = _pairs_of(service, body.run), (body.left_row, body.right_row)
    state = None if body.decision == "undecided" else body.decision
    all_pairs.decisions.decide(rows, all_pairs.names(rows), state, by=visitor.name, may_replace=visitor.may_undo)
    return GoTo("/pairs", {"run": body.run, "show": body.show, "page": body.page})


def _pairs_of(service: ReviewService, number: int) -> PairsOfRun:
    run = service.runs.find(number)
    if run.pairs is None:
        raise UnknownDocumentError(
            f"The run {run.name} has results of nearkin {run.manifest.command}, not of nearkin pairs."
        )
    return run.pairs


def _texts(all_pairs: PairsOfRun, shown: list[PairOfRun], soon: I64) -> tuple[tuple[Mapping[int, ShownText], ...], str]:
    """Return the texts of both sides by row, or why they cannot be shown; texts of the next pages are kept."""
    next_rows = all_pairs.rows(soon)
    try:
        sides = [all_pairs.texts(side, {pair.rows[i] for pair in shown}, next_rows[i]) for i, side in enumerate(SIDES)]
    except NearkinError as error:
        return ({}, {}), str(error)
    return tuple(sides), ""


def _as_data(pair: PairOfRun, texts: tuple[Mapping[int, ShownText], ...]) -> dict[str, object]:
    left, right = (texts[i].get(row) for i, row in enumerate(pair.rows))
    return {
        "left_row": pair.rows[0],
        "right_row": pair.rows[1],
        "left": pair.left,
        "right": pair.right,
        "cosine": pair.cosine,
        "terms": pair.terms,
        "decision": None if pair.decision is None else pair.decision.state,
        "by": None if pair.decision is None else pair.decision.by,
        "left_text": left and left.text,
        "right_text": right and right.text,
    }


class ReportsQuery(msgspec.Struct, kw_only=True):
    """The run whose report page is opened."""

    run: int | None = None


def reports(service: ReviewService, _: ReportsQuery) -> ScreenAnswer:
    """List the runs."""
    facts = [run.facts() for run in service.runs.all]
    return ScreenAnswer("reports.html.j2", {"runs": facts}, {"runs": facts})


def report_page(service: ReviewService, _: Visitor, query: ReportsQuery) -> bytes:
    """Return the page that the run wrote."""
    run = service.runs.find(query.run)
    if not run.has_report:
        raise UnknownDocumentError(f"The run {run.name} has no {REPORT}.")
    return (run.folder / REPORT).read_bytes()


SCREENS = (
    Screen("/jobs", NoQuery, jobs),
    Screen("/jobs/list", JobsQuery, job_list, is_part=True),
    Screen("/log", LogQuery, log, log_table),
    Screen("/users", NoQuery, users),
    Screen("/defensibility", DefensibilityQuery, defensibility),
    Screen("/pairs", PairsQuery, pairs, pairs_table),
    Screen(
        "/reports",
        ReportsQuery,
        reports,
        files=(ScreenFile(".html", "text/html; charset=utf-8", report_page, is_sandboxed_page=True),),
    ),
)
FORMS = (
    ChangeForm("/defensibility/audit", NoQuery, audit, is_change=False),
    ChangeForm("/pairs/decide", PairForm, decide),
)
