"""`nearkin search`, as a user gives it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here, nearkin_json, write_jsonl

RENT = "The rent of {} crowns\r\nis due on the first day of each month."


@pytest.fixture
def matter(tmp_path: Path) -> str:
    march = [{"id": "lease", "text": RENT.format(900)}, {"id": "other", "text": "Day one: the first rent is low."}]
    april = [{"id": "=1+1", "text": f"Rent\x1b[31m, rent and \u202erent. {RENT.format(950)}"}]
    place = str(tmp_path / "matter")
    nearkin_done("add", place, write_jsonl(tmp_path / "march.jsonl", march), "--wave", "march")
    nearkin_done("add", place, write_jsonl(tmp_path / "april.jsonl", april), "--wave", "april")
    return place


def found(*arguments: str | Path) -> list[str]:
    return [one["doc_id"] for one in nearkin_json("search", *arguments)["documents"]]


def test_words_are_found_and_marked(matter: str) -> None:
    ended = nearkin_here("search", matter, "rent", "crowns", "--wave", "march")
    lines = ended.out.splitlines()
    assert lines[0] == "lease  march"
    assert lines[1] == "    The [rent] of 900 [crowns] is due on the first day of each month."
    assert lines[2].split()[:2] == ["documents", "1"]
    again = nearkin_here("search", matter, "rent", "--limit", "1")
    assert again.err == ""
    assert re.search(r"documents +3 .*\n(.*\n)*not shown +2 ", again.out)
    assert "⟨U+001B⟩" in nearkin_here("search", matter, "rent").out  # nothing in it steers the terminal


def test_a_query_is_saved_listed_and_forgotten(matter: str) -> None:
    assert found(matter, "wave:march rent", "--save", "of march", "--by", "ada") == found(matter, 'saved:"of march"')
    (saved,) = nearkin_json("search", matter)["searches"]
    assert (saved["name"], saved["query"], saved["by"]) == ("of march", "wave:march rent", "ada")
    assert "wave:march rent" in nearkin_here("search", matter).out
    assert nearkin_json("search", matter, "--save", "of march")["searches"] == []
