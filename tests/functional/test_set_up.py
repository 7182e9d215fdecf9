"""`nearkin doctor`."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from functional.conftest import nearkin_here, nearkin_json


def test_doctor_shows_what_is_installed() -> None:
    told = nearkin_json("doctor")
    assert told["libraries"]["numpy"] == importlib.metadata.version("numpy")
    assert told["extras"]["report"]["jinja2"] == importlib.metadata.version("jinja2")
    assert told["machine"]["cores"] >= 1
    ended = nearkin_here("doctor")
    ended.assert_clean()
    for words in ("nearkin", "python", "memory", "extra spark"):
        assert words in ended.out


@pytest.mark.parametrize(
    ("version", "said"), [("21.0.1", "21"), ("1.8.0_402", "Spark needs Java 17 or newer."), (None, "which is missing")]
)
def test_doctor_names_the_java_that_spark_would_start(
    version: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark")
    if version is not None:
        java = tmp_path / "bin/java"
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"'\n")
        java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    shown = nearkin_json("doctor")["machine"]["java"]
    assert shown == said if said.isdigit() else said in shown


def test_doctor_names_the_missing_parts_of_an_extra_once(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"postgresql": {"psycopg": None, "sqlalchemy": "2.1"}}
    monkeypatch.setattr("nearkin.cli.doctor._libraries", lambda extra: missing.get(extra, {}))
    shown = [line.split() for line in nearkin_here("doctor").out.splitlines()]
    assert ["extra", "postgresql", "not", "installed:", "psycopg"] in shown
