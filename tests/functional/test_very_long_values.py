"""File names that no file system has, ids and cells of megabytes, and numbers that no database has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nearkin
from functional.conftest import FAST, Ended, nearkin_here, write_jsonl
from nearkin import Collection
from nearkin.errors import MissingCollectionError, OutputError, ParameterError

LONG = "L" * 10_240
VALUES = ["tag", "matter", "hot", "--value", "label", "--from"]


@pytest.fixture
def matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A collection of two documents, in the current directory."""
    monkeypatch.chdir(tmp_path)
    texts = [{"id": "lease", "text": FAST}, {"id": "other", "text": f"{FAST} again"}]
    run("add", "matter", write_jsonl(tmp_path / "in.jsonl", texts), "-q", code=0)
    return "matter"


def run(*arguments: str | Path, code: int) -> Ended:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    assert ended.code == code, ended.err
    return ended


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", LONG], ["check", "y/" * 2_200, "in.jsonl"], ["add", "matter", LONG],
        ["dedup", LONG, "--out", "new"], ["dedup", "in.jsonl", "--out", LONG],
        ["dedup", "in.jsonl", "--out", "new", "--ignore", LONG], ["users", LONG, "list"],
        ["list", "matter", "--out", f"{LONG}.csv"],
        ["audit", LONG], ["sign", "in.jsonl", "--out", f"{'L' * 245}.sig"], ["similar", "matter", LONG],
        ["regroup", LONG, "--threshold", "0.8", "--out", "new"], ["compare", "matter", "lease", LONG],
    ],
    ids=lambda arguments: " ".join(one[:9] for one in arguments),
)  # fmt: skip
def test_a_name_that_is_too_long_for_any_file_is_an_error(matter: str, arguments: list[str]) -> None:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    assert (ended.code in (2, 3, 5, 6, 7), "LLL" in ended.err or "y/y" in ended.err) == (True, True), ended


def test_a_collection_with_a_name_that_is_too_long() -> None:
    with pytest.raises(MissingCollectionError, match="There is no collection at LLL"):
        Collection.open(LONG)
    with pytest.raises(OutputError, match="Cannot create LLL"):
        Collection.open(LONG, create=True)


PAIR = [FAST, f"{FAST} again"]


@pytest.mark.parametrize("name", ["ü" * 128, "ab/" * 1_366])
@pytest.mark.parametrize(
    ("parameter", "called"),
    [
        ("place: ", lambda name: nearkin.audit(name)),
        ("place: ", lambda name: nearkin.audit(Path(name))),
        ("out: ", lambda name: nearkin.sign(PAIR, out=name)),
        ("out: ", lambda name: nearkin.dedup(PAIR, out=name)),
        ("out: ", lambda name: nearkin.threads([Path("a.eml")], out=name)),
        ("signed: ", lambda name: nearkin.neighbours(name)),
        ("against: ", lambda name: nearkin.neighbours(nearkin.sign(PAIR), against=name)),
        ("out: ", lambda name: nearkin.neighbours(nearkin.sign(PAIR), out=name)),
    ],
)
def test_a_path_that_no_file_can_have_is_an_invalid_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameter: str, called: Callable[[str], object], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.eml").write_text("From: ada@example.org\nMessage-ID: <a@x>\n\nIs it sold?")
    with pytest.raises(ParameterError, match=f"^{parameter}must be a path") as raised:
        called(name)
    assert "at most 255 bytes" in str(raised.value) or "at most 4,095 bytes" in str(raised.value)


def test_a_list_longer_than_a_database_can_count(matter: str) -> None:
    assert run("list", matter, "--limit", str(1 << 63), code=0).out == run("list", matter, code=0).out
