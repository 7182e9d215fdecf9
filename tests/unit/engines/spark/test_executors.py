"""Executors that lack something are found out, and named, before any work is done."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import numpy
import pytest

import nearkin
from nearkin.engines.spark.requirements import check_executors
from nearkin.errors import EngineError
from nearkin.runs.progress import Silent

PACKAGES = Path(numpy.__file__).parents[1]


@pytest.fixture
def other_python(tmp_path, spark, monkeypatch):
    """Give the executors a Python that has the packages of the names, and nothing else."""

    def give(*names: str, nearkin_version: str | None = None) -> Path:
        packages = tmp_path / "packages"
        packages.mkdir()
        for name in ("pyspark", "py4j", *names):
            (packages / name).symlink_to(PACKAGES / name)
            if (PACKAGES / f"{name}.libs").exists():  # shared libraries beside a package
                (packages / f"{name}.libs").symlink_to(PACKAGES / f"{name}.libs")
        (packages / "spark_daemon.py").write_text("from pyspark.daemon import manager\nmanager()\n")
        if nearkin_version is not None:
            (packages / "nearkin").mkdir()
            (packages / "nearkin/__init__.py").write_text(f"__version__ = {nearkin_version!r}\n")
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {Path(sys.executable).resolve()} -S "$@"\n')
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
        return python

    return give


def test_executors_that_have_everything(spark, tmp_path):
    check_executors(spark, tmp_path, Silent())
    assert not list(tmp_path.iterdir()), "the token is gone"


def test_another_nearkin(spark, tmp_path, other_python):
    other_python("numpy", "pyarrow", nearkin_version="0.0.1")
    rule = rf"have Nearkin 0\.0\.1, but this is Nearkin {nearkin.__version__}.*nearkin\[spark\]=={nearkin.__version__}"
    with pytest.raises(EngineError, match=rule):
        check_executors(spark, tmp_path, Silent())


def test_a_folder_that_workers_do_not_see(spark, tmp_path, monkeypatch):
    """The driver alone sees this one: it is under the link of its own process."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(
        EngineError, match=r"/proc/self/cwd is not the same directory for the executors on .* every worker"
    ):
        check_executors(spark, Path("/proc/self/cwd"), Silent())
    assert not list(here.iterdir())
