"""Fixtures that every test may use, and the rule that nothing is skipped in CI."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import postgresql
import spark_cluster
import temporary_files
from example_counts import register_profiles
from places import SomePlace
from rewriting import rewrite_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
_CLUSTER = frozenset(("cluster", "connect_url", "spark"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

register_profiles()

# What is collected stays: to look for garbage in it took a fifth of the collection, in each worker.
gc.disable()

# Lines are as long wherever the tests run: names of temporary folders are not.
os.environ["COLUMNS"] = "200"

# The tests run on every core already: threads of linear algebra would wait for one another.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# The server of the tests does not encrypt: each engine would ask it and then connect a second time.
os.environ["PGSSLMODE"] = "disable"

os.environ["SPARK_CONF_DIR"] = str(spark_cluster.NO_SETTINGS)

temporary_files.keep_in_memory()

_skipped_in_ci: list[str] = []


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a chromium; the test is skipped where there is none, except in CI, where that fails the run."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no chromium here; `make test` installs one when it may")
    return found


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection of contracts and mails that ``examples/generate.py`` writes, with its truth."""
    import runpy

    folder = tmp_path_factory.mktemp("collection")
    generate = runpy.run_path(str(ROOT / "examples/generate.py"))["write_collection"]
    generate(folder)
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[postgresql.Server]:
    """A PostgreSQL server; the test is skipped where there is none, except in CI, where that fails the run."""
    if not postgresql.is_there():
        pytest.skip("no PostgreSQL here; `make test` installs it when it may")
    with postgresql.running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> SomePlace:
    """Where a collection may be made, once in each kind of database; nothing is there yet."""
    return SomePlace.new(tmp_path, request.getfixturevalue("server") if request.param == "postgresql" else None)


@pytest.fixture(scope="session")
def cluster() -> Iterator[spark_cluster.Standalone]:
    """A Spark cluster; the test is skipped where there is no Java, except in CI, where that fails the run."""
    if not spark_cluster.is_there():
        pytest.skip("no Java 17 here; `make test` installs one when it may")
    with spark_cluster.running() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def spark(cluster: spark_cluster.Standalone) -> Iterator[SparkSession]:
    """A session on that cluster; as long as it lives, every session of this process is this one."""
    from nearkin.engines.spark.session import Cluster, session
    from nearkin.runs.progress import Silent

    with session(Cluster(cluster.url, cluster.settings), Silent(), name="tests") as spark:
        yield spark


@pytest.fixture(scope="session")
def connect_url(cluster: spark_cluster.Standalone) -> Iterator[str]:
    """The URL of a server of Spark Connect."""
    with cluster.connect_server() as url:
        yield url


class ByFile(LoadFileScheduling):
    """The tests of a file run on one worker, and all files that need the cluster on the same."""

    def _split_scope(self, nodeid: str) -> str:
        path = super()._split_scope(nodeid)
        return "the cluster" if _needs_cluster(path) else path


def _needs_cluster(path: str) -> bool:
    return any(name in path for name in ("spark", "cluster", "test_engines_pairs", "test_engines_sign"))


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests wait for servers, for Spark, for commands and for disks.

    Each collects all tests, and starts a server of PostgreSQL.
    """
    return len(os.sched_getaffinity(0)) + 1


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Before there are workers, which would all do the same."""
    if not sys.dont_write_bytecode:
        started_in = config.invocation_params.dir
        rewrite_once(config, [started_in / place.partition("::")[0] for place in config.args])
    gc.enable()  # this process collects nothing


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what needs the cluster: it takes longest."""
    for item in items:
        if not _CLUSTER.isdisjoint(getattr(item, "fixturenames", ())) and not _needs_cluster(item.nodeid):
            raise pytest.UsageError(f"{item.nodeid} would start a second cluster: name its file in _needs_cluster.")
    items.sort(key=lambda item: not _needs_cluster(item.nodeid))


def pytest_collection_finish() -> None:
    """From here on there is garbage, and it is looked for among what the tests make."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    if "sqlalchemy" in sys.modules:  # as soon as a test module that is collected asks a collection
        from statements import share_statements

        share_statements()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember what was skipped, where nothing may be."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        _skipped_in_ci.append(item.nodeid)
    return report


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A module that skips itself counts as well."""
    if report.skipped and os.environ.get("CI") == "true":
        _skipped_in_ci.append(report.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """A worker that is done says what it skipped."""
    _skipped_in_ci.extend(getattr(node, "workeroutput", {}).get("skipped_in_ci", ()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["skipped_in_ci"] = _skipped_in_ci
    elif _skipped_in_ci:
        print("\nSkipped, which CI does not allow:", *sorted(set(_skipped_in_ci)), sep="\n  ", file=sys.stderr)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
