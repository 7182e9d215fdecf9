"""The gate before every request: host, origin, sign-in, limits. A request that it refuses never reaches a route."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nearkin.errors import RefusedError
from nearkin.reports.pages import PageScript
from nearkin.reports.quantities import size_text
from nearkin.web.incoming_body import IncomingBody
from nearkin.web.refusals import refused
from nearkin.web.request_source import RequestSource, source_of
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import Authenticator, Visitor, cookie_of

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
"""Header of a service that browsers reach over TLS: for a year, they connect to its host name only with TLS."""
_SANDBOX = "sandbox"
_TOO_LARGE = 413
_SAFE = frozenset(("GET", "HEAD"))
_OWN_SITES = frozenset(("same-origin", "none"))


_NO_VISITOR = "The token is missing or wrong. After several wrong tokens, wait a minute."
_UNKNOWN_END = "A change that was begun may still be completed: check before you repeat it."


class Gate:
    """Middleware around the whole application. Everything is refused unless each rule allows it.

    1. The Host header names this service: a page of another name that resolves to this machine is refused.
    2. ``Sec-Fetch-Site`` is "same-origin" or "none", ``Origin`` is the service's own; a request that changes something
       and has a session must have one of the two.
    3. The visitor has a session or the token of scripts. Only the sign-in is open, and it is answered here.
    4. The body and the time are limited.

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
        max_bytes = self._settings.max_body_bytes
        body = IncomingBody(scope, receive, max_bytes, _too_large(max_bytes))
        guarded = _GuardedSend(scope, send, body, HEADERS | _ONLY_ENCRYPTED if self._settings.is_secure else HEADERS)
        headers = Headers(scope=scope)
        found = self._source(scope, headers)
        visitor = None if isinstance(found, Response) else self._visitor(headers)  # a foreign page uses up no attempts
        refusal = found if isinstance(found, Response) else self._refusal(scope, headers, visitor)
        if refusal is None and isinstance(found, RequestSource):
            refusal = await self._entered(scope, body.receive, found, visitor)
        if refusal is None and visitor is None:
            is_of_programs = _is_of_programs(scope)
            refusal = (
                refused(401, _NO_VISITOR) if is_of_programs else self._entry.refusal(scope, headers, self._settings)
            )
            refusal.headers["www-authenticate"] = "Bearer"
        if refusal is not None:
            await _for_programs(scope, refusal)(scope, body.receive, guarded)
            return
        scope.setdefault("state", {})["visitor"] = visitor
        if isinstance(found, RequestSource):
            _name_public_address(scope, found.host, self._settings.scheme)
        started = time.perf_counter()
        try:
            await self._passed(scope, body.receive, guarded)
        finally:
            if self._watch is not None:  # without the time in which the client goes on sending
                self._watch(scope, guarded.status or 500, time.perf_counter() - started - guarded.discarding_s)

    def _visitor(self, headers: Headers) -> Visitor | None:
        """Return the visitor; a request with the token of scripts is that of a script, whatever its cookies."""
        if "authorization" in headers:
            return self._entry.of_authorization(headers["authorization"])
        return self._entry.of_cookie(cookie_of(headers, self._settings.cookie))

    def _source(self, scope: Scope, headers: Headers) -> RequestSource | Response:
        """Return the source of a request, or the refusal of a request from another site."""
        try:
            found = source_of(scope, headers, self._settings)
        except RefusedError as error:
            return refused(error.status, str(error))
        if found.host not in self._settings.hosts:
            return refused(
                421, "This address does not belong to the service. Open the address that nearkin serve printed."
            )
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None and site not in _OWN_SITES:
            return refused(403, "Requests from other sites are refused. Type the address into a new tab instead.")
        if origin is not None and origin.lower() not in self._settings.origins:
            return refused(403, "Requests from other origins are refused.")
        return found

    def _refusal(self, scope: Scope, headers: Headers, visitor: Visitor | None) -> Response | None:
        """Return the refusal of a request that the visitor may not make; None if it is allowed."""
        if visitor is None and "authorization" in headers:
            refusal = refused(401, _NO_VISITOR)
            refusal.headers["www-authenticate"] = "Bearer"
            return refusal
        is_change, is_placed = scope["method"] not in _SAFE, "sec-fetch-site" in headers or "origin" in headers
        if is_change and not is_placed and not (visitor is not None and visitor.is_script):
            return refused(403, "A change needs an Origin header, or the token for scripts.")
        if _content_length(headers) > self._settings.max_body_bytes:
            return refused(_TOO_LARGE, _too_large(self._settings.max_body_bytes))
        return None

    async def _entered(
        self, scope: Scope, receive: Receive, source: RequestSource, visitor: Visitor | None
    ) -> Response | None:
        """Return the answer to a request for the sign-in itself, or None."""
        try:
            async with asyncio.timeout(self._settings.request_s):
                return await self._entry.answer(scope, receive, source, visitor, self._settings)
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


def _name_public_address(scope: Scope, host: str, scheme: str) -> None:
    """Let the application see the address that the browser opened, for redirects: not that of a proxy's request."""
    others = [(name, value) for name, value in scope["headers"] if name != b"host"]
    scope["scheme"], scope["headers"] = scheme, [(b"host", host.encode("latin-1")), *others]


class _GuardedSend:
    """Sender of responses that adds the headers, and reads the rest of the body before the connection closes."""

    def __init__(self, scope: Scope, send: Send, body: IncomingBody, headers: Mapping[str, str]) -> None:
        self._scope, self._send, self._body, self._headers = scope, send, body, headers
        self.has_started, self.status, self.discarding_s = False, 0, 0.0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_started, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers[name] = value
            if self._scope.get("state", {}).get(_SANDBOX):
                headers["content-security-policy"] = sandbox_policy()
            headers.setdefault("cache-control", "no-store")
            if self.status == _TOO_LARGE:
                headers["connection"] = "close"
        elif not message.get("more_body", False) and self._body.has_rest(is_closing=self.status == _TOO_LARGE):
            await self._send({**message, "more_body": True})
            started = time.perf_counter()
            await self._body.discard_rest()
            self.discarding_s = time.perf_counter() - started
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)


def _content_length(headers: Mapping[str, str]) -> int:
    value = headers.get("content-length", "0")
    return int(value) if value.isdecimal() and len(value) < 20 else 0


def _too_large(limit: int) -> str:
    return f"The body of a request is limited to {size_text(limit)}."


def _is_of_programs(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api/")


def _for_programs(scope: Scope, refusal: Response) -> Response:
    """Return a refusal, as JSON for a program."""
    if not _is_of_programs(scope):
        return refusal
    told = {"error": "RefusedError", "message": bytes(refusal.body).decode().strip(), "where": None}
    headers = {name: value for name, value in refusal.headers.items() if name == "www-authenticate"}
    return Response(json.dumps(told), refusal.status_code, headers, "application/json")
