"""Requests of a team to the review screen, without a network: users of each role, in browsers and by scripts."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
from argon2 import PasswordHasher

from nearkin.collection.collection import Collection
from nearkin.web.app import application
from nearkin.web.service import ReviewService, Workers
from nearkin.web.serving import server_config, users_of
from nearkin.web.settings import ServiceSettings
from nearkin.web.users.file import User, Users, change_users, new_token, with_token

PUBLIC = "https://review.example.org"
PASSWORD = "correct horse battery"
NAMES = {"vera": "viewer", "rita": "reviewer", "ada": "admin"}
_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
"""Quick to verify; a hash names its own parameters."""


class Team:
    """A service over a collection with a user of each role, and their tokens."""

    def __init__(self, service: ReviewService, folder: Path, **settings: Any) -> None:
        self.path = folder / "users.json"
        self.tokens = {name: new_token() for name in NAMES}

        def users(_: Users) -> Users:
            found = Users(users=tuple(User(name=name, role=role, password=_HASH) for name, role in NAMES.items()))
            for name, token in self.tokens.items():
                found = with_token(found, name, "tests", NAMES[name], token)
            return found

        change_users(self.path, users)
        self.settings = ServiceSettings(host="0.0.0.0", port=8443, **{"public_url": PUBLIC} | settings)
        self.said: list[str] = []
        self.service = service
        self.entry = users_of(self.service, self.settings, self.path, self.said.append)
        self.app = application(self.service, self.settings, self.entry)
        if self.settings.proxies:
            config = server_config(self.app, self.settings)
            config.load()  # it puts in front what the server library does with headers of the proxy
            self.app = self._over_http(config.loaded_app)

    @staticmethod
    def _over_http(app: Any) -> Any:
        async def called(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "scheme": "http"}, receive, send)

        return called

    def script(self, name: str) -> dict[str, str]:
        """Headers of a user's script."""
        return {"authorization": f"Bearer {self.tokens[name]}"}


def service_of(collection: Collection) -> ReviewService:
    """A service that several teams can use, one after another."""
    return ReviewService(collection, Workers(2, 8))


class Browser:
    """A browser somewhere in the network."""

    def __init__(self, team: Team, address: str = "192.0.2.7") -> None:
        self.team, self.address, self.cookies = team, address, httpx.Cookies()

    def send(self, method: str, path: str, **parts: Any) -> httpx.Response:
        """Send a request as it is."""

        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(self.team.app, raise_app_exceptions=False, client=(self.address, 50_000))
            async with httpx.AsyncClient(transport=transport, base_url=PUBLIC, cookies=self.cookies) as client:
                answer = await client.request(method, path, **parts)
                self.cookies = client.cookies
                return answer

        return asyncio.run(sent())

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Open a page."""
        return self.send("GET", path, headers={"sec-fetch-site": "same-origin", "accept": "text/html"} | headers)

    def post(self, path: str, **fields: str) -> httpx.Response:
        """Send a form from an own page."""
        return self.send("POST", path, data=fields, headers={"sec-fetch-site": "same-origin", "origin": PUBLIC})

    def sign_in(self, name: str, password: str = PASSWORD, *, at: str = "/sign-in") -> httpx.Response:
        """Open the form and send it."""
        page = self.get(at).text
        return self.post("/sign-in", name=name, password=password, csrf=field(page, "csrf"), going=field(page, "going"))

    def with_session(self, name: str) -> Browser:
        """Begin a session without the form, whose computation takes longer than all else."""
        user = self.team.entry._users.now().find(name)
        assert user is not None
        self.cookies.set(self.team.settings.cookie, self.team.entry._sessions.begin(user), path="/")
        return self

    @property
    def csrf(self) -> str:
        """The token of the session's forms."""
        found = self.team.entry.of_cookie(self.cookies.get(self.team.settings.cookie))
        assert found is not None
        return found.csrf


def field(page: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, page
    return found[1]
