"""Similarities as they are printed: only equal texts are shown at 1.000, in every command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest

import nearkin
from functional.conftest import nearkin_here, write_jsonl
from made_up_prose import Prose
from nearkin.tabular.page import Histogram, shown_in_notebook

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
    assert nearkin_here("add", folder / "matter", write_jsonl(folder / "r.jsonl", records), "--quiet").code == 0
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


def test_members_of_a_group_that_differ_are_not_shown_as_equal(matter: Path) -> None:
    member = nearkin_here("groups", matter / "matter", "--direct").out.splitlines()[2].split()
    assert member == ["1", "0.999", "0.0001", "a"]


def test_compared_texts_have_the_same_decimals() -> None:
    assert repr(nearkin.compare(TEXT, OTHER)).endswith("Jaccard 0.999, edit 0.999)")


def test_json_has_all_digits(matter: Path) -> None:
    (found,) = json.loads(nearkin_here("similar", matter / "matter", "a", "--json").out)["documents"]
    assert found["edit_similarity"] > 0.9999
    assert 0 < found["relative_distance"] < 0.001
    assert len(repr(found["jaccard"])) > 8


def test_the_page_of_a_comparison_says_the_same(matter: Path) -> None:
    page = matter / "page.html"
    assert nearkin_here("compare", matter / "matter", "a", "b", "--html", page).code == 0
    text = page.read_text("utf-8")
    assert set(SHARES.findall(text)) == {"0.999"}
    assert "1.000" not in text


def test_a_notebook_shows_the_same_numbers() -> None:
    names = {"jaccard": 0.99999, "relative_distance": 0.00001, "elapsed_s": 0.00001234}
    page = shown_in_notebook(
        "1 pair", Histogram("seconds", {"window": 0.00001234}), pa.table({n: [v] for n, v in names.items()})
    )
    for number in ("<td>0.999</td>", "<td>0.0001</td>", "<td>1.234e-05</td>"):
        assert number in page
    assert page.count("1.234e-05") == 2
