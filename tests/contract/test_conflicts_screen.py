"""The page of conflicts: what is listed, counted, compared in the background, and resolved."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterator

import pytest

from nearkin.collection.conflicts import by_group
from nearkin.collection.decisions.deciding import tag_values
from nearkin.collection.decisions.log import ChangeRequest
from nearkin.web import later
from nearkin.web.screens import decisions
from places import SomePlace
from review_client import DOCUMENTS, LEASE, OWN, Visit, words_of


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add(DOCUMENTS)
        yield Visit(collection).sign_in()


def test_no_value_is_proposed_for_a_sensitive_field(visit: Visit) -> None:
    collection = visit.service.collection
    for field in ("Privileged", "responsive"):
        collection.tag(["lease", "lease/copy"], field, "no", by="ada")
        collection.tag(["lease, signed"], field, "yes", by="bo")
    for field, proposed in (("Privileged", None), ("responsive", "no")):
        (row,) = visit.get("/conflicts.json", field=field).json()["groups"]
        assert row["majority_label"] == proposed
        assert row["labels"] == [{"label": "no", "n_documents": 2}, {"label": "yes", "n_documents": 1}]
        assert ('action="/tags"' in visit.get("/conflicts", field=field).text) == (proposed is not None)


def test_a_preview_of_agreements_alone_shows_no_change_and_they_are_logged(visit: Visit) -> None:
    collection = visit.service.collection
    collection.tag(["lease"], "responsive", "yes", by="bo")
    preview = visit.post("/tags", id="lease", tag="responsive=yes", is_previewed="1", back="/conflicts")
    assert ('name="expected" value="0"' in preview.text, "<td>" in preview.text) == (True, False)
    done = visit.post("/tags", id="lease", tag="responsive=yes", expected=0, back="/conflicts")
    assert done.headers["location"] == "/conflicts?done=2"
    assert [change.kind for change in collection.log()[-1].changes] == ["second"]


def test_all_fields_with_values_of_two_people_can_be_seen(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_MAX_ROWS", 1)
    collection, ids = visit.service.collection, ["lease", "lease/copy"]
    collection.tag(ids, "responsive", "no", by="ada")
    tag_values(
        collection.opened.store, dict.fromkeys(ids, "yes"), "responsive", ChangeRequest(by="bo", may_resolve=False)
    )
    for skip, shown in enumerate(ids):
        page = visit.get("/conflicts", field="responsive", skip=skip).text
        assert [doc_id for doc_id in ids if f'name="id" value="{doc_id}"' in page] == [shown]
        assert (f"skip={skip + 1}" in page) == (skip == 0)


def test_a_conflict_is_resolved_after_a_preview_and_undone(visit: Visit) -> None:
    assert "No document has a tag yet" in words_of(visit.get("/conflicts").text)
    assert visit.send("GET", "/conflicts.csv").status_code == 400
    visit.service.collection.tag(["lease", "lease/copy"], "responsive", "yes")
    said = "without the tag responsive: 1 in groups with it: lease, signed"
    assert said in html.unescape(words_of(visit.get("/conflicts").text))
    visit.service.collection.tag(["lease, signed"], "responsive", "no")
    (row,) = visit.get("/conflicts.json").json()["groups"]
    assert (row["majority_label"], row["odd_ids"]) == ("yes", ["lease, signed"])
    page = words_of(visit.get("/conflicts").text)
    assert "to store them: nearkin groups COLLECTION" in page
    assert "2 × yes 1 × no" in page
    assert "Signed by Ada Kern" in page
    assert visit.get("/conflicts.csv").text.count("lease, signed") == 1

    preview = visit.post("/tags", id="lease, signed", tag="responsive=yes", is_previewed="1", back="/conflicts")
    assert "Change 1 document" in words_of(preview.text)
    assert visit.get("/conflicts.json").json()["n_found"] == 1
    done = visit.post("/tags", id="lease, signed", tag="responsive=yes", expected=1, back="/conflicts")
    assert done.headers["location"] == "/conflicts?done=3"
    assert visit.get("/conflicts.json").json()["groups"] == []
    assert "agree on the tag responsive (3 documents have it)" in said_of_conflicts(visit, "responsive")
    visit.post("/undo", number=3, back="/conflicts")
    assert visit.get("/conflicts.json").json()["n_found"] == 1
    signed = f"{LEASE} Signed by Ada Kern.".replace("every key", "all keys")
    visit.service.collection.add([("lease, signed", signed)], wave="june")
    assert "first of 2 differences" in words_of(visit.get("/conflicts", value="0.3").text)


def test_all_conflicts_of_a_group_are_counted_and_set_but_some_shown(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection, ids = visit.service.collection, [f"copy {k}" for k in range(81)]
    collection.add([(doc_id, f"{LEASE} This is {doc_id}.") for doc_id in ids])
    collection.tag(ids[:41], "responsive", "yes")
    collection.tag(ids[41:], "responsive", "no")
    for most in (300, 38):
        monkeypatch.setattr(decisions, "_MAX_FOUND", most)
        found = visit.get("/conflicts.json").json()
        assert (found["n_found"], len(found["conflicts"])) == (40, min(40, most))
        (row,) = found["groups"]
        assert [label["n_documents"] for label in row["labels"]] == [41, 40]
        assert sorted(row["odd_ids"]) == sorted(ids[41:])
    page = visit.get("/conflicts").text
    assert page.count('class="passage"') == 35
    assert "on 40 documents" in words_of(page)
    monkeypatch.setattr(decisions, "_MAX_IDS", 39)
    assert "on 40 documents" not in words_of(visit.get("/conflicts").text)


def test_a_comparison_for_conflicts_outlives_the_coding_of_other_people(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection, gate, found, compared = visit.service.collection, threading.Event(), list[int](), list[int]()
    collection.tag(["lease", "lease/copy"], "responsive", "yes")
    collection.tag(["lease, signed"], "responsive", "no")
    first_passage = by_group.first_passage
    monkeypatch.setattr(later, "AT_ONCE", -1)
    monkeypatch.setattr(later, "_WAITING_S", 0)
    counted = lambda work: (found.append(1), gate.wait(10), work(collection.opened))[-1]  # noqa: E731
    monkeypatch.setattr(visit.service.later, "compute", counted)
    monkeypatch.setattr(by_group, "first_passage", lambda *a: (compared.append(1), first_passage(*a))[1])

    def poll() -> int:
        return visit.send("GET", "/conflicts", headers={**OWN, "hx-request": "true"}).status_code

    for k in range(3):
        collection.tag(["letter"], "seen", str(k))
        assert poll() == 204
    gate.set()
    assert visit.get("/conflicts.json").json()["n_found"] == 1
    collection.tag(["letter"], "seen", "again")
    assert (poll(), len(found), len(compared)) == (200, 1, 1)
    gate.clear()
    for value in ("no", "maybe", "yes"):  # of the field itself, while it is compared: the last one is what is found
        collection.tag(["letter"], "responsive", value)
        assert poll() == 204
    gate.set()
    assert visit.get("/conflicts.json").json()["n_labelled"] == 4
    assert (poll(), len(found) <= 3, len(compared)) == (200, True, 1)


def said_of_conflicts(visit: Visit, field: str) -> str:
    return words_of(visit.get("/conflicts", field=field).text).replace(" )", ")")
