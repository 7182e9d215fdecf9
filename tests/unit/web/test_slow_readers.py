"""Clients that do not read their answers, over real sockets, with and without TLS."""

from __future__ import annotations

import asyncio
import csv
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from certificates import write_certificate
from nearkin.collection.collection import Collection
from nearkin.web.accepted_socket import AcceptedSocket
from nearkin.web.connections import TimedConnection
from nearkin.web.exposure import Exposure
from team_client import Team, service_of
from team_server import connected, received, team_server

IDS = [f"{i:05}{'x' * 900}" for i in range(4_500)]
SIZE = sum(map(len, IDS))  # 4 MB
Open = Callable[[], socket.socket]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with Collection.open(tmp_path_factory.mktemp("readers") / "matter", create=True) as opened:
        opened.add([(one, "No.") for one in IDS], wave="march")
        yield opened


@pytest.fixture
def team(collection: Collection, tmp_path: Path) -> Team:
    return Team(service_of(collection), tmp_path)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Exposure:
    cert, key = write_certificate(tmp_path_factory.mktemp("certificate"))
    return Exposure(public_url=None, tls_cert=cert, tls_key=key)


@pytest.fixture(params=["plain", "TLS"])
def open_client(
    request: pytest.FixtureRequest, team: Team, certificate: Exposure, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """Connect with a small buffer; an answer must be read at 100 KB each 0.3 s."""
    monkeypatch.setattr(AcceptedSocket, "reading_s", 0.3)
    monkeypatch.setattr(AcceptedSocket, "min_read_bytes", 100_000)
    is_tls = request.param == "TLS"
    with ExitStack() as ends:
        place = ends.enter_context(team_server(team, certificate if is_tls else None))

        def opened() -> socket.socket:
            client = ends.enter_context(socket.socket())
            client.settimeout(20)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 10)
            client.connect(place)
            if not is_tls:
                return client
            context = ssl.create_default_context(cafile=certificate.tls_cert)
            return ends.enter_context(context.wrap_socket(client, server_hostname="localhost"))

        yield opened


def asked(team: Team, *more: str) -> bytes:
    """A request for the list of documents as CSV."""
    lines = ["GET /list.csv HTTP/1.1", "host: review.example.org", *more]
    lines.append(f"authorization: {team.script('vera')['authorization']}")
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


@pytest.mark.parametrize("more", [(), ("connection: close",)], ids=["kept open", "closed after it"])
@pytest.mark.parametrize("piece", [0, 4_000], ids=["nothing", "too little"])
def test_who_does_not_read_loses_the_connection(open_client: Open, team: Team, more: tuple[str], piece: int) -> None:
    client = open_client()
    client.sendall(asked(team, *more))
    found, until, began = client.recv(12), time.monotonic() + 5.0, False
    assert found == b"HTTP/1.1 200"
    while not (began := began or bool(AcceptedSocket.unsent)) or AcceptedSocket.unsent:
        assert time.monotonic() < until
        found += client.recv(piece) if began and piece else b""
        time.sleep(0.02)
    assert len(found + received(client)) < SIZE


@pytest.mark.parametrize("more", [(), ("connection: close",)], ids=["kept open", "closed after it"])
def test_who_reads_slowly_gets_all(
    open_client: Open, team: Team, monkeypatch: pytest.MonkeyPatch, more: tuple[str]
) -> None:
    """Longer than the next request, or the farewell of TLS, may take: their time begins when the answer has left."""
    monkeypatch.setattr(TimedConnection, "wait_s", 0.2)
    monkeypatch.setattr(asyncio.constants, "SSL_SHUTDOWN_TIMEOUT", 0.2)  # 30 s; an answer may take longer
    client = open_client()
    client.sendall(asked(team, *more))
    found, began = bytearray(), time.monotonic()
    while not is_complete(found) and (part := client.recv(1 << 16)):
        found += part
        time.sleep(0.002)
    assert time.monotonic() - began > 0.5
    rows = csv.DictReader(bytes(found).split(b"\r\n\r\n", 1)[1].decode().splitlines())
    assert [row["doc_id"] for row in rows] == IDS


def test_who_does_not_answer_the_farewell_loses_the_connection(
    team: Team, certificate: Exposure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the answer and the farewell of TLS, and then says nothing more."""
    monkeypatch.setattr(TimedConnection, "wait_s", 0.3)
    context = ssl.create_default_context(cafile=certificate.tls_cert)
    with team_server(team, certificate) as place, connected(place) as client:
        below = socket.socket(fileno=os.dup(client.fileno()))
        with below, context.wrap_socket(client, server_hostname="localhost") as encrypted:
            encrypted.sendall(asked(team, "connection: close"))
            assert received(encrypted).startswith(b"HTTP/1.1 200")
            below.settimeout(5)
            assert received(below) == b""  # the end of TCP


def is_complete(answer: bytearray) -> bool:
    """Whether an answer is as long as its head says."""
    n_head = answer.find(b"\r\n\r\n") + 4
    return n_head > 4 and len(answer) == n_head + int(re.findall(rb"content-length: (\d+)", answer[:n_head])[0])


def test_a_handshake_has_the_time_of_a_head(team: Team, certificate: Exposure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimedConnection, "wait_s", 0.2)
    with team_server(team, certificate) as place, connected(place) as client:
        client.settimeout(5)
        assert received(client) == b""
        with connected(place) as other:
            other.sendall(b"\x16\x03\x01\x02\x00\x01")  # a ClientHello begins so
            other.settimeout(5)
            assert received(other) == b""
