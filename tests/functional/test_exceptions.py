"""Files that gave no text, or only a part of it: in collections, and in ``exceptions.csv`` of every run."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here
from generator import office_files as make
from made_up_prose import Prose
from nearkin import Collection
from nearkin.stages.documents.extraction import versions

PROSE = Prose(22)
HEADERS = {"From": "ada@b.org", "To": "bo@c.org", "Subject": "Offer", "Message-ID": "<1@b.org>",
           "Date": "Mon, 1 Jan 2024 10:00:00 +0000"}  # fmt: skip
ANSWER = {**HEADERS, "Subject": "Re: Offer", "Message-ID": "<2@b.org>", "In-Reply-To": "<1@b.org>",
          "Date": "Tue, 2 Jan 2024 10:00:00 +0000"}  # fmt: skip
FIRST, SECOND = PROSE.text(30), PROSE.text(30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Mails with attachments that are read, or not; a damaged file, a partial one, texts."""
    made = tmp_path_factory.mktemp("files") / "case"
    made.mkdir()
    files = {
        "1.eml": make.mail(
            HEADERS, FIRST, {"offer.rtf": make.rtf([FIRST]), "scan.pdf": make.pdf([FIRST], is_scan=True)}
        ),
        "2.eml": make.mail(ANSWER, f"{SECOND}\n\n> {FIRST}", {}),
        "damaged.pdf": make.pdf([FIRST])[:300],
        "note.txt": FIRST.encode(),
        "blank.txt": b"\n",
        "table.rtf": make.rtf([SECOND])[:-1] + b"{\\object{\\*\\objdata 0105}}}",
    }
    for name, content in files.items():
        (made / name).write_bytes(content)
    return made


@pytest.fixture(scope="module")
def matter(folder) -> Path:
    place = folder.parent / "matter"
    added = nearkin_here("add", place, folder, "--wave", "march")
    assert added.code == 0, added.err
    said = "8 found, 2 of them inside other files: 5 with text (1 partial), 1 empty document, 2 not stored"
    assert f"{said}. For the reasons: nearkin exceptions {place}" in " ".join(added.out.split())
    assert "list those" not in added.out
    assert "march: 6 documents, 6 new" in added.out  # 8 - 3 + 1
    assert "could not be stored" not in added.out
    return place


def test_exceptions_of_a_collection(matter, tmp_path):
    told = nearkin_here("exceptions", matter)
    told.assert_clean()
    said = " ".join(told.out.split())
    for words in ("1 0 image only march", "0 1 embedded objects lost march", "corrupt march damaged.pdf",
                  "embedded objects lost (partial) march table.rtf", "empty march blank.txt no text was found in it",
                  "4 exceptions (3 without text, 1 partial)"):  # fmt: skip
        assert words in said, (words, said)
    found = json.loads(nearkin_here("exceptions", matter, "--json", "--limit", "1").out)
    assert (found["n_no_text"], found["n_partial"], found["is_truncated"]) == (3, 1, True)
    (scan,) = found["exceptions"]
    assert (scan["doc_id"], scan["parent"], scan["kind"]) == ("1.eml!scan.pdf", "1.eml", "pdf")
    assert len(scan["sha256"]) == 64
    for name in ("some.csv", "some.parquet"):
        told = nearkin_here("exceptions", matter, "--out", tmp_path / name, "--partial")
        assert told.err.startswith("wrote 1 exception to ")
    assert pq.read_table(tmp_path / "some.parquet")["doc_id"].to_pylist() == ["table.rtf"]
    assert next(csv.DictReader((tmp_path / "some.csv").open()))["exception"] == "embedded objects lost"
    assert "table.rtf" not in nearkin_here("exceptions", matter, "--no-text").out
    assert nearkin_here("exceptions", matter, "--no-text", "--partial").code == 2
    assert nearkin_here("exceptions", matter, "--reason", "unread").code == 2
    assert "No exceptions meet these conditions." in nearkin_here("exceptions", matter, "--kind", "odt").out


def test_info_show_and_list_know_the_files(matter):
    info = nearkin_here("info", matter).out
    assert "4 documents extracted from files" in info
    assert "4 exceptions (3 without text, 1 partial): nearkin exceptions" in info
    shown = " ".join(nearkin_here("show", matter, "table.rtf").out.split())
    assert "rtf, " in shown
    assert "extracted by xberg " in shown
    assert "only a part of the text, embedded objects lost: " in shown
    assert "inside 1.eml" in nearkin_here("show", matter, "1.eml!offer.rtf").out
    assert " eml " in nearkin_here("list", matter).out
    assert json.loads(nearkin_here("show", matter, "1.eml", "--json").out)["origin"]["mail"]["message_id"] == "1@b.org"


def test_show_has_headers_and_family_of_a_mail(matter):
    shown = nearkin_here("show", matter, "1.eml").out.splitlines()
    for label in ("from", "subject"):
        assert f"{label}: {HEADERS[label.capitalize()]}" in shown
    assert "same family: 2 other documents: 1.eml!offer.rtf, 1.eml!scan.pdf (no text)" in shown
    shown = nearkin_here("show", matter, "1.eml!offer.rtf").out.splitlines()
    assert "same family: 2 other documents: 1.eml, 1.eml!scan.pdf (no text)" in shown
    assert "same family" not in nearkin_here("show", matter, "note.txt").out
    family = json.loads(nearkin_here("show", matter, "1.eml!offer.rtf", "--json").out)["family"]
    assert family["is_truncated"] is False
    assert [(one["doc_id"], one["is_stored"], one["is_above"]) for one in family["members"]] == [
        ("1.eml", True, True), ("1.eml!scan.pdf", False, False)
    ]  # fmt: skip
    assert json.loads(nearkin_here("show", matter, "note.txt", "--json").out)["family"]["members"] == []


def test_a_collection_without_documents_has_none_that_gave_its_text(tmp_path):
    (tmp_path / "damaged.pdf").write_bytes(make.pdf([FIRST])[:300])
    assert nearkin_here("add", tmp_path / "matter", tmp_path / "damaged.pdf").code == 3
    assert not (tmp_path / "matter").exists()
    Collection.open(tmp_path / "matter", create=True).close()
    assert nearkin_here("exceptions", tmp_path / "matter").out == "The collection has no documents.\n"


def listed(path: Path) -> list[list[str]]:
    """What is said of each document, apart from its file."""
    with path.open(newline="") as file:
        return sorted(row[:5] for row in csv.reader(file))


def test_threads_of_a_collection_are_those_of_its_files(folder, matter, tmp_path):
    for name, place in (("files", folder), ("stored", matter)):
        ended = nearkin_here("threads", place, "--out", tmp_path / name, "-q")
        assert ended.code == 0, ended.err
    files, stored = (pq.read_table(tmp_path / name / "threads.parquet") for name in ("files", "stored"))
    of_place = {"row", "source", "line"}
    assert stored.drop_columns(of_place).equals(files.drop_columns(of_place))
    assert stored["n_attachments"].to_pylist() == [2, 0]
    exceptions = [listed(tmp_path / name / "exceptions.csv") for name in ("files", "stored")]
    assert sorted(exceptions[0]) == sorted(exceptions[1])
    counts = [json.loads((tmp_path / name / "manifest.json").read_text())["counts"] for name in ("files", "stored")]
    assert counts[0] == counts[1]


def test_counts_of_threads_are_those_of_the_listed_exceptions(tmp_path):
    files = {
        "empty.eml": make.mail(HEADERS, "", {"blank.txt": b" "}), "head.eml": b"From: a@b.org\nSubject: x\n",
        "cut.eml": make.mail(ANSWER, SECOND, {"offer.rtf": make.rtf([FIRST])})[:-9], "note.txt": b"",
    }  # fmt: skip
    (tmp_path / "in").mkdir()
    for name, content in files.items():
        (tmp_path / "in" / name).write_bytes(content)
    said = "6 exceptions (4 without text, 2 partial): 3 corrupt, 3 empty; see exceptions.csv"
    for command in ("threads", "dedup"):
        ended = nearkin_here(command, tmp_path / "in", "--out", tmp_path / command)
        assert said in " ".join(ended.out.split()), ended.out
    rows = [listed(tmp_path / command / "exceptions.csv") for command in ("threads", "dedup")]
    assert [[row[0], *row[2:4]] for row in rows[0]] == [[row[0], *row[2:4]] for row in rows[1]]
    added = nearkin_here("add", tmp_path / "matter", tmp_path / "in")
    said = (
        "6 found, 2 of them inside other files: 2 with text (2 partial), 4 empty documents. For the reasons: "
        "nearkin exceptions"
    )
    assert said in " ".join(added.out.split())
    counted = nearkin_here("exceptions", tmp_path / "matter").out
    assert "6 exceptions (4 without text, 2 partial)" in counted


def test_a_newer_extractor_changes_nothing_until_it_is_asked_to(folder, tmp_path, monkeypatch):
    place = tmp_path / "matter"
    (tmp_path / "in").mkdir()
    (tmp_path / "in/1.eml").write_bytes((folder / "1.eml").read_bytes())
    assert nearkin_here("add", place, tmp_path / "in").code == 0
    with monkeypatch.context() as patched:
        patched.setitem(versions._OWN, "nearkin mail", "nearkin mail 2")
        versions.current_name.cache_clear()
        assert "1 text is of another version of an extractor" in nearkin_here("info", place).out
    versions.current_name.cache_clear()
    assert "another version" not in nearkin_here("info", place).out
    again = nearkin_here("add", place, tmp_path / "in", "--re-extract").out
    assert "0 new, 0 changed, 2 unchanged" in again


def test_a_run_of_records_has_exceptions_too(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "It was"}\n{"id": "b"}\n{"id": "c", "text": " "}\n')
    assert nearkin_here("dedup", tmp_path / "in.jsonl", "--out", tmp_path / "out", "-q", "--no-report").code == 0
    with (tmp_path / "out/exceptions.csv").open(newline="") as file:
        found = [(one["id"], one["exception"], one["sentence"]) for one in csv.DictReader(file)]
    assert found == [("b", "unreadable", "the object has no key 'text'"), ("c", "empty", "no text was found in it")]
    (tmp_path / "whole.jsonl").write_text('{"id": "a", "text": "It was"}\n')
    assert nearkin_here("dedup", tmp_path / "whole.jsonl", "--out", tmp_path / "none", "-q", "--no-report").code == 0
    assert not (tmp_path / "none/exceptions.csv").exists()


def test_an_empty_document_that_repeats_an_id_has_both_sentences(tmp_path):
    for folder in ("e1", "e2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "empty.txt").write_text("")
        (tmp_path / folder / "note.txt").write_text(FIRST if folder == "e1" else SECOND)
    rows = ['{"id": "a", "text": "It was"}', '{"id": "a", "text": ""}', '{"id": "a"}', '{"id": "b", "text": ""}', "{}"]
    (tmp_path / "rep.jsonl").write_text("\n".join(rows) + "\n")
    ended = nearkin_here("dedup", "e1", "e2", "--out", "folders", "--no-report", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert "exceptions.csv lists 2 documents without text: 2 empty" in ended.out
    assert "Documents that repeat an id: 2 (see problems.parquet); without an id: 0\n" in ended.out
    nothing = "no text was found in it"
    assert [row[4] for row in listed(tmp_path / "folders/exceptions.csv")[:2]] == [
        nothing,
        f"{nothing}; the id 'empty.txt' was already used at e1/empty.txt:1; "
        "this document is called empty.txt (e2/empty.txt:1)",
    ]
    options = ("--out", "records", "--no-report", "--max-unreadable", "1")
    assert nearkin_here("dedup", "rep.jsonl", *options, cwd=tmp_path).code == 0
    earlier = "the id 'a' was already used at rep.jsonl:1; this document is called a"
    with (tmp_path / "records/exceptions.csv").open(newline="") as file:
        told = [(row["id"], row["name"], row["sentence"]) for row in csv.DictReader(file)]
    assert told == [
        ("a", "a (rep.jsonl:2)", f"{nothing}; {earlier} (rep.jsonl:2)"),
        ("a", "a (rep.jsonl:3)", f"the object has no key 'text'; {earlier} (rep.jsonl:3)"),
        ("b", "b", nothing),
        ("", "rep.jsonl:5", "the object has no key 'text'"),
    ]
    documents = pq.read_table(tmp_path / "records/documents.parquet").to_pylist()
    assert [(row["id"] or "", row["name"]) for row in documents[1:]] == [row[:2] for row in told]
    assert nearkin_here("regroup", "records", "--out", "again", "--threshold", "0.8", cwd=tmp_path).code == 0
    assert listed(tmp_path / "again/exceptions.csv") == listed(tmp_path / "records/exceptions.csv")


def test_summary_and_report_count_the_exceptions_of_texts_as_those_of_an_archive(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/empty.txt").write_text("")
    (tmp_path / "texts/note.txt").write_text(FIRST)
    (tmp_path / "other.jsonl").write_text('{"id": "b"}\n{"id": "c", "text": " "}\n{"id": "d", "text": "It was"}\n')
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        for name in ("empty.txt", "note.txt"):
            archive.write(tmp_path / "texts" / name, name)
    said = "exceptions.csv lists 1 document without text: 1 empty"
    both = "exceptions.csv lists 3 documents without text (2 of them in the other set): 2 empty, 1 unreadable"
    against = ("--against", "other.jsonl", "--max-unreadable", "1")
    assert nearkin_here("add", "matter", "other.jsonl", "--max-unreadable", "1", cwd=tmp_path).code == 0
    stored = ("--against", "matter")  # its row without a text is none of its documents
    cases = (("texts", (), said), ("texts.zip", (), said), ("texts", against, both), ("texts", stored, both))
    for source, more, words in cases:
        out = tmp_path / f"out-{source}-{len(more)}"
        ended = nearkin_here("dedup", source, *more, "--out", out, cwd=tmp_path)
        assert words in ended.out, ended.out
        page = (out / "report.html").read_text("utf-8")
        assert page.count('href="#exceptions"') == page.count('id="exceptions"') == 1
        title = "Extracted documents" if source == "texts.zip" else "Exceptions"
        assert f'<h2 id="exceptions">{title}</h2>' in page
        assert "no text was found in it" in page
        n_listed = len(listed(out / "exceptions.csv")) - 1
        assert n_listed == int(words.split()[2])
    whole = nearkin_here("dedup", "texts/note.txt", "--out", "whole", cwd=tmp_path)
    assert "exception" not in whole.out
    assert 'id="exceptions"' not in (tmp_path / "whole/report.html").read_text("utf-8")


def test_pairs_and_signatures_have_exceptions(folder, tmp_path):
    (tmp_path / "note.txt").write_text(f"{FIRST} {FIRST}")
    right = ("--right", tmp_path / "note.txt")
    ended = nearkin_here("pairs", "--left", folder, *right, "--out", tmp_path / "pairs", "-q", "--no-report")
    assert ended.code == 0, ended.err
    lines = (tmp_path / "pairs/exceptions.csv").read_text().splitlines()
    assert [line.split(",")[:4] for line in lines[1:]] == [
        ["1.eml!scan.pdf", "1.eml", "image only", "false"],
        ["blank.txt", "", "empty", "false"],
        ["damaged.pdf", "", "corrupt", "false"],
        ["table.rtf", "", "embedded objects lost", "true"],
    ]
    ended = nearkin_here("sign", folder, "--out", tmp_path / "case.bits", "-q")
    assert ended.code == 0, ended.err
    assert (tmp_path / "case-exceptions.csv").read_text().splitlines() == lines
    blank = hashlib.sha256((folder / "blank.txt").read_bytes()).hexdigest()
    # a text that was not extracted has the bytes of its file
    assert lines[2].endswith(f",text,{blank},1,blank.txt,1,blank.txt")
    told = nearkin_here("dedup", folder, "--out", tmp_path / "dedup", "-q", "--no-report")
    assert told.code == 0, told.err
    assert (tmp_path / "dedup/exceptions.csv").read_text().splitlines() == lines
    assert nearkin_here("sign", tmp_path / "note.txt", "--out", tmp_path / "case.bits", "--overwrite", "-q").code == 0
    assert len((tmp_path / "case-exceptions.csv").read_text().splitlines()) == 1  # no longer those of other files
    (tmp_path / "mine-exceptions.csv").write_text("written by somebody else")
    refused = nearkin_here("sign", tmp_path / "note.txt", "--out", tmp_path / "mine.bits", "-q")
    assert refused.code == 5
    assert "mine-exceptions.csv already exists" in refused.err
    assert not (tmp_path / "mine.bits").exists()


@pytest.mark.parametrize(
    "asked",
    [("check",), ("similar", "--file"), ("compare", "2.eml", "--file")],
    ids=["check", "similar", "compare"],
)
def test_a_question_about_a_partial_text_says_what_it_lacks(asked, matter, folder):
    command, *before = asked
    for name, lacks in (("table.rtf", "an embedded object was not read"), ("note.txt", None)):
        said = f"Only a part of {'the text' if command == 'check' else folder / name} was read: {lacks}"
        told = nearkin_here(command, matter, *before, folder / name)
        assert (said in told.out) == (lacks is not None)
        told = json.loads(nearkin_here(command, matter, *before, folder / name, "--json").out)
        assert (told["b"] if command == "compare" else told)["missing"] == lacks


def test_a_comparison_of_files_says_which_is_partial(folder):
    files = folder / "note.txt", folder / "table.rtf"
    assert f"Only a part of {files[1]} was read" in nearkin_here("compare", *files).out
    told = json.loads(nearkin_here("compare", *files, "--json").out)
    assert told["a"]["missing"] is None
    assert told["b"]["missing"]


def test_binary_data_is_not_called_text(tmp_path):
    """In every list of exceptions, however the file is read: by itself, in a folder, in an archive."""
    noise = bytes(range(256)) * 12
    files = {"noise.bin": noise, "program.exe": b"MZ\x90\0" + noise, "old.txt": b"Gr\xfc\xdfe aus M\xfcnchen. " * 9}
    folder = tmp_path / "files"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "note.txt").write_text("The rent is due on the first day of each month.", "utf-8")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("noise.bin", "program.exe", "note.txt"):
            archive.write(folder / name, name)
    kinds = {"noise.bin": "unsupported", "program.exe": "unsupported"}
    as_texts = kinds | {"old.txt": "text"}
    for source, form, expected in (
        (folder, "file", as_texts),
        (folder, "document", kinds),
        (folder, None, as_texts),
        (tmp_path / "all.zip", None, kinds),
    ):
        options = ["--max-unreadable", "1", "-q", *(["--format", form] if form else [])]
        out, matter = tmp_path / f"out-{source.name}-{form}", tmp_path / f"matter-{source.name}-{form}"
        assert nearkin_here("dedup", source, "--out", out, *options).code == 0
        with (out / "exceptions.csv").open(encoding="utf-8", newline="") as file:
            assert {row["id"].rpartition("!")[2]: row["kind"] for row in csv.DictReader(file)} == expected
        assert nearkin_here("add", matter, source, *options).code == 0
        listed = json.loads(nearkin_here("exceptions", matter, "--json").out)["exceptions"]
        assert {one["doc_id"].rpartition("!")[2]: one["kind"] for one in listed} == expected


def test_records_that_repeat_an_id_and_fail_have_their_places(tmp_path):
    def told(*texts: str) -> dict[str, str]:
        rows = [f'{{"id": "{doc_id}", "text": {text}}}' for doc_id, _, text in (one.partition("=") for one in texts)]
        (tmp_path / "in.jsonl").write_text("\n".join(rows))
        added = nearkin_here("add", "matter", "in.jsonl", "--max-unreadable", "100%", "-q", cwd=tmp_path)
        assert added.code == 0, added.err
        found = json.loads(nearkin_here("exceptions", "matter", "--json", cwd=tmp_path).out)
        assert found["n_no_text"] == len(found["exceptions"])
        return {one["doc_id"]: one["sentence"] for one in found["exceptions"]}

    first = told('a="A text."', "b=null", "c=null", "c=7", "b={}", "c=[]", "d=1")
    c = "in.jsonl:3: the text is null; in.jsonl:4: the text is a number, not a string; in.jsonl:6: the text is a list"
    assert first["b"] == "in.jsonl:2: the text is null; in.jsonl:5: the text is an object, not a string"
    assert first["c"].startswith(c)
    assert first["d"] == "the text is a number, not a string"
    now = told('a="A text."', 'c="Now it is one."', *["b=true"] * 12)  # problems of the newest load
    assert set(now) == {"b", "d"}
    assert now["b"].startswith("in.jsonl:3: ")
    assert now["b"].count("in.jsonl:") == 10
    assert now["b"].endswith("; and 2 more")


def test_the_console_advises_an_encoding_for_text_that_is_not_utf_8(tmp_path):
    rows = "".join(
        f"{i},Nr. {i} hat {'x' * i} viele W{'ö' if i % 5 == 0 else 'o'}rter und ist lang\n" for i in range(20)
    )
    (tmp_path / "latin.csv").write_bytes(f"id,text\n{rows}".encode("cp1252"))
    ended = nearkin_here("dedup", tmp_path / "latin.csv", "--out", tmp_path / "out", "--no-report")
    said = " ".join(ended.out.split())
    assert "20 documents: 16 kept, 0 dropped, 4 unreadable (neither kept nor dropped)" in said
    assert "4 documents are not valid UTF-8: if this is older Western text, repeat with --encoding cp1252" in said
    again = ("dedup", tmp_path / "latin.csv", "--out", tmp_path / "out", "--no-report", "--overwrite")
    ended = nearkin_here(*again, "--encoding", "cp1252")
    assert "20 kept" in ended.out
    assert "cp1252" not in ended.out
