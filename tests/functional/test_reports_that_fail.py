"""A page that cannot be made does not take the results with it."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import jinja2
import pytest

from functional.conftest import nearkin_here, results, run_here, write_jsonl
from oracles.texts import versions


@pytest.fixture
def small(tmp_path) -> Path:
    texts = versions(3, n_bases=12, n_words=60, n_versions=3, max_edits=4)
    return write_jsonl(tmp_path / "in.jsonl", [{"id": i, "text": text} for i, text in enumerate(texts)])


def failing(monkeypatch, error: Exception) -> None:
    """Templates cannot be loaded, as where a limit on memory or on open files is reached."""

    def load(*_: object) -> None:
        raise error

    monkeypatch.setattr(jinja2.PackageLoader, "get_source", load)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "[Errno 24] Too many open files"),
        (MemoryError(), "Not enough memory"),
    ],
    ids=["files", "memory"],
)
def test_limits_of_the_system(error: Exception, said: str, small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with monkeypatch.context() as limited:
        failing(limited, error)
        ended = nearkin_here("dedup", small, "--out", out, "--shingle", "words:3", "--threshold", "0.8", "-q")
    ended.assert_quiet(f"report.html is missing. {said}; ", "differ in numbers", "look like OCR")
    assert f"To create the report without sample texts: nearkin regroup {out} --threshold 0.8\n" in ended.err
    assert not (out / "report.html").exists()
    assert json.loads((out / "manifest.json").read_text())["report_problem"] in ended.err
    run_here([str(small)], tmp_path / "whole")
    assert results(out) == results(tmp_path / "whole")
    again = nearkin_here("regroup", out, "--threshold", "0.8", "-q")
    again.assert_quiet("differ in numbers", "look like OCR")
    assert (out / "threshold-0.8/report.html").read_text().rstrip().endswith("</html>")
