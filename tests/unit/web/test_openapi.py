"""Requests made from the OpenAPI document, right and wrong ones: the service answers each as the document says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from nearkin.web.api.dispatch import OPERATIONS, openapi
from review_client import ORIGIN, Visit, small_collection

SCHEMA = schemathesis.openapi.from_dict(msgspec.to_builtins(openapi(OPERATIONS)))
pytest_plugins = ["schemathesis.pytest.plugin"]
"""Not loaded in other tests: it takes each process a second."""
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


def closed(schema: Any) -> Any:
    """The same schema, in which no object may have fields that it does not list."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(one) for name, one in schema.items()}
    return {"additionalProperties": False, **found} if isinstance(schema.get("properties"), dict) else found


def test_no_answer_has_a_field_that_the_document_lacks(script: Visit) -> None:
    document = closed(msgspec.to_builtins(openapi(OPERATIONS)))
    text = {"content": b"A letter about the roof of the house by the river.", "headers": {"content-type": "text/plain"}}
    asked: list[tuple[str, str, str, dict[str, Any]]] = [
        ("put", "/documents/{id}", "/documents/new", text),
        ("get", "/documents/{id}", "/documents/new", {}),
        ("get", "/search", "/search?q=roof", {}),
        ("post", "/searches", "/searches", {"json": {"name": "roofs", "query": "roof*"}}),
        ("get", "/searches", "/searches", {}),
        ("get", "/documents/{id}/similar", "/documents/new/similar?measure=containment", {}),
        ("post", "/check", "/check", text),
        ("post", "/check", "/check?measure=index", text),
        ("get", "/compare", "/compare?a=new&b=new", {}),
        ("post", "/tags", "/tags", {"json": {"field": "code", "tag_value": "red", "ids": ["new"]}}),
        ("get", "/tags", "/tags", {}),
        ("delete", "/documents/{id}", "/documents/new", {}),
        ("get", "/log", "/log", {}),
        ("get", "/waves", "/waves", {}),
        ("get", "/groups", "/groups", {}),
        ("get", "/jobs", "/jobs", {}),
    ]
    for method, path, url, parts in asked:
        headers = {"authorization": f"Bearer {script.entry.token}", **parts.pop("headers", {})}
        answer = script.send(method.upper(), f"{ORIGIN}/api/v1{url}", headers=headers, **parts)
        said = document["paths"][path][method]["responses"][str(answer.status_code)]
        assert answer.status_code < 300, (url, answer.text)
        schema = {**said["content"]["application/json"]["schema"], "components": document["components"]}
        jsonschema_rs.validate(schema, answer.json())
