"""Hosts, proxies and other sites, for a service that other machines reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nearkin.errors import ParameterError
from nearkin.web.service import ReviewService
from nearkin.web.settings import settings_of
from nearkin.web.users.sign_in import MAX_OF_AN_ADDRESS
from review_client import small_collection
from team_client import PASSWORD, PUBLIC, Browser, Team, field, service_of

PROXY = "10.0.8.1"
SENT = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewService]:
    with small_collection(tmp_path_factory.mktemp("sources")) as collection:
        yield service_of(collection)


@pytest.fixture
def team(service: ReviewService, tmp_path: Path) -> Team:
    return Team(service, tmp_path)


@pytest.fixture
def proxied(service: ReviewService, tmp_path: Path) -> Team:
    return Team(service, tmp_path, proxies=("10.0.8.0/24", "2001:db8::1"))


@pytest.mark.parametrize("host", ["review.example.org", "REVIEW.example.org:443"])
def test_the_public_name_is_accepted(team: Team, host: str) -> None:
    browser = Browser(team).with_session("ada")
    assert browser.send("GET", "/index.json", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:8443", "review.example.org:8443", ""])
def test_other_names_are_refused_whatever_the_session(team: Team, host: str) -> None:
    """DNS rebinding, as in CVE-2025-14279."""
    browser = Browser(team).with_session("ada")
    for headers in (
        {"host": host},
        {"host": host, **team.script("ada")},
        {"host": host, "x-forwarded-host": "review.example.org"},
    ):
        for path in ("/", "/sign-in", "/api/v1/waves"):
            assert browser.send("GET", path, headers=headers).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://review.example.org"},
        {"origin": "null"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_other_sites_reach_no_path(team: Team, method: str, headers: dict[str, str]) -> None:
    """CVE-2026-2611: with a session or with a token, and no path is left out."""
    browser = Browser(team).with_session("ada")
    for path in ("/", "/sign-in", "/sign-out", "/sign-in/review.css", "/tags", "/api/v1/check", "/no-such-page"):
        for more in ({}, team.script("ada")):
            answer = browser.send(method, path, headers=headers | more)
            assert answer.status_code == 403
            assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_without_a_proxy_forwarded_headers_count_for_nothing(team: Team) -> None:
    browser = Browser(team, "192.0.2.66")
    for _ in range(MAX_OF_AN_ADDRESS):
        team.entry._by_address.count("192.0.2.66/32")
    csrf = field(browser.get("/sign-in").text, "csrf")
    headers = {"origin": PUBLIC, "x-forwarded-for": "198.51.100.1", "forwarded": "for=198.51.100.1"}
    data = {"name": "rita", "password": PASSWORD, "csrf": csrf}
    assert browser.send("POST", "/sign-in", data=data, headers=headers).status_code == 429


@pytest.mark.parametrize("peer", [PROXY, "2001:db8::1"])
def test_a_known_proxy_says_where_requests_come_from(proxied: Team, peer: str) -> None:
    assert Browser(proxied, peer).send("GET", "/sign-in", headers=SENT).status_code == 200


@pytest.mark.parametrize("peer", ["192.0.2.7", "10.0.9.1", "127.0.0.1", "2001:db8::2", "testclient"])
def test_other_addresses_do_not_get_past_the_proxy(proxied: Team, peer: str) -> None:
    browser = Browser(proxied, peer).with_session("ada")
    for headers in ({}, SENT, SENT | proxied.script("ada")):
        assert browser.send("GET", "/index.json", headers=headers).status_code == 403


@pytest.mark.parametrize("proto", [None, "", "http", "https, http"])
def test_a_connection_that_is_not_encrypted_is_refused(proxied: Team, proto: str | None) -> None:
    headers = {name: value for name, value in SENT.items() if name != "x-forwarded-proto"}
    headers |= {} if proto is None else {"x-forwarded-proto": proto}
    assert Browser(proxied, PROXY).send("GET", "/sign-in", headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("forwarded", "counted"),
    [
        ("192.0.2.7", "192.0.2.7/32"),
        ("6.6.6.6, 192.0.2.7", "192.0.2.7/32"),  # the sender wrote the first one
        ("6.6.6.6, 192.0.2.7, 10.0.8.9", "192.0.2.7/32"),  # two proxies
        ("6.6.6.6:80, 192.0.2.7:50000, [2001:db8::1]:443", "192.0.2.7/32"),  # with ports
        ("6.6.6.6, nonsense", "unknown"),
        ("", f"{PROXY}/32"),
    ],
)
def test_the_last_address_that_is_no_proxy_is_the_sender(proxied: Team, forwarded: str, counted: str) -> None:
    browser = Browser(proxied, PROXY)
    for _ in range(MAX_OF_AN_ADDRESS):
        proxied.entry._by_address.count(counted)
    headers = SENT | {"x-forwarded-for": forwarded, "origin": PUBLIC}
    csrf = field(browser.send("GET", "/sign-in", headers=headers).text, "csrf")
    data = {"name": "rita", "password": PASSWORD, "csrf": csrf}
    assert browser.send("POST", "/sign-in", data=data, headers=headers).status_code == 429


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "review.example.org", "127.0.0.2", ""])
def test_another_host_needs_a_proxy(host: str) -> None:
    with pytest.raises(ParameterError):
        settings_of(host)


@pytest.mark.parametrize(
    "url",
    [
        "http://review.example.org", "review.example.org", "https://", "https://a/b", "https://a?b", "https://u@a",
        "https://a:99999", "https://[", "https://ä.example",
    ],
)  # fmt: skip
def test_a_public_url_is_a_name_over_https(url: str) -> None:
    with pytest.raises(ParameterError):
        settings_of("0.0.0.0", behind_proxy=["10.0.8.1"], public_url=url)


@pytest.mark.parametrize("proxy", ["0.0.0.0/0", "::/0", "proxy.example.org", "10.0.8.1/24", "", "*"])
def test_a_proxy_is_an_address_and_never_everybody(proxy: str) -> None:
    with pytest.raises(ParameterError):
        settings_of(behind_proxy=["10.0.8.1", proxy], public_url=PUBLIC)


def test_a_proxy_and_a_public_url_need_each_other() -> None:
    for given in ({"behind_proxy": ["10.0.8.1"]}, {"public_url": PUBLIC}):
        with pytest.raises(ParameterError):
            settings_of(**given)
    settings = settings_of(behind_proxy=["10.0.8.1"], public_url="https://Review.example.org:443/")
    assert (settings.address, settings.cookie) == (PUBLIC, "__Host-nearkin-443")
