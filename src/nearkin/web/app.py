"""The application: screens, their JSON, forms, and files, behind the gate."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.datastructures import Headers, MutableHeaders, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nearkin.errors import NearkinError, ParameterError, RefusedError, SourceError
from nearkin.reports.pages import PageScript
from nearkin.reports.quantities import size_text
from nearkin.web.api.dispatch import JSONAnswer, api_endpoint
from nearkin.web.api.operation import ROOT
from nearkin.web.api.records import ApiProblem
from nearkin.web.queries import DoneQuery, InvalidRequestError, parameters_in, parsed, repeated_error, unescaped
from nearkin.web.refusals import refused, status_of
from nearkin.web.roles import ROLES, Role, check_role, role_of_form, role_of_screen
from nearkin.web.screen import ChangeForm, FileField, Screen, ScreenFile
from nearkin.web.screens import FORMS, SCREENS
from nearkin.web.sent_files import ENCODINGS, SentFile
from nearkin.web.service import GoTo, ReviewService, ScreenAnswer, address
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import Authenticator, Visitor, cookie_of, is_token_of
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


class _AnythingConvertor(PathConvertor):
    """Any characters, also line breaks, which ids may have."""

    regex = "(?s:.*)"


register_url_convertor("anything", _AnythingConvertor())


def application(service: ReviewService, settings: ServiceSettings, entry: Authenticator) -> ASGIApp:
    """Build the application.

    Parameters
    ----------
    service : ReviewService
    settings : ServiceSettings
    entry : Authenticator

    Returns
    -------
    ASGI application
        When it ends it closes the threads; the collection is the caller's.
    """
    routes = [_route(_STATIC, partial(_static, service), role_of_screen(_STATIC))]
    for screen in SCREENS:
        role = role_of_screen(screen.path)
        routes.append(_route(screen.json_path, _json_of(service, screen), role))
        routes.append(_route(screen.path, _page_of(service, screen), role))
        if screen.table is not None:
            routes += [_route(f"{screen.path}{suffix}", _table_of(service, screen, suffix), role) for suffix in _TABLES]
            routes.append(_route(f"{screen.path}{_PARAMETERS}", _parameters_of(service, screen), role))
        routes += [
            _route(f"{screen.path}{file.suffix}", _file_of(service, screen, file), role) for file in screen.files
        ]
    routes += [_route(form.path, _change_of(service, form), role_of_form(form.path), "POST") for form in FORMS]
    # each operation has a role of its own
    api = _route(f"{ROOT}/{{rest:anything}}", api_endpoint(service), ROLES[0])
    api.methods = None  # any: which ones an address takes is known there
    routes.append(api)
    known = frozenset(route.path for route in routes)

    def watch(scope: Scope, status: int, elapsed_s: float) -> None:
        route = scope["state"].get("route") or (scope["path"] if scope["path"] in known else "other")
        service.metrics.observe(scope["method"], route, status, elapsed_s)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.jobs.close()
        service.workers.close()

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
        watch,
    )


def visitor_of(request: Request) -> Visitor:
    """Return the visitor that the gate let in."""
    found: Visitor = request.state.visitor
    return found


def _route(path: str, endpoint: _Endpoint, role: Role, *methods: str) -> Route:
    """Return a route for visitors with a sufficient role."""

    async def checked(request: Request) -> Response:
        check_role(visitor_of(request).role, role)
        return await endpoint(request)

    return Route(path, checked, methods=list(methods or ("GET",)))


def _parameters(request: Request) -> list[tuple[str, str]]:
    """Return the parameters of a page, also those that a form of another page sent."""
    return unescaped(parameters_in(request.url.query))


def _page_of(service: ReviewService, screen: Screen) -> _Endpoint:
    async def page(request: Request) -> Response:
        query, visitor = _parameters(request), visitor_of(request)
        asked, done = parsed(screen.query, query), parsed(DoneQuery, query)
        place = str(request.url.include_query_params().replace(scheme="", netloc=""))

        def answered() -> str:
            return service.page(screen.answer(service, asked), visitor, here=screen.path, place=place, done=done)

        return HTMLResponse(await service.workers.run(answered))

    return page


def _json_of(service: ReviewService, screen: Screen) -> _Endpoint:
    async def data(request: Request) -> Response:
        asked = parsed(screen.query, _parameters(request))
        return await service.workers.run(lambda: JSONAnswer(screen.answer(service, asked).data))

    return data


def _table_of(service: ReviewService, screen: Screen, suffix: str) -> _Endpoint:
    async def table(request: Request) -> Response:
        asked, make = parsed(screen.query, _parameters(request)), screen.table

        def written() -> bytes:
            told = json.dumps(service.parameters(screen.path, asked), ensure_ascii=False)
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder, f"table{suffix}")
                if make is not None:
                    found = make(service, asked)
                    write_table(found.replace_schema_metadata({"nearkin": told}), out)
                return out.read_bytes()

        return _attached(screen, suffix, _TABLES[suffix], await service.workers.run(written))

    return table


def _parameters_of(service: ReviewService, screen: Screen) -> _Endpoint:
    async def told(request: Request) -> Response:
        asked = parsed(screen.query, _parameters(request))
        content = json.dumps(service.parameters(screen.path, asked), ensure_ascii=False, indent=1).encode() + b"\n"
        return _attached(screen, f"{_PARAMETERS}.json", "application/json", content)

    return told


def _file_of(service: ReviewService, screen: Screen, file: ScreenFile) -> _Endpoint:
    async def made(request: Request) -> Response:
        asked = parsed(file.query or screen.query, _parameters(request))
        visitor = visitor_of(request)
        content = await service.workers.run(lambda: file.make(service, visitor, asked))
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
            fields = unescaped((name, value) for name, value in sent.multi_items() if isinstance(value, str))
            tokens = [value for name, value in fields if name == CSRF]
            if len(tokens) > 1:
                raise repeated_error(CSRF, "form")
            if not is_token_of(visitor, "".join(tokens)):
                raise HTTPException(403, "The form is not from this session. Reload the page and try again.")
            if form.is_change:
                service.check_may_change()
            body = parsed(form.body, [(name, value) for name, value in fields if name != CSRF], "form")
            files = () if form.file is None else (_sent_files(sent.getlist(form.file.name), form.file),)

            def act() -> Response:
                done = form.act(service, visitor, body, *files)
                if isinstance(done, GoTo):
                    return RedirectResponse(address(done.path, **done.query), 303)
                return HTMLResponse(service.page(done, visitor))

            return await service.workers.run(act)

    return change


def _sent_files(values: Sequence[object], field: FileField) -> SentFile | tuple[SentFile, ...] | None:
    found = tuple(SentFile(one.filename, one.file) for one in values if isinstance(one, UploadFile) and one.filename)
    return found if field.max_files > 1 else next(iter(found), None)


async def _static(service: ReviewService, request: Request) -> Response:
    """Answer with a file of the pages; its name is looked up in memory."""
    request.state.route = _STATIC
    found = service.static.by_name.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    is_named = request.query_params.get("v") == found.digest
    kept = "private, max-age=31536000, immutable" if is_named else "no-cache"
    return Response(found.content, media_type=found.kind, headers={"cache-control": kept})


async def _failed(service: ReviewService, request: Request, error: Exception) -> Response:
    """Answer with an error: as a page for a person, as JSON for a program."""
    is_program = request.url.path.endswith(".json") or request.url.path.startswith("/api/")
    status, message = _told(error)
    headers = {"retry-after": "1"} if status == 503 else {}
    if isinstance(error, RefusedError):
        headers |= error.headers
    elif isinstance(error, HTTPException):
        headers |= error.headers or {}
    if is_program:
        where = error.parameter if isinstance(error, NearkinError) else None
        kind = ParameterError if isinstance(error, ParameterError) else type(error)
        told = ApiProblem(error=kind.__name__, message=message, where=where)
        return JSONAnswer(told, status, headers)
    is_part = "hx-request" in request.headers
    tolerance = {name: request.query_params[name] for name in ("measure", "value") if name in request.query_params}
    values = {
        "status": status,
        "message": error.on_page if isinstance(error, InvalidRequestError) else message,
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
        return status_of(error), str(error)
    return 500, "The service failed to answer. The terminal in which nearkin serve runs says why."


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""Headers of every response. No referrer at all would make browsers send "Origin: null" with forms."""
_ONLY_ENCRYPTED = {"strict-transport-security": "max-age=31536000"}
"""Header of a service behind a proxy that encrypts: for a year, they connect to its host name only with TLS."""
HEALTH = "/api/v1/healthz"
_SANDBOX = "sandbox"
_SAFE = frozenset(("GET", "HEAD"))
_OWN_SITES = frozenset(("same-origin", "none"))


_NO_VISITOR = "The token is missing or wrong. After several wrong tokens, wait a minute."
_UNKNOWN_END = "A change that was begun may still be completed: check before you repeat it."


class Gate:
    """Middleware around the whole application. Everything is refused unless each rule allows it.

    0. ``GET /api/v1/healthz`` is answered to anybody, and says only that the process lives.
    1. The Host header names this service: a page of another name that resolves to this machine is refused. What did
       not come through the proxy, if there is one, and encrypted, is refused, too.
    2. ``Sec-Fetch-Site`` is "same-origin" or "none", ``Origin`` is the service's own; a request that changes something
       and has a session must have one of the two.
    3. The visitor has a session or the token of scripts. Only the sign-in is open, and it is answered here.
    4. The time is limited; the body is in Starlette.

    Parameters
    ----------
    app : ASGI application
    settings : ServiceSettings
    entry : Authenticator
    watch : callable, optional
        Receives the scope of each request that passed, the status of its answer, and its time in seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: ServiceSettings,
        entry: Authenticator,
        watch: Callable[[Scope, int, float], None] | None = None,
    ) -> None:
        self._app, self._settings, self._entry, self._watch = app, settings, entry, watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is refused, and pass others on with their visitor."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _GuardedSend(scope, send, HEADERS | _ONLY_ENCRYPTED if self._settings.is_behind_proxy else HEADERS)
        if scope["path"] == HEALTH and scope["method"] in _SAFE:
            await JSONResponse({"status": "ok"})(scope, receive, guarded)
            return
        headers = Headers(scope=scope)
        answer, visitor = self._foreign(scope, headers), None
        if answer is None:
            visitor = self._visitor(headers)  # a foreign page uses up no attempts
            answer = self._refusal(scope, headers, visitor) or await self._entered(scope, receive, visitor)
        if answer is None and visitor is None:
            is_of_programs = _is_of_programs(scope)
            answer = (
                refused(401, _NO_VISITOR) if is_of_programs else self._entry.refusal(scope, headers, self._settings)
            )
            answer.headers["www-authenticate"] = "Bearer"
        if answer is not None:
            await _for_programs(scope, answer)(scope, receive, guarded)
            return
        scope.setdefault("state", {})["visitor"] = visitor
        started = time.perf_counter()
        try:
            await self._passed(scope, receive, guarded)
        finally:
            if self._watch is not None:
                self._watch(scope, guarded.status or 500, time.perf_counter() - started)

    def _visitor(self, headers: Headers) -> Visitor | None:
        """Return the visitor; a request with the token of scripts is that of a script, whatever its cookies."""
        if "authorization" in headers:
            return self._entry.of_authorization(headers["authorization"])
        return self._entry.of_cookie(cookie_of(headers, self._settings.cookie))

    def _foreign(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the refusal of a request that came past the proxy, for another host, or from another site."""
        settings = self._settings
        if settings.is_behind_proxy and scope["scheme"] != "https":
            return refused(
                403, "Requests come through the proxy, which must encrypt and send the header X-Forwarded-Proto: https."
            )
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in settings.hosts:
            return refused(
                421, "This address does not belong to the service. Open the address that nearkin serve printed."
            )
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None and site not in _OWN_SITES:
            return refused(403, "Requests from other sites are refused. Type the address into a new tab instead.")
        if origin is not None and origin.lower() not in settings.origins:
            return refused(403, "Requests from other origins are refused.")
        return None

    def _refusal(self, scope: Scope, headers: Headers, visitor: Visitor | None) -> Response | None:
        """Return the refusal of a request that the visitor may not make; None if it is allowed."""
        if visitor is None and "authorization" in headers:
            refusal = refused(401, _NO_VISITOR)
            refusal.headers["www-authenticate"] = "Bearer"
            return refusal
        is_change, is_placed = scope["method"] not in _SAFE, "sec-fetch-site" in headers or "origin" in headers
        if is_change and not is_placed and not (visitor is not None and visitor.is_script):
            return refused(403, "A change needs an Origin header, or the token for scripts.")
        if _content_length(headers) > (max_bytes := self._settings.max_body_bytes):
            return refused(413, f"The body of a request is limited to {size_text(max_bytes)}.")
        return None

    async def _entered(self, scope: Scope, receive: Receive, visitor: Visitor | None) -> Response | None:
        """Return the answer to a request for the sign-in itself, or None."""
        try:
            async with asyncio.timeout(self._settings.request_s):
                return await self._entry.answer(scope, receive, visitor, self._settings)
        except (ClientDisconnect, TimeoutError):
            return refused(408, "The request did not arrive in time.")

    async def _passed(self, scope: Scope, receive: Receive, send: _GuardedSend) -> None:
        """Run the application within the limits."""
        try:
            async with asyncio.timeout(self._settings.request_s):
                await self._app(scope, receive, send)
        except ClientDisconnect:
            return  # nobody is there to be answered, and nothing was begun
        except TimeoutError:
            if not send.has_started:
                seconds = f"{self._settings.request_s:g}"
                late = refused(503, f"No answer within {seconds} s. {_UNKNOWN_END}")
                await _for_programs(scope, late)(scope, receive, send)


def sandbox(scope: Scope) -> None:
    """Give the answer to a request the policy of a page that the service did not make, such as a run's report.

    The page has styles and a script inside. It belongs to no origin, so neither has access to the service.
    """
    scope["state"][_SANDBOX] = True


@functools.cache
def sandbox_policy() -> str:
    """Return the policy of a page in a sandbox: of scripts, only those of reports of this version run."""
    scripts = " ".join(f"'sha256-{PageScript.named(name).digest}'" for name in ("find.js", "families.js"))
    return (
        f"sandbox allow-scripts; default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )


class _GuardedSend:
    """Sender of responses that adds the headers."""

    def __init__(self, scope: Scope, send: Send, headers: Mapping[str, str]) -> None:
        self._scope, self._send, self._headers = scope, send, headers
        self.has_started, self.status = False, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_started, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers[name] = value
            if self._scope.get("state", {}).get(_SANDBOX):
                headers["content-security-policy"] = sandbox_policy()
            headers.setdefault("cache-control", "no-store")
        await self._send(message)


def _content_length(headers: Mapping[str, str]) -> int:
    value = headers.get("content-length", "0")
    return int(value) if value.isdecimal() and len(value) < 20 else 0


def _is_of_programs(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api/")


def _for_programs(scope: Scope, refusal: Response) -> Response:
    """Return a refusal, as JSON for a program."""
    if not _is_of_programs(scope):
        return refusal
    told = {"error": "RefusedError", "message": bytes(refusal.body).decode().strip(), "where": None}
    headers = {name: value for name, value in refusal.headers.items() if name == "www-authenticate"}
    return Response(json.dumps(told), refusal.status_code, headers, "application/json")
