"""A page that cannot be drawn does not take the results with it."""

from __future__ import annotations

import json
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import command
from functional.conftest import nearkin_here, results, run_here, write_jsonl
from nearkin.errors import DrawingError
from nearkin.reports import drawing
from oracles.texts import versions


def below(kind: int, limit: int) -> Callable[[], None]:
    """As ``ulimit`` does it."""
    return lambda: resource.setrlimit(kind, (limit, limit))


@pytest.fixture
def small(tmp_path) -> Path:
    texts = versions(3, n_bases=12, n_words=60, n_versions=3, max_edits=4)
    return write_jsonl(tmp_path / "in.jsonl", [{"id": i, "text": text} for i, text in enumerate(texts)])


@pytest.fixture
def aborting(monkeypatch, tmp_path):
    """The process that draws ends as it does where memory runs out."""
    program = tmp_path / "aborting.py"
    program.write_text("import os, sys\nsys.stdin.readline()\nos.abort()\n")
    drawing._drawer.close()
    monkeypatch.setattr(drawing, "_PROGRAM", program)


@pytest.mark.parametrize(
    "limit", [below(resource.RLIMIT_NOFILE, 12), below(resource.RLIMIT_AS, 1_500_000 << 10)], ids=["files", "memory"]
)
def test_limits_of_the_system(small, tmp_path, limit):
    out = tmp_path / "out"
    arguments = ["dedup", small, "--out", out, "--shingle", "words:3", "--threshold", "0.8", "-q"]
    ended = subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit
    )
    assert ended.returncode == 0, ended.stderr
    (said,) = ended.stderr.splitlines()
    assert said.startswith("Warning: report.html is missing. A figure cannot be drawn: ")
    assert "(ulimit -v, ulimit -n)" in said
    assert said.endswith(f"All other results are complete. To create the report without sample texts: "
                         f"nearkin regroup {out} --threshold 0.8")  # fmt: skip
    assert not (out / "report.html").exists()
    assert json.loads((out / "manifest.json").read_text())["report_problem"] in said
    run_here([str(small)], tmp_path / "whole")
    assert results(out) == results(tmp_path / "whole")
    again = nearkin_here("regroup", out, "--threshold", "0.8", "-q")
    assert (again.code, again.err) == (0, "")
    assert (out / "threshold-0.8/report.html").read_text().rstrip().endswith("</html>")


@pytest.mark.usefixtures("aborting")
def test_every_command_that_draws(small, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(small.read_bytes())
    for arguments in (
        ["dedup", small],
        ["pairs", "--left", small, "--right", other],
        ["lab", "minhash", small, "--documents", "20"],
    ):
        out = tmp_path / arguments[0]
        ended = nearkin_here(*arguments, "--out", out, "--json")
        assert ended.code == 0, ended.err
        problem = json.loads(ended.out)["report_problem"]
        assert "ended with SIGABRT" in problem
        assert ended.err == f"Warning: {problem}\n"
        assert not (out / "report.html").exists()
        assert (out / ("summary.json" if arguments[0] == "lab" else "manifest.json")).exists()
    shown = nearkin_here("dedup", small, "--out", tmp_path / "shown")
    assert shown.err.count("report.html is missing") == 1
    assert "start with" in shown.out
    assert "report.html" not in shown.out


@pytest.mark.usefixtures("aborting")
def test_the_process_is_started_again(monkeypatch):
    specification = {"mark": "point", "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x"}}}
    with pytest.raises(DrawingError, match="SIGABRT"):
        drawing.draw(specification)
    monkeypatch.undo()
    with drawing.drawing():
        assert drawing.draw(specification).startswith("<svg")
        process = drawing._drawer._process
    assert process is not None
    assert process.poll() == 0
    with pytest.raises(DrawingError, match="cannot be drawn: Vega-Lite"):
        drawing.draw({"mark": 3})
    drawing._drawer.close()
