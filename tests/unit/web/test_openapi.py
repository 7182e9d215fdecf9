"""Requests made from the OpenAPI document, right and wrong ones: the service answers each as the document says."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from nearkin.web.api.dispatch import OPERATIONS, openapi
from review_client import ORIGIN, Visit, small_collection

SCHEMA = schemathesis.openapi.from_dict(msgspec.to_builtins(openapi(OPERATIONS)))
CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with small_collection(tmp_path_factory.mktemp("openapi")) as collection:
        visit = Visit(collection)
        yield visit
        visit.service.jobs.close()


def test_all_but_get_can_be_answered_with_a_job() -> None:
    paths = openapi(OPERATIONS)["paths"]
    with_job = {method for one in paths.values() for method, said in one.items() if "202" in said["responses"]}
    without = {method for one in paths.values() for method, said in one.items() if "202" not in said["responses"]}
    assert (with_job, without) == ({"put", "post", "delete"}, {"get"})


@SCHEMA.parametrize()
@settings(max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_the_document_says(case: schemathesis.Case, script: Visit) -> None:
    sent = case.as_transport_kwargs(
        base_url=f"{ORIGIN}/api/v1", headers={"authorization": f"Bearer {script.entry.token}"}
    )
    parts = {name: sent[name] for name in ("params", "json") if sent.get(name) is not None}
    if (content := sent.get("data")) is not None:
        parts["content"] = content
    answer = script.send(sent["method"], sent["url"], headers=dict(sent["headers"]), **parts)
    case.validate_response(answer, checks=CHECKS)
