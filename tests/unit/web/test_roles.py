"""What each role may do, at every address that exists: one that is added fails here until it is entered below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from nearkin.errors import RefusedError
from nearkin.web import app
from nearkin.web.api.dispatch import OPERATIONS
from nearkin.web.api.operation import ROOT
from nearkin.web.roles import ROLES, check_role, role_of
from review_client import small_collection
from team_client import NAMES, Browser, Team, service_of

READ = {
    "/static/{name}", "/", "/search", "/search/facets", "/since", "/list", "/document", "/document/alike",
    "/document/similar",
    "/document/histogram", "/compare", "/groups", "/group", "/group/member", "/group/differences",
    "/group/history", "/representatives",
    "/representatives/export",
    "/conflicts", "/threads", "/thread", "/history", "/exceptions", "/defensibility", "/reports", "/pairs",
    "/passage",
}  # fmt: skip
CHECK_IN = {"/check-in", "/exceptions/read", "/code", "/batches", "/privilege-log"}
WATCH = {"/log", "/jobs", "/jobs/list", "/users", "/code/layout"}
DECIDE = {
    "/tags", "/code", "/batches/hold", "/group/split", "/group/unite", "/group/principal", "/undo", "/check-in/file",
    "/check-in/store", "/check-in/reject", "/exceptions/read", "/exceptions/store", "/pairs/decide",
    "/representatives/compare", "/search/save",
}  # fmt: skip
START = {
    "/groups/update", "/code/layout", "/batches/make", "/batches/second-look", "/threads/update",
    "/defensibility/audit",
}  # fmt: skip
OPERATION_ROLES = {
    "viewer": {
        "GET /documents/{id}", "GET /documents/{id}/similar", "GET /compare", "GET /groups", "GET /groups/{number}",
        "GET /waves", "GET /tags", "GET /openapi.json", "GET /search", "GET /searches",
        "GET /documents/{id}/passages", "GET /passages/{passage}",
    },
    "reviewer": {
        "PUT /documents/{id}", "POST /check", "POST /checks", "POST /tags", "GET /jobs/{number}", "POST /searches",
        "GET /batches", "POST /batches/hold",
    },
    "admin": {"DELETE /documents/{id}", "POST /groups", "GET /jobs", "GET /log", "POST /batches"},
}  # fmt: skip


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("roles")
    with small_collection(folder) as collection:
        made = Team(service_of(collection), folder)
        yield made
        made.service.jobs.close()


@pytest.fixture(scope="module")
def browsers(team: Team) -> dict[str, Browser]:
    return {name: Browser(team).with_session(name) for name in NAMES}


def screen_of(path: str) -> str:
    """A screen's path without the suffix of its JSON or of its table."""
    if path == "/index.json":
        return "/"
    return re.sub(r"\.[a-z]+$", "", path)


def needed(method: str, path: str) -> str:
    """The role that a route needs, by the lists above."""
    roles = {"POST": {"reviewer": DECIDE, "admin": START}}.get(
        method, {"viewer": READ, "reviewer": CHECK_IN, "admin": WATCH}
    )
    return next(role for role, paths in roles.items() if screen_of(path) in paths)


def test_every_route_answers_those_whose_role_is_enough(team: Team, browsers: dict[str, Browser]) -> None:
    seen, stranger = set[str](), Browser(team)
    for route in team.app._app.routes:
        if route.path.startswith(f"{ROOT}/"):
            continue  # the operations of the next test
        path, methods = route.path.replace("{name}", "review.css"), route.methods - {"HEAD"}
        assert methods in ({"GET"}, {"POST"}), route.path
        (method,) = methods
        role = needed(method, route.path)
        seen.add(f"{method} {screen_of(route.path)}")
        assert (stranger.get(path) if method == "GET" else stranger.post(path)).status_code == 401, path
        for name, own in NAMES.items():
            browser = browsers[name]
            answer = browser.get(path) if method == "GET" else browser.post(path, csrf=browser.csrf)
            is_enough = ROLES.index(own) >= ROLES.index(role)
            assert (answer.status_code == 403) is not is_enough, (own, method, path, answer.text)
            assert answer.status_code not in (401, 500), (own, path)
            if not is_enough:
                assert f"yours is {own}" in answer.text
    listed = {f"GET {path}" for path in READ | CHECK_IN | WATCH} | {f"POST {path}" for path in DECIDE | START}
    assert seen == listed


def test_every_operation_answers_those_whose_role_is_enough(team: Team) -> None:
    browser = Browser(team)
    addresses = {f"{one.method} {one.path}" for one in OPERATIONS} | {"GET /openapi.json"}
    assert addresses == set.union(*OPERATION_ROLES.values())
    for role, paths in OPERATION_ROLES.items():
        for address in sorted(paths):
            method, template = address.split()
            doc_id = "nobody" if method == "DELETE" else "lease"
            path = ROOT + template.replace("{id}", doc_id).replace("{number}", "1")
            assert browser.send(method, path, headers={"origin": "https://review.example.org"}).status_code == 401
            for name, own in NAMES.items():
                answer = browser.send(method, path, headers=team.script(name))
                is_enough = ROLES.index(own) >= ROLES.index(role)
                assert (answer.status_code == 403) is not is_enough, (own, address, answer.text)
                assert answer.status_code not in (401, 500), (own, address)


def test_a_script_opens_no_page_above_its_role_and_sends_no_form(team: Team) -> None:
    browser = Browser(team)
    assert browser.send("GET", "/log.json", headers=team.script("rita")).status_code == 403
    assert browser.send("GET", "/log.json", headers=team.script("ada")).status_code == 200
    for path in DECIDE | START:
        assert browser.send("POST", path, headers=team.script("ada")).status_code == 403, path


@pytest.mark.parametrize("address", [("GET", "/new"), ("POST", "/log"), ("PUT", f"{ROOT}/tags")])
def test_what_has_no_role_is_for_nobody(address: tuple[str, str]) -> None:
    with pytest.raises(LookupError, match=r"roles\.py"):
        role_of(*address)


def test_a_role_that_may_do_less_is_refused() -> None:
    check_role("admin", "viewer")
    with pytest.raises(RefusedError, match="needs the role admin; yours is viewer"):
        check_role("viewer", "admin")


def test_a_screen_without_a_role_stops_the_service(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "SCREENS", (replace(app.SCREENS[0], path="/forgotten"),))
    with pytest.raises(LookupError, match="/forgotten has no role"):
        app.application(team.service, team.settings, team.entry)


def test_pages_offer_only_what_the_visitor_may_do(browsers: dict[str, Browser]) -> None:
    pages = {name: browser.get("/groups").text for name, browser in browsers.items()}
    assert {name for name, page in pages.items() if 'action="/groups/update"' in page} == {"ada"}
    assert {name for name, page in pages.items() if 'href="/log"' in page} == {"ada"}
    assert {name for name, page in pages.items() if 'href="/users" data-go="u"' in page} == {"ada"}
    assert {name for name, page in pages.items() if 'href="/check-in"' in page} == {"ada", "rita"}
    documents = {name: browser.get("/document?id=lease").text for name, browser in browsers.items()}
    assert {name for name, page in documents.items() if 'action="/tags"' in page} == {"ada", "rita"}


@pytest.mark.parametrize(("name", "own"), NAMES.items())
def test_pages_lead_nowhere_that_the_visitor_may_not_go(
    team: Team, browsers: dict[str, Browser], name: str, own: str
) -> None:
    team.service.jobs.begin("threads", lambda progress: "", by="ada")  # or no page would lead to the jobs
    queries = {"/document": {"id": "lease"}, "/history": {"id": "lease"}, "/search": {"q": "rent"}}
    for path in (READ | CHECK_IN | WATCH) - {"/static/{name}"}:
        page = browsers[name].get(path, **queries.get(path, {})).text
        links = re.findall(r'<a [^>]*href="(/[^"?#]*)', page)
        forms = [form for form in re.findall(r"<form [^>]*>", page) if 'method="post"' in form]
        sent = [found[1] for form in forms if (found := re.search(r'action="([^"?]*)"', form))]
        for needs in [needed("GET", link) for link in links] + [
            role_of("POST", one) for one in sent if one != "/sign-out"
        ]:
            assert ROLES.index(own) >= ROLES.index(needs), (path, links, sent)


def test_an_admin_sees_users_and_none_of_their_secrets(browsers: dict[str, Browser], team: Team) -> None:
    page, data = browsers["ada"].get("/users").text, browsers["ada"].get("/users.json")
    assert {one["name"]: one["role"] for one in data.json()["users"]} == NAMES
    stored = team.service.users().users
    for text in (page, data.text):
        assert "vera" in text
        assert not [one for one in stored if one.password in text or one.tokens[0].digest in text]


def test_an_activity_is_in_the_name_of_the_user_and_others_do_not_see_it(
    browsers: dict[str, Browser], team: Team
) -> None:
    rita = browsers["rita"]
    answer = rita.post("/tags", csrf=rita.csrf, id="letter", tag="seen=yes", by="somebody else", back="/")
    number = answer.headers["location"].rpartition("done=")[2]
    last = team.service.collection.log()[-1]
    assert (str(last.number), last.by) == (number, "rita")
    shown = {name: f"Activity {number}" in browser.get(f"/?done={number}").text for name, browser in browsers.items()}
    assert shown == {"vera": False, "rita": True, "ada": True}


def test_reviewers_undo_their_own_activities_and_admins_those_of_everybody(
    browsers: dict[str, Browser], team: Team
) -> None:
    rita, ada = browsers["rita"], browsers["ada"]
    numbers = []
    for browser, tag in ((rita, "one=rita"), (rita, "two=rita"), (ada, "three=ada")):
        answer = browser.post("/tags", csrf=browser.csrf, id="letter", tag=tag, back="/")
        numbers.append(answer.headers["location"].rpartition("done=")[2])
    own, other, foreign = numbers
    button = re.compile(r'action="/undo" method="post">.*?name="number" value="(\d+)"')
    assert button.findall(rita.get(f"/?done={own}").text) == [own]
    assert button.findall(rita.get(f"/?done={foreign}").text) == []
    assert set(numbers) <= set(button.findall(ada.get("/log").text))
    refused = rita.post("/undo", csrf=rita.csrf, number=foreign)
    assert (refused.status_code, "is not yours" in refused.text) == (403, True)
    assert rita.post("/undo", csrf=rita.csrf, number=own).status_code == 303
    assert ada.post("/undo", csrf=ada.csrf, number=other).status_code == 303
    undone = team.service.collection.log()[-1].number
    assert rita.post("/undo", csrf=rita.csrf, number=str(undone)).status_code == 403  # the undo of an admin neither
    assert rita.post("/undo", csrf=rita.csrf, number="99999").status_code == 400
    assert {str(one.number) for one in team.service.collection.log() if one.undone_by} >= {own, other}


def keys_of(page: str) -> str:
    """The keys that go to screens, in the order of the menu."""
    return "".join(re.findall(r'data-go="(\w)"', page))
