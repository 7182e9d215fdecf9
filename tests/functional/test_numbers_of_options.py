"""Numbers on the command line: only what the REST API takes for one, which Python's own rule is wider than."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nearkin_here("add", "matter", write_jsonl(tmp_path / "in.jsonl", [{"id": "lease", "text": FAST}]), "-q")


ARGUMENTS = [
    (["list", "matter", "--limit", "{}"], ["1_0", "٣", "１"]),  # the full-width digit is meant
    (["similar", "matter", "lease", "--threshold", "{}"], ["0.5_0", "٠.٥"]),
    (["check", "matter", "in.jsonl", "--containment", "{}"], ["0_0.5", "٠.٥"]),
    (["dedup", "in.jsonl", "--out", "out", "--memory", "{}"], ["٣GiB", "1_0GiB"]),
    (["dedup", "in.jsonl", "--out", "out", "--max-unreadable", "{}"], ["٥%", "0.1_0"]),
    (["dedup", "in.jsonl", "--out", "out", "--extraction-limit", "files={}"], ["٣", "1_0"]),
    (["plan", "pairs", "--left", "{}", "--right", "1M"], ["٣M", "1_0M"]),
    (["plan", "pairs", "--left", "1M", "--right", "1M", "--terms", "{}"], ["٣,٤", "1_0,2"]),
    (["plan", "pairs", "--left", "1M", "--right", "1M", "--machine", "cores={}"], ["٣", "1_0"]),
]


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    ("arguments", "value"), [(arguments, value) for arguments, values in ARGUMENTS for value in values]
)
def test_other_digits_and_underscores_are_refused(arguments: list[str], value: str) -> None:
    ended = nearkin_here(*(one.format(value) for one in arguments))
    ended.assert_clean()
    assert ended.code == 2, ended
    option = next(name for name, one in itertools.pairwise(arguments) if "{}" in one)
    assert option in ended.err
    assert value in ended.err


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("value", ["0.5", ".5", "5e-1", "+0.5", "1"])
def test_numbers_are_taken_as_before(value: str) -> None:
    assert nearkin_here("similar", "matter", "lease", "--threshold", value).code == 0
