"""Operations that report the state of the service."""

from __future__ import annotations

from nearkin.web.api.operation import NoParameters, Operation
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor


def get_metrics(service: ReviewService, _: Visitor, __: NoParameters, ___: object) -> str:
    """Write counts and times of requests, and of jobs."""
    gauges = {
        "nearkin_requests_running": ("Requests that are running or wait for a thread.", service.workers.n_running),
        "nearkin_jobs_running": ("Jobs that are running or waiting.", service.jobs.n_unfinished),
    }
    return service.metrics.exposition(gauges)


OPERATIONS = (
    Operation(
        method="GET", path="/metrics", summary="Counts and times of requests for Prometheus.", query=NoParameters,
        answer=str, act=get_metrics,
    ),
)  # fmt: skip
