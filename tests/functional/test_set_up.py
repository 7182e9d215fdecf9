"""`nearkin warm-up` and `nearkin doctor`."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from functional.conftest import nearkin
from nearkin.kernels import choosing


@pytest.mark.slow
def test_warm_up_runs_every_job(tmp_path: Path) -> None:
    ended = nearkin("warm-up", "--json", cwd=tmp_path)
    ended.assert_clean()
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["elapsed_s"] > 0
    assert not list(tmp_path.iterdir())
    assert choosing.ALWAYS is None


def test_a_first_run_says_that_kernels_are_compiled(tmp_path: Path) -> None:
    """Once, and only where kernels are needed."""
    few = tmp_path / "few.txt"
    few.write_text("".join(f"{i}\tnumber {i} of a few short texts\n" for i in range(5)))
    code = "from nearkin.cli.main import run; from nearkin.kernels import choosing; choosing.ALWAYS = {!r}; run()"
    for kind, n_said in ((None, 0), ("compiled", 1)):
        ended = subprocess.run(
            [sys.executable, "-c", code.format(kind), "sign", "few.txt", "--out", f"{kind}.sig"],
            cwd=tmp_path, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert ended.stderr.count("compiling kernels for this job") == n_said


def test_doctor_shows_what_is_installed() -> None:
    told = json.loads(nearkin("doctor", "--json").out)
    assert told["libraries"]["numpy"] == importlib.metadata.version("numpy")
    assert told["extras"]["report"]["jinja2"] == importlib.metadata.version("jinja2")
    assert told["machine"]["cores"] >= 1
    ended = nearkin("doctor")
    ended.assert_clean()
    for words in ("nearkin", "python", "memory", "extra spark"):
        assert words in ended.out
