"""Sign-in of users by name and password, their sessions, and the tokens of their scripts."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from urllib.parse import parse_qsl

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope

from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.web.queries import repeated_error
from nearkin.web.roles import ROLES
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import (
    SIGN_IN,
    SignIn,
    Visitor,
    bearer_token,
    cookie_of,
    is_token_of,
    own_address,
    refused,
    with_session,
)
from nearkin.web.users.file import CurrentUsers, User, Users, hash_of_nobody, is_password, name_key
from nearkin.wording import reveal_line

WINDOW_S, MAX_OF_A_NAME, MAX_OF_AN_ADDRESS = 600.0, 10, 30
"""Attempts within ten minutes, counted for each name and for each address."""
_MAX_BODY, _FORM_S = 16 << 10, 12 * 60 * 60
_AT_ONCE, _MAX_WAITING = 2, 32  # each computation of a hash takes 64 MiB
_WRONG = "The name or the password is wrong."
_STALE = "The form was out of date. Try again."


class UserSignIn:
    """Sign-in of a service that other machines reach."""

    def __init__(
        self,
        users: CurrentUsers,
        sessions: Sessions,
        *,
        page: Callable[[str, str, str], str],
        styles: bytes,
        say: Callable[[str], None],
    ) -> None:
        self._users, self._sessions, self._page, self._styles, self._say = users, sessions, page, styles, say
        self._forms = URLSafeTimedSerializer(secrets.token_bytes(32), salt="nearkin sign-in")
        self._by_name = AttemptLimit(MAX_OF_A_NAME, WINDOW_S)
        self._by_address = AttemptLimit(MAX_OF_AN_ADDRESS, WINDOW_S)
        hash_of_nobody()  # the first wrong name must not take longer than others
        self._turns, self._n_waiting = asyncio.Semaphore(_AT_ONCE), 0

    def of_cookie(self, cookie: str | None) -> Visitor | None:
        """Return the visitor of a session; None if there is none, or it has ended."""
        session = self._sessions.find(cookie, self._users.now())
        return None if session is None else Visitor(session[0].name, session[1], session[0].role, can_sign_out=True)

    def of_authorization(self, header: str | None) -> Visitor | None:
        """Return the visitor of a token: with its role, and never with more than the user's own."""
        owner = self._users.now().of_token(bearer_token(header))
        return (
            None if owner is None else Visitor(owner[0].name, role=min(owner[0].role, owner[1].role, key=ROLES.index))
        )

    async def answer(
        self, scope: Scope, receive: Receive, visitor: Visitor | None, settings: ServiceSettings
    ) -> Response | None:
        """Answer a request for the form, its styles, the sign-in or the sign-out; None for all others."""
        headers = Headers(scope=scope)
        match scope["method"], scope["path"]:
            case "GET" | "HEAD", "/sign-in":
                if visitor is not None and not visitor.is_script:
                    return RedirectResponse("/", 303)
                return self._form(headers, settings)
            case "GET" | "HEAD", "/sign-in/review.css":
                return Response(self._styles, media_type="text/css", headers={"cache-control": "no-cache"})
            case "POST", ("/sign-in" | "/sign-out") as path:
                try:
                    fields = await _fields(receive)
                except ParameterError as error:
                    return refused(400, str(error))
                if path == SIGN_IN:
                    sender = str((scope.get("client") or ("unknown",))[0])
                    return await self._signed_in(fields, headers, sender, settings)
                return await self._signed_out(fields, headers, visitor, settings)
        return None

    def refusal(self, scope: Scope, headers: Headers, settings: ServiceSettings) -> Response:
        """Return the form if a browser requests a page, otherwise a line of text."""
        wants_page = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
        if wants_page and "hx-request" not in headers and not scope["path"].startswith("/api/"):
            query = scope["query_string"].decode("latin-1")
            return self._form(headers, settings, going=scope["path"] + (f"?{query}" if query else ""), status=401)
        return refused(401, "Sign in first, or send the token of a user. Sessions end; reload the page.")

    def _form(
        self, headers: Headers, settings: ServiceSettings, *, going: str = "/", message: str = "", status: int = 200
    ) -> Response:
        """Return the form, and the cookie that must come back with it: other sites cannot set it."""
        token = cookie_of(headers, settings.form_cookie)
        if token is None or not self._is_current(token):
            token = self._forms.dumps(secrets.token_urlsafe(16))
        answer = HTMLResponse(self._page(token, own_address(going), message), status)
        answer.set_cookie(
            settings.form_cookie, token, path="/", secure=settings.is_behind_proxy, httponly=True, samesite="strict"
        )
        return answer

    def _is_current(self, token: str) -> bool:
        try:
            self._forms.loads(token, max_age=_FORM_S)
        except BadSignature:
            return False
        return True

    async def _signed_in(
        self, fields: dict[str, str] | None, headers: Headers, sender: str, settings: ServiceSettings
    ) -> Response:
        if fields is None:
            return refused(413, "The form is too large.")
        going, token = fields.get("going", "/"), cookie_of(headers, settings.form_cookie) or ""
        if not self._is_current(token) or not secrets.compare_digest(fields.get("csrf", "").encode(), token.encode()):
            return self._form(headers, settings, going=going, message=_STALE, status=403)
        name = fields.get("name", "")
        user = self._users.now().find(name)
        keys = user.name if user is not None else f"?{name_key(name)[:64]}", _network_of(sender)
        limits = self._by_name, self._by_address
        wait_s = max(limit.wait_s(key) for limit, key in zip(limits, keys, strict=True))
        if wait_s:
            minutes = counted(ceil(wait_s / 60), "minute")
            answer = self._form(
                headers, settings, going=going, message=f"Too many attempts. Wait {minutes}.", status=429
            )
            answer.headers["retry-after"] = str(ceil(wait_s))
            return answer
        if self._n_waiting >= _MAX_WAITING:
            return refused(503, "Too many people are signing in. Try again in a moment.")
        for limit, key in zip(limits, keys, strict=True):
            limit.count(key)
        if not await self._is_right(user, fields.get("password", "")) or user is None:
            who = "an unknown name" if user is None else reveal_line(user.name)  # a name may be a mistyped password
            self._say(f"Sign-in refused: {who}, from {reveal_line(sender)}.")
            return self._form(headers, settings, going=going, message=_WRONG, status=401)
        self._by_name.forget(keys[0])
        self._by_address.take_back(keys[1])  # colleagues may share an address
        self._sessions.end(cookie_of(headers, settings.cookie))
        answer = RedirectResponse(own_address(going), 303)
        answer.delete_cookie(settings.form_cookie, secure=settings.is_behind_proxy, httponly=True, samesite="strict")
        return with_session(answer, self._sessions.begin(user), settings)

    async def _is_right(self, user: User | None, password: str) -> bool:
        self._n_waiting += 1
        try:
            async with self._turns:
                return await asyncio.to_thread(is_password, password, None if user is None else user.password)
        finally:
            self._n_waiting -= 1

    async def _signed_out(
        self, fields: dict[str, str] | None, headers: Headers, visitor: Visitor | None, settings: ServiceSettings
    ) -> Response:
        if visitor is not None and not is_token_of(visitor, (fields or {}).get("csrf")):
            return refused(403, "The form is not from this session. Reload the page and try again.")
        self._sessions.end(cookie_of(headers, settings.cookie))
        answer = RedirectResponse(SIGN_IN, 303)
        answer.delete_cookie(settings.cookie, secure=settings.is_behind_proxy, httponly=True, samesite="strict")
        return answer


Entry = SignIn | UserSignIn
"""What recognises the visitors of a service, by sessions and tokens, and answers the addresses of the sign-in."""


def _network_of(address: str) -> str:
    """Return what attempts of an address count for: itself, and with IPv6 its network of 64 bits.

    Examples
    --------
    >>> _network_of("192.0.2.7"), _network_of("2001:db8::1:2:3:4"), _network_of("nonsense")
    ('192.0.2.7/32', '2001:db8::/64', 'unknown')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    return str(ipaddress.ip_network((parsed, 32 if parsed.version == 4 else 64), strict=False))


async def _fields(receive: Receive) -> dict[str, str] | None:
    """Return the fields of a form, each given once; None if it is larger than a sign-in can be."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > _MAX_BODY:
            return None
        if not message.get("more_body", False):
            break
    try:
        pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, max_num_fields=10)
    except ValueError:
        return {}
    fields = dict[str, str]()
    for name, value in pairs:
        if name in fields:
            raise repeated_error(f"form.{name}")
        fields[name] = value
    return fields


class AttemptLimit:
    """Counts attempts by key, and refuses more than a maximum within a window.

    Examples
    --------
    >>> limit = AttemptLimit(2, 60.0, clock=lambda: 0.0)
    >>> [limit.wait_s("ada"), limit.count("ada"), limit.wait_s("ada"), limit.count("ada"), limit.wait_s("ada")]
    [0.0, None, 0.0, None, 60.0]
    """

    def __init__(
        self,
        max_attempts: int,
        window_s: float,
        *,
        max_keys: int = 50_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max, self._window_s, self._max_keys, self._clock = max_attempts, window_s, max_keys, clock
        self._times = OrderedDict[str, deque[float]]()

    def wait_s(self, key: str) -> float:
        """Return the seconds until another attempt is accepted; 0 if it is now."""
        times = self._times.get(key)
        if times is None or len(times) < self._max:
            return 0.0
        return max(0.0, times[0] + self._window_s - self._clock())

    def count(self, key: str) -> None:
        """Count an attempt; before it is known whether it succeeds, so that many at once are counted, too."""
        self._times.setdefault(key, deque(maxlen=self._max)).append(self._clock())
        self._times.move_to_end(key)
        while len(self._times) > self._max_keys:
            self._times.popitem(last=False)

    def take_back(self, key: str) -> None:
        """Forget the last attempt of a key: it succeeded."""
        if times := self._times.get(key):
            times.pop()

    def forget(self, key: str) -> None:
        """Forget all attempts of a key."""
        self._times.pop(key, None)


_MAX_OF_A_USER = 20


@dataclass(slots=True, kw_only=True)
class _Session:
    """``password`` is the hash with which the session began: with another one, or without the user, it has ended."""

    name: str
    password: str
    csrf: str
    begun: float
    used: float


class Sessions:
    """Sessions by the digest of their cookies.

    Only the thread of the event loop uses it.
    """

    def __init__(self, *, idle_s: float, session_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._idle_s, self._session_s, self._clock = idle_s, session_s, clock
        self._sessions = dict[bytes, _Session]()

    def begin(self, user: User) -> str:
        """Begin a session, and return its cookie; the oldest one of a user who has too many ends."""
        now = self._clock()
        self._sessions = {key: session for key, session in self._sessions.items() if self._is_alive(session, now)}
        keys = [key for key, session in self._sessions.items() if session.name == user.name]
        for key in keys[: max(0, len(keys) - _MAX_OF_A_USER + 1)]:
            del self._sessions[key]
        cookie = secrets.token_urlsafe(32)
        self._sessions[_key(cookie)] = _Session(
            name=user.name, password=user.password, csrf=secrets.token_urlsafe(24), begun=now, used=now
        )
        return cookie

    def find(self, cookie: str | None, users: Users) -> tuple[User, str] | None:
        """Return the user of a session and the token of its forms; None if there is none, or it has ended."""
        session = self._sessions.get(_key(cookie)) if cookie else None
        if session is None or cookie is None:
            return None
        now, user = self._clock(), users.find(session.name)
        if user is None or user.password != session.password or not self._is_alive(session, now):
            self.end(cookie)
            return None
        session.used = now
        return user, session.csrf

    def end(self, cookie: str | None) -> None:
        """End a session."""
        if cookie:
            self._sessions.pop(_key(cookie), None)

    def _is_alive(self, session: _Session, now: float) -> bool:
        return now - session.used < self._idle_s and now - session.begun < self._session_s


def _key(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).digest()
