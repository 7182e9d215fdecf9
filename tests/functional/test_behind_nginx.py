"""The service behind a real nginx that encrypts, with the configuration of the guide: sign-in, files, scripts."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from behind_nginx import NGINX, Proxied, served_behind_nginx
from functional.conftest import nearkin_done, nearkin_here
from nearkin.collection.collection import Collection
from review_client import DOCUMENTS, LEASE
from team_client import field

N_BIG = 1_500
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@dataclass(frozen=True)
class Served:
    """A service behind nginx, a browser, and what the administrator has."""

    proxied: Proxied
    client: httpx.Client
    collection: Path
    users_file: Path

    def users(self, *arguments: str, stdin: bytes = b"") -> str:
        """Change the users."""
        done = nearkin_done("users", self.collection, *arguments, "--users-file", self.users_file, stdin=stdin)
        return done.out

    def sign_in(self, name: str) -> None:
        """Send the form."""
        self.client.cookies.clear()
        page = self.client.get("/sign-in").text
        sent = {"name": name, "password": "correct horse battery", "csrf": field(page, "csrf")}
        answer = self.client.post("/sign-in", data={**sent, "going": field(page, "going")})
        assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("nginx")
    place, users_file = folder / "matter", folder / "users.json"
    with Collection.open(place, create=True) as collection:
        collection.add([*DOCUMENTS, *((f"{'big' * 30}{i}", f"{LEASE} {i}") for i in range(N_BIG))], wave="march")
    for name, role in (("ada", "reviewer"), ("vera", "viewer")):
        users = "users", place, "add", name, "--role", role, "--users-file", users_file
        nearkin_done(*users, stdin=b"correct horse battery\n")
    with served_behind_nginx(folder, place, users_file) as proxied:
        context = ssl.create_default_context(cafile=proxied.cert)
        headers = {"sec-fetch-site": "same-origin", "origin": proxied.url, "accept": "text/html"}
        with httpx.Client(base_url=proxied.url, verify=context, headers=headers, timeout=60) as client:
            yield Served(proxied, client, place, users_file)


def test_people_sign_in_send_files_and_export(served: Served) -> None:
    client = served.client
    assert client.get("/list").status_code == 401
    served.sign_in("ada")
    assert f"{N_BIG + 4:,} documents" in client.get("/").text
    csrf = field(client.get("/check-in").text, "csrf")
    large = LEASE.encode() * ((2 << 20) // len(LEASE))  # more than nginx keeps in memory
    for content in (LEASE.encode(), large):
        answer = client.post("/check-in/file", data={"csrf": csrf}, files={"file": ("lease.txt", content)})
        assert answer.status_code == 303, answer.text
        while "verdict" not in client.get(answer.headers["location"]).text:  # a long text is compared after the page
            time.sleep(0.1)
    too_large = client.post("/check-in/file", data={"csrf": csrf}, files={"file": ("a.txt", b"a" * (65 << 20))})
    assert too_large.status_code == 413
    with client.stream("GET", "/list.csv") as answer:
        assert answer.status_code == 200
        assert sum(part.count(b"\n") for part in answer.iter_bytes()) == N_BIG + 5


def test_a_user_decides_in_the_own_name(served: Served) -> None:
    served.sign_in("ada")
    csrf = field(served.client.get("/document?id=lease").text, "csrf")
    sent = {"csrf": csrf, "id": "lease", "tag": "read=yes", "by": "eve", "back": "/"}
    assert served.client.post("/tags", data=sent).status_code == 303
    assert served.client.get("/log").status_code == 403
    with Collection.open(served.collection, read_only=True) as collection:
        assert [(one.kind, one.by) for one in collection.log() if one.kind == "tag"] == [("tag", "ada")]


def test_a_viewer_changes_nothing(served: Served) -> None:
    served.sign_in("vera")
    csrf = field(served.client.get("/list").text, "csrf")
    answer = served.client.post("/tags", data={"csrf": csrf, "id": "lease", "tag": "mine=yes"})
    assert answer.status_code == 403
    assert "mine=yes" not in served.client.get("/document?id=lease").text


def test_a_large_file_without_a_token_is_refused_with_a_reason(served: Served) -> None:
    served.client.cookies.clear()
    answer = served.client.post("/api/v1/check", content=b"a" * (20 << 20))
    assert (answer.status_code, answer.json()["error"]) == (401, "RefusedError")


def test_what_did_not_come_encrypted_or_past_the_proxy_is_refused(served: Served) -> None:
    forged = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"}
    assert httpx.get(f"{served.proxied.plain}/sign-in", headers=forged).status_code == 403
    assert httpx.get(f"{served.proxied.inner}/sign-in").status_code == 403
    assert httpx.get(f"{served.proxied.inner}/healthz").status_code == 200


def test_a_script_checks_with_a_token_that_is_revoked_at_once(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text(LEASE, "utf-8")
    check = ("check", tmp_path / "a.txt", "--server", served.proxied.url, "--json")
    monkeypatch.setenv("SSL_CERT_FILE", str(served.proxied.cert))
    for role, label, code in (("reviewer", "nightly", 10), ("viewer", "look", 7)):
        token = served.users("token", "ada", "--label", label, "--role", role).strip()
        monkeypatch.setenv("NEARKIN_TOKEN", token)
        answer = nearkin_here(*check)
        assert answer.code == code, answer.err
        assert code != 10 or json.loads(answer.out)["verdict"] == "exact"
    served.users("revoke", "ada", "--label", "look")
    nearkin_done(*check, code=7)
    monkeypatch.delenv("SSL_CERT_FILE")
    nearkin_done(*check, code=7)
