"""Passages of --ignore that are in no text are named, by every command that reads all texts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl
from nearkin.stages.documents.ignoring import Ignored

PASSAGES = "This mail is confidential.\nconfidential\nNobody wrote this.\nre:^Page \\d+$\nre:^Seite \\d+$\n"
REMARK = "Warning: 2 passages of --ignore are in no text: 'Nobody wrote this.', 're:^Seite \\\\d+$'"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Texts with a passage, one inside of another passage, and a pattern."""
    monkeypatch.chdir(tmp_path)
    Path("ignore.txt").write_text(PASSAGES)
    texts = [f"{FAST} this MAIL is confidential.", f"{FAST}\nPage 7\n", "Another text about kites and their tails."]
    records = [{"id": str(i), "text": text} for i, text in enumerate(texts)]
    write_jsonl(tmp_path / "right.jsonl", records)
    return write_jsonl(tmp_path / "in.jsonl", records)


def said(*arguments: str | Path) -> list[str]:
    ended = nearkin_here(*arguments)
    ended.assert_done()
    flat = " ".join(ended.err.replace("\n", " ").split())
    return [one for one in (REMARK, "of --ignore") if one in flat]


@pytest.mark.parametrize(
    "arguments",
    [
        ["dedup", "in.jsonl", "--out", "new"],
        ["families", "in.jsonl", "--out", "new"],
        ["pairs", "--left", "in.jsonl", "--right", "right.jsonl", "--out", "new"],
        ["sign", "in.jsonl", "--out", "new.parquet"],
        ["sign", "in.jsonl", "--out", "new.parquet", "--method", "weighted-topsig", "--online"],
        ["statistics", "in.jsonl", "--out", "new.statistics"],
        ["add", "new", "in.jsonl"],
    ],
    ids=" ".join,
)
def test_each_command_names_them(corpus: Path, arguments: list[str]) -> None:
    assert said(*arguments, "--ignore", "ignore.txt") == [REMARK, "of --ignore"]
    Path("found.txt").write_text("confidential\n")
    rest = [one.replace("new", "other") for one in arguments]
    assert said(*rest, "--ignore", "found.txt") == []


def test_sentences_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("news.de").write_text("Das Haus\nDas Buch\nEin Buch\n")
    Path("news.en").write_text("The house\nThe book\nA book\n")
    Path("ignore.txt").write_text("re:^das\nNobody wrote this.\n")
    ended = nearkin_here(
        "align", "train", "news.de", "news.en", "--source", "de", "--target", "en",
        "--out", "de-en.table", "--ignore", "ignore.txt",
    )  # fmt: skip
    ended.assert_done()
    assert "Warning: 1 passage of --ignore is in no text: 'Nobody wrote this.'" in ended.err


def test_a_resumed_run_which_reads_only_the_rest_says_nothing(corpus: Path) -> None:
    """The first file was read before the run ended at the second one."""
    Path("cut.jsonl.gz").write_bytes(gzip.compress(b'{"id": "x", "text": "A text."}\n' * 9_000, 0)[:-20_000])
    arguments = "dedup", "in.jsonl", "cut.jsonl.gz", "--out", "new", "--ignore", "ignore.txt"
    assert nearkin_here(*arguments).code == 13
    assert said(*arguments, "--resume", "--on-error", "skip") == []
    assert said(*arguments, "--overwrite", "--on-error", "skip") == [REMARK, "of --ignore"]


def test_texts_that_were_stored_before_are_not_read_again(corpus: Path) -> None:
    assert said("add", "matter", "in.jsonl", "--ignore", "ignore.txt") == [REMARK, "of --ignore"]
    assert said("add", "matter", "in.jsonl", "--ignore", "ignore.txt") == []


def test_what_was_found_is_no_part_of_the_value() -> None:
    one, other = Ignored(("text:a",)), Ignored(("text:a",))
    one.found.add("text:a")
    assert (one, hash(one), str(one), repr(one)) == (other, hash(other), str(other), repr(other))


def test_a_pattern_of_single_spaces_is_found_though_nothing_changes(corpus: Path) -> None:
    Path("spaces.txt").write_text("re:\\s\n")
    assert said("dedup", "in.jsonl", "--out", "new", "--ignore", "spaces.txt") == []
