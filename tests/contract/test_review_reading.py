"""What the review screen offers to read: comparisons of each kind, the log, groups and their tags."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterator

import pytest

from nearkin.collection.stored.group_state import GroupState
from places import SomePlace, on_one_database
from review_client import DOCUMENTS, LEASE, Visit, words_of

pytestmark = on_one_database

LONGER = f"{LEASE} The cellar is let, too, and so is the yard."


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add([*DOCUMENTS, ("lease, longer", LONGER), ("short", LEASE.removesuffix(" of the term."))])
        yield Visit(collection).sign_in()


def test_a_comparison_is_shown_side_by_side_and_exported(visit: Visit) -> None:
    asked = {"a": "lease", "b": "lease, longer"}
    both = visit.get("/compare", **asked, view="sides").text
    rows = re.findall(
        r'<tr><td class="no">.*?<td class="text" dir="auto">(.*?)</td>.*?<td class="text".*?>(.*?)</td></tr>', both
    )
    left, right = (html.unescape(words_of(" ".join(one[i] for one in rows))) for i in range(2))
    assert " ".join(left.split()) == LEASE
    assert "The cellar is let, too" in right
    assert "The cellar" not in left
    inline = visit.get("/compare", **asked).text
    assert 'class="view both"' not in inline
    exported = visit.get("/compare.html", **asked, ignore="case")
    assert exported.headers["content-disposition"] == 'attachment; filename="compare.html"'
    assert "The cellar is let, too" in words_of(exported.text)
    assert "<title>Nearkin: lease" in exported.text
    assert 'data-to="1"' in inline


def _documents_of(page: str) -> dict[str, str]:
    """The column "Documents" of the page, by the number of the activity."""
    rows = re.findall(r"<tr data-row><th[^>]*>([0-9]+)</th>(.*?)</tr>", page, re.S)
    return {number: words_of(re.findall("<td[^>]*>(.*?)</td>", row, re.S)[3]) for number, row in rows}


def test_the_log_shows_values_before_and_after_and_kinds(visit: Visit) -> None:
    collection = visit.service.collection
    collection.tag(["lease"], "responsive", "no", by="ada")
    collection.tag(["lease"], "responsive", "<b>yes</b>", by="ada")
    collection.decide(never_group=("lease", "letter"), by="bo")
    page = visit.get("/log").text
    assert "<b>yes" not in page
    words = html.unescape(words_of(page))
    assert "lease · responsive : no → <b>yes</b>" in words
    assert "lease · responsive : not set → no" in words
    assert "not set → set" in words
    collection.groups()
    collection.decide(principal="letter", by="bo")
    collection.decide(split_off=("letter", "lease, longer"), by="bo")
    collection.decide(group_note=(1, "look again"), by="bo")
    words = html.unescape(words_of(visit.get("/log").text))
    assert "letter : not set → set by activity 4" in words
    assert "lease, longer · letter : not set → letter split off" in words
    assert "group 1 (jaccard 0.5) : not set → look again" in words
    rows = list(csv.DictReader(io.StringIO(visit.get("/log.csv").text.lstrip("\ufeff"))))
    assert [row["kind"] for row in rows] == ["tag", "tag", "never-group", "principal", "split-off", "group-note"]
    assert _documents_of(page)["3"] == "lease , letter"
    assert _documents_of(visit.get("/log").text)["5"] == "letter , lease, longer"
    assert [row["change"] for row in rows] == [
        "not set → no", "no → <b>yes</b>", "not set → set", "not set → set by activity 4", "not set → letter split off",
        "not set → look again",
    ]  # fmt: skip
    assert "never-group: 1; principal: 1; split-off: 1; tag: 2." in words_of(visit.get("/defensibility").text)
    collection.undo(5)
    assert [one["kind"] for one in visit.get("/log.json").json()["activities"]][:3] == [
        "undo",
        "group-note",
        "split-off",
    ]
    for kind, number in (("never-group", 3), ("split-off", 5)):
        (only,) = visit.get("/log.json", kind=kind).json()["activities"]
        assert only["number"] == number
    assert 'value="never-group"' in page or "<option>never-group" in page


def test_stored_groups_are_read_once_for_many_pages(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    collection, reads = visit.service.collection, list[str]()
    collection.groups()
    read = GroupState.read
    monkeypatch.setattr(GroupState, "read", lambda *asked: (reads.append("read"), read(*asked))[1])
    for path in ("/", "/groups", "/group?number=1", "/document?id=lease", "/list?group=1", "/representatives"):
        visit.get(path)
    assert len(reads) == 1
    assert "5 documents" in words_of(visit.get("/group", number=1).text)
    collection.decide(never_group=("lease, longer", "lease"), by="ada")
    collection.groups()
    reads.clear()
    assert "4 documents" in words_of(visit.get("/group", number=1).text)
    collection.remove(["lease/copy"])
    assert visit.get("/groups.json").json()["groups"][0]["n_documents"] == 3
    assert len(reads) <= 1
