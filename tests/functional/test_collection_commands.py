"""The commands about a collection, as a user gives them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from functional.conftest import nearkin_done, nearkin_here, nearkin_json, write_jsonl
from nearkin import Collection

LEASE = (
    "This lease is made between the owner and the tenant for the house at {street}. The rent of {rent} crowns is due "
    "on the first day of each month, and the tenant keeps the house in good repair until the lease ends. The owner "
    "sees to the roof, the drains and the chimney. Neither side may end the lease in the first year, and after that "
    "with three months of notice in writing. Whatever the two cannot settle between themselves goes before the court."
)
LETTER = (
    "Dear colleague, the minutes of the meeting on Tuesday are attached. Please send corrections until Friday noon."
)


@pytest.fixture
def matter(tmp_path: Path) -> str:
    """A collection of two waves."""
    march = [
        {"id": "lease", "text": LEASE.format(street="Mill Lane", rent=900)},
        {"id": "copy", "text": LEASE.format(street="Mill Lane", rent=900)},
        {"id": "letter", "text": LETTER},
        {"id": "tiny", "text": "No."},
        {"id": "bad", "text": 7},
    ]
    april = [{"id": "renewed", "text": LEASE.format(street="Mill Lane", rent=950)}]
    place = str(tmp_path / "matter")
    nearkin_done("add", place, write_jsonl(tmp_path / "march.jsonl", march), "--wave", "march")
    nearkin_done("add", place, write_jsonl(tmp_path / "april.jsonl", april), "--wave", "april")
    return place


def found(*arguments: str | Path) -> list[str]:
    return [one["doc_id"] for one in nearkin_json("similar", *arguments)["documents"]]


def test_similar_documents_are_found_across_waves(matter: str) -> None:
    assert found(matter, "lease") == ["copy", "renewed"]
    assert found(matter, "lease", "--gamma", "0") == ["copy"]
    assert found(matter, "lease", "--limit", "1") == ["copy"]
    assert nearkin_json("similar", matter, "lease", "--limit", "1")["n_found"] == 2
    assert found(matter, "lease", "--threshold", "0.99") == ["copy"]
    nearkin_done("similar", matter, "lease", "--measure", "index", "--gamma", "0.1", code=2)


def test_a_file_or_a_text_may_be_asked_for(matter: str, tmp_path: Path) -> None:
    draft = tmp_path / "draft.txt"
    draft.write_text(LEASE.format(street="Mill Lane", rent=975), "utf-8")
    assert found(matter, "--file", draft) == ["lease", "copy", "renewed"]
    assert found(matter, "--text", LETTER) == ["letter"]
    nearkin_done("similar", matter, code=2)
    nearkin_done("similar", matter, "lease", "--text", "x", code=2)
    nearkin_done("similar", matter, "--file", tmp_path / "none.txt", code=3)


def test_a_planted_conflict_is_found(matter: str, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\nlease,privileged\nrenewed,produce\nletter,produce\nnobody,produce\n", "utf-8")
    out = tmp_path / "conflicts.csv"
    ended = nearkin_here("conflicts", matter, labels, "--out", out)
    assert ended.code == 0
    assert "conflicts 1 texts with" in " ".join(ended.out.split())
    assert "nobody" in ended.out
    (row,) = csv.DictReader(out.read_text("utf-8").splitlines())
    assert (row["id_a"], row["label_a"], row["id_b"], row["label_b"]) == ("renewed", "produce", "lease", "privileged")
    assert "[-950-] {+900+}" in row["passage"]
    assert nearkin_json("conflicts", matter, labels, "--gamma", "0")["n_found"] == 0


def test_versions_are_all_others_that_are_stored_and_none_twice(matter: str, tmp_path: Path) -> None:
    for rent in (955, 960):
        changed = [{"id": "lease", "text": LEASE.format(street="Mill Lane", rent=rent)}]
        nearkin_here("add", matter, write_jsonl(tmp_path / "r.jsonl", changed))
    near, far = {("copy", 1), ("renewed", 1)}, [{"id": "lease", "text": LETTER + " Yours, the secretary."}]
    with Collection.open(matter) as opened:

        def versions(version: int | None = None, **how: Any) -> tuple[int, list[tuple[str, int]]]:
            answer = opened.versions("lease", version=version, **how)
            stored = [one.similar.document for one in answer.versions]
            return answer.n_found, sorted((one.doc_id, one.version) for one in stored)

        assert versions() == (4, sorted({("lease", 1), ("lease", 2)} | near))
        assert versions(1) == (4, sorted({("lease", 2), ("lease", 3)} | near))
        assert versions(2, limit=1)[0] == 4
        nearkin_here("add", matter, write_jsonl(tmp_path / "r.jsonl", far))
        assert versions(1) == (5, sorted({("lease", 2), ("lease", 3), ("lease", 4)} | near))
        nearkin_here("remove", matter, "lease")
        assert versions(4) == (4, [("lease", 1), ("lease", 2), ("lease", 3), ("letter", 1)])
        assert versions(1) == (5, sorted({("lease", 2), ("lease", 3), ("lease", 4)} | near))
    nearkin_here(
        "add", matter, write_jsonl(tmp_path / "alone.jsonl", [{"id": "alone", "text": "A note about kites and wind."}])
    )
    assert nearkin_json("versions", matter, "alone")["versions"] == []
