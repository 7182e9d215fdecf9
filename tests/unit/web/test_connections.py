"""Slow and numerous connections, over real sockets: one client never takes the places of all."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from typing import Any

import httpx
import pytest

from nearkin.web.connections import TimedConnection
from nearkin.web.serving import _config
from nearkin.web.settings import ServiceSettings
from nearkin.web.users import sign_in
from review_client import small_collection
from team_client import PUBLIC, Browser, Team, field, service_of
from team_server import PERSON, connected, received, team_server

MAX, CROWD = 3, "127.0.0.2"
REQUEST = b"GET /sign-in/review.css HTTP/1.1\r\nhost: review.example.org\r\n\r\n"
FORM = (
    b"POST %s HTTP/1.1\r\nhost: review.example.org\r\norigin: https://review.example.org\r\n"
    b"content-length: 10000\r\n\r\nname="
)
Start = Callable[..., tuple[str, int]]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("connections")
    with small_collection(folder) as collection:
        yield Team(service_of(collection), folder)


@pytest.fixture
def start(team: Team) -> Iterator[Start]:
    with ExitStack() as ends:
        yield lambda **limits: ends.enter_context(team_server(team, **limits))


def is_answered(place: tuple[str, int], source: str = PERSON) -> bool:
    with connected(place, source) as opened, contextlib.suppress(ConnectionError):
        opened.sendall(REQUEST.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        return received(opened).startswith(b"HTTP/1.1 200")
    return False


def test_half_sent_requests_of_one_client_leave_the_places_of_others(start: Start, team: Team) -> None:
    place = start(max_per_client=MAX)
    with ExitStack() as opened:
        for _ in range(MAX):
            opened.enter_context(connected(place, CROWD)).sendall(REQUEST[:-2])
        for _ in range(2):
            assert received(opened.enter_context(connected(place, CROWD))) == b""
        assert is_answered(place)
        assert [one for one in team.said if "refused" in one] == [
            f"Connections refused: {CROWD} has {MAX} open connections, the maximum of one client now."
        ]
    assert any(is_answered(place, CROWD) for _ in range(1_000))  # their places are free once they are closed


def is_kept(opened: socket.socket) -> bool:
    """Whether a connection was accepted and answers a request."""
    with contextlib.suppress(ConnectionError):
        opened.sendall(REQUEST)
        return opened.recv(12) == b"HTTP/1.1 200"
    return False


def test_many_clients_together_leave_places_for_others(start: Start) -> None:
    n_places, n_clients = 40, 12
    place = start(max_per_client=16, max_total=n_places)
    with ExitStack() as opened:
        kept = [
            sum(is_kept(opened.enter_context(connected(place, f"127.0.1.{client}"))) for _ in range(16))
            for client in range(1, n_clients + 1)
        ]
        assert kept[0] == 8  # a quarter of the 32 that are left
        assert min(kept) >= 1
        assert sum(kept[:6]) < n_places
        assert is_answered(place)


def test_many_browsers_behind_one_address_of_an_office_can_work(start: Start) -> None:
    """By default sixteen browsers, each with its six connections, all of which stay open."""
    place = start(max_per_client=ServiceSettings(host="", port=0).max_per_client)
    with ExitStack() as opened:
        connections = [opened.enter_context(connected(place, CROWD)) for _ in range(16 * 6)]
        assert all(map(is_kept, connections))
        assert is_answered(place)


def test_idle_connections_are_closed_by_scripts_first(team: Team) -> None:
    expiry = httpx.Limits().keepalive_expiry
    assert expiry is not None
    assert expiry + 1 < _config(team.app, None).timeout_keep_alive < TimedConnection.wait_s


def test_connections_of_a_proxy_are_those_of_many_clients(start: Start) -> None:
    place = start(max_per_client=1, unlimited=[ip_network(CROWD)])
    with connected(place, CROWD), connected(place, CROWD):
        assert is_answered(place, CROWD)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (REQUEST[:-2], b""),
        (REQUEST, b"HTTP/1.1 200"),
        (REQUEST + REQUEST[:-2], b"HTTP/1.1 200"),
        (FORM % b"/tags", b"HTTP/1.1 401"),
    ],
    ids=["nothing", "half a head", "nothing after a request", "half a head after a request", "half a refused body"],
)
def test_what_does_not_arrive_in_time_is_closed(
    start: Start, monkeypatch: pytest.MonkeyPatch, sent: bytes, answer: bytes
) -> None:
    monkeypatch.setattr(TimedConnection, "wait_s", 0.2)
    with connected(start()) as opened:
        opened.sendall(sent)
        assert received(opened).startswith(answer)


@pytest.mark.parametrize(("first", "status"), [(b"", b""), (FORM % b"/tags", b"401")], ids=["head", "refused body"])
def test_a_byte_now_and_then_does_not_prolong_the_time(
    start: Start, monkeypatch: pytest.MonkeyPatch, first: bytes, status: bytes
) -> None:
    monkeypatch.setattr(TimedConnection, "wait_s", 0.2)
    with connected(start()) as opened:
        if first:
            opened.sendall(first)
            assert status in opened.recv(1 << 16)
        assert is_closed_while_sent(opened, b"GET /x" * 50)


def is_closed_while_sent(opened: socket.socket, content: bytes) -> bool:
    """Whether the other side closes the connection before all of it is sent, a byte every 10 ms."""
    opened.settimeout(0.01)
    for byte in content:
        try:
            opened.sendall(bytes([byte]))
            if opened.recv(1 << 16) == b"":
                return True
        except TimeoutError:
            continue
        except ConnectionError:
            return True
    return False


def test_a_form_of_the_sign_in_arrives_in_time_too(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "_ARRIVES_S", 0.1)
    with connected(start()) as opened:
        opened.sendall(FORM % b"/sign-in")
        assert opened.recv(1 << 16).startswith(b"HTTP/1.1 408")


def test_a_request_in_two_parts_is_answered(start: Start) -> None:
    with connected(start()) as opened:
        opened.sendall(REQUEST[:20])
        opened.sendall(REQUEST[20:])
        assert opened.recv(12) == b"HTTP/1.1 200"


def test_half_sent_forms_of_one_client_are_few_behind_a_proxy_too(team: Team) -> None:
    """A proxy may pass on what has not arrived as a whole; the sender is that of its header."""

    async def statuses() -> list[int]:
        started = list[int]()

        async def never() -> dict[str, Any]:
            return await asyncio.Future()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                started.append(message["status"])

        headers = [(b"host", b"review.example.org"), (b"origin", PUBLIC.encode())]
        scope = {"type": "http", "method": "POST", "path": "/sign-in", "query_string": b"", "headers": headers}
        asked = [
            asyncio.create_task(team.app(scope | {"client": ("192.0.2.9", 1)}, never, send))
            for _ in range(sign_in._MAX_UNFINISHED + 1)
        ]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        for one in asked:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        return started

    assert asyncio.run(statuses()) == [429]
    browser = Browser(team, "192.0.2.9")
    page = browser.get("/sign-in").text
    assert browser.post("/sign-in", name="nobody", password="x", csrf=field(page, "csrf")).status_code == 401
