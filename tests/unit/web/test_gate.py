"""What the gate refuses: other names, other sites, no session, too much; each accident of other local tools is here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.routing import Route

from nearkin.collection.collection import Collection
from nearkin.web.app import application
from nearkin.web.screens import FORMS, SCREENS
from review_client import ORIGIN, OWN, Visit, small_collection


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with small_collection(tmp_path_factory.mktemp("gate")) as collection:
        yield collection


@pytest.fixture
def visit(collection: Collection) -> Visit:
    return Visit(collection)


def test_nothing_is_open_without_a_session(visit: Visit) -> None:
    paths = [path for one in SCREENS for path in (one.path, one.json_path)]
    for path in [
        *paths,
        "/static/review.css",
        "/static/../../etc/passwd",
        "/no-such-page",
        "/sign-in/",
        "//",
        "/api/v1/x",
    ]:
        assert visit.send("GET", path).status_code == 401, path
    for form in FORMS:
        assert visit.send("POST", form.path, headers=OWN).status_code == 401, form.path


def test_anybody_may_ask_whether_the_process_lives(visit: Visit) -> None:
    for headers in ({}, {"host": "10.0.8.2:8000"}, {"origin": "http://evil.example"}, {"authorization": "Bearer x"}):
        answer = visit.send("GET", "/healthz", headers=headers)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert visit.send("POST", "/healthz", headers=OWN).status_code == 401
    assert visit.send("GET", "/healthz/waves").status_code == 401


def test_only_programs_of_this_machine_read_the_metrics_without_a_token(visit: Visit) -> None:
    text = visit.send("GET", "/metrics").text
    assert "nearkin_writers_waiting 0" in text
    assert "nearkin_changes_running 0" in text
    for headers in ({"host": "10.0.8.2:8000"}, {"x-forwarded-for": "10.0.8.7"}, {"origin": "http://evil.example"}):
        assert visit.send("GET", "/metrics", headers=headers).status_code != 200, headers


@pytest.mark.parametrize(
    "host",
    ["evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000", "", "127.0.0.1:8000@evil"],
)
def test_another_name_of_this_machine_is_refused(visit: Visit, host: str) -> None:
    """DNS rebinding, as in CVE-2025-14279: a session and its cookie change nothing."""
    visit.sign_in()
    assert visit.send("GET", "/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST:8000"])
def test_the_own_names_are_accepted(visit: Visit, host: str) -> None:
    assert visit.send("GET", "/", headers={"host": host}).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "nonsense"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:8001", "sec-fetch-site": "same-origin"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_other_sites_are_refused(visit: Visit, method: str, headers: dict[str, str]) -> None:
    """CVE-2026-2611: a page of another site reaches no path, with a session or with the token of scripts."""
    visit.sign_in()
    for path in ("/", "/no-such-page", "/sign-in?link=x"):
        assert visit.send(method, path, headers=headers).status_code == 403
    headers = headers | {"authorization": f"Bearer {visit.entry.token}"}
    assert visit.send(method, "/", headers=headers).status_code == 403


def test_a_change_of_a_browser_says_where_it_comes_from(visit: Visit) -> None:
    visit.sign_in()
    assert visit.send("POST", "/", data={"csrf": visit.csrf}).status_code == 403
    assert visit.send("POST", "/no-such-form", data={"csrf": visit.csrf}, headers=OWN).status_code == 404


def test_no_answer_allows_other_origins(visit: Visit) -> None:
    visit.sign_in()
    for answer in (visit.get("/"), visit.send("GET", "/"), visit.send("OPTIONS", "/", headers={"origin": ORIGIN})):
        assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "path", ["/", "/index.json", "/static/htmx.min.js", "/no-such-page", "/document?id=no-such-document"]
)
def test_every_answer_has_the_headers(visit: Visit, path: str) -> None:
    for answer in (visit.send("GET", path), visit.sign_in().send("GET", path)):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


def test_pages_are_not_kept_and_files_are(visit: Visit) -> None:
    visit.sign_in()
    assert visit.get("/document", id="lease").headers["cache-control"] == "no-store"
    assert "immutable" in visit.send("GET", visit.service.static.address("review.css")).headers["cache-control"]


def test_a_link_works_once(visit: Visit) -> None:
    link = visit.entry.link
    answer = visit.send("GET", f"/sign-in?link={link}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert visit.get("/").status_code == 200
    assert Visit.send(visit, "GET", f"/sign-in?link={link}").status_code == 403
    assert visit.links == [visit.entry.link]
    assert visit.links != [link]


@pytest.mark.parametrize("cookie", ["", "x", "eyJ1c2VyIjoiYWRhIiwiY3NyZiI6IngifQ.aaaaaa.bbbbbbbbbbbb"])
def test_a_made_up_cookie_is_no_session(visit: Visit, cookie: str) -> None:
    assert visit.send("GET", "/", headers={"cookie": f"nearkin-8000={cookie}"}).status_code == 401


def test_the_session_of_another_process_is_none(visit: Visit, collection: Collection) -> None:
    other = Visit(collection).sign_in()
    visit.cookies = other.cookies
    assert visit.send("GET", "/").status_code == 401


def test_a_session_ends(collection: Collection) -> None:
    visit = Visit(collection, session_s=-1).sign_in()
    visit.cookies.set("nearkin-8000", visit.entry.sign_in(visit.entry.link) or "", "127.0.0.1", "/")
    assert visit.send("GET", "/").status_code == 401


def test_wrong_links_are_counted(visit: Visit) -> None:
    answers = [visit.send("GET", f"/sign-in?link={i}").status_code for i in range(12)]
    assert answers == [403] * 10 + [429] * 2
    assert visit.send("GET", f"/sign-in?link={visit.entry.link}").status_code == 429


def test_the_token_of_scripts_opens_and_a_wrong_one_does_not(visit: Visit) -> None:
    right, wrong = ({"authorization": f"Bearer {token}"} for token in (visit.entry.token, "x" * 43))
    assert visit.send("GET", "/index.json", headers=right).status_code == 200
    assert visit.send("GET", "/index.json", headers=wrong).status_code == 401
    visit.sign_in()
    assert visit.send("GET", "/index.json", headers=wrong).status_code == 401  # the session does not mend it
    for _ in range(10):
        visit.send("GET", "/", headers=wrong)
    assert visit.send("GET", "/index.json", headers=right).status_code == 401  # blocked for a minute


def test_forms_need_the_token_of_their_session(visit: Visit) -> None:
    visit.sign_in()
    for form in FORMS:
        for fields in ({}, {"csrf": ""}, {"csrf": "x"}, {"csrf": visit.entry.token}):
            assert visit.send("POST", form.path, data=fields, headers=OWN).status_code == 403, form.path
        script = {"authorization": f"Bearer {visit.entry.token}"}
        assert visit.send("POST", form.path, data={"csrf": ""}, headers=script).status_code == 403, form.path


def test_large_bodies_are_refused(collection: Collection) -> None:
    visit = Visit(collection, max_body_bytes=1_000).sign_in()
    assert visit.send("POST", "/x", content=b"x" * 1_001, headers=OWN).status_code == 413

    async def parts():  # without a length
        for _ in range(3):
            yield b"a=" + b"x" * 500

    for form in FORMS[:1]:
        headers = OWN | {"content-type": "application/x-www-form-urlencoded"}
        assert visit.send("POST", form.path, content=parts(), headers=headers).status_code == 413


def test_parameters_of_pages_are_utf8(visit: Visit) -> None:
    """An id that had other bytes is stored, and linked, with their escapes, such as \\xff."""
    visit.sign_in()
    for path in ("/document?id=%ff", "/document.json?id=%ff", "/list?%ff=1", "/document?id=%C3"):
        answer = visit.send("GET", path, headers={"sec-fetch-site": "none"})
        assert (answer.status_code, "query: must be UTF-8" in answer.text) == (400, True), path


def test_a_request_takes_no_longer_than_allowed(collection: Collection) -> None:
    visit = Visit(collection, request_s=0.0).sign_in()
    assert visit.send("GET", "/", headers={"sec-fetch-site": "none"}).status_code == 503


def test_the_gate_is_around_everything(visit: Visit) -> None:
    """No route and no middleware is added outside of it."""
    app = application(visit.service, visit.settings, visit.entry)
    assert type(app).__name__ == "Gate"
    assert all(isinstance(one, Route) for one in app._app.routes)
