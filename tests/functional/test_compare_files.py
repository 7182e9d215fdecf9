"""`nearkin compare A B` on plain files: no collection is needed."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functional.conftest import nearkin_done, nearkin_here, nearkin_json
from nearkin import Collection
from nearkin.workflows.comparing import compare
from unit.stages.test_edit import plain_distance

OLD = "The tenant pays the rent.\nThe rent is due in 30 days after the invoice.\nKeys stay with the owner.\n"
NEW = "The tenant pays the rent.\nThe rent is due in 45 days after the invoice.\nKeys stay with the landlord, always.\n"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in (("old.txt", OLD), ("new.txt", NEW)):
        (tmp_path / name).write_text(text)
    return [tmp_path / "old.txt", tmp_path / "new.txt"]


def test_in_the_terminal(files) -> None:
    ended = nearkin_here("compare", *files)
    ended.assert_clean()
    assert ended.code == 0
    assert "The rent is due in [-30-] {+45+} days" in ended.out
    assert "differences 2 words: 2 only in A, 3 only in B" in " ".join(ended.out.split())
    assert nearkin_here("compare", *files, "-q").out == ""


def test_the_accepted_changes_of_a_word_document_are_the_new_file(files, tmp_path) -> None:
    changes = tmp_path / "changes.docx"
    nearkin_here("compare", *files, "--out", changes, "-q").assert_done()
    # Office files are read by another library, which takes tracked changes as accepted
    told = nearkin_here("compare", changes, files[1]).out
    assert "identical" in told, told
    other = nearkin_here("compare", *files, "--out", tmp_path / "new")
    assert (other.code, ".html or .docx" in other.err, (tmp_path / "new").exists()) == (2, True, False)
    ignoring = nearkin_here("compare", *files, "--ignore", "numbers", "--out", tmp_path / "other.docx")
    assert (ignoring.code, (tmp_path / "other.docx").exists()) == (2, False)
    again = nearkin_here("compare", *files, "--out", changes)
    assert (again.code, "already exists" in again.err) == (5, True)


def test_as_a_page_and_as_json(files, tmp_path) -> None:
    page = tmp_path / "page.html"
    told = nearkin_json("compare", *files, "--out", page)
    assert told["a"] == {"file": str(files[0]), "missing": None}
    assert [one["n_words_b"] for one in told["comparison"]["differences"]] == [1, 2]
    assert "landlord" in page.read_text()
    again = nearkin_here("compare", *files, "--out", page)
    assert (again.code, "already exists" in again.err) == (5, True)
    nearkin_done("compare", *files, "--out", files[0], "--overwrite", code=2)
    assert files[0].read_text() == OLD


def shingles(text: str, n: int) -> set[tuple[str, ...]]:
    words = re.findall("[a-z0-9]+", unicodedata.normalize("NFKC", text).lower())
    length = min(n, len(words))
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)} if words else set()


texts = st.lists(st.sampled_from(["rent", "Key", "30", "owner,", "the"]), max_size=12).map(" ".join)


@given(texts, texts, st.integers(1, 4))
def test_similarities_are_those_of_their_definitions(a: str, b: str, n: int) -> None:
    found = compare(a, b, shingle=f"words:{n}")
    one, other = shingles(a, n), shingles(b, n)
    assert found.jaccard == (len(one & other) / len(one | other) if one | other else 1)
    assert found.containment_a_in_b == (len(one & other) / len(one) if one else 1)
    assert found.containment_b_in_a == (len(one & other) / len(other) if other else 1)
    assert found.edit_similarity == (1 - plain_distance(a, b) / max(len(a), len(b)) if a or b else 1)
    assert found.comparison.is_identical == (a == b)


# -- a stored document and a file -------------------------------------------------------------------------------------


@pytest.fixture
def matter(files: list[Path], tmp_path: Path) -> Path:
    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add([("old", files[0].read_text("utf-8")), ("new.txt", "something else")])
        collection.add([("old", "Another text.")])
    return tmp_path / "matter"


def test_a_stored_document_is_compared_with_a_file(files, matter, tmp_path) -> None:
    of_files = nearkin_here("compare", *files).out
    ended = nearkin_here("compare", matter, "old", "--version-a", "1", "--file", files[1])
    assert ended.out.split() == of_files.replace(str(files[0]), "old (version 1)").split()
    page = tmp_path / "page.html"
    told = json.loads(
        nearkin_here("compare", matter, "old", "--version-a", "1", "--file", files[1], "--out", page, "--json").out
    )
    assert (told["a"]["doc_id"], told["a"]["version"], told["b"]) == (
        "old",
        1,
        {"file": str(files[1]), "missing": None},
    )
    assert "old (version 1)" in page.read_text("utf-8")
    now = nearkin_here("compare", matter, "old", "--file", files[1]).out
    assert re.search("^A +old$", now, re.MULTILINE)
