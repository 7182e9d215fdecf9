"""Sessions of signed-in users, kept in memory: they end with the process."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from nearkin.web.users.records import User, Users

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

    Parameters
    ----------
    idle_s : float
        Time without a request after which a session ends.
    session_s : float
        Time after which a session ends in any case.
    clock : callable
        Returns seconds that never go back.
    """

    def __init__(self, *, idle_s: float, session_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._idle_s, self._session_s, self._clock = idle_s, session_s, clock
        self._sessions = dict[bytes, _Session]()

    def begin(self, user: User) -> str:
        """Begin a session, and return its cookie; the oldest one of a user who has too many ends."""
        now = self._clock()
        self._sessions = {key: one for key, one in self._sessions.items() if self._is_alive(one, now)}
        own = [key for key, one in self._sessions.items() if one.name == user.name]
        for key in own[: max(0, len(own) - _MAX_OF_A_USER + 1)]:
            del self._sessions[key]
        cookie = secrets.token_urlsafe(32)
        self._sessions[_key(cookie)] = _Session(
            name=user.name, password=user.password, csrf=secrets.token_urlsafe(24), begun=now, used=now
        )
        return cookie

    def find(self, cookie: str | None, users: Users) -> tuple[User, str] | None:
        """Return the user of a session and the token of its forms; None if there is none, or it has ended."""
        found = self._sessions.get(_key(cookie)) if cookie else None
        if found is None or cookie is None:
            return None
        now, user = self._clock(), users.find(found.name)
        if user is None or user.password != found.password or not self._is_alive(found, now):
            self.end(cookie)
            return None
        found.used = now
        return user, found.csrf

    def end(self, cookie: str | None) -> None:
        """End a session."""
        if cookie:
            self._sessions.pop(_key(cookie), None)

    def _is_alive(self, one: _Session, now: float) -> bool:
        return now - one.used < self._idle_s and now - one.begun < self._session_s


def _key(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).digest()
