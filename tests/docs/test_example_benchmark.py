"""The benchmark of the guide is the same everywhere, and is what its page says."""

from __future__ import annotations

import hashlib
import json
import runpy
from pathlib import Path

import pytest

from docs.pages import ROOT

SHA256 = {
    "eval.jsonl": "d0f4aa797d96f780476b9ea2618b9183480070ee2ef511c470141bb49010c7ba",
    "train.jsonl": "1c19443473d236bfad780d40b034c0c4786663dafdf26226767791bd69d8867c",
}


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmark")
    runpy.run_path(str(ROOT / "examples/benchmark.py"))["write_benchmark"](folder)
    return folder


def _words(path: Path) -> dict[str, list[str]]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["id"]: line["text"].lower().rstrip("?").split() for line in lines}


def test_bytes_are_pinned(benchmark: Path) -> None:
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in benchmark.iterdir()} == SHA256


def test_questions_leaked_as_the_page_says(benchmark: Path) -> None:
    questions, pages = _words(benchmark / "eval.jsonl"), _words(benchmark / "train.jsonl")
    joined = {doc_id: f" {' '.join(words)} " for doc_id, words in pages.items()}
    for number, words in enumerate(questions.values()):
        whole, half = f" {' '.join(words)} ", f" {' '.join(words[: len(words) // 2])} "
        assert [i for i, text in joined.items() if whole in text] == [f"page-{10 * number:03d}"] * (number < 12)
        if number in range(12, 18):
            assert half in joined[f"page-{10 * number:03d}"]
        assert len(words) == 3 if number >= 36 else 30 <= len(words) < 60
    assert sorted({len(words) for words in pages.values()})[0] == 6
