"""Files that were unreadable are read with another encoding, shown, and stored only on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from nearkin.collection.collection import Collection
from nearkin.runs.progress import Silent
from nearkin.workflows.collection.adding import add_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from review_client import OWN, Visit, words_of

CZECH = "Erl\u00e1n\u00ed \u00fa\u0159adu a zp\u016fsob hodn\u00fd"


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    for i in range(9):
        (folder / f"{i}.txt").write_text(f"A text number {i} that can be read by everybody.")
    (folder / "czech.txt").write_bytes(CZECH.encode("cp1250"))
    (folder / "deep" / "cafe.txt").write_bytes("un caf\u00e9 au lait".encode("cp1252"))
    for place in ("same.txt", "deep/same.txt"):
        (folder / place).write_bytes(b"d\xe9j\xe0 vu in two places")
    with Collection.open(tmp_path / "matter", create=True) as collection:
        texts = ReadingRequest(inputs=[str(folder)]).opened(Silent())
        add_files(collection, texts, wave="march", resources=Resources(), progress=Silent())
        found = Visit(collection).sign_in()
        yield found
        found.service.jobs.close()


def send(visit: Visit, encoding: str, *files: tuple[str, bytes], **fields: str) -> str:
    """Send files; the address that the form leads to."""
    parts = [("file", (name, content, "text/plain")) for name, content in files]
    data = {"csrf": visit.csrf, "encoding": encoding, **fields}
    answer = visit.send("POST", "/exceptions/read", data=data, files=parts or None, headers=OWN)
    assert answer.status_code == 303, answer.text
    visit.service.jobs.wait(int(job_of(answer.headers["location"])), 60)
    return answer.headers["location"]


def store(visit: Visit, place: str) -> str:
    """Store what was read; the message of the job."""
    assert visit.post("/exceptions/store", job=job_of(place)).status_code == 303
    job = visit.service.jobs.wait(visit.service.jobs.listed()[0].number, 60)
    assert job is not None
    return job.message


def job_of(place: str) -> str:
    return parse_qs(place.partition("?")[2])["job"][0]


def test_a_text_is_seen_in_other_encodings_before_it_is_stored(visit: Visit) -> None:
    assert visit.get("/exceptions.json").json()["n_no_text"] == 4
    assert "Read files again" in words_of(visit.get("/exceptions").text)
    content = CZECH.encode("cp1250")
    place = send(visit, "cp1252", ("czech.txt", content), ("cafe.txt", b"un caf\xe9 au lait"), ("other.txt", b"x"))
    page = words_of(visit.get(place).text)
    assert CZECH not in page
    assert "un caf\u00e9 au lait" in page
    assert "no exception has this name" in page
    place = send(visit, "cp1250", job=job_of(place))
    page = words_of(visit.get(place).text)
    assert CZECH in page
    assert "Store 2 texts" in page
    assert not visit.service.collection.has_document("czech.txt")

    assert store(visit, place) == "2 documents stored"
    assert "2 documents stored" in words_of(visit.get("/exceptions", stored=visit.service.jobs.listed()[0].number).text)
    stored = visit.service.collection.details("czech.txt")
    assert (stored.text, stored.document.wave, stored.document.source) == (CZECH, "march", "sent: czech.txt")
    (activity,) = visit.service.collection.log()
    assert (activity.kind, activity.by, activity.data) == ("store", "ada", {"wave": "march"})
    assert {one.subject for one in activity.changes} == {"czech.txt", "deep/cafe.txt"}
    assert visit.get("/exceptions.json").json()["n_no_text"] == 2
    assert visit.post("/exceptions/store", job=job_of(place)).status_code == 400  # they were stored
    assert {one.kind for one in visit.service.jobs.listed()} == {"reading", "storing"}
    assert "files read again" in words_of(visit.get("/jobs").text)


def test_what_cannot_be_assigned_or_read_is_said(visit: Visit) -> None:
    place = send(visit, "euc-kr", ("same.txt", b"d\xe9j\xe0"), ("czech.txt", b"\xff"), ("cafe.txt", b"  "))
    problems = [one["problem"] for one in visit.get(place.replace("read?", "read.json?")).json()["files"]]
    assert problems[0] == "2 exceptions have this name"
    assert "czech.txt" in problems[1]
    assert "/tmp" not in problems[1]
    assert problems[2] == "no text was found in it"
    assert "Store" not in words_of(visit.get(place).text)
    refused = visit.send("POST", "/exceptions/read", data={"csrf": visit.csrf, "encoding": "cp1250"}, headers=OWN)
    assert (refused.status_code, "Choose the files first" in refused.text) == (400, True)
    assert visit.post("/exceptions/read", encoding="zip", job="1").status_code == 400
    assert visit.send("GET", "/exceptions/read?job=99").status_code == 400


def test_a_document_that_was_stored_meanwhile_stays_as_it_is(visit: Visit) -> None:
    place = send(visit, "cp1250", ("czech.txt", CZECH.encode("cp1250")))
    visit.service.collection.add([("czech.txt", "A better text.")], wave="april")
    assert store(visit, place) == "0 documents stored"
    assert visit.service.collection.text("czech.txt") == "A better text."
