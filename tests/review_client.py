"""A browser's requests to the review screen, without a network: cookies, forms and their tokens."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx

from nearkin.collection.collection import Collection
from nearkin.web.app import application
from nearkin.web.service import ReviewService, Workers
from nearkin.web.settings import ServiceSettings
from nearkin.web.sign_in import SignIn

ORIGIN = "http://127.0.0.1:8000"
OWN = {"sec-fetch-site": "same-origin", "origin": ORIGIN}
LAYOUT = """
[[fields]]
name = "responsive"
kind = "yes-no"
required = true

[[fields]]
name = "privileged"
values = ["no", "counsel"]
sensitive = true
"""
LAYOUT_WITH_REASON = f"""{LAYOUT}
[[fields]]
name = "reason"
kind = "text"
"""


class Visit:
    """Requests of one browser, or of one script, to a service over a collection."""

    def __init__(self, collection: Collection, **limits: Any) -> None:
        self.settings = ServiceSettings(host="127.0.0.1", port=8000, **limits)
        self.links: list[str] = []
        self.entry = SignIn("ada", session_s=self.settings.session_s, say=self.links.append)
        self.service = ReviewService(collection, Workers(2, 8))
        self.app = application(self.service, self.settings, self.entry)
        self.cookies = httpx.Cookies()

    def send(self, method: str, path: str, **parts: Any) -> httpx.Response:
        """Send a request as it is."""

        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, cookies=self.cookies) as client:
                answer = await client.request(method, path, **parts)
                self.cookies = client.cookies
                return answer

        return asyncio.run(sent())

    def sign_in(self) -> Visit:
        """Open the link."""
        answer = self.send("GET", f"/sign-in?link={self.entry.link}")
        assert answer.status_code == 303, answer.text
        return self

    def get(self, path: str, **query: Any) -> httpx.Response:
        """Open a page, which must be there."""
        answer = self.send("GET", path, params=query or None, headers={"sec-fetch-site": "same-origin"})
        assert answer.status_code == 200, answer.text
        return answer

    def post(self, path: str, **fields: Any) -> httpx.Response:
        """Send a form with its token."""
        return self.send("POST", path, data={"csrf": self.csrf, **fields}, headers=OWN)

    @property
    def csrf(self) -> str:
        """The token of the session's forms."""
        found = self.entry.of_cookie(self.cookies.get(self.settings.cookie))
        assert found is not None
        return found.csrf


def words_of(page: str) -> str:
    """The text of a page without its marks."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


LEASE = "The tenant shall keep the garden in good order and return every key to the owner on the last day of the term."
DOCUMENTS = [
    ("lease", LEASE),
    ("lease, signed", f"{LEASE} Signed by Ada Kern."),
    ("lease/copy", LEASE),
    ("letter", "Dear Ms Ito, thank you for the tea and for an evening that none of us will forget soon."),
]


def small_collection(folder: Path) -> Collection:
    """A lease, its signed copy, an exact copy, and a letter."""
    collection = Collection.open(folder / "matter", create=True)
    collection.add(DOCUMENTS, wave="march")
    return collection
