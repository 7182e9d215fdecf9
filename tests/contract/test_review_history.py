"""The history of a group in the review screen: its members in time, and the largest change of each step."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterator

import pytest

from nearkin.web.screens import document
from places import SomePlace, on_one_database
from review_client import LEASE, Visit, words_of

pytestmark = on_one_database

FIRST = f"{LEASE} The rent of 900 crowns is due on the first day of each month, and the landlord repairs the roof."
SECOND = FIRST.replace("900", "950")
THIRD = SECOND.replace("every key", "each key").replace(
    "repairs the roof", "pays for the roof, the gutter and the stove"
)
TEXTS = {"signed": THIRD, "draft": FIRST, "draft, again": FIRST, "offer": SECOND}
"""In the order in which they are added, which is not that of their dates."""
DATES = {"draft": "2023-11-30", "draft, again": "2024-01-02", "offer": "2024-01-15", "signed": "2024-02-01"}


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        rows = list(TEXTS.items())
        collection.add([*rows[:2], ("letter", "Nothing of the kind was ever said by anybody at all.")], wave="may")
        collection.add(rows[2:], wave="april")
        collection.groups()
        yield Visit(collection).sign_in()


def dated(visit: Visit, *names: str, field: str = "date") -> None:
    visit.service.collection.tag_values({name: DATES[name] for name in names}, field)


def steps(visit: Visit, **query: object) -> list[tuple[str, str | None]]:
    """Each document of the history, and the one that it is compared with."""
    found = visit.get("/group/history.json", number=1, **query).json()
    return [(one["doc_id"], one["before"]) for one in found["entries"]]


def in_a_row(*names: str) -> list[tuple[str, str | None]]:
    return list(zip(names, [None, *names]))


def test_members_without_dates_are_in_the_order_in_which_they_were_added(visit: Visit) -> None:
    assert steps(visit) == in_a_row(*TEXTS)
    page = words_of(visit.get("/group/history", number=1).text)
    assert "Ordered as the documents were added" in page
    assert "No document has a tag such as date=2024-03-01 ." in page
    dated(visit, "draft", "signed")
    visit.service.collection.tag(["offer"], "date", "last spring")  # no date
    assert steps(visit) == in_a_row(*TEXTS)
    page = words_of(visit.get("/group/history", number=1).text)
    assert "2 of 4 have a tag date with a date; without: draft, again , offer ." in page


def test_members_with_dates_are_in_the_order_of_these(visit: Visit) -> None:
    dated(visit, *DATES)
    assert steps(visit) == in_a_row(*DATES)
    assert "Ordered by the date of the tag date" in words_of(visit.get("/group/history", number=1).text)
    visit.service.collection.tag(["draft"], "date", "2024-02-01")  # equal dates: as they were added
    assert steps(visit) == in_a_row("draft, again", "offer", "signed", "draft")
    assert steps(visit, date_tag="effective") == in_a_row(*TEXTS)
    dated(visit, *DATES, field="effective")
    assert steps(visit, date_tag="effective") == in_a_row(*DATES)


def test_each_step_shows_its_largest_change_and_leads_to_the_comparison(visit: Visit) -> None:
    dated(visit, *DATES)
    found = visit.get("/group/history.json", number=1).json()
    first, copy, offer, signed = found["entries"]
    assert (first["change"], first["relation"], first["jaccard"]) == (None, "", None)
    assert (copy["change"]["is_same_text"], copy["relation"]) == (True, "exact copy")
    assert (offer["relation"], offer["n_of_kind"]) == ("other numbers or dates", {"numbers": 1})
    assert (offer["change"]["n_words_removed"], offer["change"]["n_words_added"]) == (1, 1)
    assert (signed["change"]["n_differences"], signed["n_of_kind"]["wording"]) == (3, 3)
    added = "".join(one["text"] for one in signed["change"]["passage"] if one["kind"] == "only_b")
    assert added.split() == [",", "the", "gutter", "and", "the", "stove"]  # the first difference is "each"
    shared_5_grams = len(grams(SECOND) & grams(THIRD)) / len(grams(SECOND) | grams(THIRD))
    assert signed["jaccard"] == pytest.approx(shared_5_grams)

    page = visit.get("/group/history", number=1).text
    assert "the gutter and the stove" in words_of(page)
    assert "exact copy (same text) · Jaccard similarity 1.000 with draft" in words_of(page)
    links = [html.unescape(one) for one in re.findall(r'class="button small" href="([^"]*)"', page)]
    assert links == ["/compare?a=draft%2C%20again&b=offer", "/compare?a=offer&b=signed"]
    for link in links:
        visit.get(link)
    assert visit.get("/group", number=1).text.count('href="/group/history?number=1') == 1


def grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}


def test_pages_and_exports_have_the_same_steps(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    dated(visit, *DATES)
    whole = steps(visit)
    monkeypatch.setattr(document, "_MEMBERS_OF_A_PAGE", 3)
    assert [one for page in (1, 2) for one in steps(visit, page=page)] == whole
    assert steps(visit, page=9) == []
    page = visit.get("/group/history", number=1, page=2).text
    assert "3 documents are compared on a page. An export has all of them." in words_of(page)
    assert "Page 2 of 2" in words_of(page)
    rows = list(csv.DictReader(io.StringIO(visit.get("/group/history.csv", number=1).text)))
    assert [(row["doc_id"], row["before"] or None) for row in rows] == whole
    assert [row["date"] for row in rows] == list(DATES.values())
    assert (rows[2]["kinds"], rows[2]["passage"].count("950")) == ("numbers", 1)

    monkeypatch.setattr(document, "_MAX_EXPORTED", 3)
    page = visit.get("/group/history", number=1).text
    assert "Groups of more than 3 documents have no export here" in words_of(page)
    assert "/group/history.csv" not in page
    refused = visit.send("GET", "/group/history.csv?number=1")
    assert (refused.status_code, "up to 3 documents" in refused.text) == (400, True)
