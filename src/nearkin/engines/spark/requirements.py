"""What the Spark engine needs, checked before the long work, on the driver and on executors."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from nearkin._version import __version__
from nearkin.engines.spark.failures import INSTALL, engine_errors
from nearkin.engines.spark.masters import addresses, is_connect, is_local
from nearkin.errors import EngineError, MissingExtraError, OutputError
from nearkin.paths import why

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Voice(Protocol):
    """Receiver of messages to the user, such as a progress."""

    def say(self, message: str) -> None:
        """Show a message to the user."""


def check_driver(master: str | None) -> None:
    """Refuse a driver with PySpark that could not start a session; no ``master``: it is in Spark's own files."""
    if master is None or not is_connect(master):
        check_java()
    elif find_spec("grpc") is None:
        raise MissingExtraError.of("Spark Connect", "spark")
    if master is not None:
        check_answers(master)


def check_pyspark() -> None:
    """Check that PySpark is installed before anything is started."""
    if find_spec("pyspark") is None or find_spec("py4j") is None:
        raise MissingExtraError.of("--engine spark", "spark")
    # when it looks for pandas, which is not used here, it warns of every newer version
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


OLDEST_JAVA = 17
_JAVA_HELP = (
    f"Install version {OLDEST_JAVA} or newer, on Debian: apt-get install openjdk-17-jre-headless. If it is installed, "
    "set its path: export JAVA_HOME=/path/to/java"
)
# Spark's own way of finding Java: variables set by spark-env.sh, JAVA_HOME, PATH
_FIND_JAVA = """
export SPARK_HOME=$1
. "$SPARK_HOME/bin/load-spark-env.sh" > /dev/null 2>&1
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
echo "$java"
exec "$java" -version 2>&1
"""


def check_java() -> int:
    """Return the release of Java; raise an error if there is none on which Spark can run."""
    from pyspark.find_spark_home import _find_spark_home  # the directory that its launcher uses too

    command = ["bash", "-c", _FIND_JAVA, "java", str(_find_spark_home())]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=60
        )
    except FileNotFoundError as error:
        raise EngineError("Spark is started by bash, but bash is not on the PATH of this machine.") from error
    except subprocess.TimeoutExpired as error:
        raise EngineError(f"Spark runs on Java, but 'java -version' does not finish. {_JAVA_HELP}") from error
    name, _, answer = done.stdout.partition("\n")
    if done.returncode == 127:
        raise EngineError(f"Spark runs on Java, which is missing: '{name}' was not found. {_JAVA_HELP}")
    version = _release(answer)
    if version is None:
        reason = f"{answer}{done.stderr}".strip() or f"exit code {done.returncode}"
        raise EngineError(f"Spark runs on Java, and '{name} -version' fails: {reason}. {_JAVA_HELP}")
    if version < OLDEST_JAVA:
        raise EngineError(f"Spark needs Java {OLDEST_JAVA} or newer. '{name}' is Java {version}. {_JAVA_HELP}")
    return version


def _release(answer: str) -> int | None:
    occurrence = re.search(r'version "(\d+)(?:\.(\d+))?', answer)
    if occurrence is None:
        return None
    first, second = int(occurrence[1]), int(occurrence[2] or 0)
    return second if first == 1 else first


_PATIENCE_S = 3.0


def check_answers(master: str) -> None:
    """Open a connection to the master; if there are several, one that answers is enough."""
    failed = []
    for host, port in addresses(master):
        try:
            socket.create_connection((host, port), _PATIENCE_S).close()
        except OSError as error:
            failed.append(f"{host}:{port}: {getattr(error, 'strerror', None) or error}")
        else:
            return
    if not failed:
        return
    if master.startswith("k8s://"):
        start = "kubectl cluster-info prints the address of the cluster."
    elif is_connect(master):
        start = "Start a Spark Connect server with start-connect-server.sh; --master 'local[*]' needs none."
    else:
        start = (
            "Start one with spark-class org.apache.spark.deploy.master.Master; its log shows its URL, which differs "
            "from that of its web page. --master 'local[*]' needs none."
        )
    raise EngineError(f"No Spark master answers at {master} ({'; '.join(failed)}). {start}")


OLDEST_SPARK = (4, 1)
"""Minimum version of Spark: it can send a row to a partition by number."""
_TOLD_AFTER_S = 5.0
_ROUNDS = 3
_ASKED = ("spark.executor.memory", "spark.executor.cores", "spark.cores.max", "spark.executor.instances")


def check_executors(spark: SparkSession, folder: Path, progress: Voice, *, patience_s: float = 60.0) -> None:
    """Refuse a cluster whose executors could not do the work; those already running are tested.

    Parameters
    ----------
    folder
        Directory of this machine; every executor must see it under the same path.
    """
    if tuple(map(int, re.findall(r"\d+", spark.version)[:2])) < OLDEST_SPARK:
        raise EngineError(
            f"Spark {spark.version} is too old: Nearkin needs {'.'.join(map(str, OLDEST_SPARK))} or newer, here "
            "and on the cluster."
        )
    with _token(folder) as (path, word), engine_errors():
        rows: list[dict[str, str]] = []
        for _ in range(_ROUNDS):
            rows += _ask(spark, str(path), progress, patience_s)
            if len({row["executor"] for row in rows}) >= _n_executors(spark):
                break  # otherwise some executors started when others had done all the work
    for reason in chain.from_iterable(_missing(row, word, folder) for row in rows):
        raise EngineError(reason)


@contextlib.contextmanager
def _token(folder: Path) -> Iterator[tuple[Path, str]]:
    path, word = folder.absolute() / f".nearkin-{secrets.token_hex(8)}", secrets.token_hex(16)
    try:
        path.write_text(word, encoding="ascii")
    except OSError as error:
        raise OutputError(f"Cannot write to {folder}: {why(error)}.") from error
    try:
        yield path, word
    finally:
        path.unlink(missing_ok=True)


def _missing(row: dict[str, str], word: str, folder: Path) -> Iterator[str]:
    """Yield what an executor lacks, by its own report."""
    where = f"the executors on {row['host']} ({row['python']}, Python {row['release']})"
    these = f"T{where[1:]}"
    for module in _MODULES:
        if row[f"without_{module}"]:
            yield f"{these} cannot import {module}: {row[f'without_{module}']}. {INSTALL}."
    if row["nearkin"] != __version__:
        yield (
            f"{these} have Nearkin {row['nearkin']}, but this is Nearkin {__version__}. All machines must have the "
            "same version, or results could differ between them. "
            f"{INSTALL.replace('nearkin[spark]', f'nearkin[spark]=={__version__}')}."
        )
    if row["said"] != word:
        yield (
            f"{folder.absolute()} is not the same directory for {where}: a file that this machine wrote is missing "
            f"there ({row['unread'] or 'it has another content'}). Workers read and write in it, so it must be on a "
            "file system that every worker mounts under this path, for example NFS."
        )


def _ask(spark: SparkSession, token: str, progress: Voice, patience_s: float) -> list[dict[str, str]]:
    n_tasks = 2 * _parallelism(spark)
    with _travelling_by_value():
        frame = spark.range(0, n_tasks, 1, n_tasks).mapInArrow(_looker(token), _LOOK_SCHEMA)
    rows = _in_time(spark, frame.collect, progress, patience_s)
    return [json.loads(row["found"]) for row in rows]


@contextlib.contextmanager
def _travelling_by_value() -> Iterator[None]:
    """Make Spark pickle the functions of this module by value, not by name, inside the block."""
    from pyspark import cloudpickle

    this_module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(this_module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(this_module)


def _in_time(
    spark: SparkSession, collect: Callable[[], Sequence[Any]], progress: Voice, patience_s: float
) -> Sequence[Any]:
    tag = f"nearkin-{secrets.token_hex(4)}"
    rows: list[Any] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            spark.addTag(tag)  # for this thread only
            rows.extend(collect())
        except Exception as error:  # noqa: BLE001  # raised again below, in the calling thread
            failed.append(error)

    thread = threading.Thread(target=run, name="nearkin-asks-executors", daemon=True)
    start = time.monotonic()
    thread.start()
    is_told = False
    try:
        while thread.is_alive():
            thread.join(0.05)
            waited_s = time.monotonic() - start
            if thread.is_alive() and waited_s > min(_TOLD_AFTER_S, patience_s) and _n_executors(spark) == 0:
                if not is_told:
                    progress.say(f"No executor yet; waiting up to {patience_s:.0f} s for the cluster to start one.")
                    is_told = True
                if waited_s > patience_s:
                    raise EngineError(_nobody_came(spark, patience_s))
    finally:
        if thread.is_alive():
            with contextlib.suppress(Exception):
                spark.interruptTag(tag)
    if failed:
        raise failed[0]
    return rows


def _nobody_came(spark: SparkSession, patience_s: float) -> str:
    settings = [f"{key}={value}" for key in _ASKED if (value := spark.conf.get(key, ""))]
    return (
        f"The cluster started no executor within {patience_s:.0f} s. One was requested with "
        f"{', '.join(settings) or 'the default memory and cores'}. Either no worker has that much (see the web page "
        "of the master), or other applications are using it. Request less (--conf spark.executor.memory=1g "
        "--conf spark.executor.cores=1), or wait."
    )


def _parallelism(spark: SparkSession) -> int:
    context = getattr(spark, "_sc", None)
    return 4 if context is None else max(1, int(context.defaultParallelism))


def _n_executors(spark: SparkSession) -> int:
    context = getattr(spark, "_sc", None)
    if context is None:
        return 1
    n_known = len(context._jsc.sc().statusTracker().getExecutorInfos())
    return n_known if is_local(context.master) else n_known - 1


# Executors may lack Nearkin, so the functions below are sent to them by value: they use nothing of Nearkin, and nothing
# beyond Python's standard library except what they import themselves.
_LOOK_SCHEMA = "found string"
_MODULES = ("nearkin", "numpy", "pyarrow")
_LONG_ENOUGH_S = 0.2  # gives the other executors time to get some of the tasks


def _looker(token: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function of batches that yields a JSON row: host, Python, versions, and the content of ``token``."""

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa  # Spark itself needs it for such functions

        for _ in batches:
            pass
        time.sleep(_LONG_ENOUGH_S)
        # the Python processes of an executor are children of one process
        facts = {"executor": f"{socket.gethostname()} {os.getppid()}", "host": socket.gethostname()}
        facts |= {"python": sys.executable, "release": sys.version.split()[0]}
        for module in _MODULES:
            facts[module], facts[f"without_{module}"] = _version(module)
        facts["said"], facts["unread"] = _read(token)
        yield pa.RecordBatch.from_pydict({"found": [json.dumps(facts)]})

    return look


def _version(module: str) -> tuple[str, str]:
    try:
        return str(importlib.import_module(module).__version__), ""
    except Exception as error:  # noqa: BLE001  # importing a module can run any code
        return "", f"{type(error).__name__}: {error}"


def _read(token: str) -> tuple[str, str]:
    try:
        return Path(token).read_text(encoding="ascii"), ""
    except (OSError, ValueError) as error:
        return "", getattr(error, "strerror", None) or str(error)
