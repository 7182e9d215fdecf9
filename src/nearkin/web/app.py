"""The application: screens, their JSON, forms, and files, behind the gate."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from nearkin.collection.listing.coding import with_coding
from nearkin.errors import ChangedMeanwhileError, NearkinError, RefusedError, SourceError
from nearkin.web.api.dispatch import JSONAnswer, api_endpoint
from nearkin.web.api.operation import ROOT, ApiProblem
from nearkin.web.gate import Gate, sandbox
from nearkin.web.later import NotYet
from nearkin.web.queries import DoneQuery, parameters_in, parsed, repeated_error
from nearkin.web.roles import ROLES, Role, check_role, role_of
from nearkin.web.screen import ChangeForm, FileField, Screen, ScreenFile
from nearkin.web.screens import FORMS, SCREENS
from nearkin.web.sent_files import ENCODINGS, SentFile
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer, address
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import Visitor, is_token_of
from nearkin.web.users.sign_in import Entry
from nearkin.workflows.collection.tables import write_table

CSRF = "csrf"
_STATIC = "/static/{name}"
_MAX_FIELDS = 10_000
_TABLES = {
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl": "application/jsonl; charset=utf-8",
}
_PARAMETERS = ".parameters"
_Endpoint = Callable[[Request], Awaitable[Response]]


def application(service: ReviewService, settings: ServiceSettings, entry: Entry) -> ASGIApp:
    """Build the application.

    Returns
    -------
    ASGI application
        When it ends it closes the threads; the collection is the caller's.
    """
    routes = [_route(_STATIC, partial(_static, service), role_of("GET", _STATIC))]
    for screen in SCREENS:
        role = role_of("GET", screen.path)
        routes.append(_route(screen.json_path, _json_of(service, screen), role))
        routes.append(_route(screen.path, _page_of(service, screen), role))
        if screen.table is not None:
            routes += [_route(f"{screen.path}{suffix}", _table_of(service, screen, suffix), role) for suffix in _TABLES]
            routes.append(_route(f"{screen.path}{_PARAMETERS}", _parameters_of(service, screen), role))
        routes += [
            _route(f"{screen.path}{file.suffix}", _file_of(service, screen, file), role) for file in screen.files
        ]
    routes += [_route(form.path, _change_of(service, form), role_of("POST", form.path), "POST") for form in FORMS]
    # each operation has a role of its own
    api = _route(f"{ROOT}/{{rest:path}}", api_endpoint(service), ROLES[0])
    api.methods = None  # any: which ones an address takes is known there
    routes.append(api)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.jobs.close()
        service.later.close()
        service.workers.close()
        service.writers.close()

    failed = partial(_failed, service)
    return Gate(
        Starlette(
            routes=routes,
            lifespan=lifespan,
            exception_handlers={NearkinError: failed, HTTPException: failed, Exception: failed},
            max_body_size=settings.max_body_bytes,
        ),
        settings,
        entry,
        service.metrics_text,
    )


def visitor_of(request: Request) -> Visitor:
    """Return the visitor that the gate let in."""
    visitor: Visitor = request.state.visitor
    return visitor


def _route(path: str, endpoint: _Endpoint, role: Role, *methods: str) -> Route:
    async def checked(request: Request) -> Response:
        check_role(visitor_of(request).role, role)
        return await endpoint(request)

    return Route(path, checked, methods=list(methods or ("GET",)))


def _page_of(service: ReviewService, screen: Screen) -> _Endpoint:
    async def page(request: Request) -> Response:
        query, visitor = parameters_in(request.url.query), visitor_of(request)
        arguments, done = parsed(screen.query, query), parsed(DoneQuery, query)
        place = str(request.url.include_query_params().replace(scheme="", netloc=""))

        is_waiting = "hx-request" in request.headers and not screen.is_part

        def answered() -> Response:
            seen = service.last_activity()  # before: what is changed while the answer is made was not seen
            try:
                answer = screen.answer(service, arguments)
            except NotYet as later:
                template = "later_part.html.j2" if screen.is_part else "later.html.j2"
                answer = ScreenAnswer(template, {}, {}, later)
            if is_waiting:
                return Response(status_code=204) if answer.not_yet else Response(headers={"hx-refresh": "true"})
            page = service.page(answer, visitor, asked=arguments, here=screen.path, place=place, done=done, seen=seen)
            return HTMLResponse(page)

        return await service.workers.run(answered)

    return page


def _json_of(service: ReviewService, screen: Screen) -> _Endpoint:
    async def data(request: Request) -> Response:
        arguments = parsed(screen.query, parameters_in(request.url.query))
        return await service.whole(lambda: JSONAnswer(screen.answer(service, arguments).whole_data()))

    return data


def _table_of(service: ReviewService, screen: Screen, suffix: str) -> _Endpoint:
    async def table(request: Request) -> Response:
        arguments, make = parsed(screen.query, parameters_in(request.url.query)), screen.table

        def written() -> bytes:
            metadata = json.dumps(service.parameters(screen.path, arguments), ensure_ascii=False)
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder, f"table{suffix}")
                if make is not None:
                    rows = make(service, arguments)
                    with service.collection.opened.store.reading() as connection:
                        rows = with_coding(connection, rows)
                    write_table(rows.replace_schema_metadata({"nearkin": metadata}), out)
                return out.read_bytes()

        return _attached(screen, suffix, _TABLES[suffix], await service.workers.run(written))

    return table


def _parameters_of(service: ReviewService, screen: Screen) -> _Endpoint:
    async def told(request: Request) -> Response:
        arguments = parsed(screen.query, parameters_in(request.url.query))
        content = json.dumps(service.parameters(screen.path, arguments), ensure_ascii=False, indent=1).encode() + b"\n"
        return _attached(screen, f"{_PARAMETERS}.json", "application/json", content)

    return told


def _file_of(service: ReviewService, screen: Screen, file: ScreenFile) -> _Endpoint:
    async def made(request: Request) -> Response:
        arguments = parsed(file.query or screen.query, parameters_in(request.url.query))
        visitor = visitor_of(request)
        content = await service.whole(lambda: file.make(service, visitor, arguments))
        if file.is_sandboxed_page:
            sandbox(request.scope)
            return Response(content, media_type=file.media_type)
        return _attached(screen, file.suffix, file.media_type, content)

    return made


def _attached(screen: Screen, suffix: str, media_type: str, content: bytes) -> Response:
    name = screen.path.strip("/").replace("/", "-") + suffix  # the path of the screen, never a text of a document
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _change_of(service: ReviewService, form: ChangeForm) -> _Endpoint:
    async def change(request: Request) -> Response:
        visitor = visitor_of(request)
        async with request.form(
            max_fields=_MAX_FIELDS, max_files=0 if form.file is None else form.file.max_files
        ) as sent:
            fields = [(name, value) for name, value in sent.multi_items() if isinstance(value, str)]
            tokens = [value for name, value in fields if name == CSRF]
            if len(tokens) > 1:
                raise repeated_error(f"form.{CSRF}")
            if not is_token_of(visitor, "".join(tokens)):
                raise HTTPException(403, "The form is not from this session. Reload the page and try again.")
            if form.is_change:
                service.check_may_change()
            body = parsed(form.body, [(name, value) for name, value in fields if name != CSRF], "form")
            files = () if form.file is None else (_sent_files(sent.getlist(form.file.name), form.file),)

            def act() -> Response:
                seen, status = service.last_activity(), 200
                try:
                    done = form.act(service, visitor, body, *files)
                except ChangedMeanwhileError as error:
                    done, status = _asked_again(form, fields, error), error.status
                if isinstance(done, GoTo):
                    return RedirectResponse(address(done.path, **done.query), 303)
                return HTMLResponse(service.page(done, visitor, seen=seen), status)

            if not form.is_change:
                return await service.workers.run(act)
            done = await service.change(act, request.state.answer_by, by=visitor.name)
            return done if isinstance(done, Response) else RedirectResponse(address("/", job=done.number), 303)

    return change


def _asked_again(form: ChangeForm, fields: Sequence[tuple[str, str]], error: ChangedMeanwhileError) -> ScreenAnswer:
    """Show what was changed since the page of a form, and the form again, which then knows of it."""
    values = {
        "path": form.path,
        "fields": [(name, value) for name, value in fields if name not in (CSRF, "seen")],
        "given": dict(fields),
        "activities": error.activities,
    }
    return ScreenAnswer("changed_meanwhile.html.j2", values, None)


def _sent_files(values: Sequence[object], field: FileField) -> SentFile | tuple[SentFile, ...] | None:
    files = tuple(
        SentFile(value.filename, value.file) for value in values if isinstance(value, UploadFile) and value.filename
    )
    return files if field.max_files > 1 else next(iter(files), None)


async def _static(service: ReviewService, request: Request) -> Response:
    file = service.static.by_name.get(request.path_params["name"])
    if file is None:
        raise HTTPException(404)
    is_named = request.query_params.get("v") == file.digest
    kept = "private, max-age=31536000, immutable" if is_named else "no-cache"
    return Response(file.content, media_type=file.kind, headers={"cache-control": kept})


async def _failed(service: ReviewService, request: Request, error: Exception) -> Response:
    is_program = request.url.path.endswith(".json") or request.url.path.startswith("/api/")
    status, message = _told(error)
    headers = {"retry-after": "1"} if status == 503 else {}
    if isinstance(error, RefusedError):
        headers |= error.headers
    elif isinstance(error, HTTPException):
        headers |= error.headers or {}
    if is_program:
        where = error.parameter if isinstance(error, NearkinError) else None
        problem = ApiProblem(error=type(error).__name__, message=message, where=where)
        if isinstance(error, ChangedMeanwhileError):
            problem.activities = list(error.activities)
        return JSONAnswer(problem, status, headers)
    is_part = "hx-request" in request.headers
    tolerance = {name: request.query_params[name] for name in ("measure", "value") if name in request.query_params}
    values = {
        "status": status,
        "message": message,
        "tolerance": tolerance,
        "is_unreadable": isinstance(error, SourceError),
        "is_checked_in": request.url.path == "/check-in/file",
        "encodings": ENCODINGS,
    }
    answer = ScreenAnswer("problem_part.html.j2" if is_part else "problem.html.j2", values, None)
    here = request.url.path.rpartition("/")[0] if request.method == "POST" else ""  # the screen of a form
    return HTMLResponse(service.page(answer, visitor_of(request), here=here), status, headers)


def _told(error: Exception) -> tuple[int, str]:
    """Return the status and the message of an error; the message of an unexpected error reveals nothing."""
    if isinstance(error, HTTPException):
        allowed = (error.headers or {}).get("Allow")
        return error.status_code, str(error.detail) if allowed is None else f"The method must be one of: {allowed}."
    if isinstance(error, NearkinError):
        return error.status, str(error)
    return 500, "The service failed to answer. The terminal in which nearkin serve runs says why."
