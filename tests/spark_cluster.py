"""A Spark cluster of the tests' own: a master and two workers, processes of this machine, on its loopback.

The cores and the memory of a worker are what it says it has, so that several applications fit beside one another; what
they take is set in `Standalone.settings`.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from nearkin.engines.spark.requirements import check_java
from nearkin.errors import EngineError

ROOT = Path(__file__).parents[1]
CORES, MEMORY_MB = 3, 2400
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
# they live for minutes: what starts quickly is better than what runs fast
_SMALL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"
NO_SETTINGS = Path(sys.prefix) / "no-spark-settings"
"""An empty folder in the place of Spark's files of settings: what this machine may have set plays no part.

It is among the places of classes, and Java takes those of an archive only if it is empty.
"""
UNCOMPILED = "spark.sql.codegen.wholeStage"
"""Set to false: compiling each query took a quarter of the time."""
_USING_CLASSES = """
import sys
from pyspark.sql import SparkSession
with SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config(
    "spark.driver.extraJavaOptions", sys.argv[1]
).getOrCreate() as spark:
    rows = spark.range(9).selectExpr("id", "id % 2 AS odd")
    rows.groupBy("odd").count().mapInArrow(lambda batches: batches, "odd long, count long").collect()
"""


class Standalone:
    """A master and its workers, in a folder that goes away with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"spark://127.0.0.1:{_free_port()}"
        self._page = f"http://127.0.0.1:{_free_port()}"
        self._master: subprocess.Popen[bytes] | None = None
        self._workers: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def settings(self) -> dict[str, str]:
        """What makes an application small: an executor of one core on each worker."""
        return {
            "spark.cores.max": "2",
            "spark.default.parallelism": "2",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": java_options(),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "600m",
            "spark.executor.cores": "1",
            "spark.executor.extraJavaOptions": java_options(),
            "spark.executor.memory": "600m",
            "spark.executorEnv.PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}",
            "spark.local.dir": str(self.folder / "driver"),
            "spark.python.daemon.module": "spark_daemon",
            "spark.sql.shuffle.partitions": "2",
            UNCOMPILED: "false",
            "spark.ui.enabled": "false",
        }

    def applications(self) -> list[dict[str, Any]]:
        """What the master tells of each application, running or ended: name, state, cores, memoryperexecutor, …"""
        state = self._state()
        return [*state["activeapps"], *state["completedapps"]]

    def n_workers(self) -> int:
        """How many the master believes to be alive."""
        return int(self._state()["aliveworkers"])

    def executors(self, index: int) -> list[int]:
        """The processes of the executors on a worker, and those of Python that they started."""
        return [process.pid for process in _descendants(self._workers[index].pid)]

    def start_master(self) -> None:
        """Start it, and wait until it answers."""
        port, page = self.url.rpartition(":")[2], self._page.rpartition(":")[2]
        self._master = self._start("master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", page)
        _wait_until(lambda: self._state()["status"] == "ALIVE", self._master, self._log("master.Master"))

    def start_worker(self, index: int, *, is_waited_for: bool = True) -> None:
        """Start it, and wait until the master knows it; nothing if it runs."""
        running = self._workers.get(index)
        if running is not None and running.poll() is None:
            return
        n_before = self.n_workers()
        own = self.folder / f"worker-{index}"
        self._workers[index] = self._start(
            "worker.Worker", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "-c", str(CORES),
            "-m", f"{MEMORY_MB}M", "-d", str(own), self.url, name=f"worker-{index}",
        )  # fmt: skip
        if is_waited_for:
            _wait_until(lambda: self.n_workers() > n_before, self._workers[index], self._log(f"worker-{index}"))

    def kill_worker(self, index: int) -> None:
        """As when a machine loses its power: the worker and its executors are gone, at once, without a word."""
        n_before = self.n_workers()
        _kill(self._workers.pop(index))
        _wait_until(lambda: self.n_workers() < n_before, self._master, self._log("master.Master"))

    @contextlib.contextmanager
    def connect_server(self) -> Iterator[str]:
        """The URL of a server of Spark Connect that does the work itself, while the block runs."""
        port = _free_port()
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.default.parallelism": "1",
            "spark.sql.shuffle.partitions": "1",
            UNCOMPILED: "false",
            "spark.ui.enabled": "false",
        }
        server = self._start(
            "SparkSubmit", "--master", "local[1]", "--driver-java-options", java_options(),
            *(part for pair in settings.items() for part in ("--conf", "=".join(pair))),
            "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal",
            name="connect", memory="600m",
        )  # fmt: skip
        try:
            _wait_until(lambda: _listens(port), server, self._log("connect"))
            yield f"sc://127.0.0.1:{port}"
        finally:
            _kill(server)

    def stop(self) -> None:
        """End all of it."""
        for process in (*self._workers.values(), *([self._master] if self._master else [])):
            _kill(process)

    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._page}/json/", timeout=10) as answer:
            return dict(json.load(answer))

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _start(self, kind: str, *arguments: str, name: str = "", memory: str = "256m") -> subprocess.Popen[bytes]:
        import pyspark

        environment = os.environ | {
            "SPARK_CONF_DIR": str(NO_SETTINGS),
            "SPARK_DAEMON_JAVA_OPTS": java_options(),
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        }
        program = Path(pyspark.__file__).parent / "bin/spark-class"
        command = [str(program), f"org.apache.spark.deploy.{kind}", *arguments]
        with open(self._log(name or kind), "ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=self.folder,
                preexec_fn=_die_with_parent,
            )  # fmt: skip


@cache
def java_options() -> str:
    """What makes a Java of Spark small, and lets it begin in half the time.

    Its classes come from an archive that is made once for an environment. A Java that the archive was not made with, or
    that looks for settings elsewhere, takes no notice of it.
    """
    import pyspark

    archive = Path(sys.prefix) / f"spark-{pyspark.__version__}-classes.jsa"
    NO_SETTINGS.mkdir(exist_ok=True)
    with open(NO_SETTINGS.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # it takes half a minute of a core: a worker that waits leaves it to others
        if not archive.exists():
            _write_archive(archive)
    return f"{_SMALL} -XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off"


def _write_archive(archive: Path) -> None:
    aside = archive.with_suffix(f".{os.getpid()}")
    subprocess.run(
        [sys.executable, "-c", _USING_CLASSES, f"{_SMALL} -XX:ArchiveClassesAtExit={aside}"],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_CONF_DIR": str(NO_SETTINGS)},
        capture_output=True,
        check=True,
        timeout=240,
    )
    aside.replace(archive)


def is_there() -> bool:
    """Whether a cluster can be started."""
    try:
        check_java()
    except EngineError:
        return False
    return True


@contextlib.contextmanager
def running() -> Iterator[Standalone]:
    """A master and two workers, started and ended."""
    folder = Path(tempfile.mkdtemp(prefix="nearkin-spark-cluster-"))
    for name in ("driver", "scratch"):
        (folder / name).mkdir()
    cluster = Standalone(folder)
    try:
        cluster.start_master()
        for index in (0, 1):
            cluster.start_worker(index, is_waited_for=False)
        _wait_until(lambda: cluster.n_workers() == 2, cluster._master, cluster._log("master.Master"))
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _kill(process: subprocess.Popen[bytes]) -> None:
    """And all that it started, before any of them can say a word."""
    below = _descendants(process.pid)
    process.kill()
    for one in below:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait()


def _die_with_parent() -> None:
    """Also when the tests are killed; executors end when their worker does. Ctrl-C is for the tests alone."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), 1):
        return True


def _wait_until(holds: Callable[[], bool], process: subprocess.Popen[bytes] | None, log: Path) -> None:
    for _ in range(600):
        if process is not None and process.poll() is not None:
            raise RuntimeError(f"a part of the cluster ended: {log.read_text()}")
        with contextlib.suppress(OSError, json.JSONDecodeError):  # it does not listen yet, or has nothing but a page
            if holds():
                return
        time.sleep(0.1)
    raise RuntimeError(f"the cluster did not come into the state that was waited for: {log.read_text()}")
