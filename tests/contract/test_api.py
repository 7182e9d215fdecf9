"""The REST API over both kinds of database: what a script stores, checks, reads and tags."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import nearkin
from generator.office_files import mail
from nearkin.collection.collection import Collection
from nearkin.collection.decisions.batches import hold
from nearkin.collection.decisions.deciding import tag
from nearkin.collection.decisions.log import ChangeRequest
from nearkin.collection.tolerance import Tolerance
from nearkin.web import later
from places import SomePlace, refused_before_any_database
from review_client import DOCUMENTS, LEASE, Visit


class Script(Visit):
    """Requests of a script with its token."""

    def call(self, method: str, path: str, **parts: Any) -> httpx.Response:
        """Send a request below /api/v1."""
        headers = {"authorization": f"Bearer {self.entry.token}", **parts.pop("headers", {})}
        return self.send(method, f"/api/v1{path}", headers=headers, **parts)

    def put(self, doc_id: str, text: str, **query: Any) -> httpx.Response:
        """Store a text."""
        path = f"/documents/{quote(doc_id, safe='')}"
        return self.call("PUT", path, params=query or None, content=text.encode(), headers={"content-type": TEXT})

    def check(self, text: str, **query: Any) -> httpx.Response:
        """Check a text."""
        return self.call("POST", "/check", params=query, content=text.encode(), headers={"content-type": TEXT})

    def read(self, path: str, **query: Any) -> Any:
        """Return the JSON of a path."""
        answer = self.call("GET", path, params=query or None)
        assert answer.status_code == 200, answer.text
        return answer.json()


TEXT = "text/plain; charset=utf-8"


@pytest.fixture
def script(place: SomePlace) -> Iterator[Script]:
    with place.open() as collection:
        collection.add(DOCUMENTS, wave="march")
        found = Script(collection)
        yield found
        found.service.jobs.close()
        found.service.later.close()


def test_the_same_put_changes_nothing_again(script: Script) -> None:
    outcomes = [(200, "unchanged"), (201, "new"), (200, "unchanged"), (200, "new version")]
    sent = [("lease", LEASE), ("a/b?c", "Some words."), ("a/b?c", "Some words."), ("a/b?c", "Other words.")]
    for (doc_id, text), (status, outcome) in zip(sent, outcomes, strict=True):
        answer = script.put(doc_id, text)
        assert (answer.status_code, answer.json()["outcome"]) == (status, outcome), answer.text
    found = script.read(f"/documents/{quote('a/b?c', safe='')}")
    assert (found["text"], found["versions"], found["wave"]) == ("Other words.", [1, 2], "api")
    assert script.read(f"/documents/{quote('a/b?c', safe='')}", version=1)["text"] == "Some words."
    logged = [(one.kind, one.changes[0].subject, one.changes[0].now) for one in script.service.collection.log()]
    assert logged == [("store", "a/b?c", "version 1"), ("store", "a/b?c", "version 2")]


def test_puts_of_one_id_at_once_answer_with_their_own_versions(script: Script) -> None:
    texts = [f"Words of writer {i}." for i in range(4)]
    for n in range(5):
        with ThreadPoolExecutor(len(texts)) as writers:
            answers = [answer.json() for answer in writers.map(script.put, [f"r{n}"] * len(texts), texts)]
        assert sorted(answer["version"] for answer in answers) == [1, 2, 3, 4]
        for text, answer in zip(texts, answers, strict=True):
            assert script.read(f"/documents/r{n}", version=answer["version"])["text"] == text


def test_a_check_answers_and_stores_in_one_step(script: Script) -> None:
    text = f"{LEASE} Signed by Ada Kern, and by her sister."
    asked = script.check(text).json()
    assert (asked["verdict"], asked["stored_as"]) == ("near", None)
    assert asked["documents"][0]["page"] == "/document?id=lease%2C%20signed"
    assert asked["expected_recall_of_parts"]["parts"] > 0.5
    assert script.check("Two words").json()["expected_recall_of_parts"] is None
    stored = script.check(text, store="true", id="third").json()
    assert stored["comparison"] == "/compare?a=lease%2C%20signed&b=third"
    assert script.check(text, store="true", id="fourth", only_new="true").json()["stored_as"] is None
    assert script.check(text).json()["verdict"] == "exact"
    assert script.check(text, store="true").status_code == 400


def test_a_file_goes_in_as_it_is(script: Script) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", LEASE)
    page = f"<html><head><title>t</title></head><body><p>{LEASE}</p></body></html>".encode()
    answer = script.call("POST", "/check", content=page, params={"name": "../../etc/lease.HTML"})
    assert answer.json()["verdict"] in ("exact", "contains", "near"), answer.text
    refused = script.call("PUT", "/documents/z", content=packed.getvalue(), params={"name": "z.zip"})
    assert (refused.status_code, "z.zip!a.txt" in refused.json()["message"]) == (422, True)
    assert "/tmp" not in refused.text
    assert (
        script.call("PUT", "/documents/z", content=b"\xff\xfe\x00", headers={"content-type": TEXT}).status_code == 422
    )
    assert script.call("PUT", "/documents/z", content=b"").status_code == 400


def test_groups_are_updated_by_a_job_and_listed_in_pages(script: Script) -> None:
    begun = script.call("POST", "/groups", params={"measure": "jaccard", "value": 0.5})
    assert begun.status_code == 202
    job = script.service.jobs.wait(begun.json()["number"], 60)
    assert job is not None
    assert job.state == "done", job.message
    assert script.read(f"/jobs/{job.number}")["message"] == "1 group with 3 documents"
    listed = script.read("/groups", limit=1)
    (one,) = listed["groups"]
    assert (listed["expected_recall"], listed["n_not_compared"]) == (0.999, 0)
    assert script.read("/groups", offset=1)["groups"] == []
    assert len(script.read(f"/groups/{one['number']}")["members"]) == 3
    assert script.call("GET", "/groups/99").status_code == 404


def test_a_call_that_was_changed_meanwhile_is_refused(script: Script) -> None:
    body = {"field": "privileged", "ids": ["lease"]}
    seen = script.read("/documents/lease")["last_activity"]
    changed = script.call("POST", "/tags", json={**body, "tag_value": "yes"}).json()
    refused = script.call("POST", "/tags", json={**body, "tag_value": "no", "seen": seen})
    answer = refused.json()
    assert (refused.status_code, answer["error"]) == (409, "ChangedMeanwhileError")
    (activity,) = answer["activities"]
    assert (activity["number"], activity["by"]) == (changed["number"], script.read("/log")["activities"][0]["by"])
    assert activity["changes"] == changed["changes"]
    assert script.read("/documents/lease")["tags"] == {"privileged": "yes"}
    seen = script.read("/documents/lease")["last_activity"]
    assert seen == changed["number"]
    assert script.call("POST", "/tags", json={**body, "tag_value": "no", "seen": seen}).json()["n_changed"] == 1


def test_long_texts_are_compared_in_another_process_with_the_same_answers(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [{"id": "new", "text": f"{LEASE} Signed."}]

    def answers() -> list[Any]:
        found = [
            script.read("/compare", a="lease", b="lease, signed"),
            script.read("/documents/lease/similar"),
            script.check(f"{LEASE} Signed.").json(),
            *script.call("POST", "/checks", json={"documents": documents}).json()["answers"],
        ]
        return [{name: value for name, value in answer.items() if name != "elapsed_s"} for answer in found]

    here = answers()
    compute, works = script.service.later.compute, list[str]()
    monkeypatch.setattr(later, "AT_ONCE", -1)
    monkeypatch.setattr(
        script.service.later, "compute", lambda work: (works.append(work.func.__name__), compute(work))[1]
    )
    assert answers() == here
    assert works == ["compare", "similar_documents", "check_one", "check_many"]
    assert script.call("GET", "/compare", params={"a": "lease", "b": "no-such"}).status_code == 404


def test_a_call_that_agrees_with_that_of_another_person_is_logged_once(script: Script) -> None:
    store, ben = script.service.collection.opened.store, ChangeRequest(by="ben", may_resolve=False)
    tag(store, ["lease"], "privileged", "no", group=None, tolerance=Tolerance.of(), options=ben)
    body = {"field": "privileged", "tag_value": "no", "ids": ["lease"]}
    assert [script.call("POST", "/tags", json=body).json()["n_changed"] for _ in range(2)] == [0, 0]
    assert [(one["by"], one["data"]["value"]) for one in script.read("/log", of="lease")["activities"]] == [
        ("ada", "no"), ("ben", "no"),
    ]  # fmt: skip


def test_tags_are_tried_set_and_logged(script: Script) -> None:
    body = {"field": "responsive", "tag_value": "yes", "ids": ["lease", "letter"]}
    assert script.call("POST", "/tags", json={**body, "dry_run": True}).json()["n_changed"] == 2
    assert script.call("POST", "/tags", json={**body, "max_changes": 1}).json()["is_dry_run"]
    assert script.read("/tags")["tags"] == []
    for n_changed in (2, 0):
        assert script.call("POST", "/tags", json=body).json()["n_changed"] == n_changed
    (one,) = script.read("/tags")["tags"]
    assert (one["field"], one["n_documents"]) == ("responsive", 2)
    (activity,) = script.read("/log", of="lease")["activities"]
    assert (activity["by"], len(activity["changes"])) == ("ada", 2)
    assert script.read("/log", offset=1) == {"n_found": 1, "activities": []}


def test_batches_are_made_held_and_listed(script: Script) -> None:
    made = script.call("POST", "/batches", json={"name": "pass", "size": 2, "q": "garden", "keep": ["families"]}).json()
    assert (made["data"]["n_batches"], made["data"]["n_documents"]) == (2, 3)
    assert script.call("POST", "/batches", json={"name": "pass", "size": 2}).status_code == 400
    assert script.call("POST", "/batches", json={"name": "pass", "size": 0, "ids": ["lease"]}).status_code == 400
    assert script.call("POST", "/batches/hold", json={"batch": "pass=1", "is_out": True}).json()["n_changed"] == 1
    assert script.call("POST", "/batches/hold", json={"batch": "pass=3", "is_out": True}).status_code == 404
    hold(script.service.collection.opened.store, "pass=2", is_out=True, options=ChangeRequest(by="ben"))
    assert script.call("POST", "/batches/hold", json={"batch": "pass=2", "is_out": True}).status_code == 409
    listed = script.read("/batches", offset=1)
    assert (listed["n_found"], [(one["number"], one["holder"], one["n_left"]) for one in listed["batches"]]) == (
        2, [(2, "ben", 1)],
    )  # fmt: skip


@refused_before_any_database
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ids": ["lease"], "value": 1}, "body.tag_value: is missing."),
        ({"ids": ["lease"]}, "body.tag_value: is missing."),
    ],
)
def test_a_tag_is_removed_only_if_its_value_is_null(script: Script, given: dict[str, object], message: str) -> None:
    script.call("POST", "/tags", json={"field": "x", "tag_value": "yes", "ids": ["lease"]})
    answer = script.call("POST", "/tags", json={"field": "x", **given})
    assert (answer.status_code, answer.json()["message"].startswith(message)) == (400, True), answer.text
    assert [(one["field"], one["value"]) for one in script.read("/tags")["tags"]] == [("x", "yes")]
    body = script.read("/openapi.json")["components"]["schemas"]["TagBody"]
    assert "tag_value" in body["required"]
    assert "null removes the field" in body["properties"]["tag_value"]["description"]
    removed = script.call("POST", "/tags", json={"field": "x", "ids": ["lease"], "tag_value": None}).json()
    assert (removed["n_changed"], script.read("/tags")["tags"]) == (1, [])


def test_what_is_like_a_document_and_how_two_differ(script: Script) -> None:
    found = script.read("/documents/lease/similar", measure="jaccard", value=0.5)
    assert (found["expected_recall"], found["expected_recall_of_parts"]) == (0.999, None)
    assert script.read("/documents/lease/similar", measure="containment", value=0.9)["expected_recall_of_parts"]
    assert {one["doc_id"] for one in found["documents"]} == {"lease, signed", "lease/copy"}
    compared = script.read("/compare", a="lease", b="lease, signed")
    assert compared["comparison"]["n_words_only_b"] == 4
    assert [one["name"] for one in script.read("/waves")["waves"]] == ["march"]


def test_passages_of_a_document_and_documents_of_a_passage(script: Script, place: SomePlace) -> None:
    assert script.read("/documents/lease/passages")["min_words"] is None
    nearkin.passages(place.address, min_words=8, store=True)
    found = script.read("/documents/lease/passages")
    assert (found["doc_id"], found["min_words"], found["is_searched"]) == ("lease", 8, True)
    (passage,) = found["passages"]
    assert (LEASE.startswith(LEASE[passage["start"] : passage["end"]]), passage["n_documents"]) == (True, 3)
    others = script.read(f"/passages/{passage['passage']}", limit=2)
    assert ([one["doc_id"] for one in others["documents"]], others["n_found"]) == (["lease", "lease/copy"], 3)
    for unknown in (99, 2**31, 2**64):
        assert script.call("GET", f"/passages/{unknown}").status_code == 404


@refused_before_any_database
@pytest.mark.parametrize(
    ("method", "path", "status", "where"),
    [
        ("GET", "/documents/lease/similar?value=x", 400, "query.value"),
        ("GET", "/documents/lease/similar?measure=words", 400, "query.measure"),
        ("GET", "/documents/lease/similar?treshold=1", 400, "query"),
        ("GET", "/groups?limit=0", 400, "query.limit"),
        ("GET", "/log?since=abc", 400, "query.since"),
        ("GET", "/groups?limit=1&limit=2", 400, "query.limit"),
        ("POST", "/tags", 415, None),
        ("GET", "/documents/no-such", 404, None),
        ("GET", "/documents/%ff", 400, "path"),
        ("DELETE", "/waves", 405, None),
    ],
)
def test_what_is_refused_says_where_and_why(script: Script, method: str, path: str, status: int, where: str) -> None:
    answer = script.call(method, path)
    assert (answer.status_code, answer.json()["where"]) == (status, where), answer.text
    assert len(answer.json()["message"]) > 20


@refused_before_any_database
def test_a_missing_and_a_wrong_token_have_one_message(script: Script) -> None:
    wrong = {"authorization": "Bearer wrong"}
    answers = [script.send("GET", "/api/v1/waves", headers=headers) for headers in ({}, wrong)]
    assert [one.status_code for one in answers] == [401, 401]
    said = {one.json()["message"] for one in answers}
    assert said == {"The token is missing or wrong. After several wrong tokens, wait a minute."}
    assert all(one.headers["www-authenticate"] == "Bearer" for one in answers)


def test_a_session_changes_nothing_and_nobody_read_only(script: Script, tmp_path: Path) -> None:
    script.sign_in()
    answer = script.send("PUT", "/api/v1/documents/x", content=b"x", headers={"origin": "http://127.0.0.1:8000"})
    assert (answer.status_code, "token" in answer.json()["message"]) == (403, True)
    assert script.send("GET", "/api/v1/waves").status_code == 200
    with Collection.open(tmp_path / "m", create=True) as made:
        made.add(DOCUMENTS)
    with Collection.open(tmp_path / "m", read_only=True) as collection:
        reader = Script(collection)
        assert reader.put("x", "Some words.").status_code == 403
        assert reader.check(LEASE, store="true", id="x").status_code == 403
        assert reader.call("POST", "/tags", json={"field": "x", "tag_value": "", "ids": ["lease"]}).status_code == 403
        checks = {"documents": [{"id": "x", "text": LEASE}]}
        assert reader.call("POST", "/checks", json={**checks, "store": True}).status_code == 403
        assert reader.call("DELETE", "/documents/lease").status_code == 403
        assert reader.call("POST", "/groups").status_code == 403
        assert reader.call("POST", "/checks", json=checks).json()["answers"][0]["verdict"] == "exact"
        assert reader.check(LEASE).json()["verdict"] == "exact"


def test_documents_are_found_by_their_words_and_removed(script: Script) -> None:
    script.put("y/kites", "Kites fly over the hill, and the kites come back.")
    found = script.read("/search", q="kites")
    assert [one["doc_id"] for one in found["documents"]] == ["y/kites"]
    assert script.call("GET", "/search", params={"q": '"'}).status_code == 400
    removed = script.call("DELETE", "/documents/y%2Fkites")
    assert (removed.status_code, removed.json()["n_documents"]) == (200, 1)
    assert script.read("/search", q="kites")["n_found"] == 0
    assert script.call("DELETE", "/documents/y%2Fkites").status_code == 404


def test_several_texts_are_checked_and_stored_at_once(script: Script) -> None:
    documents = [{"id": "copy", "text": LEASE}, {"id": "again", "text": "Ships sail at dawn from the old harbour."}]
    both = [*documents, {**documents[1], "id": "later"}]
    answers = script.call("POST", "/checks", json={"documents": both}).json()["answers"]
    assert [one["verdict"] for one in answers] == ["exact", "new", "new"]
    answers = script.call("POST", "/checks", json={"documents": both, "store": True, "only_new": True}).json()[
        "answers"
    ]
    assert [(one["verdict"], one["is_stored"]) for one in answers] == [
        ("exact", False),
        ("new", True),
        ("exact", False),
    ]
    (activity,) = script.read("/log", of="again")["activities"]
    assert (activity["kind"], activity["by"], len(activity["changes"])) == ("store", "ada", 1)


def test_a_change_that_takes_long_is_answered_with_its_job(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nearkin.web.gate._SHARE_FOR_CHANGES", 0.0)
    answer = script.put("y/slow", "A text whose request is answered before it is stored.")
    assert answer.status_code == 202
    assert answer.json()["kind"] == "change"
    job = script.service.jobs.wait(answer.json()["number"], 30.0)
    assert job is not None
    assert job.state == "done"
    assert json.loads(job.message)["doc_id"] == "y/slow"
    assert script.read("/documents/y%2Fslow")["version"] == 1


def test_a_put_lists_the_attachments_that_it_does_not_store(script: Script) -> None:
    content = mail({"Subject": "x"}, LEASE, {"a.txt": b"A note on kites."})
    answer = script.call("PUT", "/documents/y%2Fmail", params={"name": "t1.eml"}, content=content)
    assert (answer.status_code, answer.json()["not_stored"], answer.json()["missing"]) == (201, ["t1.eml!a.txt"], None)
    assert script.put("plain", "Some words.").json()["not_stored"] == []


@refused_before_any_database
def test_a_body_that_breaks_its_rules_is_refused_with_the_field_and_those_allowed(script: Script) -> None:
    for body, where in (
        ({"field": "x", "idz": ["lease"]}, "body"),
        ({"ids": ["lease"], "tag_value": "yes"}, "body.field"),
        ({"field": "x", "ids": ["lease", 5]}, "body.ids[1]"),
        ({"field": "x", "tag_value": "y", "group": 1, "measure": "edit"}, "body.measure"),
    ):
        answer = script.call("POST", "/tags", json=body)
        assert (answer.status_code, answer.json()["where"]) == (400, where), answer.text
    answer = script.call("POST", "/tags", json={"unknown": 1})
    assert "tag_value" in answer.text
    assert "value_of_tag" not in answer.text


@refused_before_any_database
@pytest.mark.parametrize("body", ["%s", '{"field": "x", "ids": %s}', '{"field": "x", "unknown": %s}'])
@pytest.mark.parametrize("depth", [900, 50_000])
def test_a_body_that_is_nested_too_deeply_is_refused(script: Script, body: str, depth: int) -> None:
    for nested in ("[" * depth, "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        answer = script.call("POST", "/tags", content=body % nested, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["message"].startswith("body")) == (400, True), answer.text


@refused_before_any_database
@pytest.mark.parametrize("path", ["PUT /documents/form", "POST /check"])
def test_a_form_or_compressed_data_is_no_document(script: Script, path: str) -> None:
    method, _, where = path.partition(" ")
    kinds = "multipart/form-data; boundary=x", "multipart/mixed; boundary=x", "Multipart/Form-Data"
    for kind in kinds:
        answer = script.call(method, where, content=b"--x\r\n\r\nhi\r\n--x--", headers={"content-type": kind})
        assert (answer.status_code, "not a form" in answer.json()["message"]) == (415, True)
    for encoding in ("gzip", "br", "identity, gzip"):
        headers = {"content-type": TEXT, "content-encoding": encoding}
        answer = script.call(method, where, content=gzip.compress(LEASE.encode()), headers=headers)
        assert (answer.status_code, "compressed" in answer.json()["message"]) == (415, True)
    assert script.call("GET", "/documents/form").status_code == 404
    headers = {"content-type": TEXT, "content-encoding": "identity"}
    assert script.call(method, where, content=LEASE.encode(), headers=headers).status_code in (200, 201)
