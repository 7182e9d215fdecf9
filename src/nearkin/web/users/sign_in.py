"""Sign-in of users by name and password, their sessions, and the tokens of their scripts."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections.abc import Callable
from math import ceil
from urllib.parse import parse_qsl, urlsplit

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope

from nearkin.hidden_characters import reveal_line
from nearkin.nouns import counted
from nearkin.web.queries import repeated_error
from nearkin.web.refusals import refused
from nearkin.web.request_faults import InvalidRequestError
from nearkin.web.roles import lower_of
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import SIGN_IN, Visitor, bearer_token, cookie_of, is_token_of, with_session
from nearkin.web.users.attempts import AttemptLimit
from nearkin.web.users.file import CurrentUsers
from nearkin.web.users.passwords import hash_of_nobody, is_password
from nearkin.web.users.records import User, name_key
from nearkin.web.users.sessions import Sessions

SIGN_OUT, STYLES = "/sign-out", "/sign-in/review.css"
WINDOW_S, MAX_OF_A_NAME, MAX_OF_AN_ADDRESS = 600.0, 10, 30
"""Attempts within ten minutes, counted for each name and for each address."""
_MAX_BODY, _FORM_S = 16 << 10, 12 * 60 * 60
_AT_ONCE, _MAX_WAITING = 2, 32  # each computation of a hash takes 64 MiB
_WRONG = "The name or the password is wrong."
_STALE = "The form was out of date. Try again."


class UserSignIn:
    """Sign-in of a service that other machines reach; see `nearkin.web.sign_in.Authenticator`.

    Parameters
    ----------
    users : CurrentUsers
    sessions : Sessions
    page : callable
        Renders the form from the token that it must have, the address to go to afterwards, and a message.
    styles : bytes
        Style sheet of the form.
    say : callable
        Receives each attempt that failed, with the address of its sender.
    """

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
        found = self._sessions.find(cookie, self._users.now())
        return None if found is None else Visitor(found[0].name, found[1], found[0].role, can_sign_out=True)

    def of_authorization(self, header: str | None) -> Visitor | None:
        """Return the visitor of a token: with its role, and never with more than the user's own."""
        found = self._users.now().of_token(bearer_token(header))
        return None if found is None else Visitor(found[0].name, role=lower_of(found[0].role, found[1].role))

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
                except InvalidRequestError as error:
                    return refused(400, error.on_page)
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
        answer = HTMLResponse(self._page(token, _own_address(going), message), status)
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
        """Begin a session if name and password are right."""
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
        answer = RedirectResponse(_own_address(going), 303)
        answer.delete_cookie(settings.form_cookie, secure=settings.is_behind_proxy, httponly=True, samesite="strict")
        return with_session(answer, self._sessions.begin(user), settings)

    async def _is_right(self, user: User | None, password: str) -> bool:
        """Whether a password is that of a user; a name that no user has takes as long."""
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
    """Return the fields of a form; None if it is larger than a sign-in can be.

    Raises
    ------
    InvalidRequestError
        A field is given twice.
    """
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
            raise repeated_error(name, "form")
        fields[name] = value
    return fields


def _own_address(going: str) -> str:
    r"""Return the path and the parameters of a page of the service; for anything else, the home page.

    Examples
    --------
    >>> _own_address("/document?id=a%2Fb"), _own_address("//evil.example/x"), _own_address("/\\evil.example")
    ('/document?id=a%2Fb', '/', '/')
    """
    try:
        parts = urlsplit(going)
    except ValueError:
        return "/"
    is_own = not parts.scheme and not parts.netloc and going.startswith("/") and not going.startswith("//")
    is_plain = going.isascii() and going.isprintable() and "\\" not in going
    return going if is_own and is_plain and parts.path not in (SIGN_IN, SIGN_OUT) else "/"
