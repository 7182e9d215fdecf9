"""Threads and exceptions on the review screen, over both kinds of database."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from extracted_documents import HEADERS, Row, add_extracted, origin, unread
from places import SomePlace, on_one_database
from review_client import Visit, words_of

pytestmark = on_one_database

QUESTION = "Is the house in Mill Lane sold, and who has the keys of the cellar?"
ANSWER = f"It is sold since Friday.\n\n{QUESTION}"


def mail(name: str, text: str, *refers_to: str, subject: str = "Re: the lease") -> Row:
    """A mail that was sent as many hours after the first as its name says."""
    headers = replace(
        HEADERS, message_id=name, references=refers_to, subject=subject,
        sent_at=HEADERS.sent_at + timedelta(hours=int(name)),  # type: ignore[operator]
    )  # fmt: skip
    return name, text, origin(name, kind="eml", mail=headers), None


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        yield Visit(collection).sign_in()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_thread_is_read_with_its_missing_and_its_inclusive_mails(visit: Visit) -> None:
    collection = visit.service.collection
    assert "There is no mail" in words_of(visit.get("/threads").text)
    add_extracted(
        collection,
        [
            mail("1", QUESTION, "x"),
            mail("2", ANSWER, "x", "1"),
            mail("3", "Tea?", subject="<b>Tea</b>"),
            ("n", "A note.", None, None),
        ],
        wave="march",
    )
    assert "The threads of 3 mails are not computed yet" in words_of(visit.get("/thread", id="1").text)
    assert "Jobs" not in words_of(visit.get("/threads").text)
    assert visit.send("GET", "/threads.csv").status_code == 400

    assert visit.post("/threads/update").headers["location"] == "/threads"
    page = visit.get("/threads").text
    assert "2 threads with 3 mails 2 inclusive · 1 missing" in words_of(page)
    assert "&lt;b&gt;Tea" in page
    assert "Jobs" in words_of(page)
    assert "2 threads with 3 mails" in words_of(visit.get("/jobs").text)

    tree = visit.get("/thread", id="2")
    assert "missing &lt;x&gt; other mails refer to it" in words_of(tree.text)
    assert "not inclusive all of it is in 2" in words_of(tree.text)
    assert "inclusive no later mail of the thread holds all of its text" in words_of(tree.text)
    number = visit.get("/thread.json", id="2").json()["number"]
    read = words_of(visit.get("/thread", number=number, inclusive="1").text)
    assert ("all of it is in 2" in read, "no later mail of the thread holds" in read) == (False, True)
    assert f'href="/thread?number={3 - number}"' in tree.text
    assert 'href="/thread?id=2"' in visit.get("/document", id="2").text
    assert visit.send("GET", "/thread?id=n").status_code == 404
    assert visit.send("GET", "/thread?number=3").status_code == 404
    assert [row["id"] for row in rows_of(visit.get("/threads.csv", inclusive="1").text)] == ["2", "3"]
    assert len(rows_of(visit.get("/threads.csv").text)) == 4


def test_exceptions_are_counted_filtered_and_exported(visit: Visit) -> None:
    assert "Every document gave all of its text" in words_of(visit.get("/exceptions").text)
    part = origin("b", kind="doc", exception="partial", sentence="1 image", is_partial=True)
    add_extracted(
        visit.service.collection, [("=a.pdf", None, unread("a"), None), ("b.doc", QUESTION, part, None)], wave="march"
    )
    add_extracted(
        visit.service.collection, [("c.pdf", None, unread("c"), None), ("note", "A note.", None, None)], wave="april"
    )
    page = visit.get("/exceptions")
    assert "exceptions 3 2 without text, 1 partial" in words_of(page.text)
    assert "encrypted with a password" in page.text
    assert 'href="/document?id=b.doc"' in page.text
    assert 'href="/document?id=c.pdf"' not in page.text  # there is nothing to show
    for wanted, found in (
        ({"wave": "april"}, ["c.pdf"]),
        ({"which": "partial"}, ["b.doc"]),
        ({"reason": "encrypted", "id": "c*"}, ["c.pdf"]),
    ):
        assert [one["doc_id"] for one in visit.get("/exceptions.json", **wanted).json()["exceptions"]] == found
    assert "No exception meets these conditions" in words_of(visit.get("/exceptions", reason="too large").text)
    assert [row["doc_id"] for row in rows_of(visit.get("/exceptions.csv").text)] == ["'=a.pdf", "b.doc", "c.pdf"]
    assert visit.send("GET", "/exceptions?reason=nonsense").status_code == 400
