"""Sign-in: one-time links, sessions in signed cookies, and the token of scripts."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope

from nearkin.collection.decisions.log import ChangeRequest
from nearkin.web.roles import Role, is_within, role_of
from nearkin.web.settings import ServiceSettings

SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
_MAX_FAILURES, _FAILURES_S = 10, 60.0


def refused(status: int, why: str) -> Response:
    """Return a refusal as plain text."""
    return PlainTextResponse(f"{why}\n", status)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Sender of a request.

    Parameters
    ----------
    csrf
        Token that forms of this session must have; empty for scripts, which send no cookie.
    can_sign_out
        Whether pages show a name and a button to sign out.
    """

    name: str
    csrf: str = ""
    role: Role = "viewer"
    can_sign_out: bool = False

    def may_open(self, path: str) -> bool:
        """Whether the role of the visitor is sufficient for a screen."""
        return is_within(role_of("GET", path), self.role)

    def may_send(self, path: str) -> bool:
        """Whether the role of the visitor is sufficient for a form."""
        return is_within(role_of("POST", path), self.role)

    def may_undo(self, by: str) -> bool:
        """Whether the visitor may undo an activity of a user: reviewers only their own, admins all."""
        return self.may_send("/undo") and (by == self.name or self.role == "admin")

    @property
    def may_resolve(self) -> bool:
        """Whether the visitor replaces values that others set; see `ChangeRequest`."""
        return self.role == "admin"

    def change(self, **limits: Any) -> ChangeRequest:
        """Return the request of a change by the visitor."""
        return ChangeRequest(by=self.name, may_resolve=self.may_resolve, **limits)

    @property
    def is_script(self) -> bool:
        """Whether the request has the token of scripts instead of a session."""
        return not self.csrf


class SignIn:
    """Sign-in of the single user of a service on loopback.

    A link works once; when it is used, `say` receives the next one, for another browser.

    Parameters
    ----------
    say
        Receives the token of the next link whenever one was used.
    """

    def __init__(
        self, user: str, *, session_s: int, token: str | None = None, say: Callable[[str], None] | None = None
    ) -> None:
        self.token = token or secrets.token_urlsafe(32)
        self._user, self._session_s, self._say = user, session_s, say
        self._sessions = URLSafeTimedSerializer(secrets.token_bytes(32), salt="nearkin session")
        self._link, self._lock = secrets.token_urlsafe(32), threading.Lock()
        self._failures = deque[float](maxlen=_MAX_FAILURES)

    @property
    def link(self) -> str:
        """Token of the link that was not used yet."""
        return self._link

    def is_blocked(self) -> bool:
        """Whether further attempts are refused, because there were too many wrong ones in the last minute."""
        return len(self._failures) == _MAX_FAILURES and time.monotonic() - self._failures[0] < _FAILURES_S

    def sign_in(self, link: str) -> str | None:
        """Return the cookie of a new session for the token of a link, which then expires; None if it is wrong."""
        with self._lock:
            if not _same(link, self._link):
                self._failures.append(time.monotonic())
                return None
            self._link = secrets.token_urlsafe(32)
        if self._say is not None:
            self._say(self._link)
        return self._sessions.dumps({"user": self._user, "csrf": secrets.token_urlsafe(24)})

    def of_cookie(self, cookie: str | None) -> Visitor | None:
        """Return the visitor of a session; None if there is none, or it has ended."""
        if not cookie:
            return None
        try:
            session = self._sessions.loads(cookie, max_age=self._session_s)
        except BadSignature:
            return None
        return Visitor(session["user"], session["csrf"], "admin")

    def of_authorization(self, header: str | None) -> Visitor | None:
        """Return the visitor of an Authorization header; None if its token is missing or wrong."""
        token = bearer_token(header)
        if not token or self.is_blocked():
            return None
        with self._lock:
            if not _same(token, self.token):
                self._failures.append(time.monotonic())
                return None
        return Visitor(self._user, role="admin")

    async def answer(
        self, scope: Scope, receive: Receive, visitor: Visitor | None, settings: ServiceSettings
    ) -> Response | None:
        """Begin a session for a link, and go to the home page without the link's token."""
        if scope["path"] != SIGN_IN or scope["method"] != "GET":
            return None
        if self.is_blocked():
            return refused(429, "Too many wrong attempts. Wait a minute.")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("link", [""])
        if len(given) > 1:
            return refused(400, "The parameter link must be given once. It came several times.")
        cookie = self.sign_in(given[0])
        if cookie is None:
            return refused(403, "This link was used already, or is wrong. Use the last one that nearkin serve printed.")
        return with_session(RedirectResponse("/", 303), cookie, settings)

    def refusal(self, scope: Scope, headers: Headers, settings: ServiceSettings) -> Response:
        """Return the answer to a request without a visitor."""
        return refused(401, "Sign in with the link that nearkin serve printed. Each link works once.")


def bearer_token(header: str | None) -> str:
    """Return the token of an Authorization header; "" if there is none."""
    scheme, _, token = (header or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def cookie_of(headers: Headers, name: str) -> str | None:
    """Return the value of a cookie of a request, whatever cookies other services of the same host or domain have set.

    Examples
    --------
    >>> cookie_of(Headers({"cookie": 'theme={"dark": true}; nearkin-8000=secret'}), "nearkin-8000")
    'secret'
    """
    return cookie_parser(headers.get("cookie", "")).get(name)  # SimpleCookie stops at the first that breaks a rule


def own_address(going: str) -> str:
    r"""Return the path and the parameters of a page of the service; for anything else, the home page.

    Examples
    --------
    >>> own_address("/document?id=a%2Fb"), own_address("//evil.example/x"), own_address("/\\evil.example")
    ('/document?id=a%2Fb', '/', '/')
    """
    try:
        parts = urlsplit(going)
    except ValueError:
        return "/"
    is_own = not parts.scheme and not parts.netloc and going.startswith("/") and not going.startswith("//")
    is_plain = going.isascii() and going.isprintable() and "\\" not in going
    return going if is_own and is_plain and parts.path not in (SIGN_IN, SIGN_OUT) else "/"


def with_session(answer: Response, cookie: str, settings: ServiceSettings) -> Response:
    """Add the cookie of a session to an answer."""
    answer.set_cookie(
        settings.cookie,
        cookie,
        max_age=settings.session_s,
        path="/",
        secure=settings.is_behind_proxy,
        httponly=True,
        samesite="strict",
    )
    return answer


def is_token_of(visitor: Visitor, token: object) -> bool:
    """Whether a form has the token of the visitor's session."""
    return isinstance(token, str) and bool(visitor.csrf) and _same(token, visitor.csrf)


def _same(secret: str, other: str) -> bool:
    return hmac.compare_digest(secret.encode("utf-8", "surrogatepass"), other.encode())
