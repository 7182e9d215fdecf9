"""`nearkin warm-up` and `nearkin doctor`."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from functional.conftest import nearkin_here
from nearkin.kernels import choosing


@pytest.mark.slow
def test_warm_up_runs_every_job(tmp_path: Path) -> None:
    ended = nearkin_here("warm-up", "--json", cwd=tmp_path)
    ended.assert_clean()
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["elapsed_s"] > 0
    assert not list(tmp_path.iterdir())
    assert choosing.ALWAYS is None


def test_doctor_shows_what_is_installed() -> None:
    told = json.loads(nearkin_here("doctor", "--json").out)
    assert told["libraries"]["numpy"] == importlib.metadata.version("numpy")
    assert told["extras"]["report"]["jinja2"] == importlib.metadata.version("jinja2")
    assert told["machine"]["cores"] >= 1
    ended = nearkin_here("doctor")
    ended.assert_clean()
    for words in ("nearkin", "python", "memory", "extra spark"):
        assert words in ended.out
    assert "17 or newer" not in told["machine"]["java"] or "needs" in told["machine"]["java"]


def test_doctor_names_the_missing_parts_of_an_extra_once(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"eflomal": {"eflomal": None}, "postgresql": {"pg8000": None, "sqlalchemy": "2.1"}}
    monkeypatch.setattr("nearkin.cli.doctor._libraries", lambda extra: missing.get(extra, {}))
    shown = [line.split() for line in nearkin_here("doctor").out.splitlines()]
    assert ["extra", "eflomal", "not", "installed"] in shown
    assert ["extra", "postgresql", "not", "installed:", "pg8000"] in shown
