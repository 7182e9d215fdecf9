"""The pages Batches, Code and Conflicts as two reviewers and an admin use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from nearkin.collection.collection import Collection
from nearkin.web.roles import Role
from nearkin.web.service import MAX_TEXT
from nearkin.web.sign_in import Visitor
from review_client import LAYOUT_WITH_REASON, Visit, words_of


class Team:
    """Several people before one service."""

    def __init__(self, collection: Collection) -> None:
        self.collection, self.visit = collection, Visit(collection)
        self.now = Visitor("ada", csrf="token", role="admin")
        self.visit.entry.of_cookie = lambda cookie: self.now  # type: ignore[method-assign]  # whoever acts

    def by(self, name: str, role: Role = "reviewer") -> Visit:
        self.now = Visitor(name, csrf="token", role=role)
        return self.visit

    def code(self, name: str, doc_id: str, *values: str, role: Role = "reviewer", **more: object) -> httpx.Response:
        given = {f"v{i}": value for i, value in enumerate(values) if value}
        return self.by(name, role).post("/code", id=doc_id, fields=self.collection.coding().digest, **given, **more)

    def tags(self, doc_id: str) -> dict[str, str]:
        return dict(self.collection.details(doc_id).tags)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with Collection.open(tmp_path / "matter", create=True) as opened:
        texts = [f"Letter {i} about the price of goods. " + "More of it. " * i for i in range(6)]
        opened.add([*((f"d{i}", text) for i, text in enumerate(texts)), ("other", "A note.")])
        opened.coding(LAYOUT_WITH_REASON, by="ada")
        yield Team(opened)


def test_batches_are_made_taken_coded_and_given_back(team: Team) -> None:
    ada = team.by("ada", "admin")
    assert ada.get("/batches.json", q="price").json()["n_documents"] == 6
    assert ada.post("/batches/make", q="price", name="pass", size=4, keep="families").status_code == 303
    assert team.by("ben").post("/batches/make", name="x", size=4).status_code == 403
    taken = team.by("ben").post("/batches/hold", batch="pass=1", is_out="1")
    assert taken.headers["location"] == "/code?batch=pass%3D1"
    assert team.by("eva").post("/batches/hold", batch="pass=1", is_out="1").status_code == 409
    assert team.by("eva").post("/batches/hold", batch="pass=1").status_code == 409  # not hers to give back
    first = team.by("ben").get("/code.json", batch="pass=1").json()
    assert (first["n_documents"], first["n_done"], first["holder"]) == (4, 0, "ben")
    place = {"back": "/code?batch=pass%3D1"}
    assert team.code("eva", first["at"], "yes", **place).status_code == 409
    assert team.code("eva", first["at"], "yes", back="/code").status_code == 409
    assert team.by("eva").post("/tags", id=first["at"], tag="pass=99").status_code == 400
    assert team.by("eva").post("/tags", id=first["at"], tag="responsive=no").status_code == 409
    assert team.by("eva").post("/tags", id=first["at"], tag="seen", is_removed="1").status_code == 409
    assert team.tags(first["at"]) == {"pass": "1"}
    after = team.code("ben", first["at"], "yes", **place)
    assert after.status_code == 303
    assert first["at"] not in after.headers["location"].partition("at=")[2]
    (one, two) = team.by("ada", "admin").get("/batches.json").json()["batches"]
    assert (one["holder"], one["n_done"], one["n_left"], one["done_by"]) == ("ben", 1, 3, {"ben": 1})
    assert (two["holder"], two["n_documents"], two["n_done"]) == ("", 2, 0)
    assert "pass,1,ben,4,1,3,ben: 1" in ada.get("/batches.csv").text
    assert {one["field"] for one in ada.get("/index.json").json()["tags"]} == {"responsive"}  # batches say nothing
    assert ada.get("/conflicts.json").json()["field"] == "responsive"
    assert team.by("ben").post("/batches/hold", batch="pass=1").status_code == 303
    assert team.by("eva").post("/batches/hold", batch="pass=1", is_out="1").status_code == 303
    assert team.by("ada", "admin").post("/batches/hold", batch="pass=1").status_code == 303  # an admin takes it back
    assert "check batch pass=1 out to eva" in words_of(ada.get("/log").text)


def test_a_value_of_another_person_is_kept_beside_the_first_until_an_admin_chooses(team: Team) -> None:
    assert team.code("ben", "d0", "yes", "no").status_code == 303
    assert team.code("eva", "d0", "no", "counsel").status_code == 303
    assert team.tags("d0") == {"responsive": "yes", "privileged": "no"}
    assert team.code("kim", "d0", "yes", "no").status_code == 303  # agrees with ben
    found = team.by("ada", "admin").get("/conflicts.json").json()["two_values"]
    assert [(one["field"], one["first"]["value"], one["second"]["value"]) for one in found] == [
        ("privileged", "no", "counsel"),
        ("responsive", "yes", "no"),
    ]
    assert found[0]["first"]["by"] == "ben"
    assert "eva" in team.by("ben").get("/code", at="d0").text
    for name, kept in (("ben", ["yes", "no"]), ("eva", ["no", "counsel"])):  # the panel has a person's own values
        checked = re.findall(r'name="v\d" value="(\w+)"[^>]* checked', team.by(name).get("/code", at="d0").text)
        assert checked == kept
    ada, panel = team.by("ada", "admin"), {"id": "d0", "fields": team.collection.coding().digest}
    assert ada.post("/code", **panel, v0="yes", v1="no", v2="memo").status_code == 303
    assert len(ada.get("/conflicts.json").json()["two_values"]) == 2  # only what changed is resolved
    assert team.by("ada", "admin").get("/list.jsonl").text.count('"second:privileged": "counsel"') == 1
    for tag in ("privileged=counsel", "responsive=yes"):
        assert team.by("ada", "admin").post("/tags", id="d0", tag=tag).status_code == 303
    assert team.tags("d0") == {"responsive": "yes", "privileged": "counsel", "reason": "memo"}
    assert team.by("ada", "admin").get("/conflicts.json").json()["two_values"] == []


def test_a_call_that_agrees_is_in_the_log_and_becomes_a_conflict_if_the_first_is_reversed(team: Team) -> None:
    for name, value in (("ben", "no"), ("eva", "no"), ("eva", "no")):
        assert team.code(name, "d0", "yes", value).status_code == 303
    log = team.by("ada", "admin").get("/log.json", of="d0").json()["activities"]
    assert [(one["by"], one["data"]["values"]["privileged"]) for one in log] == [("eva", "no"), ("ben", "no")]
    assert team.by("ada", "admin").get("/conflicts.json").json()["two_values"] == []
    assert team.code("ben", "d0", "yes", "counsel").status_code == 303
    (two,) = team.by("ada", "admin").get("/conflicts.json").json()["two_values"]
    assert [(two[one]["by"], two[one]["value"]) for one in ("first", "second")] == [("ben", "counsel"), ("eva", "no")]
    checked = re.findall(r'name="v1" value="(\w+)"[^>]* checked', team.by("eva").get("/code", at="d0").text)
    assert checked == ["no"]
    assert team.by("ada", "admin").post("/tags", id="d0", tag="privileged=counsel").status_code == 303
    assert team.by("ada", "admin").get("/conflicts.json").json()["two_values"] == []


def test_a_second_look_shows_no_values_and_gives_a_rate(team: Team) -> None:
    team.collection.add([("d0", "A long letter. " * (MAX_TEXT // 10))])
    for i in range(5):
        assert team.code("ben", f"d{i}", "yes", "counsel", "memo").status_code == 303
    team.collection.decide(note=("d1", "ben was unsure"), by="ben")
    assert team.by("ada", "admin").post("/batches/second-look", of="ben", size=5, seed=3).status_code == 303
    team.by("eva").post("/batches/hold", batch="second look=1", is_out="1")
    place = {"back": "/code?batch=second+look%3D1"}
    for at in (f"d{i}" for i in range(5)):
        page = team.by("eva").get("/code", batch="second look=1", at=at).text
        whole = team.by("eva").get("/code", batch="second look=1", at=at, whole="true").text
        assert ("whole=" in page) == (at == "d0")
        assert (whole.count("A long letter") > MAX_TEXT // 10) == (at == "d0")
        for shown in (page, whole):
            assert not {"checked", "ben"} & set(shown.replace('"', " ").replace("<", " ").split())
            assert 'href="/document' not in shown
        blind = team.by("eva").get("/code.json", batch="second look=1", at=at).json()["document"]
        assert (blind["tags"], blind["note"]) == ({}, None)
        assert team.code("eva", at, "no" if at == "d4" else "yes", "counsel", **place).status_code == 303
    shown = team.by("eva").get("/code.json", batch="second look=1").json()
    assert (shown["n_done"], team.tags("d4")["responsive"]) == (5, "yes")
    ada = team.by("ada", "admin")
    (look,) = ada.get("/defensibility.json").json()["data"]["second_looks"]
    assert (look["of"], look["n_coded"], look["n_overturned"], look["by_field"]) == ("ben", 5, 1, {"responsive": 1})
    assert (look["rate"], look["low"], look["high"]) == (0.2, 0.2, 0.2)  # all calls were coded again
    assert "20.0 %" in words_of(ada.get("/defensibility").text)
    assert team.by("ben").post("/batches/hold", batch="second look=1").status_code == 409
    (two,) = team.by("ada", "admin").get("/conflicts.json").json()["two_values"]
    assert (two["doc_id"], two["first"]["by"], two["second"]["by"]) == ("d4", "ben", "eva")
    assert ada.post("/tags", id=[f"d{i}" for i in range(5)], tag="responsive=yes", expected=6).status_code == 303
    assert team.code("ben", "other", "yes").status_code == 303
    assert team.by("ada", "admin").post("/batches/second-look", of="ben", size=5).status_code == 303
    team.by("eva").post("/batches/hold", batch="second look=2", is_out="1")
    assert team.code("eva", "other", "yes", "counsel", back="/code?batch=second+look%3D2").status_code == 303
    (two,) = team.by("ada", "admin").get("/conflicts.json").json()["two_values"]  # a field that ben left empty
    assert (two["doc_id"], two["first"], two["second"]["value"]) == ("other", None, "counsel")
    assert "no value" in words_of(ada.get("/conflicts").text)
    assert ada.post("/tags", id="other", tag="privileged", is_removed="1").status_code == 303
    assert (ada.get("/conflicts.json").json()["two_values"], team.tags("other")["responsive"]) == ([], "yes")
