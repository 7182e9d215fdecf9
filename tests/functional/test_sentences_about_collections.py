"""Sentences of commands on a collection that name what they count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from functional.conftest import nearkin_here

LEASE = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord of the old mill."


def said(*arguments: str | Path, code: int = 0, stdin: bytes = b"") -> str:
    ended = nearkin_here(*arguments, stdin=stdin)
    ended.assert_clean()
    assert ended.code == code, ended.err
    return " ".join((ended.out if code == 0 else ended.err).split())


@pytest.fixture
def matter(tmp_path: Path) -> Path:
    rows = [("a", LEASE.format(900)), ("b", LEASE.format(900).upper()), ("c", LEASE.format(905)), ("?", "?!")]
    made = tmp_path / "rows.jsonl"
    made.write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in rows))
    said("add", tmp_path / "matter", made)
    return tmp_path / "matter"


def test_texts_without_words_are_in_no_group(matter: Path) -> None:
    assert "1 document without words to compare: in no group" in said("groups", matter)
    few = said("groups", matter, "--measure", "letters")
    assert "1 document with too few letters: in no group; nearkin info" in few


def test_an_audit_of_all_that_can_be_queried_does_not_say_all(matter: Path) -> None:
    assert "sampled 3 all distinct texts that can be queried;" in said("audit", matter)
    said("remove", matter, "?")
    assert "sampled 3 all distinct texts;" in said("audit", matter)


def test_a_version_says_how_exact_a_copy_is(matter: Path) -> None:
    assert "exact copy (once normalised)" in said("versions", matter, "a")
    said("add", matter, "-", "--format", "jsonl", stdin=json.dumps({"id": "d", "text": LEASE.format(900)}).encode())
    assert "exact copy (same text)" in said("versions", matter, "a")


def test_labels_are_quoted(matter: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\na,no\nb,no\nc,yes\n")
    shown = said("conflicts", matter, labels)
    assert "group 1: 3 labelled documents, 2 with 'no' 'yes' c ≠ 'no' " in shown


def test_documents_without_a_bare_tag_have_a_label(matter: Path) -> None:
    said("tag", matter, "hot", "c")
    shown = said("conflicts", matter, "--tag", "hot")
    assert "Labels from the tag 'hot'; documents without it have the label 'not hot'" in shown
    assert "1 document without words to compare: compared only with identical texts" in shown
    said("tag", matter, "kind=hot", "?")
    assert "1 labelled document without words to compare: compared" in said("conflicts", matter, "--tag", "kind")


def test_the_index_of_one_measure_is_called_so(matter: Path) -> None:
    shown = said("info", matter)
    assert "Similarity index 43B:" in shown
    assert ", for --measure si and --method si only: 4 of 4 texts have none, which is normal for texts of up" in shown
    assert "search index in " in shown


def test_messages_name_the_collection_and_the_key_of_a_text(matter: Path) -> None:
    assert "two documents of the collection, name both" in said("compare", matter, "a", code=2)
    assert "--text is the key of the text in JSON objects" in said("check", matter, "--text", "Agreed.", code=2)
    assert "--text" not in said("check", matter, code=2)


def test_an_explanation_says_what_the_answer_counts(matter: Path) -> None:
    explained = said("similar", matter, "a", "--explain")
    assert "These are counts of distinct texts" in explained
    assert "without the query" in explained
