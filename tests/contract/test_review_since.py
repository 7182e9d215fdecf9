"""Documents to look at since a wave, in the review screen: why each is listed, and what was decided before."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterator

import pytest

from nearkin.web.screens import document
from places import SomePlace, on_one_database
from review_client import Visit, words_of

WORDS = ["the", "tenant", "keeps", "the", "garden", "and", "returns", "every", "key", "on", "time"]


def text(kind: str, last: str = "") -> str:
    """A text that is like those of its kind, and like no other."""
    return " ".join(f"{word}{kind}" for word in WORDS) + last


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    """Group 1 gets a new member and another text, group 2 loses a member, and group 3 is new."""
    with place.open() as collection:
        names = ("a1", "a2", "b1", "b2", "b3", "c1")
        collection.add([(name, text(name[0], f" {name}")) for name in names], wave="march")
        collection.groups()
        collection.tag(["a1", "a2", "b1"], "responsive", "yes")
        collection.decide(same_group=("a1", "b1"), by="ada")
        collection.undo(2)
        collection.decide(never_group=("a1", "b2"), by="ada")
        collection.add([("a1", text("a", " once more")), ("a3", text("a")), ("c2", text("c"))], wave="april")
        collection.remove(["b3"])
        collection.groups()
        yield Visit(collection).sign_in()


REASONS = {
    "a1": "new version: group 1 → group 1",
    "a3": "new: group 1",
    "b3": "removed: group 2",
    "c1": "joined: group 3; a new group",
    "c2": "new: group 3; a new group",
}


def listed(visit: Visit, **query: object) -> list[dict[str, object]]:
    return visit.get("/since.json", wave="march", show="documents", **query).json()["documents"]


@on_one_database
def test_each_document_is_listed_with_its_reason_and_leads_to_its_pages(visit: Visit) -> None:
    assert {one["doc_id"]: one["reason"] for one in listed(visit)} == REASONS
    visit.service.collection.groups(threshold=0.9)
    assert "Groups are also stored for: jaccard 0.9" in words_of(visit.get("/since", wave="march").text)
    groups = visit.get("/since", wave="march").text
    (there,) = re.findall(r'href="(/since\?[^"]*show=documents[^"]*)"', groups)
    page = visit.get(html.unescape(there)).text
    words = words_of(page)
    assert "documents to look at 5 3 new, 1 joined a group, 1 removed" in words
    rows = re.findall(r"<tr data-row>.*?</tr>", page)
    assert [words_of(row).split()[0] for row in rows] == list(REASONS)
    for row, reason in zip(rows, REASONS.values(), strict=True):
        assert reason in words_of(row)
        assert ("was 2" in words_of(row)) == ("b3" in row)  # the group of a document that is in none now
        first, *others = [html.unescape(link) for link in re.findall(r'href="([^"]*)"', row)]
        assert first.startswith("/history?id=b3" if "b3" in row else "/document?id=")
        assert [link for link in others if link.startswith("/group?number=")]
        for link in (first, *others):
            visit.get(link)
    visit.service.collection.remove(["a3"])  # after the latest update of the groups
    assert [one["doc_id"] for one in listed(visit) if not one["is_current"]] == ["a3", "b3"]


@on_one_database
def test_pages_have_what_the_export_has(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(csv.DictReader(io.StringIO(visit.get("/since.csv", wave="march").text)))
    monkeypatch.setattr(document, "_CHANGES_OF_A_PAGE", 2)
    paged = [one for page in (1, 2, 3, 4) for one in listed(visit, page=page)]
    assert [(one["doc_id"], one["change"], "; ".join(one["overtaken"])) for one in paged] == [
        (row["doc_id"], row["change"], row["overtaken"]) for row in rows
    ]
    assert (len(paged), sum(bool(row["overtaken"]) for row in rows)) == (5, 1)
    page = visit.get("/since", wave="march", show="documents", page=2).text
    assert "Page 2 of 3" in words_of(page)
    later = html.unescape(re.findall(r'rel="next" href="([^"]*)"', page)[0])
    assert "Page 3 of 3" in words_of(visit.get(later).text)
    assert "Page 2 of 2" in words_of(visit.get("/since", wave="march", page=2).text)
    assert visit.send("GET", "/since?show=nothing").status_code == 400
