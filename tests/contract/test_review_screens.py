"""The review screen over both kinds of database: what a reviewer sees, decides and undoes."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.groups import members
from nearkin.errors import ParameterError
from nearkin.web import later
from nearkin.web.screens import groups
from places import SomePlace
from review_client import DOCUMENTS, LEASE, ORIGIN, OWN, Visit, words_of

HOSTILE = "<script>alert(1)</script> & \"quotes\" 'n' ../../etc/passwd Set-Cookie: a=b"

"""A text none of whose word 5-grams is sampled."""


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add([*DOCUMENTS, (HOSTILE, f"{HOSTILE} =1+1 and many other words of no interest to anybody here")])
        yield Visit(collection).sign_in()


def test_a_group_is_found_compared_tagged_and_undone(visit: Visit) -> None:
    assert "not computed yet" in words_of(visit.get("/groups").text)
    answer = visit.post("/groups/update")
    assert (answer.status_code, answer.headers["location"]) == (303, "/groups?measure=jaccard&value=0.5")
    (one,) = visit.get("/groups.json").json()["groups"]
    assert (one["n_documents"], one["n_texts"]) == (3, 2)
    assert visit.get("/groups.json").json()["expected_recall"] == 0.999
    assert "expected recall of pairs 99.9% at Jaccard 0.5, higher above" in words_of(visit.get("/groups").text)

    group = visit.get("/group.json", number=one["number"]).json()
    assert {member["doc_id"] for member in group["members"]} == {"lease", "lease, signed", "lease/copy"}
    assert sorted(member["differs"] for member in group["members"]) == ["nothing", "passage added", "passage added"]
    page = visit.get("/group", number=one["number"]).text
    assert "Signed by Ada Kern" in words_of(page)
    assert re.findall('data-differs="(.*?)"', page) == ["passage added"] * 2

    place = f"/group?number={one['number']}"
    preview = visit.post("/tags", group=one["number"], tag="responsive=yes", back=place)
    assert "Change 3 documents" in words_of(preview.text)
    assert visit.service.collection.tags().counts == ()
    done = visit.post("/tags", group=one["number"], tag="responsive=yes", back=place, expected=3)
    assert done.headers["location"] == f"{place}&done=1"
    assert "tag responsive=yes, 3 documents" in words_of(visit.get(done.headers["location"]).text)
    assert visit.service.collection.log()[0].by == "ada"

    undone = visit.post("/undo", number=1, back=done.headers["location"])
    assert undone.headers["location"] == f"{place}&done=2"
    assert visit.service.collection.tags().counts == ()


def _seen(page: str) -> str:
    """What the forms of a page send back."""
    return re.findall(r'name="seen" value="(\d+)"', page)[0]


def test_a_call_is_not_overwritten_in_silence(visit: Visit) -> None:
    collection = visit.service.collection
    visit.post("/groups/update")
    place = "/document?id=letter"
    fields = {"id": "letter", "tag": "privileged=no", "back": place, "seen": _seen(visit.get(place).text)}
    collection.tag(["letter"], "privileged", "yes", by="bo")
    refused = visit.post("/tags", **fields)
    page = words_of(refused.text)
    assert (refused.status_code, len(collection.log())) == (409, 1)
    when = collection.log()[0].at[:10]
    for shown in (when, " bo ", "letter · privileged : not set → yes", "Your change: set privileged=no"):
        assert shown in page
    assert visit.post("/tags", **fields | {"seen": _seen(refused.text)}).headers["location"] == f"{place}&done=2"
    collection.tag(["letter"], "privileged", "yes", by="bo")
    assert visit.post("/tags", **fields | {"seen": _seen(refused.text)}).status_code == 409

    preview = visit.post("/tags", group=1, tag="responsive=no", seen=_seen(visit.get("/group", number=1).text))
    agreed = re.findall(r'name="(expected|agreed)" value="(\w+)"', preview.text)
    collection.tag(["lease"], "responsive", "yes", by="bo")
    collection.decide(principal="lease, signed", by="bo")
    given = {"group": 1, "tag": "responsive=no", "seen": _seen(preview.text), **dict(agreed)}
    assert visit.post("/tags", **given).status_code == 409
    forms = {
        "/group/principal": {"principal": "lease"},
        "/group/split": {"a": "lease", "split": "lease, signed"},
    }
    number = len(collection.log())
    for path, form in forms.items():
        assert visit.post(path, **form, seen=_seen(preview.text)).status_code == 409
    assert len(collection.log()) == number
    assert visit.post("/group/split", **forms["/group/split"], seen=number).status_code == 303


def sent(visit: Visit, name: str, content: bytes) -> str:
    """Send a file; the address that the form leads to."""
    files = {"file": (name, content, "application/octet-stream")}
    answer = visit.send("POST", "/check-in/file", data={"csrf": visit.csrf}, files=files, headers=OWN)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def test_a_file_is_checked_in_and_stored_as_a_version_or_as_new_or_rejected(visit: Visit) -> None:
    place = sent(visit, "../../lease 2.html", f"<p>{LEASE} Signed by <b>Grace</b> Kern.</p>".encode())
    assert visit.get(place.replace("/check-in?", "/check-in.json?")).json()["verdict"] == "near"
    page = words_of(visit.get(place).text)
    assert "lease 2.html : near: lease" in page
    assert "Grace" in page
    assert not visit.service.collection.has_document("lease 2.html")
    key = place.partition("key=")[2]

    assert visit.post("/check-in/store", key=key, id="letter").status_code == 400
    done = visit.post("/check-in/store", key=key, version_of="lease, signed")
    assert done.headers["location"] == "/document?id=lease%2C%20signed"
    assert visit.service.collection.text("lease, signed").endswith("Signed by Grace Kern.")
    assert visit.send("GET", place).status_code == 400  # it was decided

    key = sent(visit, "new.txt", b"Nothing of this kind was ever written by anybody here before.").partition("key=")[2]
    assert visit.post("/check-in/store", key=key, id="new.txt").status_code == 303
    assert visit.service.collection.has_document("new.txt")

    place = sent(visit, "new.txt", b"NOTHING of this kind was ever written by anybody here before.")
    page = words_of(visit.get(place).text)
    assert "exact (once normalised): new.txt" in page
    assert "exact (once normalised)" in page

    key = sent(visit, "other.txt", b"Some words that nobody wants to keep.").partition("key=")[2]
    assert "nothing was stored" in words_of(visit.get(visit.post("/check-in/reject", key=key).headers["location"]).text)
    assert not visit.service.collection.has_document("other.txt")

    version, new = visit.service.collection.log()
    assert [(one.kind, one.by, one.data) for one in (version, new)] == [("store", "ada", {"wave": "check-ins"})] * 2
    assert [(one.subject, one.was, one.now) for one in (*version.changes, *new.changes)] == [
        ("lease, signed", "version 1", "version 2"), ("new.txt", None, "version 1"),
    ]  # fmt: skip
    page = visit.get("/log").text
    assert "store lease, signed, version 2 in wave check-ins" in words_of(page)
    assert 'action="/undo"' not in page
    with pytest.raises(ParameterError, match="stored documents"):
        visit.service.collection.undo(version.number)
    told = visit.service.collection.fsck()
    assert (told.is_whole, told.rebuilt) == (True, ())


def test_a_file_without_a_text_is_refused_by_its_own_name(visit: Visit) -> None:
    files = {"file": ("../x.pdf", b"%PDF-1.4 damaged", "application/pdf")}
    refused = visit.send("POST", "/check-in/file", data={"csrf": visit.csrf}, files=files, headers=OWN)
    assert (refused.status_code, "/tmp" in refused.text) == (422, False)
    assert "The file cannot be read" in words_of(refused.text)
    assert "x.pdf" in words_of(refused.text)
    assert refused.text.count('<form action="/check-in/file"') == 1  # another file can be chosen at once
    assert visit.post("/check-in/file").status_code == 400


def test_a_history_shows_what_each_version_changed(visit: Visit) -> None:
    visit.service.collection.add([("letter", f"{DOCUMENTS[3][1]} Yours, Grace.")], wave="april")
    first, second = visit.get("/history.json", id="letter").json()["versions"]
    assert (first["change"], second["change"]["n_words_added"]) == (None, 2)
    page = words_of(visit.get("/history", id="letter").text)
    assert "1 difference: 0 words removed, 2 words added" in page
    assert "Yours, Grace." in page
    assert visit.send("GET", "/history?id=nobody").status_code == 404


def test_a_preview_that_is_out_of_date_is_shown_again(visit: Visit) -> None:
    again = visit.post("/tags", id=["lease", "letter"], tag="seen", expected=1)
    assert "Other changes would be made now" in words_of(again.text)
    agreed = re.search('name="agreed" value="([0-9a-f]+)"', again.text)[1]
    other = visit.post("/tags", id=["lease", "lease, signed"], tag="seen", expected=2, agreed=agreed)
    assert "Other changes would be made now" in words_of(other.text)
    assert visit.service.collection.tags().counts == ()
    assert visit.post("/tags", id=["lease", "letter"], tag="seen", expected=2, agreed=agreed).status_code == 303


def test_one_document_is_tagged_and_the_tag_removed_at_once(visit: Visit) -> None:
    assert visit.post("/tags", id="letter", tag="privileged", back="/document?id=letter").status_code == 303
    assert visit.get("/document.json", id="letter").json()["document"]["tags"] == {"privileged": ""}
    assert visit.post("/tags", id="letter", quick="privileged", is_removed="1").status_code == 303
    assert visit.get("/document.json", id="letter").json()["document"]["tags"] == {}
    assert visit.post("/tags", id="letter", tag="").status_code == 400
    assert visit.post("/tags", id="no such document", tag="x").status_code == 404


def test_members_are_split_off_united_and_made_principal(visit: Visit) -> None:
    visit.post("/groups/update")
    (one,) = visit.get("/groups.json").json()["groups"]
    place = f"/group?number={one['number']}"
    other = next(name for name in ("lease", "lease, signed") if name != one["principal"])
    answer = visit.post("/group/principal", principal=other, back=place)
    assert answer.headers["location"] == f"{place}&done=1"
    assert visit.get("/group.json", number=one["number"]).json()["principal"] == other

    answer = visit.post("/group/split", a="lease", split="lease, signed", back=place)
    assert answer.status_code == 303
    page = words_of(visit.get(answer.headers["location"]).text)
    assert re.search(r"lease, signed ?: in no group · lease ?: group 1, 2 documents", page)
    assert "in no group" not in visit.get("/groups", measure="jaccard", value=0.9, done=2).text  # they are not computed
    assert visit.get("/groups.json").json()["groups"][0]["n_documents"] == 2
    for number, n_documents in ((2, 3), (3, 2)):  # an undo can be undone, too
        visit.post("/undo", number=number, back=place)
        assert visit.get("/groups.json").json()["groups"][0]["n_documents"] == n_documents


def test_what_is_like_a_document_follows_the_slider(visit: Visit) -> None:
    for value, n in ((0.3, 2), (1.0, 1)):
        found = visit.get("/document/similar.json", id="lease", measure="jaccard", value=value).json()
        assert found["n_found"] == n
    assert "letters alike" not in visit.get("/document/similar", id="lease", measure="letters", value=0.05).text
    drawn = visit.get("/document/histogram.json", id="lease").json()
    assert (len(drawn["counts"]), sum(drawn["counts"])) == (20, 2)
    assert visit.send("GET", "/document/similar?id=lease&measure=jaccard&value=2").status_code == 400
    assert visit.send("GET", "/document/similar?id=lease&measure=nonsense").status_code == 400
    for path, said in (
        ("/groups?value=abc", "query.value: must be a number. Got: 'abc'"),
        ("/document", "query.id: is missing."),
        ("/list?tag==", "'=' names no tag. Write FIELD or FIELD=VALUE."),
    ):
        assert said in html.unescape(visit.send("GET", path).text), path


def test_texts_and_ids_are_never_html_headers_or_names(visit: Visit) -> None:
    visit.post("/tags", id=HOSTILE, tag='"><img src=x onerror=alert(1)>')
    asked: list[tuple[str, dict[str, object]]] = [
        *((path, {}) for path in ("/", "/list", "/log")),
        *(("/search", {"q": words}) for words in ("alert", HOSTILE)),
        *(("/document", {"id": HOSTILE, "done": done}) for done in (1, 2)),
        ("/document/similar", {"id": HOSTILE, "measure": "letters", "value": 0.1}),
        ("/compare", {"a": HOSTILE, "b": "lease"}),
    ]
    for path, query in asked:
        page = visit.get(path, **query)
        assert not re.search(r"<script>|<img|\son\w+=(?!alert\(1\)&gt;)", page.text), path
        assert "set-cookie" not in page.headers
    refused = visit.send("GET", "/document", params={"id": f"{HOSTILE}?"})
    assert refused.status_code == 404
    assert "<script>alert" not in refused.text


def test_pages_with_thousands_of_differences_have_at_most_3000_elements(visit: Visit) -> None:
    line = "Clause {0} of the lease on house {0} in the long street was signed by part{1} on day {0}."
    texts = ["\n".join(line.format(i, part if i % 10 == 0 else "ies") for i in range(3_000)) for part in ("ner", "y")]
    visit.service.collection.add([(f"long {i}", text) for i, text in enumerate(texts)])
    place = sent(visit, "long.txt", texts[0].replace("partner", "parties").encode())
    for path, query in (
        (place, {}),
        *(("/compare", {"a": "long 0", "b": "long 1", "view": view}) for view in ("inline", "sides")),
    ):
        for _ in range(200):
            page = visit.get(path, **query).text
            if "every 700ms" not in page:
                break
            time.sleep(0.1)
        assert 1_000 < len(re.findall(r"<[a-z]", page)) <= 3_000


def test_what_takes_long_follows_its_page(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    both = {"a": "lease", "b": "lease, signed"}
    visit.post("/groups/update")
    whole = visit.get("/compare", **both).text
    part = visit.get("/document/alike", id="lease").text
    monkeypatch.setattr(later, "AT_ONCE", -1)
    monkeypatch.setattr(later, "_WAITING_S", 0)
    gate = threading.Event()
    compute = visit.service.later.compute
    monkeypatch.setattr(visit.service.later, "compute", lambda work: (gate.wait(10), compute(work))[1])
    assert "every 700ms" in visit.get("/compare", **both).text
    assert visit.send("GET", "/compare", params=both, headers={**OWN, "hx-request": "true"}).status_code == 204
    gate.set()
    assert visit.get("/compare.json", **both).json()["comparison"]["n_changes"] == 1
    assert visit.get("/compare", **both).text == whole
    ready = visit.send("GET", "/compare", params=both, headers={**OWN, "hx-request": "true"})
    assert (ready.headers["hx-refresh"], ready.text) == ("true", "")
    assert "hx-get" in visit.get("/document", id="lease").text
    assert visit.get("/document.json", id="lease").json()["similar"]["n_found"] == 2
    assert words_of(visit.get("/document/alike", id="lease").text)[:60] == words_of(part)[:60]
    with pytest.raises(AssertionError, match="no-such"):
        visit.get("/compare.json", a="lease", b="no-such")
    for path in ("/groups", "/representatives"):  # what is known is shown at once
        page = visit.get(path).text
        assert "data-row" in page
        assert "every 700ms" in page
        visit.get(f"{path}.json")
        assert "every 700ms" not in visit.get(path).text


def test_what_takes_long_delays_no_page_and_no_end(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "AT_ONCE", -1)
    gate, opened = threading.Event(), visit.service.collection.opened
    monkeypatch.setattr(visit.service.later, "compute", lambda work: (gate.wait(10), work(opened))[1])

    async def asked() -> tuple[list[int], list[bool], int]:
        transport = httpx.ASGITransport(visit.app)
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, cookies=visit.cookies) as client:

            def get(path: str, **query: str) -> asyncio.Task[httpx.Response]:
                return asyncio.create_task(client.get(path, params=query, headers=OWN))

            others = [get("/compare.json", a="lease", b=b) for b in ("letter", "lease, signed", "lease/copy")]
            others.append(get("/compare.html", a="letter", b="lease"))
            statuses = [(await get("/list")).status_code]
            early = [other.done() for other in others]
            visit.service.later.close()
            gate.set()
            statuses += [(await other).status_code for other in others]
            return statuses, early, (await get("/compare.json", a="letter", b=HOSTILE)).status_code

    statuses, early, at_end = asyncio.run(asked())
    assert (statuses.count(200), statuses.count(503), early, at_end) == (2, 3, [False] * 4, 503), statuses
    visit.service.workers.close()


def test_a_search_is_saved_and_narrowed(visit: Visit) -> None:
    visit.post("/tags", id="letter", tag="seen=yes")
    assert visit.post("/search/save", name="all letters", q="id:l*").status_code == 303
    found = visit.get("/search/facets.json", q='saved:"all letters"').json()
    assert {
        "field": "tag",
        "values": [{"value": "seen=yes", "n_documents": 1, "query": 'saved:"all letters" tag:seen=yes'}],
    } in found["facets"]
    assert [
        one["doc_id"] for one in visit.get("/search.json", q='saved:"all letters" tag:seen=yes').json()["documents"]
    ] == ["letter"]
    assert [one["name"] for one in visit.get("/search.json").json()["saved"]] == ["all letters"]
    visit.post("/search/save", name="all letters", is_forgotten=True)
    assert visit.send("GET", "/search", params={"q": 'saved:"all letters"'}).status_code == 400


def test_lists_are_exported_and_no_cell_is_a_formula(visit: Visit) -> None:
    visit.service.collection.add([("=cmd|' /C calc'!A0", "A text about nothing that is in the collection already.")])
    answer = visit.get("/list.csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="list.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [row["doc_id"] for row in rows if "cmd" in row["doc_id"]] == ["'=cmd|' /C calc'!A0"]
    assert len(rows) == len(pq.read_table(io.BytesIO(visit.get("/list.parquet").content))) == len(DOCUMENTS) + 2
    visit.post("/tags", id="letter", tag="seen=@x")
    assert ",'@x" in visit.get("/log.csv").text


def test_where_a_form_leads_is_a_page_of_the_service(visit: Visit) -> None:
    places = (
        "https://evil.example/",
        "//evil.example/x",
        "/\\evil.example",
        "javascript:alert(1)",
        "[",
        "x",
        f"/?{'a=1&' * 1_001}",
    )
    for n, back in enumerate(places, 1):
        assert visit.post("/tags", id="letter", tag=f"t{n}", back=back).headers["location"] == f"/?done={n}", back


@pytest.fixture
def one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    """A read-only service over a group of six with five texts; its page compares none, each request after it one."""
    with Collection.open(tmp_path / "m", create=True) as collection:
        words = "noted", "seen again", "read by the owner"
        collection.add([*DOCUMENTS[:3], *[(f"lease {word}", f"{LEASE} It was {word}.") for word in words]])
        collection.groups()
    monkeypatch.setattr(groups, "_COMPARING_S", -1.0)
    monkeypatch.setattr(groups, "_FOLLOWING_S", -1.0)
    monkeypatch.setattr(members, "_A_LOT", 1)
    with Collection.open(tmp_path / "m", read_only=True) as collection:
        visit = Visit(collection).sign_in()
        yield visit
        visit.service.jobs.close()


def _next_differences(page: str) -> str | None:
    found = re.search(r'hx-get="(/group/differences[^"]*)"', page)
    return None if found is None else html.unescape(found[1])


def test_differences_follow_once_each_where_they_cannot_be_stored(one_at_a_time: Visit) -> None:
    page, shown = one_at_a_time.get("/group", number=1).text, list[list[str]]()
    while (following := _next_differences(page)) is not None:
        page = one_at_a_time.get(following).text
        shown.append(re.findall(r'id="differs-(\d+)"', page))
    assert [len(some) for some in shown] == [2, 1, 1, 1]  # the shortest is the text of two members
    assert len({place for some in shown for place in some}) == 5


def test_nothing_is_changed_read_only(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "m", create=True) as collection:
        collection.add(DOCUMENTS)
        collection.groups()
    with Collection.open(tmp_path / "m", read_only=True) as collection:
        visit = Visit(collection).sign_in()
        page = visit.get("/group", number=1).text
        assert "read-only" in words_of(page)
        assert 'method="post"' not in page
        assert visit.post("/tags", id="lease", tag="x").status_code == 403
        assert visit.post("/groups/update").status_code == 403
    with Collection.open(tmp_path / "m") as collection:
        assert collection.log() == []
