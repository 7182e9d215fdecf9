"""Requests below /api/v1 → operations → JSON, and the OpenAPI document of the operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from email.message import Message
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from nearkin._version import __version__
from nearkin.collection.tolerance import LIMITS, is_limit
from nearkin.errors import ParameterError, RefusedError
from nearkin.stages.documents.members import printable_id
from nearkin.tabular import as_json
from nearkin.web.api import decisions, documents
from nearkin.web.api.operation import ROOT, TEXT, ApiProblem, Operation, OperationAnswer, RequestBody
from nearkin.web.jobs import Job
from nearkin.web.later import LongWork
from nearkin.web.queries import ToleranceQuery, fields_of, parameters_in, parsed, request_error
from nearkin.web.roles import check_role, role_of
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor

_MAX_FIELDS = 1_000
_DOCUMENT = "/openapi.json"


class JSONAnswer(Response):
    """Response of JSON types."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Encode the answer."""
        return msgspec.json.encode(as_json(content))


def api_endpoint(service: ReviewService) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint for all paths below `ROOT`."""
    document = msgspec.json.encode(openapi(OPERATIONS))
    for entry in OPERATIONS:
        role_of(entry.method, ROOT + entry.path)  # one without a role is found before the service starts

    async def answered(request: Request) -> Response:
        visitor: Visitor = request.state.visitor
        segments = _segments(request)
        if segments == [_DOCUMENT.strip("/")] and request.method in ("GET", "HEAD"):
            check_role(visitor.role, role_of("GET", ROOT + _DOCUMENT))
            return Response(document, media_type="application/json")
        operation, given = _operation_for(request.method, segments)
        check_role(visitor.role, role_of(operation.method, ROOT + operation.path))
        if operation.is_change and not visitor.is_script:
            raise RefusedError(403, "A change through the API needs the token for scripts, not a session.")
        pairs = parameters_in(request.url.query, _MAX_FIELDS)
        named = [*_outside_path(operation, pairs), *given.items()]
        arguments = parsed(operation.query, named, in_path=given.keys(), is_strict=True)
        _check_value("query", arguments)
        body = await _body(operation, request)
        _check_value("body", body)
        is_change = operation.is_change and all(getattr(values, "changes", True) for values in (arguments, body))
        if is_change:
            service.check_may_change()

        def act() -> object:
            return operation.act(service, visitor, arguments, body)

        try:
            if is_change:
                answer = await service.change(act, request.state.answer_by, by=visitor.name, in_words=_in_words)
            else:
                answer = await service.workers.run(act)
            if isinstance(answer, LongWork):
                work, n_characters = answer.work, answer.n_characters
                result = partial(service.later.get, work, n_characters, None, key=object(), is_kept=False)
                answer = answer.answer(await service.whole(result))
        except ParameterError as error:
            raise _by_place(error, operation) from error
        if is_change and isinstance(answer, Job):
            answer = OperationAnswer(202, answer)
        reply = answer if isinstance(answer, OperationAnswer) else OperationAnswer(200, answer)
        if isinstance(reply.answer, str):
            return PlainTextResponse(reply.answer, reply.status)
        return JSONAnswer(reply.answer, reply.status)

    return answered


def _in_words(answer: object) -> str:
    return msgspec.json.encode(as_json(answer.answer if isinstance(answer, OperationAnswer) else answer)).decode()


def _segments(request: Request) -> list[str]:
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    parts = raw.partition(b"?")[0].removeprefix(ROOT.encode()).strip(b"/").split(b"/")
    try:
        return [unquote_to_bytes(part).decode() for part in parts]
    except UnicodeDecodeError:
        raise ParameterError("must be UTF-8, with % escapes.", parameter="path") from None


def _operation_for(method: str, segments: Sequence[str]) -> tuple[Operation, dict[str, str]]:
    there = [
        (operation, given) for operation in OPERATIONS if (given := _match(operation.segments, segments)) is not None
    ]
    for operation, given in there:
        if operation.method == ("GET" if method == "HEAD" else method):
            return operation, given
    if there:
        taken = {operation.method for operation, _ in there}
        allowed = ", ".join(sorted(taken | {"HEAD"} if "GET" in taken else taken))
        raise RefusedError(405, f"The method must be one of: {allowed}. Got {method} instead.", {"allow": allowed})
    slash = " Write / in an id as %2F." if segments[0] == "documents" else ""
    raise RefusedError(404, f"There is no such address. {ROOT}{_DOCUMENT} lists all of them.{slash}")


def _match(template: Sequence[str], segments: Sequence[str]) -> dict[str, str] | None:
    if len(template) != len(segments):
        return None
    given = dict[str, str]()
    for part, came in zip(template, segments, strict=True):
        if part.startswith("{"):
            given[part[1:-1]] = came
        elif part != came:
            return None
    return given


def _outside_path(operation: Operation, pairs: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Return the parameters; refuse those that are segments of the path."""
    for name, _ in pairs:
        if name in operation.in_path:
            raise ParameterError("is a segment of the path, not of the query string.", parameter=f"query.{name}")
    return pairs


def _by_place(error: ParameterError, operation: Operation) -> ParameterError:
    name = error.parameter
    if name is None or name not in fields_of(operation.query):
        return error
    error.parameter = f"{'path' if name in operation.in_path else 'query'}.{name}"
    return error


def _check_value(place: str, parameters: object) -> None:
    if not isinstance(parameters, ToleranceQuery) or parameters.value is None:
        return
    if not is_limit(parameters.measure, parameters.value):
        rule = f"{LIMITS[parameters.measure].rule} for the measure {parameters.measure}"
        raise ParameterError.of(f"{place}.value", rule, parameters.value)


async def _body(operation: Operation, request: Request) -> Any:
    if operation.body is None:
        return None
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        shown = printable_id(encoding)
        raise RefusedError(415, f"The body must not be compressed. Got Content-Encoding: {shown}. Send it as it is.")
    content, header = await request.body(), Message()
    header["content-type"] = request.headers.get("content-type", "application/octet-stream")
    kind = header.get_content_type()
    if operation.body is RequestBody:
        if header.get_content_maintype() == "multipart":
            raise RefusedError(415, f"The body must be the document or its file, not a form. Got {kind} instead.")
        if not content:
            raise ParameterError("must have at least one byte: a text, or a file as it is.", parameter="body")
        return RequestBody(content, kind, header.get_content_charset() or "utf-8")
    if kind != "application/json":
        raise RefusedError(415, f"The Content-Type of the body must be application/json. Got {kind} instead.")
    try:
        return msgspec.json.decode(content, type=operation.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise request_error(error, _json_or_none(content), operation.body, "body") from error
    except RecursionError:
        raise ParameterError("is nested too deeply.", parameter="body") from None


OPERATIONS: tuple[Operation, ...] = (*documents.OPERATIONS, *decisions.OPERATIONS)


def _json_or_none(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


JSONObject: TypeAlias = MutableMapping[str, Any]
_REF = "#/components/schemas/{name}"
_PROBLEMS = {
    400: "A parameter breaks its rule.",
    401: "The token is missing or wrong.",
    403: "The token may not do this, or the service is read-only.",
    404: "There is no such document, group, passage or job.",
    405: "The address does not take this method.",
    409: "What the request would replace was changed after the activity that it names; 'activities' has the changes.",
    413: "The body is too large.",
    415: "The body is not of a type that this address takes.",
    421: "The Host header is not that of the service.",
    422: "The document cannot be read or stored.",
    503: "The service or the collection is busy, or the database does not answer (try again); or the collection was "
    "moved (restart the service).",
}


def openapi(operations: Sequence[Operation]) -> JSONObject:
    """Return the document."""
    bodies = [operation.body for operation in operations if operation.body not in (None, RequestBody)]
    types: list[Any] = [ApiProblem, Job, *(operation.answer for operation in operations), *bodies]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(types, schemas, strict=True))
    paths = dict[str, JSONObject]()
    for entry in operations:
        paths.setdefault(entry.path, {})[entry.method.lower()] = _described(entry, by_type)
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


def _described(operation: Operation, by_type: dict[Any, Any]) -> JSONObject:
    media = "text/plain" if operation.answer is str else "application/json"
    content = {media: {"schema": by_type[operation.answer]}}
    problem = {"application/json": {"schema": by_type[ApiProblem]}}
    responses = {
        **{str(status): {"description": "Success.", "content": content} for status in operation.statuses},
        **{str(status): {"description": why, "content": problem} for status, why in _PROBLEMS.items()},
    }
    if operation.is_change:
        told_by_job = {"application/json": {"schema": by_type[Job]}}
        responses["202"] = {"description": "It takes long: the job says what becomes of it.", "content": told_by_job}
    description: JSONObject = {
        "operationId": f"{operation.method.lower()}_{'_'.join(part.strip('{}') for part in operation.segments)}",
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": responses,
    }
    if operation.body is RequestBody:
        description["requestBody"] = {
            "required": True,
            "description": "A text, or a file as it is; its kind is recognised by its bytes or the suffix of its name.",
            "content": {
                TEXT: {"schema": {"type": "string"}},
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            },
        }
    elif operation.body is not None:
        description["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": by_type[operation.body]}},
        }
    return description


def _parameters(operation: Operation) -> list[JSONObject]:
    (_,), components = msgspec.json.schema_components([operation.query], ref_template=_REF)
    schema = components[operation.query.__name__]
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "in": "path" if name in operation.in_path else "query",
            "required": name in required or name in operation.in_path,
            "schema": _without_null(schema_of),
        }
        for name, schema_of in schema["properties"].items()
    ]


def _without_null(schema: JSONObject) -> JSONObject:
    """Return the schema of a value that is given: a query string has no null."""
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return dict(choices[0])
    return {name: value for name, value in schema.items() if not (name == "default" and value is None)}
