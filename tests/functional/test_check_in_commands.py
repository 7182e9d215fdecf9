"""``nearkin check``, as a shell script gives it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here, write_jsonl
from generator.office_files import mail, rtf

LEASE = (
    "This lease is made between the owner and the tenant for the house at {street}. The rent of {rent} crowns is due "
    "on the first day of each month, and the tenant keeps the house in good repair until the lease ends. The owner "
    "sees to the roof, the drains and the chimney. Neither side may end the lease in the first year, and after that "
    "with three months of notice in writing. Whatever the two cannot settle between themselves goes before the court."
)
MORE = " ".join(
    f"Clause {i} of the annex speaks of the {i}th tree in the garden and of who may cut it." for i in range(40)
)


@pytest.fixture
def repository(tmp_path: Path) -> str:
    place = str(tmp_path / "repository")
    documents = [
        {"id": "lease", "text": LEASE.format(street="Mill Lane", rent=900)},
        {"id": "book", "text": MORE},
    ]
    nearkin_done("add", place, write_jsonl(tmp_path / "in.jsonl", documents))
    return place


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "draft.txt"
    path.write_text(text, encoding="utf-8")
    return path


def check(*arguments: object):
    ended = nearkin_here("check", *arguments)
    assert "Traceback" not in ended.err
    return ended


@pytest.mark.parametrize(
    ("text", "code", "verdict"),
    [
        ("A letter about boats, and about the rain that fell on them all summer long.", 0, "new"),
        (LEASE.format(street="Mill Lane", rent=900).upper(), 10, "exact"),
        (LEASE.format(street="Mill Lane", rent=950), 11, "near"),
        (LEASE.format(street="Kiln Lane", rent=950), 11, "near"),
        (MORE[200:900], 12, "contained"),
        (f"{LEASE.format(street='Mill Lane', rent=900)} {MORE.replace('tree', 'bush')}", 12, "contains"),
        ("", 0, "new"),
    ],
)
def test_the_exit_code_is_the_answer(repository, tmp_path, text, code, verdict):
    ended = check(repository, written(tmp_path, text), "--json")
    told = json.loads(ended.out)
    assert (ended.code, told["verdict"], ended.err) == (code, verdict, "")
    shown = check(repository, tmp_path / "draft.txt")
    assert shown.code == code
    assert "not stored" in shown.out
    assert ("\n    first of 2 differences\n" in shown.out) == (told["n_differences"] == 2)
    assert verdict != "near" or told["n_differences"] == 1 + ("Kiln" in text)
    is_expected = text and verdict in ("new", "contained", "contains")
    assert ("expected recall of near-duplicates" in shown.out) == bool(is_expected)
    parts = told.get("expected_recall_of_parts")
    assert (parts is None) == (text == "")
    if is_expected:
        said = rf"expected recall of parts of this one [\d.]+% of {parts['n_words']} words"
        if parts["containing_texts"] == parts["parts"] == 0:
            said = "parts may be missed none of the word 5-grams is in the sample"
        assert re.search(said, " ".join(shown.out.split()))


def test_attachments_that_are_not_checked_are_listed_and_can_be_checked(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["letter.eml!a.txt", "letter.eml!b.rtf"]
    attached = {"a.txt": b"A note on kites.", "b.rtf": rtf([MORE])}
    Path("letter.eml").write_bytes(mail({"Subject": "x"}, MORE, attached))
    ended = check(repository, "letter.eml")
    assert ended.code == 10
    assert f"not checked, inside it 2 check each by itself: {', '.join(names)}" in " ".join(ended.out.split())
    assert json.loads(check(repository, "letter.eml", "--json").out)["not_checked"] == names
    one = json.loads(check(repository, names[1], "--json").out)
    assert (one["verdict"], one["not_checked"]) == ("exact", [])
    assert check(repository, names[0]).code == 0


def test_what_cannot_be_checked(repository, tmp_path):
    assert check(repository, tmp_path).code == 3
    (tmp_path / "image.bin").write_bytes(bytes(range(256)) * 4)
    ended = check(repository, tmp_path / "image.bin")
    assert ended.code == 3
    assert "binary data" in ended.err
    assert check(repository, tmp_path / "image.bin", "--encoding", "latin-1").code == 0
    records = write_jsonl(tmp_path / "records.jsonl", [{"text": MORE}, {"text": MORE}])
    assert check(repository, records).code == 2
    assert check(tmp_path / "nowhere", written(tmp_path, MORE)).code == 7
    assert not (tmp_path / "nowhere").exists()
