"""Operations that report the state of the service."""

from __future__ import annotations

from sqlalchemy import text

from nearkin._version import __version__
from nearkin.web.api.operation import NoParameters, Operation
from nearkin.web.api.records import ApiHealth
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor


def get_health(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> ApiHealth:
    """Ask the database."""
    with service.collection.opened.store.reading() as connection:
        connection.execute(text("SELECT 1")).scalar_one()
    return ApiHealth(status="ok", version=__version__, collection=service.name, is_read_only=service.is_read_only)


def get_metrics(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> str:
    """Write counts and times of requests, and of jobs."""
    gauges = {
        "nearkin_requests_running": ("Requests that are running or wait for a thread.", service.workers.n_running),
        "nearkin_jobs_running": ("Jobs that are running or waiting.", service.jobs.n_unfinished),
    }
    return service.metrics.exposition(gauges)


OPERATIONS = (
    Operation(
        method="GET", path="/healthz", summary="Say whether the database answers.", query=NoParameters,
        answer=ApiHealth, act=get_health,
    ),
    Operation(
        method="GET", path="/metrics", summary="Counts and times of requests for Prometheus.", query=NoParameters,
        answer=str, act=get_metrics,
    ),
)  # fmt: skip
