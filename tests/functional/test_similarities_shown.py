"""Similarities as they are printed: only equal texts are shown at 1.000, in every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here, write_jsonl
from made_up_prose import Prose

prose = Prose(31)
WORDS = prose.text(12_000).split()
TEXT = " ".join(WORDS)
OTHER = TEXT + "x"  # one shingle of 12,000, and one letter: a Jaccard similarity that would be rounded to 1
DRAFT = " ".join([*WORDS[:3_000], WORDS[3_000] + "x", *WORDS[3_001:]])
ONES = re.compile(r"\b1\.0+\b|\b100(\.0+)? ?%")
SHARES = re.compile(r"\b0\.9\d+")


@pytest.fixture(scope="module")
def matter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shown")
    records = [{"id": "a", "text": TEXT}, {"id": "b", "text": OTHER}]
    nearkin_done("add", folder / "matter", write_jsonl(folder / "r.jsonl", records), "--quiet")
    (folder / "draft.txt").write_text(DRAFT, "utf-8")
    (folder / "other.txt").write_text(OTHER, "utf-8")
    (folder / "labels.csv").write_text("id,label\na,x\nb,y\n", "utf-8")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["similar", "{matter}", "a"],
        ["similar", "{matter}", "a", "--threshold", "0.9"],
        ["versions", "{matter}", "a"],
        ["compare", "{matter}", "a", "b"],
        ["conflicts", "{matter}", "{labels}"],
        ["check", "{matter}", "{draft}"],
        ["compare", "{draft}", "{other}"],
    ],
    ids=lambda command: "-".join(part for part in command if not part.startswith("{")),
)
def test_texts_that_differ_are_not_shown_as_equal(matter: Path, command: list[str]) -> None:
    places = {
        "matter": matter / "matter",
        "labels": matter / "labels.csv",
        "draft": matter / "draft.txt",
        "other": matter / "other.txt",
    }
    ended = nearkin_here(*[part.format(**places) for part in command])
    assert set(SHARES.findall(ended.out)) == {"0.999"}
    assert not ONES.search(ended.out), ended.out
    assert "0.0000" not in ended.out  # nor is a distance shown as none
