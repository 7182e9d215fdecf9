"""Sessions: made from what was chosen, refused kindly, ended quietly.

A process has one session at a time, and the tests' own has the cluster's: others are in processes of their own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from nearkin.engines.spark.session import Cluster, session
from nearkin.errors import DriverMemoryError, EngineError, MissingExtraError, ParameterError
from nearkin.runs.progress import Silent
from spark_cluster import java_options

PREAMBLE = """
import sys
from pathlib import Path
from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.session import Cluster, session
from nearkin.errors import NearkinError

class Voice:
    def say(self, message):
        print("said:", message, flush=True)

def attempt(cluster, work):
    try:
        with session(cluster, Voice()) as spark:
            print("did:", work(spark), flush=True)
    except NearkinError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
"""


@dataclass
class Ended:
    out: str
    err: str
    code: int


def environment(tmp_path, **changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in changes}
    return kept | {"TMPDIR": str(tmp_path)} | {k: v for k, v in changes.items() if v}


def run(tmp_path, code: str, **changes: str) -> Ended:
    """A script after the preamble, in a process whose temporary files are in `tmp_path`."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + code],
        env=environment(tmp_path, **changes), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    return Ended(done.stdout, done.stderr, done.returncode)


def test_a_cluster_knows_forms_of_masters():
    assert Cluster() == Cluster(None, {})
    with pytest.raises(ParameterError, match="Got: 'one:7077'"):
        Cluster("one:7077")


def test_too_little_memory_in_the_driver_says_what_helps(spark):
    with pytest.raises(DriverMemoryError, match="The driver of a cluster needs"), session(Cluster(), Silent()):
        raise MemoryError


def test_an_active_session_is_used_and_goes_on(spark, cluster):
    for chosen in (Cluster(), Cluster(cluster.url), Cluster(cluster.url, {"spark.executor.memory": "600m"})):
        with session(chosen, Silent()) as again:
            assert again.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


@pytest.mark.parametrize(
    ("chosen", "rule"),
    [
        (Cluster("local[*]"), r"already has a Spark session, with spark\.master spark://.* instead of 'local\[\*\]'"),
        (Cluster("sc://nowhere"), r"with spark\.master spark://.* instead of 'sc://nowhere'"),
        (Cluster(None, {"spark.executor.memory": "1g"}), r"spark\.executor\.memory 600m instead of '1g'"),
        (Cluster(None, {"spark.no.such": "1"}), r"spark\.no\.such not set instead of '1'"),
    ],
)
def test_an_active_session_that_is_another_one(spark, chosen, rule):
    with pytest.raises(EngineError, match=rule), session(chosen, Silent()):
        pass
    assert spark.range(3).count() == 3


def test_the_application_on_the_cluster(spark, cluster):
    (tests,) = (one for one in cluster.applications() if one["name"] == "tests")
    assert tests["state"] == "RUNNING"
    assert spark.sparkContext.pythonExec == sys.executable, "the master is on loopback"


def test_without_pyspark(monkeypatch):
    monkeypatch.setattr("nearkin.engines.spark.requirements.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"nearkin\[spark\]"), session(Cluster(), Silent()):
        pass


def test_without_java(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "ps"):
        (programs / name).symlink_to(shutil.which(name) or "/nowhere")
    ended = run(tmp_path, "attempt(Cluster('local[1]'), print)", PATH=str(programs), JAVA_HOME="")
    assert ended.out.startswith("EngineError: Spark runs on Java, which is missing"), ended
    assert (ended.err, ended.code) == ("", 0)


@pytest.mark.slow
def test_a_session_of_this_machine(cluster, tmp_path):
    """Its settings, its Python, a quiet console, no trace left; the next one has nothing of it. And Java that dies."""
    (tmp_path / "spark-defaults.conf").write_text("spark.master local[1]\nspark.sql.shuffle.partitions 7\n")
    small = {
        "spark.driver.extraJavaOptions": java_options(),
        "spark.driver.memory": "600m",
        "spark.ui.enabled": "false",
    }
    ended = run(
        tmp_path,
        f"small = {small}"
        """
import os, signal
def shown(spark):
    context = spark.sparkContext
    keys = ("spark.sql.shuffle.partitions", "spark.app.name", "spark.driver.host", "spark.my.own")
    return [context.master, context.pythonExec == sys.executable, *(spark.conf.get(key, "") for key in keys)]

def killed(spark):
    print("did:", shown(spark), flush=True)
    os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
    with engine_errors():
        return spark.range(3).count()

before = signal.getsignal(signal.SIGINT)
attempt(Cluster(None, small | {"spark.my.own": "1"}), shown)
logs = list(Path(os.environ["TMPDIR"]).glob("nearkin-spark-*"))
print(logs, signal.getsignal(signal.SIGINT) is before)
attempt(Cluster("local[2]", small | {"spark.sql.shuffle.partitions": "3"}), killed)
attempt(Cluster(None, {"spark.driver.memory": "many"}), shown)
""",
        SPARK_CONF_DIR=str(tmp_path),
    )
    lines = ended.out.splitlines()
    assert lines[0] == "did: ['local[1]', True, '7', 'nearkin', '127.0.0.1', '1']", ended
    assert lines[1] == "[] True", "the log is gone, Ctrl-C is handled as before"
    assert lines[2] == "did: ['local[2]', True, '3', 'nearkin', '127.0.0.1', '']"
    assert lines[3].startswith("said: Spark's own log: ")
    assert lines[4].startswith("EngineError: The driver's Java has ended")
    assert lines[6] == "EngineError: Spark's Java does not start: Invalid maximum heap size: -Xmxmany"
    assert Path(lines[5].partition(": ")[2].partition(": ")[2]).read_text().startswith("Invalid maximum heap size")
    assert (ended.err, ended.code) == ("", 0)


@pytest.mark.slow
def test_interrupted_in_the_middle_of_a_job(cluster, tmp_path):
    """Quiet and quick, and no Java is left behind."""
    settings = {"spark.driver.extraJavaOptions": java_options(), "spark.ui.enabled": "false"}
    code = f"""
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it

def sleeping(batches):
    Path({str(tmp_path / "runs")!r}).touch()
    time.sleep(100)
    yield from batches

try:
    with session(Cluster("local[1]", {settings}), Voice()) as spark, engine_errors():
        spark.range(1).mapInArrow(sleeping, "id long").collect()
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + code],
        env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "runs").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    assert not list(tmp_path.glob("nearkin-spark-*"))
