"""Exceptions of a collection: every command that lists exceptions lists all of them, as ``nearkin exceptions`` does."""

from __future__ import annotations

import csv
import html
import json
import re
import tempfile
from pathlib import Path

import pytest

from contract.damaged_collections import copy_filled
from functional.conftest import nearkin_here
from generator import office_files as make
from made_up_prose import Prose
from places import on_one_database

pytestmark = on_one_database

PROSE = Prose(19)
HEADERS = {"From": "ada@b.org", "To": "bo@c.org", "Subject": "Offer", "Message-ID": "<1@b.org>",
           "Date": "Mon, 1 Jan 2024 10:00:00 +0000"}  # fmt: skip
TEXT = PROSE.text(40)
FILES = {
    "1.eml": make.mail(HEADERS, TEXT, {"offer.rtf": make.rtf([TEXT]), "cut.pdf": make.pdf([TEXT])[:300]}),
    "older.pdf": make.pdf([TEXT]), "cut.pdf": make.pdf([TEXT])[:300], "empty.html": b"<p></p>",
    "blank.txt": b" \n", "bad.txt": bytes(range(256)), "note.txt": TEXT.encode(), "part.eml": make.mail(
        {**HEADERS, "Message-ID": "<2@b.org>"}, TEXT, {"a.txt": b"Words."})[:-9],
}  # fmt: skip
RECORDS = '{"id": "r-1", "text": "It was"}\n{"id": "r-2"}\n'
REASONS = {
    "1.eml!cut.pdf": "damaged", "older.pdf": "damaged", "cut.pdf": "damaged", "empty.html": "empty",
    "blank.txt": "empty", "bad.txt": "not text", "part.eml": "damaged",
    "part.eml!a.txt": "damaged", "r-2": "no such column",
}  # fmt: skip


def fill(place) -> None:
    """Add files and records; a second wave has a damaged version of a file that was read."""
    given = "--max-unreadable", "1", "-q", *(() if place.server is None else ("--cache", place.cache))
    with tempfile.TemporaryDirectory() as made:
        folder, records = Path(made, "case"), Path(made, "records.jsonl")
        folder.mkdir()
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
        records.write_text(RECORDS)
        for one in (folder, records):
            added = nearkin_here("add", place.address, one, *given)
            assert added.code == 0, added.err
        (folder / "older.pdf").write_bytes(FILES["older.pdf"][:300])
        added = nearkin_here("add", place.address, folder, "--wave", "later", *given)
        assert added.code == 0, added.err


@pytest.fixture
def matter(place) -> str:
    """A collection of files and records, some of which are exceptions."""
    copy_filled(place, fill)
    told = json.loads(nearkin_here("exceptions", place.address, "--json").out)
    assert {one["doc_id"]: one["exception"] for one in told["exceptions"]} == REASONS
    return str(place.address)


def listed(path: Path) -> dict[str, str]:
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [one["id"] for one in lines] == [one["name"] for one in lines]
    rows = [(one["id"], one["exception"]) for one in lines]
    assert len(rows) == len(dict(rows))
    return dict(rows)


def test_exceptions_of_a_collection_are_all_listed(matter, tmp_path) -> None:
    counts = []
    reasons = "5 damaged, 2 empty, 1 no such column, 1 not text"
    said = f"exceptions 9 {reasons}: exceptions.csv"
    for command in ("dedup", "families", "threads"):
        out = tmp_path / command
        ended = nearkin_here(command, matter, "--out", out, "--json")
        assert ended.code == 0, ended.err
        assert listed(out / "exceptions.csv") == REASONS, command
        told = json.loads(ended.out)["extraction"]
        counts.append(told)
        assert sum(told["exceptions"].values()) == len(REASONS)
        page = (out / "report.html").read_text()
        assert "all text extracted: 3 of 9" in " ".join(re.sub("<[^>]+>", " ", page).split())
        assert "1 collection; the digest is the SHA-256 of the collection's own id" in html.unescape(page), command
        assert "SHA-256 of the file" not in page
        assert ("those that gave no text, which are counted, too" in page) is (command == "threads")
        assert all(one in page for one in REASONS), command
        shown = nearkin_here(command, matter, "--out", out, "--overwrite").out
        assert said in " ".join(shown.split())
    assert counts[0] == counts[1] == counts[2]
    assert (counts[0]["in_part"], counts[0]["unread"]) == (2, 4)


def test_regrouped_results_signatures_and_pairs_list_them_too(matter, tmp_path) -> None:
    assert nearkin_here("dedup", matter, "--out", tmp_path / "run", "-q", "--no-report").code == 0
    assert nearkin_here("regroup", tmp_path / "run", "--threshold", "0.9", "-q").code == 0
    stored = (tmp_path / "run/exceptions.csv").read_bytes()
    assert (tmp_path / "run/threshold-0.9/exceptions.csv").read_bytes() == stored
    assert "older.pdf" in (tmp_path / "run/threshold-0.9/report.html").read_text()
    assert nearkin_here("sign", matter, "--out", tmp_path / "all.bits", "-q").code == 0
    assert listed(tmp_path / "all-exceptions.csv") == REASONS
    right = tmp_path / "note.txt"
    right.write_text(f"{TEXT} {TEXT}")
    given = "--left", matter, "--right", right, "--out", tmp_path / "pairs", "-q", "--no-report"
    assert nearkin_here("pairs", *given).code == 0
    assert listed(tmp_path / "pairs/exceptions.csv") == REASONS
