"""The Java that Spark would take: none, one that fails, one that is too old."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nearkin.engines.spark.requirements import check_java
from nearkin.errors import EngineError


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with bash, and a Java that does what the test says, or none."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(programs))
    bash = shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin")
    assert bash is not None
    (programs / "bash").symlink_to(bash)

    def give(java: str | None) -> Path:
        if java is not None:
            (programs / "java").write_text(f"#!{bash}\n{java}\n")
            (programs / "java").chmod(0o755)
        return tmp_path

    return give


def test_none(machine):
    machine(None)
    with pytest.raises(EngineError, match=r"which is missing: 'java' was not found\. .*apt-get install .*JAVA_HOME"):
        check_java()


def test_too_old(machine):
    machine("echo 'openjdk version \"11.0.20\" 2023-07-18' >&2")
    with pytest.raises(EngineError, match=r"needs Java 17 or newer\. 'java' is Java 11\. .*openjdk-17-jre-headless"):
        check_java()


@pytest.mark.parametrize(("version", "release"), [("17.0.15", 17), ("21", 21), ("25-ea", 25)])
def test_new_enough(machine, version, release):
    machine(f"echo 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g' >&2; echo 'openjdk version \"{version}\"' >&2")
    assert check_java() == release


def test_java_home_goes_before_the_path(machine, monkeypatch):
    home = machine("echo 'openjdk version \"11.0.20\"' >&2")
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/nowhere")
    monkeypatch.setenv("JAVA_HOME", "/no/such/java")
    with pytest.raises(EngineError, match="'/no/such/java/bin/java' was not found"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(EngineError, match=f"'{home}/bin/java' is Java 11"):
        check_java()
