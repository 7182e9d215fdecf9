"""Sign-in of users: form, cookies, sessions, limits, and what a running service notices of its users file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nearkin.web.service import ReviewService
from nearkin.web.users import file as records
from nearkin.web.users.file import change_users
from nearkin.web.users.sign_in import MAX_OF_A_NAME, MAX_OF_AN_ADDRESS, WINDOW_S, Sessions
from review_client import small_collection
from team_client import PASSWORD, PUBLIC, Browser, Team, field, service_of

FORM = {"sec-fetch-site": "same-origin", "origin": PUBLIC}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewService]:
    with small_collection(tmp_path_factory.mktemp("sign-in")) as collection:
        yield service_of(collection)


@pytest.fixture
def team(service: ReviewService, tmp_path: Path) -> Team:
    return Team(service, tmp_path)


def test_a_session_begins_with_the_page_that_was_asked_for(team: Team) -> None:
    browser = Browser(team)
    assert browser.get("/document?id=lease").status_code == 401
    answer = browser.sign_in("rita", at="/document?id=lease")
    assert (answer.status_code, answer.headers["location"]) == (303, "/document?id=lease")
    page = browser.get("/document?id=lease")
    assert page.status_code == 200
    assert "Sign out" in page.text
    assert browser.get("/sign-in").headers["location"] == "/"


def test_the_cookies_are_for_encrypted_requests_of_own_pages_alone(team: Team) -> None:
    browser = Browser(team)
    form = browser.get("/sign-in").headers["set-cookie"]
    session = next(
        one for one in browser.sign_in("rita").headers.get_list("set-cookie") if one.startswith("__Host-nearkin-443=")
    )
    for cookie in (form, session):
        assert cookie.startswith("__Host-nearkin-443")
        for flag in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"):
            assert flag in cookie
        assert "Domain" not in cookie


@pytest.mark.parametrize(
    "other", ['theme={"dark": true}', "a b", "x=\xe9", "a,b=1", 'x="', "[1]=2", "expires=never", ""]
)
def test_cookies_of_other_services_lock_nobody_out(team: Team, other: str) -> None:
    browser = Browser(team).with_session("rita")
    own = f"{team.settings.cookie}={browser.cookies[team.settings.cookie]}"
    for cookies in (f"{other}; {own}", f"{own}; {other}"):
        answer = Browser(team).send("GET", "/index.json", headers={"cookie": cookies.encode("latin-1")})
        assert answer.status_code == 200, cookies


@pytest.mark.parametrize(
    ("going", "where"),
    [
        ("/groups?value=0.5", "/groups?value=0.5"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/\tevil", "/"),
        ("/x\r\nset-cookie: a=b", "/"),
        ("/sign-out", "/"),
        ("http://[", "/"),
    ],
)
def test_the_form_leads_to_own_pages_only(team: Team, going: str, where: str) -> None:
    browser = Browser(team)
    csrf = field(browser.get("/sign-in").text, "csrf")
    answer = browser.post("/sign-in", name="rita", password=PASSWORD, csrf=csrf, going=going)
    assert (answer.status_code, answer.headers["location"]) == (303, where)


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(team: Team) -> None:
    answers = [Browser(team).sign_in(name, "wrong password") for name in ("rita", "nobody")]
    assert {answer.status_code for answer in answers} == {401}
    assert {answer.text.replace(field(answer.text, "csrf"), "") for answer in answers} == {
        answers[0].text.replace(field(answers[0].text, "csrf"), "")
    }
    assert "The name or the password is wrong." in answers[0].text
    assert [line.split(":")[1].split(",")[0].strip() for line in team.said] == [
        "rita",
        "an unknown name",
    ]
    assert Browser(team).sign_in(" RITA ").status_code == 303


def test_the_form_needs_its_cookie(team: Team) -> None:
    browser, other = Browser(team), Browser(team)
    csrf, of_other = (field(one.get("/sign-in").text, "csrf") for one in (browser, other))
    for wrong in ("", "x", of_other):
        assert browser.post("/sign-in", name="rita", password=PASSWORD, csrf=wrong).status_code == 403
    assert Browser(team).post("/sign-in", name="rita", password=PASSWORD, csrf=csrf).status_code == 403
    assert browser.post("/sign-in", name="rita", password=PASSWORD, csrf=csrf).status_code == 303


@pytest.mark.parametrize("headers", [{}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_other_sites_cannot_sign_anybody_in_or_out(team: Team, headers: dict[str, str]) -> None:
    browser = Browser(team)
    csrf = field(browser.get("/sign-in").text, "csrf")
    data = {"name": "rita", "password": PASSWORD, "csrf": csrf}
    assert browser.send("POST", "/sign-in", data=data, headers=headers).status_code == 403
    browser.with_session("rita")
    assert browser.send("POST", "/sign-out", data={"csrf": browser.csrf}, headers=headers).status_code == 403
    assert browser.get("/").status_code == 200


def test_a_sign_out_ends_the_session_for_every_copy_of_its_cookie(team: Team) -> None:
    browser, copy = Browser(team).with_session("rita"), Browser(team)
    copy.cookies = browser.cookies
    assert browser.post("/sign-out", csrf="x").status_code == 403
    answer = browser.post("/sign-out", csrf=browser.csrf)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert copy.get("/").status_code == 401


def test_a_new_password_or_a_removed_user_ends_sessions(team: Team) -> None:
    rita, ada, another = (Browser(team).with_session(name) for name in ("rita", "ada", "ada"))
    change_users(team.path, lambda there: records.with_password(there, "rita", "another long password"))
    assert [one.get("/").status_code for one in (rita, ada)] == [401, 200]
    assert rita.sign_in("rita").status_code == 401
    assert rita.sign_in("rita", "another long password").status_code == 303
    change_users(team.path, lambda there: records.removed(there, "ada"))
    assert [one.get("/").status_code for one in (rita, ada, another)] == [200, 401, 401]
    assert Browser(team).send("GET", "/index.json", headers=team.script("ada")).status_code == 401


def test_a_role_changes_at_once_and_a_token_never_does_more_than_its_user(team: Team) -> None:
    ada = Browser(team).with_session("ada")
    log = [("GET", "/log.json", {}), ("GET", "/api/v1/log", team.script("ada"))]
    assert [ada.send(method, path, headers=headers).status_code for method, path, headers in log] == [200, 200]
    change_users(team.path, lambda there: records.with_role(there, "ada", "viewer"))
    assert [ada.send(method, path, headers=headers).status_code for method, path, headers in log] == [403, 403]


@pytest.mark.parametrize("spoil", ["remove", "open", "damage", "newer"])
def test_without_a_usable_users_file_nobody_is_let_in(team: Team, spoil: str) -> None:
    browser = Browser(team).with_session("ada")
    content = team.path.read_text("utf-8")
    if spoil == "remove":
        team.path.unlink()
    elif spoil == "open":
        team.path.chmod(0o640)
    else:
        team.path.write_text("[" if spoil == "damage" else content.replace('"version": 1', '"version": 2'), "utf-8")
    for _ in range(2):
        assert browser.get("/").status_code == 401
        assert browser.send("GET", "/index.json", headers=team.script("ada")).status_code == 401
    assert len(team.said) == 1
    assert "Nobody can sign in" in team.said[0]
    team.path.write_text(content, "utf-8")
    team.path.chmod(0o600)
    assert browser.send("GET", "/index.json", headers=team.script("ada")).status_code == 200


def test_attempts_are_limited_for_a_name_known_or_not(team: Team) -> None:
    for name in ("rita", "nobody"):
        browser = Browser(team)
        form = browser.get("/sign-in").text
        for _ in range(MAX_OF_A_NAME):
            team.entry._by_name.count(name if name == "rita" else f"?{name}")  # without the computation of a hash
        answer = browser.post("/sign-in", name=name, password=PASSWORD, csrf=field(form, "csrf"))
        assert answer.status_code == 429
        assert 0 < int(answer.headers["retry-after"]) <= WINDOW_S
        assert "Too many attempts. Wait 10 minutes." in answer.text


def test_spellings_of_a_name_count_together_known_or_not(team: Team) -> None:
    """Otherwise the number of accepted attempts would say whether somebody has the name."""
    name = "Zo\u00e9"
    browser, spellings = Browser(team), (name, "zoe\u0301", " ZO\u00c9 ")
    csrf = field(browser.get("/sign-in").text, "csrf")
    for _ in range(MAX_OF_A_NAME):
        team.entry._by_name.count(f"?{name.casefold()}")  # without the computation of a hash
    for spelling in spellings:
        assert browser.post("/sign-in", name=spelling, password=PASSWORD, csrf=csrf).status_code == 429


def test_wrong_attempts_count_and_right_ones_do_not(team: Team) -> None:
    browser = Browser(team, "198.51.100.9")
    for _ in range(MAX_OF_AN_ADDRESS - 2):
        team.entry._by_address.count("198.51.100.9/32")
    assert browser.sign_in("rita").status_code == 303
    answers = [Browser(team, "198.51.100.9").sign_in("vera", "wrong password") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert Browser(team, "198.51.100.9").sign_in("ada").status_code == 429  # the address, whatever the name
    assert Browser(team, "198.51.100.10").sign_in("ada").status_code == 303


def test_a_session_ends_when_it_is_idle_and_in_any_case(team: Team) -> None:
    now, users = [0.0], team.entry._users.now()
    sessions = Sessions(idle_s=60.0, session_s=150.0, clock=lambda: now[0])
    idle, used = sessions.begin(users.users[0]), sessions.begin(users.users[0])
    for at, is_used_there in ((59.0, True), (110.0, True), (149.0, True), (150.0, False)):
        now[0] = at
        assert (sessions.find(used, users) is not None) is is_used_there, at
    assert sessions.find(idle, users) is None


def test_a_user_has_a_limited_number_of_sessions(team: Team) -> None:
    users = team.entry._users.now()
    sessions = Sessions(idle_s=60.0, session_s=150.0)
    cookies = [sessions.begin(users.users[0]) for _ in range(25)]
    assert [sessions.find(one, users) is not None for one in cookies] == [False] * 5 + [True] * 20


def test_large_forms_are_refused(team: Team) -> None:
    browser = Browser(team)
    assert browser.post("/sign-in", name="x" * 20_000).status_code == 413
    assert browser.send("POST", "/sign-in", content=b"\xff%ff=&&", headers=FORM).status_code == 403
    assert browser.send("POST", "/sign-in", content=b"name=a&name=b", headers=FORM).status_code == 400
