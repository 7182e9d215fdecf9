"""File names that no file system has, ids and cells of megabytes, and numbers that no database has."""

from __future__ import annotations

from pathlib import Path

import pytest

from functional.conftest import FAST, nearkin_done, nearkin_here, write_jsonl

LONG = "L" * 10_240


@pytest.fixture
def matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A collection of two documents, in the current directory."""
    monkeypatch.chdir(tmp_path)
    texts = [{"id": "lease", "text": FAST}, {"id": "other", "text": f"{FAST} again"}]
    nearkin_done("add", "matter", write_jsonl(tmp_path / "in.jsonl", texts), "-q", code=0)
    return "matter"


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", LONG],
        ["dedup", LONG, "--out", "new"],
        ["dedup", "in.jsonl", "--out", LONG],
        ["audit", LONG],
        ["compare", "matter", "lease", LONG],
    ],
    ids=lambda arguments: " ".join(one[:9] for one in arguments),
)
def test_a_name_that_is_too_long_for_any_file_is_an_error(matter: str, arguments: list[str]) -> None:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    assert (ended.code in (2, 3, 5, 6, 7), "LLL" in ended.err or "y/y" in ended.err) == (True, True), ended
