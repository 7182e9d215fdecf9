"""A team's service as it is started: users made by the command, TLS, browsers and scripts of other machines."""

from __future__ import annotations

import json
import re
import socket
import ssl
import stat
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from certificates import write_certificate
from commands import quick_command
from functional.conftest import nearkin_here
from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError
from nearkin.web.client import checked_by
from nearkin.web.settings import ServiceSettings
from review_client import DOCUMENTS, LEASE
from team_client import field

PASSWORD = b"correct horse battery\n"


@dataclass(frozen=True)
class Served:
    """A service over TLS, and what its clients have."""

    place: Path
    users_file: Path
    cert: Path
    url: str

    def client(self) -> httpx.Client:
        """A browser that trusts the certificate."""
        context = ssl.create_default_context(cafile=self.cert)
        headers = {"sec-fetch-site": "same-origin", "origin": self.url, "accept": "text/html"}
        return httpx.Client(base_url=self.url, verify=context, headers=headers)

    def users(self, *arguments: str, stdin: bytes = b"") -> str:
        """Change the users."""
        done = nearkin_here("users", self.place, *arguments, "--users-file", self.users_file, stdin=stdin)
        assert done.code == 0, done.err
        return done.out


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("team")
    with Collection.open(folder / "matter", create=True) as collection:
        collection.add(DOCUMENTS, wave="march")
        collection.check(LEASE)  # makes the keys
    cert, key = write_certificate(folder)
    users_file = folder / "users.json"
    added = ("users", folder / "matter", "add", "ada", "--role", "reviewer", "--users-file", users_file)
    assert nearkin_here(*added, stdin=PASSWORD).code == 0
    options = ("--tls-cert", cert, "--tls-key", key, "--users-file", users_file)
    command = quick_command("serve", folder / "matter", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"https://127\.0\.0\.1:\d+", line := process.stdout.readline())
        assert found is not None, line
        yield Served(folder / "matter", users_file, cert, found[0])
        process.terminate()


def test_a_user_signs_in_over_tls_and_decides_in_the_own_name(served: Served) -> None:
    with served.client() as browser:
        assert browser.get("/").status_code == 401
        form = browser.get("/sign-in").text
        sent = {"name": "ada", "password": PASSWORD.decode().strip(), "csrf": field(form, "csrf")}
        answer = browser.post("/sign-in", data=sent)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        page = browser.get("/document?id=lease").text
        answer = browser.post(
            "/tags", data={"csrf": field(page, "csrf"), "id": "lease", "tag": "read=yes", "by": "eve", "back": "/"}
        )
        assert answer.status_code == 303
        assert browser.get("/log").status_code == 403
    with Collection.open(served.place, read_only=True) as collection:
        assert [(one.kind, one.by) for one in collection.log()] == [("tag", "ada")]


def test_the_port_speaks_only_tls_to_those_who_trust_its_certificate(served: Served) -> None:
    with pytest.raises(httpx.HTTPError):
        httpx.get(served.url.replace("https", "http"))
    with pytest.raises(CollectionError, match="with --tls-cert, its address begins with https://"):
        checked_by(served.url.replace("https", "http"), "token", b"a text", {})
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(served.url)


def test_connections_of_one_address_take_no_places_of_others(served: Served) -> None:
    """They count before the handshake of TLS, which these never begin."""
    url = httpx.URL(served.url)
    with ExitStack() as opened:
        crowd = [
            opened.enter_context(socket.create_connection((url.host, url.port or 0), 20, ("127.0.0.2", 0)))
            for _ in range(ServiceSettings(host="", port=0).max_per_client + 1)
        ]
        assert crowd[-1].recv(1) == b""
        with served.client() as browser:
            assert browser.get("/sign-in").status_code == 200


def test_a_script_checks_with_a_token_that_is_revoked_at_once(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text(LEASE, "utf-8")
    check = ("check", tmp_path / "a.txt", "--server", served.url, "--json")
    monkeypatch.setenv("SSL_CERT_FILE", str(served.cert))
    monkeypatch.setenv(
        "NEARKIN_TOKEN", served.users("token", "ada", "--label", "nightly", "--role", "reviewer").strip()
    )
    answer = nearkin_here(*check)
    assert (answer.code, json.loads(answer.out)["verdict"]) == (10, "exact"), answer.err
    monkeypatch.setenv("NEARKIN_TOKEN", served.users("token", "ada", "--label", "look", "--role", "viewer").strip())
    answer = nearkin_here(*check)
    assert (answer.code, "needs the role reviewer; yours is viewer" in answer.err) == (7, True), answer.err
    served.users("revoke", "ada", "--label", "look")
    assert "The token is missing or wrong" in nearkin_here(*check).err
    monkeypatch.delenv("SSL_CERT_FILE")
    answer = nearkin_here(*check)
    assert (answer.code, "is not secure: self-signed certificate" in answer.err) == (7, True), answer.err


def test_behind_a_proxy_its_headers_count_and_no_others(served: Served) -> None:
    """The server itself believes no header: one from the proxy's machine must not change who the sender is."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    options = ("--port", str(port), "--behind-proxy", "127.0.0.1", "--public-url", "https://review.example.org")
    command = quick_command("serve", served.place, *options, "--users-file", served.users_file)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "https://review.example.org/sign-in" in process.stdout.readline()
        url, own = f"http://127.0.0.1:{port}/sign-in", {"host": "review.example.org"}
        proxied = own | {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7"}
        answers = [httpx.get(url, headers=headers).status_code for headers in ({}, own, proxied)]
        process.terminate()
    assert answers == [403, 403, 200]


def test_users_are_listed_without_their_secrets(served: Served) -> None:
    listed = served.users("list", "--json")
    stored = json.loads(served.users_file.read_text("utf-8"))
    assert [one["name"] for one in json.loads(listed)["users"]] == ["ada"]
    for user in stored["users"]:
        assert user["password"].startswith("$argon2id$")
        assert user["password"] not in listed
        assert not [one for one in user["tokens"] if one["digest"] in listed]
    assert stat.S_IMODE(served.users_file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "ADA", "--role", "viewer"), "The user ada already exists"),
        (("add", "bob", "--role", "owner"), "--role must be one of viewer, reviewer, admin"),
        (("add", "bob"), "add needs --role: viewer, reviewer, admin."),
        (("add", "bob\n", "--role", "viewer"), "12 to 1,024 characters"),
        (("add", "b\u202eob", "--role", "viewer"), "printable characters"),
        (("token", "ada", "--label", "x", "--role", "admin"), "must not be above that of its user"),
        (("token", "ada", "--role", "viewer"), "need --label"),
        (("revoke", "ada", "--label", "none"), "has no token none"),
        (("password", "bob"), "There is no user bob"),
        (("remove",), "remove needs the NAME"),
        (("list", "ada"), "Omit NAME"),
        (("remove", "ada", "--role", "viewer"), "--role goes with"),
        (("rename", "ada"), "ACTION must be one of"),
    ],
)
def test_what_users_refuses(served: Served, arguments: tuple[str, ...], said: str) -> None:
    before = served.users_file.read_bytes()
    answer = nearkin_here("users", served.place, *arguments, "--users-file", served.users_file)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert served.users_file.read_bytes() == before


def test_other_machines_are_refused_until_there_are_users(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    proxy = ("--behind-proxy", "10.0.8.1", "--public-url", "https://review.example.org")
    for options, said in (
        (("--host", "0.0.0.0"), "lets other machines connect"),
        (("--host", "0.0.0.0", *proxy), f"and {tmp_path}/nearkin/users/"),
        (proxy, "has none. Run: nearkin users"),
        ((*proxy, "--by", "ada"), "--by and --token-file are for the service of this machine"),
        (("--users-file", "u.json"), "--users-file needs"),
    ):
        answer = nearkin_here("serve", served.place, *options)
        assert (answer.code, said in answer.err) == (2, True), answer.err
    assert list(tmp_path.iterdir()) == []


def test_the_usual_file_belongs_to_the_collection_wherever_it_lies(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with Collection.open(served.place, read_only=True) as collection:
        own = tmp_path / "nearkin" / "users" / f"{collection.opened.store.facts['collection']}.json"
    told = json.loads(nearkin_here("users", served.place, "--json").out)
    assert told == {"file": str(own), "users": []}
