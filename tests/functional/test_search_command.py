"""`nearkin search`, as a user gives it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from functional.conftest import Ended, nearkin_here, write_jsonl

RENT = "The rent of {} crowns\r\nis due on the first day of each month."


@pytest.fixture
def matter(tmp_path: Path) -> str:
    march = [{"id": "lease", "text": RENT.format(900)}, {"id": "other", "text": "Day one: the first rent is low."}]
    april = [{"id": "=1+1", "text": f"Rent\x1b[31m, rent and \u202erent. {RENT.format(950)}"}]
    place = str(tmp_path / "matter")
    assert run("add", place, write_jsonl(tmp_path / "march.jsonl", march), "--wave", "march").code == 0
    assert run("add", place, write_jsonl(tmp_path / "april.jsonl", april), "--wave", "april").code == 0
    return place


def run(*arguments: str | Path) -> Ended:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    return ended


def told(*arguments: str | Path) -> Any:
    ended = run(*arguments, "--json")
    assert ended.code == 0, ended.err
    assert ended.out.count("\n") == 1
    return json.loads(ended.out)


def found(*arguments: str | Path) -> list[str]:
    return [one["doc_id"] for one in told("search", *arguments)["documents"]]


def test_words_are_found_and_marked(matter: str) -> None:
    ended = run("search", matter, "rent", "crowns", "--wave", "march")
    lines = ended.out.splitlines()
    assert lines[0] == "lease  march"
    assert lines[1] == "    The [rent] of 900 [crowns] is due on the first day of each month."
    assert lines[2].split()[:2] == ["documents", "1"]
    again = run("search", matter, "rent", "--limit", "1")
    assert again.err == ""
    assert re.search(r"documents +3 .*\n(.*\n)*not shown +2 ", again.out)
    assert "⟨U+001B⟩" in run("search", matter, "rent").out  # nothing in it steers the terminal


def test_a_query_is_saved_listed_and_forgotten(matter: str) -> None:
    assert found(matter, "wave:march rent", "--save", "of march", "--by", "ada") == found(matter, 'saved:"of march"')
    (saved,) = told("search", matter)["searches"]
    assert (saved["name"], saved["query"], saved["by"]) == ("of march", "wave:march rent", "ada")
    assert "wave:march rent" in run("search", matter).out
    assert told("search", matter, "--save", "of march")["searches"] == []
