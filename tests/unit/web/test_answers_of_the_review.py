"""Answers of the service that were wrong or cost too much once: each test fails without its mend."""

from __future__ import annotations

import html
import io
import json
import re
import shlex
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from extracted_documents import HEADERS, add_extracted, origin
from nearkin.errors import CollectionBusyError
from nearkin.web.screens import SCREENS
from review_client import LEASE, OWN, Visit, small_collection, words_of


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    with small_collection(tmp_path) as collection:
        found = Visit(collection).sign_in()
        yield found
        found.service.jobs.close()


def call(visit: Visit, method: str, path: str, **parts: object) -> tuple[int, dict[str, object]]:
    """Send a request of a script; its status and its JSON."""
    headers = {"authorization": f"Bearer {visit.entry.token}"}
    answer = visit.send(method, f"/api/v1{path}", headers=headers, **parts)
    return answer.status_code, answer.json()


def test_groups_are_made_by_words_or_letters_only(visit: Visit) -> None:
    for method, path in (("POST", "/groups"), ("GET", "/groups"), ("GET", "/groups/1")):
        status, told = call(visit, method, f"{path}?measure=containment")
        assert (status, told["where"]) == (400, "query.measure"), path
    assert visit.service.jobs.listed() == []
    for path in ("/", "/groups", "/group?number=1", "/conflicts", "/since", "/list"):
        address = f"{path}{'&' if '?' in path else '?'}measure=edit"
        assert visit.send("GET", address).status_code == 400, path
    page = visit.post("/groups/update", measure="edit").text
    assert "form.measure: must be 'jaccard' or 'letters'. Got: 'edit'" in html.unescape(page)


def test_an_id_with_line_breaks_is_refused(visit: Visit) -> None:
    path = f"/documents/{quote('two' + chr(10) + 'lines', safe='')}"
    assert call(visit, "PUT", path, content=b"Some words.")[0] == 404


def test_a_document_from_a_file_has_its_origin(visit: Visit) -> None:
    add_extracted(visit.service.collection, [("box!1", LEASE, origin("e", kind="eml", mail=HEADERS), "box")])
    found = call(visit, "GET", f"/documents/{quote('box!1', safe='')}")[1]
    assert (found["parent"], found["origin"]["kind"]) == ("box", "eml")
    assert found["origin"]["mail"]["subject"] == HEADERS.subject


def test_a_stored_decision_is_told_as_stored_if_the_groups_cannot_be_updated(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit.post("/groups/update")
    (one,) = visit.get("/groups.json").json()["groups"]
    place = f"/group?number={one['number']}"

    def busy(*_: object, **__: object) -> None:
        raise CollectionBusyError("Another process is writing.")

    monkeypatch.setattr("nearkin.web.jobs.group", busy)
    for answer in (
        visit.post("/group/split", a="lease", split="lease, signed", back=place),
        visit.post("/undo", number=1, back=f"{place}&done=1&job=2"),
    ):
        assert answer.status_code == 303, answer.text
        page = words_of(visit.get(answer.headers["location"]).text)
        assert "The decision is stored, but the groups could not be updated: Another process is writing." in page
    assert len(visit.service.collection.log()) == 2
    monkeypatch.undo()
    answer = visit.post("/group/principal", principal="lease", back="/document?id=lease&measure=containment&value=0.8")
    assert answer.headers["location"] == "/document?id=lease&measure=containment&value=0.8&done=3"
    visit.post("/group/split", a="lease", split="lease, signed", back=place)
    answer = visit.post("/undo", number=4, back="/document?id=lease&measure=containment&value=0.8&number=x")
    assert answer.status_code == 303


def test_the_changes_of_a_comparison_are_a_word_document_by_the_visitor(visit: Visit) -> None:
    page = visit.get("/compare", a="lease", b="lease, signed", ignore="case").text
    assert words_of(page).count("words only in B") == 1
    (link,) = re.findall(r'href="(/compare\.docx[^"]*)" download', page)
    answer = visit.get(html.unescape(link))
    assert answer.headers["content-disposition"] == 'attachment; filename="compare.docx"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = archive.read("word/document.xml").decode()
    assert re.findall(r'<w:(ins|del) [^>]*w:author="([^"]*)"', found) == [("ins", "ada")]
    assert "Signed by Ada Kern." in found
    assert visit.send("GET", "/compare.docx?a=lease&b=nobody").status_code == 404


def test_of_two_files_stored_as_new_at_once_one_gets_the_id(visit: Visit) -> None:
    def keep(n: int) -> str:
        files = {"file": (f"{n}.txt", f"The {n}th text of its kind, with some words of its own.".encode())}
        answer = visit.send("POST", "/check-in/file", data={"csrf": visit.csrf}, files=files, headers=OWN)
        return answer.headers["location"].partition("key=")[2]

    keys, meet, statuses = [keep(n) for n in range(2)], threading.Barrier(2), list[int]()
    has_document = visit.service.collection.has_document

    def both_look_first(doc_id: str) -> bool:  # whoever looks before the transaction finds nothing
        found = has_document(doc_id)
        meet.wait(10)
        return found

    visit.service.collection.has_document = both_look_first  # type: ignore[method-assign]
    cookies = visit.cookies

    def store(key: str) -> None:
        other = Visit.__new__(Visit)
        other.__dict__ = {**visit.__dict__, "cookies": cookies}
        statuses.append(other.post("/check-in/store", key=key, id="same").status_code)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(store, keys))
    assert sorted(statuses) == [303, 400]
    assert visit.service.collection.details("same").versions == (1,)


def test_an_export_has_all_rows_in_every_format(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    visit.service.collection.groups()
    visit.post("/tags", id="lease", tag="seen")
    monkeypatch.setattr("nearkin.web.screens.administration._MAX_SHOWN", 1)
    visit.post("/tags", id="letter", tag="seen")
    lines = visit.get("/log.jsonl").text.splitlines()
    assert [json.loads(line)["subject"] for line in lines] == ["lease", "letter"]
    assert len(visit.get("/log.json").json()["activities"]) == 1
    for screen in SCREENS:
        if screen.table is not None:
            for suffix in (".csv", ".parquet", ".jsonl"):
                status = visit.send("GET", f"{screen.path}{suffix}", params={"q": "lease"}).status_code
                assert status == 200 or (
                    screen.path in ("/since", "/group/history", "/threads", "/pairs") and status == 400
                ), screen.path
    for path in ("/list", "/log", "/exceptions", "/search?q=tenant"):
        links = re.findall(r'<a href="(/[^"]*)" download>', visit.get(path).text)
        assert {link.partition("?")[0].rpartition(".")[2] for link in links} == {
            "csv", "parquet", "jsonl", "parameters"
        }, path  # fmt: skip


def test_a_sent_file_has_the_name_that_its_sender_gave_it(visit: Visit) -> None:
    path = "/check?name=in%20a%20folder/the%20document.pdf"
    status, told = call(visit, "POST", path, content=b"%PDF-1.4 damaged")
    assert (status, str(told["message"]).startswith("in a folder/the document.pdf: ")) == (422, True)
    assert call(visit, "POST", "/check?encoding=cp1252", content=b"caf\xe9 au lait")[0] == 200


def test_audits_are_made_by_a_job_and_are_part_of_the_digest(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = visit.get("/defensibility.json").json()
    assert before["data"]["audits"] is None
    assert visit.post("/defensibility/audit").status_code == 303
    visit.service.jobs.wait(1, 60)
    (tmp_path / "defensibility.json").write_bytes(visit.get("/defensibility.json").content)
    after = visit.get("/defensibility.json").json()
    assert after["sha256"] != before["sha256"]
    monkeypatch.chdir(tmp_path)
    command = re.search("<code>(python3 .*?)</code>", visit.get("/defensibility").text)
    assert command is not None
    _, option, program = shlex.split(html.unescape(command[1]))
    assert option == "-c"
    exec(program)
    assert capsys.readouterr().out == f"{after['sha256']}\n"
    assert visit.get("/defensibility.json", integrity="1").json()["data"]["integrity"] is not None
    letters, words = after["data"]["audits"]["audits"]
    assert ("gamma" in letters["pairs"], "Jaccard" in words["pairs"]) == (True, True)
    assert (words["n_sampled"], words["n_true"], words["recall"]) == (3, 2, 1.0)
    page = words_of(visit.get("/defensibility").text)
    assert after["sha256"] in page
    assert "100% exact: every document was sampled" in page
    made = visit.service.audits.made
    assert made is not None
    missing = replace(made.audits[1].estimate, n_found=1, recall=0.5, low=0.5, high=0.5)
    by_wording = replace(made.audits[1], estimate=missing, predicted_recall=0.9)
    visit.service.audits.made = replace(made, audits=[made.audits[0], by_wording])
    assert "40.00 points above the recall" in words_of(visit.get("/defensibility").text)
    told = visit.get("/defensibility.json").json()["data"]["audits"]["audits"]
    assert [one["below_predicted"] for one in told] == [None, 0.4]
    (job,) = visit.service.jobs.listed()
    assert (job.kind, job.state) == ("audit", "done")
    visit.service.collection.add([("new", "Some words of a new document.")], wave="april")
    assert visit.get("/defensibility.json").json()["data"]["audits"]["is_outdated"]
    assert "documents were added or removed since" in words_of(visit.get("/defensibility").text)
