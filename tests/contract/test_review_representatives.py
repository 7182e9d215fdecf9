"""Representatives on the review screen: what others add, and an export that waits for a job to compare all texts."""

from __future__ import annotations

import csv
import html
import io
import threading
from collections.abc import Iterator

import pytest

from nearkin.collection import relations
from nearkin.web import jobs
from nearkin.web.screens import groups
from places import SomePlace, on_one_database
from review_client import DOCUMENTS, LEASE, Visit, words_of

pytestmark = on_one_database

LONGER = f"{LEASE} The cellar is let, too, and so is the yard."
OTHERS = [(f"lease {word}", f"{LEASE} {word.title()}.") for word in ("noted", "seen", "read")]


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add([*DOCUMENTS, ("lease, longer", LONGER), ("short", LEASE.removesuffix(" of the term."))])
        visit = Visit(collection).sign_in()
        yield visit
        visit.service.jobs.close()


@pytest.fixture
def few(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """A page and an export compare one text, and the other texts of the group are a lot."""
    visit.service.collection.add(OTHERS)
    visit.service.collection.groups()
    monkeypatch.setattr(groups, "_MAX_NEW", 1)
    return visit


def exported(visit: Visit) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(visit.get("/representatives.csv").text)))


def test_representatives_stand_for_groups_with_what_others_add(visit: Visit) -> None:
    assert "not computed yet" in words_of(visit.get("/representatives").text)
    visit.service.collection.groups()
    visit.service.collection.decide(principal="lease", by="ada")
    visit.service.collection.groups()
    found = visit.get("/representatives.json").json()
    assert (found["n_groups"], found["n_documents_in_no_group"]) == (1, 1)
    (one,) = found["representatives"]
    assert (one["doc_id"], one["n_documents"]) == ("lease", 5)
    own = set(LEASE.split())
    added = {other["doc_id"]: other for other in one["additions"]}
    assert {name: other["n_words"] for name, other in added.items()} == {
        "lease, longer": len(LONGER.split()) - len(LEASE.split()), "lease, signed": 4,
    }  # fmt: skip
    assert [other["doc_id"] for other in one["additions"]] == ["lease, longer", "lease, signed"]  # most words first
    assert not set(" ".join(added["lease, longer"]["passages"]).split()) - set(LONGER.split()) - own
    page = words_of(visit.get("/representatives").text)
    assert "2 documents to review instead of 6" in page
    assert "adds 4 words: Signed by Ada Kern" in page
    rows = exported(visit)
    assert [(row["doc_id"], row["group"], row["n_documents"]) for row in rows] == [
        ("lease", "1", "5"),
        ("letter", "", "1"),
    ]
    assert "lease, signed adds 4 words: Signed by Ada Kern" in rows[0]["adds"]
    assert "adds 4 words" in words_of(visit.get("/group", number=1).text)


def test_the_export_waits_until_a_job_has_compared_all_texts(few: Visit) -> None:
    page = few.get("/representatives").text
    assert "5 texts of these groups are not compared yet" in words_of(page)  # six, one of which the page compared
    assert 'action="/representatives/compare"' in page
    assert "/representatives.csv" not in page
    refused = few.send("GET", "/representatives.csv", headers={"sec-fetch-site": "same-origin"})
    assert (refused.status_code, "Choose 'Compare all texts'" in refused.text.replace("&#39;", "'")) == (400, True)
    assert few.get("/representatives/export.json").json() == {"n_not_compared": 5, "job": None}

    assert few.post("/representatives/compare").headers["location"].startswith("/representatives?")
    (job,) = few.service.jobs.listed()
    done = few.service.jobs.wait(job.number, 60)
    assert done is not None
    assert (done.state, done.message, done.n_done) == ("done", "1 representative for 8 documents", 6)
    assert '/representatives.csv?measure=jaccard&amp;value=0.5" download' in few.get("/representatives").text
    assert "representatives: jaccard, 0.5" in words_of(few.get("/jobs").text)
    (one, alone) = exported(few)
    assert (one["doc_id"], one["n_documents"], alone["doc_id"]) == ("lease, longer", "8", "letter")
    assert len(one["adds"].splitlines()) == 4  # the lease, its copy and the short one add nothing


def test_a_comparison_that_was_interrupted_goes_on_where_it_ended(few: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service ends when two of six texts are stored; the next one compares the other four."""
    monkeypatch.setattr(relations, "_PAIRS_AT_A_TIME", 2)
    is_running, may_go_on = threading.Event(), threading.Event()
    computed, compute = list[int](), relations._computed

    def held(connection: object, pairs: list[tuple[int, int]]) -> object:
        if computed:
            is_running.set()
            assert may_go_on.wait(60)
        computed.append(len(pairs))
        return compute(connection, pairs)  # type: ignore[arg-type]

    monkeypatch.setattr(relations, "_computed", held)
    monkeypatch.setattr(jobs, "_WAIT_S", 0.0)
    few.post("/representatives/compare")
    assert is_running.wait(60)
    page = few.get("/representatives/export").text
    assert 'hx-trigger="load delay:1s"' in page
    assert "2 of 6" in words_of(page)
    threading.Timer(0.2, may_go_on.set).start()
    few.service.jobs.close()
    again = Visit(few.service.collection).sign_in()
    n_left = again.get("/representatives/export.json").json()["n_not_compared"]
    assert n_left < 6
    computed.clear()
    again.post("/representatives/compare")
    (job,) = again.service.jobs.listed()
    done = again.service.jobs.wait(job.number, 60)
    assert done is not None
    assert (done.state, sum(computed)) == ("done", n_left)
    assert len(exported(again)) == 2
    again.service.jobs.close()


def test_a_representative_is_a_current_document_of_its_group(visit: Visit) -> None:
    """The principal is about something else now, and an exact copy keeps its former text in the group."""
    collection = visit.service.collection
    collection.groups()
    collection.decide(principal="lease", by="ada")
    collection.groups()
    collection.add([("lease", "A boat on the river that nobody has ever seen before.")])
    rows = exported(visit)
    (one,) = visit.get("/representatives.json").json()["representatives"]
    assert one["doc_id"] == visit.get("/group.json", number=1).json()["principal"] == "lease, longer"
    assert sorted((row["doc_id"], row["group"]) for row in rows) == [
        ("lease", ""), ("lease, longer", "1"), ("letter", ""),
    ]  # fmt: skip
    assert {row["n_documents"] for row in rows} == {"4", "1"}


def test_a_group_has_the_beginning_of_long_additions_and_a_list_of_representatives_has_all(visit: Visit) -> None:
    same = " ".join(f"clause{i}" for i in range(2_000))
    added = " ".join(f"annex{i}" for i in range(500))
    visit.service.collection.add([("form", same), ("form, amended", f"{same} {added} and not later")])
    visit.service.collection.groups()
    visit.service.collection.decide(principal="form", by="ada")
    found = visit.get("/representatives.json").json()["representatives"]
    one = next(one for one in found if one["doc_id"] == "form")
    assert one["additions"][0]["passages"] == [f"{added} and not later"]
    member = visit.get("/group.json", number=one["group"]).json()["members"][1]
    (passage,) = member["passages_added"]
    assert member["n_words_added"] == 503
    assert len(passage) <= 2_002
    assert passage.endswith("annex499 and not later")
    page = html.unescape(words_of(visit.get("/group", number=one["group"]).text))
    assert 'adds 503 words, among them "not": … ' in page
    assert "annex499 and not later" in page
