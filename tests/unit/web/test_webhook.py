"""The webhook: what is sent, what its answers mean, and where it is never asked; with servers on this machine."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from certificates import write_certificate
from extracted_documents import add_extracted, unread
from nearkin.errors import ParameterError, RefusedError
from nearkin.runs.progress import Silent
from nearkin.web.api.operations import OPERATIONS
from nearkin.web.name_lookup import _MAX_AT_ONCE
from nearkin.web.queries import fields_of
from nearkin.web.read_again import FileReadAgain, SentAgain, store_read_again
from nearkin.web.screens import FORMS, SCREENS
from nearkin.web.webhook import CheckInEvent, Webhook
from review_client import LEASE, OWN, Visit, small_collection

EVENT = CheckInEvent(doc_id="a", wave="w", by="ada")
SLOW = 999
"""Instead of a status: a header that never ends."""


@dataclass
class Hook:
    """A server that answers with a status, and the events that it received."""

    server: ThreadingHTTPServer
    status: int = 204
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook?x=1"


@pytest.fixture
def hook() -> Iterator[Hook]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.told.append((self.path, json.loads(body)))
            if found.status == SLOW:
                while not found.over.wait(0.02):
                    self.wfile.write(b"H")  # one byte after another, for ever
                return
            self.send_response(found.status)
            self.send_header("location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    found = Hook(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
    thread = threading.Thread(target=found.server.serve_forever, args=(0.02,))
    thread.start()
    yield found
    found.over.set()
    found.server.shutdown()
    found.server.server_close()
    thread.join()


def webhook(url: str, said: list[str], failure: str = "closed", **more: Any) -> Webhook:
    return Webhook(url=url, failure=failure, **{"allows_private": True, "say": said.append} | more)


@pytest.mark.parametrize("status", [200, 204])
def test_a_success_accepts(hook: Hook, status: int) -> None:
    hook.status, said = status, []
    webhook(hook.url, said).ask(CheckInEvent(doc_id="ä/b", wave="w", by="ada", verdict="near", similar=["c"]))
    told = {"event": "check-in", "id": "ä/b", "wave": "w", "by": "ada", "verdict": "near", "similar": ["c"]}
    assert (hook.told, said) == ([("/hook?x=1", told)], [])


@pytest.mark.parametrize("failure", ["open", "closed"])
@pytest.mark.parametrize("status", [403, 409, 422])
def test_some_statuses_reject_whatever_a_failure_does(hook: Hook, status: int, failure: str) -> None:
    hook.status, said = status, []
    with pytest.raises(RefusedError, match="rejected the document") as refused:
        webhook(hook.url, said, failure).ask(EVENT)
    assert (refused.value.status, said) == (422, [])


@pytest.mark.parametrize("status", [301, 307, 400, 404, 500, SLOW])
def test_everything_else_is_a_failure(hook: Hook, status: int) -> None:
    hook.status, said = status, []
    with pytest.raises(RefusedError, match="so the document was not stored") as refused:
        webhook(hook.url, said, timeout_s=0.3).ask(EVENT)
    webhook(hook.url, said, "open", timeout_s=0.3).ask(EVENT)
    assert refused.value.status == 503
    assert len(said) == 2
    assert [path for path, _ in hook.told] == ["/hook?x=1"] * 2  # a redirect is not followed


def test_an_answer_writes_nothing_into_the_terminal() -> None:
    """What is no HTTP is part of the error: it must not move the cursor, or look like another line of the service."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65_536)
                peer.sendall(b"\x1b[2J" + b"x" * 5_000 + b"\r\nUsers sign in at http://evil.example\r\n\r\n")

        thread, said = threading.Thread(target=answer), list[str]()
        thread.start()
        webhook(f"http://127.0.0.1:{server.getsockname()[1]}/", said, "open").ask(EVENT)
        thread.join()
    assert said[0].isprintable(), said
    assert len(said[0]) < 1_000


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", f"http://{'a' * 64}.example/"])
def test_nobody_at_the_address_is_a_failure(url: str) -> None:
    said = list[str]()
    with pytest.raises(RefusedError):
        webhook(url, said).ask(EVENT)
    webhook(url, said, "open").ask(EVENT)
    assert len(said) == 2


def test_addresses_that_are_not_public_are_never_asked(hook: Hook) -> None:
    """CVE-2026-2393: neither the machine itself, nor its network, nor the metadata of a cloud."""
    port, said = hook.server.server_port, list[str]()
    for host in (
        "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "192.168.1.1",
        "169.254.169.254", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "2130706433", "0x7f.1",
        "[64:ff9b:1::7f00:1]", "[::7f00:1]", "[::ffff:0:7f00:1]", "[fec0::1]",
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            webhook(f"https://{host}:{port}/", said, allows_private=False).ask(EVENT)
        assert "not public" in said.pop(), host
    assert hook.told == []


def test_a_name_that_is_not_found_in_time_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver that does not answer; more look-ups than may go on at once wait no longer either."""
    over, ended, said = threading.Event(), threading.Semaphore(0), list[str]()

    def look_up(*_: object, **__: object) -> list[object]:
        assert over.wait(20)
        ended.release()
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    began = time.monotonic()
    for _ in range(_MAX_AT_ONCE + 1):
        webhook("https://example.org/", said, "open", timeout_s=0.02).ask(EVENT)
    assert said == ["The webhook failed: the address of example.org was not found in time."] * (_MAX_AT_ONCE + 1)
    assert time.monotonic() - began < 15, "they waited for the resolver"
    over.set()
    for _ in range(_MAX_AT_ONCE):
        assert ended.acquire(timeout=20)
    monkeypatch.undo()
    webhook("https://127.0.0.1:1/", said, "open").ask(EVENT)
    assert "not found in time" not in said[-1]


def test_the_time_of_the_look_up_is_part_of_the_limit(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow name server, and then a peer that sends a byte now and then: together no longer than one limit."""
    hook.status, said, found = SLOW, list[str](), socket.getaddrinfo

    def look_up(host: str, *others: Any, **more: Any) -> Any:
        if host == "hook.example":
            time.sleep(1.5)
        return found("127.0.0.1", *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    began = time.monotonic()
    webhook(hook.url.replace("127.0.0.1", "hook.example"), said, "open", timeout_s=1.6).ask(EVENT)
    assert (time.monotonic() - began < 1.5 + 1.6 - 0.2, len(said), len(hook.told)) == (True, 1, 1)


def test_a_certificate_is_verified(hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, key = write_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    hook.server.socket = context.wrap_socket(hook.server.socket, server_side=True)
    url, said = hook.url.replace("http:", "https:"), list[str]()
    with pytest.raises(RefusedError):
        webhook(url, said).ask(EVENT)
    assert "CERTIFICATE_VERIFY_FAILED" in said[0]
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    webhook(url, said).ask(EVENT)
    assert len(hook.told) == 1


@pytest.mark.parametrize(
    "url", ["http://example.org/", "ftp://a/", "https://", "https://u:p@a/", "https://[", "https://a:x/"]
)
def test_an_address_is_https(url: str) -> None:
    with pytest.raises(ParameterError, match="--webhook must be https"):
        Webhook(url=url, failure="open")


def test_no_request_names_an_address() -> None:
    """Addresses come from the configuration alone."""
    records = [one.query for one in (*SCREENS, *OPERATIONS)] + [one.body for one in (*FORMS, *OPERATIONS)]
    names = {name for record in records if isinstance(record, type) for name in fields_of(record)}
    assert not [name for name in names if any(word in name for word in ("url", "hook", "host", "callback", "address"))]


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    with small_collection(tmp_path) as collection:
        yield Visit(collection).sign_in()


def test_every_way_to_store_a_document_asks_first(visit: Visit, hook: Hook) -> None:
    visit.service.webhook, hook.status = webhook(hook.url, []), 403
    script = {"authorization": f"Bearer {visit.entry.token}"}
    sent = visit.send(
        "POST", "/check-in/file", data={"csrf": visit.csrf}, files={"file": ("b.txt", LEASE)}, headers=OWN
    )
    key = sent.headers["location"].partition("key=")[2]
    answers = [
        visit.send("PUT", "/api/v1/documents/b", content=LEASE, headers=script),
        visit.send("POST", "/api/v1/check?store=true&id=b", content=LEASE, headers=script),
        visit.post("/check-in/store", key=key, id="b"),
    ]
    assert [answer.status_code for answer in answers] == [422] * 3
    assert not visit.service.collection.has_document("b")
    assert [(told["id"], told["by"], told["verdict"]) for _, told in hook.told] == [
        ("b", "ada", None), ("b", "ada", "exact"), ("b", "ada", "exact")
    ]  # fmt: skip
    hook.status = 200
    assert visit.post("/check-in/store", key=key, id="b").status_code == 303
    assert visit.service.collection.has_document("b")


def test_nothing_is_asked_if_nothing_would_be_stored(visit: Visit, hook: Hook) -> None:
    visit.service.webhook = webhook(hook.url, [])
    script = {"authorization": f"Bearer {visit.entry.token}"}
    for query in ("", "?store=true&only_new=true&id=b"):
        answer = visit.send("POST", f"/api/v1/check{query}", content=LEASE, headers=script)
        assert (answer.status_code, answer.json()["stored_as"]) == (200, None)
    assert hook.told == []


def test_files_that_are_read_again_are_stored_if_it_accepts(hook: Hook, tmp_path: Path) -> None:
    with small_collection(tmp_path) as collection:
        add_extracted(collection, [("a.txt", None, unread("a"), None), ("b.txt", LEASE, None, None)], wave="march")
        (named,) = collection.exceptions(which="no text").exceptions
        sent = SentAgain((), "cp1252", (FileReadAgain(name="a.txt", exception=named, text="A text."),))
        given = {"webhook": webhook(hook.url, []), "by": "ada"}
        for hook.status, refused in ((409, "0 documents stored; not stored: 1 that"), (500, "0 documents stored; not")):
            assert store_read_again(collection, sent, Silent(), **given).startswith(refused)
            assert not collection.has_document("a.txt")
        hook.status = 204
        assert store_read_again(collection, sent, Silent(), **given) == "1 document stored"
        assert (collection.text("a.txt"), collection.document("a.txt").wave) == ("A text.", "march")
        assert hook.told[-1][1] == {
            "event": "check-in", "id": "a.txt", "wave": "march", "by": "ada", "verdict": None, "similar": [],
        }  # fmt: skip
