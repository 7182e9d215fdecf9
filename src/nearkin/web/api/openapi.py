"""OpenAPI 3.1 document, made from the operations and their types."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any, TypeAlias

import msgspec

from nearkin._version import __version__
from nearkin.web.api.documents import TEXT
from nearkin.web.api.operation import ROOT, Operation
from nearkin.web.api.records import ApiProblem

JSONObject: TypeAlias = MutableMapping[str, Any]
_REF = "#/components/schemas/{name}"
_PROBLEMS = {
    400: "A parameter breaks its rule.",
    401: "The token is missing or wrong.",
    403: "The token may not do this, or the service is read-only.",
    404: "There is no such document, group or job.",
    405: "The address does not take this method.",
    413: "The body is too large.",
    415: "The body is not of a type that this address takes.",
    421: "The Host header is not that of the service.",
    422: "The document cannot be read or stored.",
    503: "The service or the collection is busy, or the database does not answer (try again); or the collection was "
    "moved (restart the service).",
}


def openapi(operations: Sequence[Operation]) -> JSONObject:
    """Return the document.

    Parameters
    ----------
    operations : sequence of Operation
    """
    bodies = [one.body for one in operations if isinstance(one.body, type)]
    types: list[Any] = [ApiProblem, *(one.answer for one in operations), *bodies]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(types, schemas, strict=True))
    paths = dict[str, JSONObject]()
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nearkin",
            "version": __version__,
            "description": "Near-duplicate documents of a collection. Every request needs the token for scripts.",
        },
        "servers": [{"url": ROOT}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(one: Operation, by_type: dict[Any, Any]) -> JSONObject:
    media = "text/plain" if one.answer is str else "application/json"
    content = {media: {"schema": by_type[one.answer]}}
    problem = {"application/json": {"schema": by_type[ApiProblem]}}
    responses = {
        **{str(status): {"description": "Success.", "content": content} for status in one.statuses},
        **{str(status): {"description": why, "content": problem} for status, why in _PROBLEMS.items()},
    }
    told: JSONObject = {
        "operationId": f"{one.method.lower()}_{'_'.join(part.strip('{}') for part in one.segments)}",
        "summary": one.summary,
        "parameters": _parameters(one),
        "responses": responses,
    }
    if one.body == "document":
        told["requestBody"] = {
            "required": True,
            "description": "A text, or a file as it is; its kind is recognised by its bytes or the suffix of its name.",
            "content": {
                TEXT: {"schema": {"type": "string"}},
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            },
        }
    elif isinstance(one.body, type):
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": by_type[one.body]}}}
    return told


def _parameters(one: Operation) -> list[JSONObject]:
    (_,), components = msgspec.json.schema_components([one.query], ref_template=_REF)
    schema = components[one.query.__name__]
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "in": "path" if name in one.in_path else "query",
            "required": name in required or name in one.in_path,
            "schema": _without_null(schema_of),
        }
        for name, schema_of in schema["properties"].items()
    ]


def _without_null(schema: JSONObject) -> JSONObject:
    """Return the schema of a value that is given: a query string has no null."""
    choices = [one for one in schema.get("anyOf", []) if one != {"type": "null"}]
    if len(choices) == 1:
        return dict(choices[0])
    return {name: value for name, value in schema.items() if not (name == "default" and value is None)}
