"""Files that gave no text, or only a part of it: in collections, and in ``exceptions.csv`` of every run."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_done, nearkin_here, nearkin_json
from generator import office_files as make
from made_up_prose import Prose

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
    added = nearkin_done("add", place, folder, "--wave", "march")
    said = " ".join(added.out.split())
    assert "exceptions 4 2 not stored; nearkin exceptions COLLECTION" in said
    assert "documents 6 wave march new 6" in said  # 8 - 3 + 1
    return place


def test_exceptions_of_a_collection(matter, tmp_path):
    told = nearkin_here("exceptions", matter)
    told.assert_clean()
    said = " ".join(told.out.split())
    for words in ("1 0 image only march", "0 1 partial march", "damaged march damaged.pdf",
                  "partial (partial) march table.rtf", "empty march blank.txt no text was found in it",
                  "exceptions 4 3 without text, 1 partial"):  # fmt: skip
        assert words in said, (words, said)
    found = nearkin_json("exceptions", matter, "--limit", "1")
    assert (found["n_no_text"], found["n_partial"], found["is_truncated"]) == (3, 1, True)
    (scan,) = found["exceptions"]
    assert (scan["doc_id"], scan["parent"], scan["kind"]) == ("1.eml!scan.pdf", "1.eml", "pdf")
    assert len(scan["sha256"]) == 64
    for name in ("some.csv", "some.parquet"):
        told = nearkin_here("exceptions", matter, "--out", tmp_path / name, "--which", "partial")
        assert told.err.startswith("wrote 1 exception to ")
    assert pq.read_table(tmp_path / "some.parquet")["doc_id"].to_pylist() == ["table.rtf"]
    assert next(csv.DictReader((tmp_path / "some.csv").open()))["exception"] == "partial"
    assert "table.rtf" not in nearkin_here("exceptions", matter, "--which", "no-text").out
    nearkin_done("exceptions", matter, "--which", "some", code=2)
    nearkin_done("exceptions", matter, "--reason", "unread", code=2)


def listed(path: Path) -> list[list[str]]:
    """What is said of each document, apart from its file."""
    with path.open(newline="") as file:
        return sorted(row[:5] for row in csv.reader(file))


def test_threads_of_a_collection_are_those_of_its_files(folder, matter, tmp_path):
    for name, place in (("files", folder), ("stored", matter)):
        nearkin_done("threads", place, "--out", tmp_path / name, "-q")
    files, stored = (pq.read_table(tmp_path / name / "threads.parquet") for name in ("files", "stored"))
    of_place = {"row", "source", "line"}
    assert stored.drop_columns(of_place).equals(files.drop_columns(of_place))
    assert stored["n_attachments"].to_pylist() == [2, 0]
    exceptions = [listed(tmp_path / name / "exceptions.csv") for name in ("files", "stored")]
    assert sorted(exceptions[0]) == sorted(exceptions[1])
    counts = [json.loads((tmp_path / name / "manifest.json").read_text())["counts"] for name in ("files", "stored")]
    assert counts[0] == counts[1]


def test_pairs_and_signatures_have_exceptions(folder, tmp_path):
    (tmp_path / "note.txt").write_text(f"{FIRST} {FIRST}")
    right = ("--right", tmp_path / "note.txt")
    nearkin_done("pairs", "--left", folder, *right, "--out", tmp_path / "pairs", "-q", "--no-report")
    lines = (tmp_path / "pairs/exceptions.csv").read_text().splitlines()
    assert [line.split(",")[:4] for line in lines[1:]] == [
        ["1.eml!scan.pdf", "1.eml", "image only", "false"],
        ["blank.txt", "", "empty", "false"],
        ["damaged.pdf", "", "damaged", "false"],
        ["table.rtf", "", "partial", "true"],
    ]
    nearkin_done("sign", folder, "--out", tmp_path / "case.bits", "-q")
    assert (tmp_path / "case-exceptions.csv").read_text().splitlines() == lines
    blank = hashlib.sha256((folder / "blank.txt").read_bytes()).hexdigest()
    # a text that was not extracted has the bytes of its file
    assert lines[2].endswith(f",text,{blank},1,blank.txt,1,blank.txt")
    nearkin_done("dedup", folder, "--out", tmp_path / "dedup", "-q", "--no-report")
    assert (tmp_path / "dedup/exceptions.csv").read_text().splitlines() == lines
    nearkin_done("sign", tmp_path / "note.txt", "--out", tmp_path / "case.bits", "--overwrite", "-q")
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
    for name, lacks in (("table.rtf", "1 embedded object was not read"), ("note.txt", None)):
        said = f"read in part {'the text' if command == 'check' else folder / name} {lacks}"
        told = nearkin_here(command, matter, *before, folder / name)
        assert (said in " ".join(told.out.split())) == (lacks is not None)
        told = nearkin_json(command, matter, *before, folder / name, code=10 if command == "check" else 0)
        assert (told["b"] if command == "compare" else told)["missing"] == lacks


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
        nearkin_done("dedup", source, "--out", out, *options)
        with (out / "exceptions.csv").open(encoding="utf-8", newline="") as file:
            assert {row["id"].rpartition("!")[2]: row["kind"] for row in csv.DictReader(file)} == expected
        nearkin_done("add", matter, source, *options)
        listed = nearkin_json("exceptions", matter)["exceptions"]
        assert {one["doc_id"].rpartition("!")[2]: one["kind"] for one in listed} == expected
