"""A Spark cluster of one machine: a master and two workers of one core each, every one of them a process of its own.

Started by PySpark's own `spark-class`, on the loopback, in a folder that goes away with it. What an application gets is
written into the folder's `spark-defaults.conf`, so that every application gets the same::

    with running() as cluster:
        run_measured([...], environment=cluster.environment, ...)
        events = cluster.event_log()
"""

from __future__ import annotations

import contextlib
import ctypes
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

N_WORKERS = 2
EXECUTOR_MEMORY, DRIVER_MEMORY, WORKER_MEMORY = "3g", "2g", "3200M"
PATIENCE_S = 60.0
_PR_SET_PDEATHSIG = 1


class Standalone:
    """A master and its workers.

    Parameters
    ----------
    folder : Path
    launcher : sequence of str
        What goes before the command of each process; see `processor.ProcessorTime`.
    """

    def __init__(self, folder: Path, launcher: Sequence[str] = ()) -> None:
        self.folder = folder
        self.url = f"spark://127.0.0.1:{_free_port()}"
        self._page = f"http://127.0.0.1:{_free_port()}"
        self._launcher = list(launcher)
        self._running: list[subprocess.Popen[bytes]] = []
        for name in ("daemons", "applications", "events", "scratch", "driver"):
            (folder / name).mkdir()
        lines = "".join(f"{key} {value}\n" for key, value in self.settings.items())
        (folder / "applications" / "spark-defaults.conf").write_text(lines, "ascii")

    @property
    def settings(self) -> dict[str, str]:
        """What every application gets: an executor of one core on each worker."""
        return {
            "spark.master": self.url,
            "spark.cores.max": str(N_WORKERS),
            "spark.executor.cores": "1",
            "spark.executor.memory": EXECUTOR_MEMORY,
            "spark.driver.memory": DRIVER_MEMORY,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(self.folder / "driver"),
            "spark.ui.enabled": "false",
        }

    @property
    def logging(self) -> dict[str, str]:
        """What an application gets besides, if `event_log` is to be asked about it."""
        return {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{self.folder / 'events'}",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }

    @property
    def environment(self) -> dict[str, str]:
        """For the process that is to run on the cluster."""
        return {"SPARK_CONF_DIR": str(self.folder / "applications"), "SPARK_LOCAL_IP": "127.0.0.1"}

    def start(self) -> None:
        """Start all, and wait until the master knows its workers."""
        port, page = self.url.rpartition(":")[2], self._page.rpartition(":")[2]
        self._start("master.Master", "master", "--host", "127.0.0.1", "--port", port, "--webui-port", page)
        self._wait_until(lambda: self._state()["status"] == "ALIVE")
        for number in range(N_WORKERS):
            name = f"worker-{number}"
            place = "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "-d", str(self.folder / name)
            self._start("worker.Worker", name, *place, "-c", "1", "-m", WORKER_MEMORY, self.url)
        self._wait_until(lambda: self._state()["aliveworkers"] == N_WORKERS)

    def event_log(self) -> Path:
        """What the last application with `logging` told of itself, once it is off the cluster.

        Raises
        ------
        RuntimeError
            It left no log.
        """
        self.wait_until_idle()
        logs = sorted((self.folder / "events").iterdir(), key=lambda path: path.stat().st_mtime)
        if not logs:
            raise RuntimeError("no application left a log of its events")
        return logs[-1]

    def wait_until_idle(self) -> None:
        """Wait until no application has executors."""
        self._wait_until(lambda: not self._state()["activeapps"])

    def stop(self) -> None:
        """End all of it; executors end with their worker."""
        for process in reversed(self._running):
            process.terminate()
        for process in reversed(self._running):
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._page}/json/", timeout=10) as answer:
            return dict(json.load(answer))

    def _start(self, kind: str, name: str, *arguments: str) -> None:
        import pyspark

        environment = os.environ | {
            "SPARK_CONF_DIR": str(self.folder / "daemons"),  # nothing in it, whatever this machine may have set
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
        }
        program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        command = [*self._launcher, str(program), f"org.apache.spark.deploy.{kind}", *arguments]
        with open(self._log(name), "ab") as log:
            self._running.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environment,
                    cwd=self.folder,
                    preexec_fn=_die_with_parent if sys.platform == "linux" else None,
                )
            )

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _wait_until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and all(process.poll() is None for process in self._running):
            # it does not listen yet, or has nothing but a page
            with contextlib.suppress(OSError, json.JSONDecodeError):
                if holds():
                    return
            time.sleep(0.1)
        told = "\n".join(path.read_text(errors="replace")[-2_000:] for path in sorted(self.folder.glob("*.log")))
        raise RuntimeError(f"the cluster did not come into the state that was waited for:\n{told}")


@contextlib.contextmanager
def running(launcher: Sequence[str] = ()) -> Iterator[Standalone]:
    """A cluster, started and ended."""
    folder = Path(tempfile.mkdtemp(prefix="nearkin-benchmark-cluster-"))
    cluster = Standalone(folder, launcher)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _die_with_parent() -> None:
    """Also when the benchmark is killed; Ctrl-C is for the benchmark alone, which ends the cluster."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
