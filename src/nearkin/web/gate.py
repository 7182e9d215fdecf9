"""The gate before every request: host, origin, sign-in, limits."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nearkin.reports.pages import PageScript
from nearkin.reports.quantities import size_text
from nearkin.web.settings import ServiceSettings, is_loopback
from nearkin.web.sign_in import Visitor, cookie_of, refused
from nearkin.web.users.sign_in import Entry

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
_HEALTH, _METRICS = "/healthz", "/metrics"
_SANDBOX = "sandbox"
_SAFE = frozenset(("GET", "HEAD"))
_OWN_SITES = frozenset(("same-origin", "none"))


_NO_VISITOR = "The token is missing or wrong. After several wrong tokens, wait a minute."
_SHARE_FOR_CHANGES = 0.9
"""Share of the time of a request after which a change that is not done yet is answered with its job."""


class Gate:
    """Middleware around the whole application. Everything is refused unless each rule allows it.

    0. ``GET /healthz`` is answered to anybody, and says only that the process lives; ``GET /metrics`` is answered to
       programs of this machine, if it did not come through a proxy.
    1. The Host header names this service: a page of another name that resolves to this machine is refused. What did
       not come through the proxy, if there is one, and encrypted, is refused, too.
    2. ``Sec-Fetch-Site`` is "same-origin" or "none", ``Origin`` is the service's own; a request that changes something
       and has a session must have one of the two.
    3. The visitor has a session or the token of scripts. Only the sign-in is open, and it is answered here.
    4. The time is limited; the body is in Starlette.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: ServiceSettings,
        entry: Entry,
        metrics: Callable[[], str] = str,
    ) -> None:
        self._app, self._settings, self._entry = app, settings, entry
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is refused, and pass others on with their visitor."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _GuardedSend(scope, send, HEADERS | _ONLY_ENCRYPTED if self._settings.is_behind_proxy else HEADERS)
        headers = Headers(scope=scope)
        if (open_answer := self._open(scope, headers)) is not None:
            await open_answer(scope, receive, guarded)
            return
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
        answer_by = time.monotonic() + _SHARE_FOR_CHANGES * self._settings.request_s
        scope.setdefault("state", {}).update(visitor=visitor, answer_by=answer_by)
        await self._passed(scope, receive, guarded)

    def _open(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to a request that needs no visitor; None if it needs one."""
        if scope["method"] in _SAFE and scope["path"] == _HEALTH:
            return JSONResponse({"status": "ok"})
        if scope["method"] in _SAFE and scope["path"] == _METRICS and _is_of_this_machine(scope, headers):
            return PlainTextResponse(self._metrics())
        return None

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
        try:
            async with asyncio.timeout(self._settings.request_s):
                return await self._entry.answer(scope, receive, visitor, self._settings)
        except (ClientDisconnect, TimeoutError):
            return refused(408, "The request did not arrive in time.")

    async def _passed(self, scope: Scope, receive: Receive, send: _GuardedSend) -> None:
        try:
            async with asyncio.timeout(self._settings.request_s):
                await self._app(scope, receive, send)
        except ClientDisconnect:
            return  # nobody is there to be answered, and nothing was begun
        except TimeoutError:
            if not send.has_started:
                seconds = f"{self._settings.request_s:g}"
                late = refused(503, f"No answer within {seconds} s. Nothing was changed.")
                await _for_programs(scope, late)(scope, receive, send)


def sandbox(scope: Scope) -> None:
    """Give the answer to a request the policy of a page that the service did not make, such as a run's report.

    The page belongs to no origin, so its styles and script have no access to the service.
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
        self.has_started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_started = True
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


def _is_of_this_machine(scope: Scope, headers: Headers) -> bool:
    """Whether a program of this machine asks by a name of this machine, not through a proxy and not from a page."""
    client = scope.get("client")
    is_passed_on = any(name in headers for name in ("x-forwarded-for", "forwarded", "origin"))
    if client is None or is_passed_on or headers.get("sec-fetch-site", "none") not in _OWN_SITES:
        return False
    try:
        return is_loopback(client[0]) and is_loopback(urlsplit(f"//{headers.get('host', '')}").hostname or "")
    except ValueError:  # the host is none
        return False


def _is_of_programs(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api/")


def _for_programs(scope: Scope, refusal: Response) -> Response:
    if not _is_of_programs(scope):
        return refusal
    message = {"error": "RefusedError", "message": bytes(refusal.body).decode().strip(), "where": None}
    headers = {name: value for name, value in refusal.headers.items() if name == "www-authenticate"}
    return Response(json.dumps(message), refusal.status_code, headers, "application/json")
