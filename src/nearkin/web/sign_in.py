"""Sign-in: one-time links, sessions in signed cookies, and the token of scripts."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from itsdangerous import BadSignature, URLSafeTimedSerializer

_MAX_FAILURES, _FAILURES_S = 10, 60.0


@dataclass(frozen=True, slots=True)
class Visitor:
    """Sender of a request.

    Parameters
    ----------
    name : str
        Name that the activity log gets.
    csrf : str
        Token that forms of this session must have; empty for scripts, which send no cookie.
    """

    name: str
    csrf: str = ""

    @property
    def is_script(self) -> bool:
        """Whether the request has the token of scripts instead of a session."""
        return not self.csrf


class SignIn:
    """Sign-in of the single user of a service on loopback.

    Secrets live as long as the process. A link works once; when it is used, `say` receives the next one, for another
    browser.

    Parameters
    ----------
    user : str
        Name of the user in the activity log.
    session_s : int
        Time after which a session ends.
    token : str, optional
        Token of scripts; by default a new one.
    say : callable, optional
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
        """Whether there were so many wrong attempts in the last minute that no other is accepted."""
        return len(self._failures) == _MAX_FAILURES and time.monotonic() - self._failures[0] < _FAILURES_S

    def sign_in(self, link: str) -> str | None:
        """Return the cookie of a new session for the token of a link, which then works no more; None if it is wrong."""
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
            found = self._sessions.loads(cookie, max_age=self._session_s)
        except BadSignature:
            return None
        return Visitor(found["user"], found["csrf"])

    def of_authorization(self, header: str | None) -> Visitor | None:
        """Return the visitor of an Authorization header; None if its token is missing or wrong."""
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        with self._lock:
            if not _same(token.strip(), self.token):
                self._failures.append(time.monotonic())
                return None
        return Visitor(self._user)


def is_token_of(visitor: Visitor, token: object) -> bool:
    """Whether a form has the token of the visitor's session."""
    return isinstance(token, str) and bool(visitor.csrf) and _same(token, visitor.csrf)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())
