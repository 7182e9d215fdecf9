"""Bodies beyond the limit, over real sockets: a client that sends everything first gets the answer."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from nearkin.web import incoming_body
from review_client import small_collection
from team_client import Team, service_of
from team_server import connected, received, team_server

PART = b"x" * 500_000
N_PARTS = 40
CLOSING = "connection: close\r\n"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("bodies")
    with small_collection(folder) as collection:
        yield Team(service_of(collection), folder, max_body_bytes=2_000_000)


@pytest.fixture
def place(team: Team) -> Iterator[tuple[str, int]]:
    with team_server(team) as opened:
        yield opened


def head(team: Team, more: str) -> bytes:
    token = team.script("ada")["authorization"]
    return (
        "PUT /api/v1/documents/a HTTP/1.1\r\nhost: review.example.org\r\ncontent-type: text/plain\r\n"
        f"authorization: {token}\r\n{more}\r\n"
    ).encode()


def in_chunks(n: int) -> Iterator[bytes]:
    for _ in range(n):
        yield b"%x\r\n%s\r\n" % (len(PART), PART)
    yield b"0\r\n\r\n"


@pytest.mark.parametrize("more", ["", CLOSING, "connection: Close\r\n"])
@pytest.mark.parametrize("is_declared", [False, True])
def test_who_sends_too_much_gets_the_answer(team: Team, place: tuple[str, int], more: str, is_declared: bool) -> None:
    length = f"content-length: {N_PARTS * len(PART)}\r\n" if is_declared else "transfer-encoding: chunked\r\n"
    with connected(place) as opened:
        opened.sendall(head(team, length + more))
        for part in [PART] * N_PARTS if is_declared else in_chunks(N_PARTS):
            opened.sendall(part)
        answer = received(opened)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"\r\nconnection: close\r\n" in answer.lower()
    assert b"The body of a request is limited to 1.9 MiB." in answer


def test_an_answer_that_needs_no_body_arrives_too(team: Team, place: tuple[str, int]) -> None:
    with connected(place) as opened:
        opened.sendall(head(team, f"transfer-encoding: chunked\r\n{CLOSING}").replace(b"/documents/a", b"/nowhere"))
        for part in in_chunks(N_PARTS):
            opened.sendall(part)
        assert received(opened).startswith(b"HTTP/1.1 404 ")


def test_who_sends_without_end_is_cut_off(team: Team, place: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming_body, "_MAX_REST_BODIES", 2)
    body = b"".join(in_chunks(400))
    with connected(place) as opened:
        opened.sendall(head(team, "transfer-encoding: chunked\r\n"))
        with pytest.raises(ConnectionError):
            opened.sendall(body)


def test_who_sends_slowly_is_cut_off(team: Team, place: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming_body, "_REST_S", 0.2)
    begun = time.monotonic()
    with connected(place) as opened:
        opened.sendall(head(team, "content-length: 100000000\r\n") + PART)
        assert b" 413 " in received(opened)
    assert time.monotonic() - begun < 5
