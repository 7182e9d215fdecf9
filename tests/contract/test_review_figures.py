"""Figures and facts that the review screen shows, against the tables of the database and definitions written out."""

from __future__ import annotations

import html
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from extracted_documents import HEADERS, add_extracted, origin, unread
from nearkin.collection.collection import Collection
from places import SomePlace
from review_client import DOCUMENTS, Visit, words_of

LETTERS = "Dear Ms {}, the tea was good and the evening was long, and none of us will forget the songs of the harbour."


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add([*DOCUMENTS, *((f"tea {i}", LETTERS.format(i)) for i in range(3))], wave="march")
        yield Visit(collection).sign_in()


DEFAULT = "measure=words&value=0.5"


def tiles(visit: Visit, **asked: object) -> dict[str, tuple[str, str]]:
    """The figures on the first page with the addresses that they lead to, by their words."""
    found = re.findall(r'<li><a href="([^"]*)"><b>([^<]*)</b>(.*?)</a></li>', visit.get("/", **asked).text)
    return {re.sub("<[^>]*>", "", words): (html.unescape(where), figure) for where, figure, words in found}


def odd_groups(collection: Collection, field: str) -> int:
    """Number of groups that have documents with different values of a field, by the definition."""
    values = {
        one.subject: one.now for entry in reversed(collection.log()) for one in entry.changes if one.other == field
    }
    is_bare = not any(values.values())
    by_group = defaultdict[int, set[object]](set)
    for one in collection.groups().members.to_pylist():
        value = values.get(one["doc_id"])
        if value is not None or is_bare:
            by_group[one["group"]].add(value)
    return sum(len(some) > 1 for some in by_group.values())


def test_open_conflicts_are_counted_on_the_first_page(visit: Visit) -> None:
    collection = visit.service.collection
    assert "groups with different tags" not in tiles(visit)
    collection.groups()
    assert tiles(visit)["groups with different tags"] == (f"/conflicts?{DEFAULT}", "0")
    collection.tag(["lease", "lease/copy", "tea 0"], "responsive", "yes")
    collection.tag(["lease, signed", "letter"], "responsive", "no")
    collection.tag(["tea 1", "lease"], "privileged")
    collection.tag(["lease", "lease/copy", "lease, signed"], "whole")
    assert (odd_groups(collection, "responsive"), odd_groups(collection, "privileged")) == (1, 2)
    assert odd_groups(collection, "whole") == 0
    shown = tiles(visit)
    assert shown["group whose members differ in the tag responsive"] == (f"/conflicts?field=responsive&{DEFAULT}", "1")
    assert shown["groups whose members differ in the tag privileged"] == (f"/conflicts?field=privileged&{DEFAULT}", "2")
    assert "whole" not in " ".join(shown)
    assert visit.get("/index.json").json()["conflicts"] == {"privileged": 2, "responsive": 1}
    for field, n in (("responsive", 1), ("privileged", 2)):
        assert visit.get("/conflicts.json", field=field).json()["n_groups"] == n


@pytest.mark.parametrize("stored", [None, 0.6])
def test_figures_of_groups_that_are_not_computed_are_not_zeros(visit: Visit, stored: float | None) -> None:
    collection = visit.service.collection
    collection.tag(["lease"], "responsive", "yes")
    collection.tag(["lease/copy"], "responsive", "no")
    if stored is not None:
        collection.groups(threshold=stored)
        assert "not computed" not in words_of(visit.get("/").text)  # the stored groups instead of the default
        assert tiles(visit)["group whose members differ in the tag responsive"][0].endswith("&measure=words&value=0.6")
    shown = tiles(visit, value=0.5)
    assert shown["groups of near-duplicates: not computed at 0.5"] == (f"/groups?{DEFAULT}", "–")
    assert shown["conflicts: groups at 0.5 are not computed"] == (f"/conflicts?{DEFAULT}", "–")
    assert not [words for words, (_, figure) in shown.items() if figure in ("0", "0.0%") and "exceptions" not in words]
    page = visit.get("/", value=0.5).text
    assert "Compute the groups" in re.sub("<a .*?</a>", "", page, flags=re.DOTALL)  # a button, no link to one
    assert ("Groups are stored for: words, 0.6" in words_of(page)) == (stored is not None)
    assert "<h1>Groups: not computed at 0.5</h1>" in visit.get("/groups").text
    assert "<h1>Representatives: groups not computed at 0.5</h1>" in visit.get("/representatives").text
    for path in ("/representatives.csv", "/representatives.jsonl", "/groups.csv"):
        refused = visit.send("GET", path, headers={"sec-fetch-site": "same-origin"})
        assert (refused.status_code, "not computed yet" in refused.text) == (400, True)
    if stored is not None:
        assert "/?measure=words&value=0.6" in re.findall('href="([^"]*)"', html.unescape(page))
        there = visit.get("/", value=stored).text
        assert "not computed" not in words_of(there)
        assert "/groups?measure=words&value=0.6" in re.findall('href="([^"]*)"', html.unescape(there))


def test_dates_are_no_labels_that_contradict_one_another(visit: Visit) -> None:
    collection = visit.service.collection
    collection.groups()
    collection.tag_values({"lease": "2024-01-31", "lease/copy": "2024-01-31", "lease, signed": "2024-02-10"}, "date")
    assert tiles(visit)["groups with different tags"] == (f"/conflicts?{DEFAULT}", "0")
    assert "2024-02-10" not in visit.get("/conflicts").text
    collection.tag(["lease, signed"], "responsive", "yes")  # of fewer documents, and yet the first field that is shown
    assert visit.get("/conflicts.json").json()["field"] == "responsive"
    assert visit.get("/conflicts.json", field="date").json()["n_found"] == 1  # asked for


def test_documents_with_the_same_text_are_counted_as_they_are_listed(visit: Visit) -> None:
    collection = visit.service.collection
    collection.add([(f"note {i}", "Some other text.") for i in range(3)] + [("spaced", "Some  other text.")])
    where, figure = tiles(visit)["with exactly the same text as another (empty texts not counted)"]
    listed = visit.get(where.replace("/list", "/list.json")).json()["documents"]
    texts = Counter(collection.text(doc_id) for doc_id in collection.documents().table["doc_id"].to_pylist())
    assert int(figure) == len(listed) == sum(n for n in texts.values() if n > 1) == 5


def test_the_first_page_stays_short_with_very_many_tags(visit: Visit) -> None:
    """Such as dates, which differ in every group, and the fields of a load file."""
    collection = visit.service.collection
    collection.groups()
    for i in range(8):
        collection.tag(["lease"], f"field {i}", "one")
        collection.tag(["lease/copy"], f"field {i}", "other")
    for i in range(45):
        collection.tag(["lease"], f"more {i}", "one")
    shown = tiles(visit)
    assert sum("whose members differ in the tag" in words for words in shown) == 5
    assert shown["more fields have different tags in a group"] == ("/conflicts", "3")
    assert "11 more tags." in words_of(visit.get("/").text)
    data = visit.get("/index.json").json()
    assert (len(data["conflicts"]), len(data["tags"])) == (8, 61)  # a script gets all of them


def test_exceptions_on_the_first_page_are_those_of_their_page(visit: Visit) -> None:
    rows = [("a.pdf", None, unread("a"), None), ("b.pdf", "", origin("b"), None)]
    add_extracted(visit.service.collection, rows)
    visit.service.collection.add([("empty", " ")], wave="april")
    n = len(visit.get("/exceptions.json").json()["exceptions"])
    assert tiles(visit)["exceptions"] == ("/exceptions", str(n))
    assert n >= 2


def test_bars_lead_to_the_groups_that_they_count(visit: Visit) -> None:
    collection = visit.service.collection
    collection.groups()
    sizes = Counter(Counter(one["group"] for one in collection.groups().members.to_pylist()).values())
    links = re.findall(r'<a href="(/groups\?[^"]*min_documents[^"]*)">.*?</span>(\d+)</a>', visit.get("/").text)
    assert sum(int(n) for _, n in links) == sizes.total() == 2
    for link, n in links:
        where = html.unescape(link)
        found = visit.get(where.replace("/groups?", "/groups.json?")).json()
        assert (found["n_groups"], len(found["groups"])) == (int(n), int(n))
        assert "Only groups of" in words_of(visit.get(where).text)
    assert visit.get("/groups.json", min_documents=4).json()["groups"] == []


def test_running_jobs_are_on_the_first_page(visit: Visit) -> None:
    assert "Running" not in words_of(visit.get("/").text)
    goes_on = threading.Event()

    def work(progress: object) -> str:
        progress.start("read mails", 8, "documents")  # type: ignore[attr-defined]
        progress.advance(3)  # type: ignore[attr-defined]
        goes_on.wait(20)
        return "done"

    begun = visit.service.jobs.begin("threads", work, by="ada")
    try:
        for _ in range(400):
            if (found := visit.service.jobs.find(begun.number)) is not None and found.n_done == 3:
                break
            threading.Event().wait(0.05)
        assert "Running" in words_of(visit.get("/").text)
        assert "read mails: 3 of 8 documents" in words_of(visit.get("/").text)
        assert "read mails" in visit.get("/jobs/list", running=1).text
    finally:
        goes_on.set()
    visit.service.jobs.wait(begun.number, 20)
    assert "Running" not in words_of(visit.get("/").text)
    assert "No job is running." in visit.get("/jobs/list", running=1).text


def test_a_document_shows_metadata_family_and_what_its_text_lacks(visit: Visit) -> None:
    sent = datetime(2024, 3, 4, 8, 12, tzinfo=UTC)
    headers = replace(HEADERS, sender="Ada <ada@mill.example>", subject="<b>The & lease</b>", sent_at=sent)
    mail = replace(origin("1", kind="eml", mail=headers), family="m.eml")
    inside = replace(origin("2", kind="docx"), family="m.eml", is_partial=True, exception="too big", sentence="cut off")
    rows = [
        ("m.eml", "The lease is attached, and so is a scan.", mail, None),
        ("m.eml!lease.docx", "The rooms are let until May.", inside, "m.eml"),
        ("m.eml!scan.pdf", None, replace(unread("3", exception="image only"), family="m.eml"), "m.eml"),
        ("m.emlx", "A mail beside it.", replace(origin("4", kind="eml"), family="m.emlx"), None),
        ("box!#1", "A mail of a mailbox.", origin("5", kind="eml"), "box"),
        ("box!#2", "Another mail of it.", origin("6", kind="eml"), "box"),
    ]
    add_extracted(visit.service.collection, rows)
    page = visit.get("/document", id="m.eml").text
    words = html.unescape(words_of(page))
    for expected in ("Ada <ada@mill.example>", "2024-03-04 08:12 UTC", "<b>The & lease</b>", "eml"):
        assert expected in words
    assert "<b>The" not in page
    family = words[words.index("Family:") :]
    assert family.startswith("Family: m.eml!lease.docx , m.eml!scan.pdf no text")
    assert "m.emlx" not in family.partition("A mail beside")[0].partition("Measure")[0]
    other = words_of(visit.get("/document", id="m.eml!lease.docx").text)
    assert "Family: m.eml outermost , m.eml!scan.pdf no text" in other
    assert "Partial text : cut off" in other
    assert "Family" not in visit.get("/document", id="box!#1").text  # a mailbox is no document
    assert "Metadata" not in visit.get("/document", id="lease").text
    members = visit.get("/document.json", id="m.eml").json()["family"]
    assert [one["doc_id"] for one in members] == ["m.eml!lease.docx", "m.eml!scan.pdf"]


def test_records_of_a_load_file_have_a_family(visit: Visit) -> None:
    rows = [("A-1", "A mail.", None, None), ("A-2", "Its note.", None, "A-1"), ("A-3", "Another.", None, "A-1")]
    add_extracted(visit.service.collection, rows)
    assert "Family: A-2 , A-3" in words_of(visit.get("/document", id="A-1").text)
    assert "Family: A-1 outermost , A-3" in words_of(visit.get("/document", id="A-2").text)


def test_a_family_of_very_many_says_that_it_is_not_listed_whole(visit: Visit) -> None:
    rows = [("A-000", "A mail.", None, None), *((f"A-{i:03}", f"Note {i}.", None, "A-000") for i in range(1, 102))]
    add_extracted(visit.service.collection, rows)
    whole = visit.get("/document.json", id="A-001").json()  # the mail and 100 other notes
    assert (len(whole["family"]), whole["is_family_truncated"]) == (101, False)
    said = "only the first of its members are listed"
    assert said not in words_of(visit.get("/document", id="A-001").text)
    cut = visit.get("/document.json", id="A-000").json()  # 101 notes
    assert (len(cut["family"]), cut["is_family_truncated"]) == (100, True)
    assert said in words_of(visit.get("/document", id="A-000").text)
