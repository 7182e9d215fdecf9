"""A session with a Spark cluster, created from the user's choices, and always stopped at the end."""

from __future__ import annotations

import contextlib
import logging
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeVar, cast

from nearkin.engines.spark.failures import engine_errors, reason_in_log, start_errors
from nearkin.engines.spark.masters import check_form, is_connect, is_local, is_on_this_machine
from nearkin.engines.spark.requirements import Voice, check_answers, check_driver, check_pyspark
from nearkin.errors import DriverMemoryError, EngineError, NearkinError

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession


_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Setting for a driver whose executors are its own threads: no other machine needs to reach it."""
_PYTHON = "spark.pyspark.python"
_COMPILING = "-XX:TieredStopAtLevel=1"
"""Compiler setting: Java only moves blocks, while Python needs the cores; compiling less halves Java's CPU time."""
_EXECUTORS = {"spark.executor.extraJavaOptions": _COMPILING}
_QUERIES = {"spark.sql.adaptive.enabled": "false"}
"""Setting for queries: tasks are chosen by number, so there is nothing for Spark to plan again after each shuffle."""


Work = TypeVar("Work")


@dataclass(frozen=True)
class Cluster:
    """The user's choice of a cluster.

    Parameters
    ----------
    master
        As for spark-submit, or ``sc://HOST:PORT`` for Spark Connect. None: the one in ``spark-defaults.conf`` or given
        to spark-submit, else ``local[*]``.
    """

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.master is not None:
            check_form(self.master)

    @property
    def name(self) -> Literal["local", "spark"]:
        """Name of the engine; see `nearkin.engines.local.Engine`."""
        return "spark"

    def choose(self, *, local: Callable[[], Work], cluster: Callable[[Cluster], Work]) -> Work:
        """Call the function for a cluster; see `nearkin.engines.local.Engine`."""
        return cluster(self)


@contextlib.contextmanager
def session(cluster: Cluster, progress: Voice, *, name: str = "nearkin") -> Iterator[SparkSession]:
    """Open a session, and stop it at the end of the block; a session already active in this process is kept."""
    check_pyspark()
    try:
        active = _active_session()
        if active is not None:
            _check_is_the_same(active, cluster)
            yield active
            return
        check_driver(cluster.master)
        if cluster.master is not None and is_connect(cluster.master):
            with _remote_session(cluster.master, cluster.settings) as made:
                yield made
        else:
            with logged(progress.say) as log, _own_session(cluster, log, name) as made:
                yield made
    except MemoryError as error:
        raise DriverMemoryError(
            "Not enough memory. The driver of a cluster needs about 60 bytes per document: run it on a larger machine."
        ) from error


def _active_session() -> SparkSession | None:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        active = SparkSession.active()
    except PySparkRuntimeError:
        return None
    is_stopped = getattr(active, "is_stopped", False) if _is_remote(active) else active._sc._jsc is None
    return None if is_stopped else active


def _check_is_the_same(active: SparkSession, cluster: Cluster) -> None:
    wanted = dict(cluster.settings)
    if cluster.master is not None and not (is_connect(cluster.master) and _is_remote(active)):
        wanted["spark.master"] = cluster.master
    for key, value in wanted.items():
        has = active.conf.get(key, "")
        if has != value:
            raise EngineError(
                f"This process already has a Spark session, with {key} {has or 'not set'} instead of {value!r}."
                " Stop it first with spark.stop(), or omit the master and the settings to use it unchanged."
            )


def _is_remote(active: SparkSession) -> bool:
    """Whether it is a session of Spark Connect; its server is not compared, since a server has many names."""
    return getattr(active, "_sc", None) is None


@contextlib.contextmanager
def _remote_session(url: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    with engine_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about settings that it does not accept: checked below
        builder = SparkSession.builder.remote(url)
        for key, value in settings.items():
            builder = builder.config(key, value)
        made = builder.create()
    try:
        for key, value in settings.items():
            if made.conf.get(key, "") != value:
                raise EngineError(f"{key} can only be set where the server at {url} is started. Omit it.")
        yield made
    finally:
        stop_quietly(made.stop)


@contextlib.contextmanager
def _own_session(cluster: Cluster, log: BinaryIO, name: str) -> Iterator[SparkSession]:
    from pyspark import SparkConf

    settings = SparkConf(loadDefaults=False).setAll(list(cluster.settings.items()))
    settings.setIfMissing("spark.ui.showConsoleProgress", "false")  # it would fill the log with bars
    settings.setIfMissing("spark.driver.defaultJavaOptions", _COMPILING)
    if cluster.master is not None:
        settings.setMaster(cluster.master)
    with quiet_logs(), java(settings, log) as gateway:
        conf = SparkConf(_jvm=gateway.jvm)  # with settings that spark-submit found in files
        for key, value in settings.getAll():
            conf.set(key, value)
        if "spark.app.name" not in cluster.settings:
            conf.setAppName(name)
        master = conf.get("spark.master", "local[*]") or "local[*]"
        conf.setMaster(master)
        if cluster.master is None:
            check_answers(master)
        _set_defaults(conf, master)
        # Spark's own Ctrl-C handler would call Java in the middle of another call
        with handled_as_before(signal.SIGINT), start_errors(master, Path(log.name)):
            made = _started(conf, gateway)
        try:
            quieten(made.sparkContext)
            _choose_python(made.sparkContext, master)
            yield made
        finally:
            stop_quietly(made.stop)


def _started(conf: SparkConf, gateway: JavaGateway) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext(conf=conf, gateway=gateway)
    try:
        return SparkSession(context)
    except BaseException:
        stop_quietly(context.stop)
        raise


def _set_defaults(conf: SparkConf, master: str) -> None:
    for key, value in (_QUERIES | (_LOOPBACK if is_local(master) else _EXECUTORS)).items():
        conf.setIfMissing(key, value)


def _choose_python(context: SparkContext, master: str) -> None:
    """Choose Python: Spark reads the setting only under spark-submit."""
    chosen = context.getConf().get(_PYTHON)
    if chosen:
        context.pythonExec = chosen
    elif context.pythonExec == "python3" and is_on_this_machine(master):  # PYSPARK_PYTHON is not set
        context.pythonExec = sys.executable


_STOPPING_S = 20.0


@contextlib.contextmanager
def java(settings: SparkConf, log: BinaryIO) -> Iterator[JavaGateway]:
    """Start the driver's Java and end it after the block; an existing one is used and continues."""
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    if SparkContext._gateway is not None:
        yield SparkContext._gateway
        return
    try:
        gateway = launch_gateway(settings, {"stdout": log, "stderr": log})
    except (PySparkException, OSError) as error:
        raise EngineError(f"Spark's Java does not start: {reason_in_log(Path(log.name)) or error}") from error
    try:
        yield gateway
    finally:
        if gateway.proc is not None:  # None under spark-submit, whose Java runs this process
            SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
            SparkSession._instantiatedSession = SparkSession._activeSession = None  # in case Java had died before
            stop_quietly(gateway.shutdown)
            _end(gateway.proc)


def _end(java: subprocess.Popen[bytes]) -> None:
    """Close Java's input, which ends it unless it hangs."""
    with contextlib.suppress(OSError):
        if java.stdin is not None:
            java.stdin.close()
    try:
        java.wait(_STOPPING_S)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()


def stop_quietly(stop: Callable[[], object]) -> None:
    """Call a function in a thread of its own: a Java process that hangs must not keep the command from ending."""

    def quietly() -> None:
        with contextlib.suppress(Exception):
            stop()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about Java having ended already
        thread = threading.Thread(target=quietly, name="nearkin-stops-spark", daemon=True)
        thread.start()
        thread.join(_STOPPING_S)


@contextlib.contextmanager
def quiet_logs() -> Iterator[None]:
    """Silence the tracebacks that Spark's libraries log when a connection to Java breaks; the error is still raised."""

    def is_foreign(record: logging.LogRecord) -> bool:
        return not record.pathname.endswith(("py4j/clientserver.py", "py4j/java_gateway.py"))

    loggers = [logging.getLogger(name) for name in (None, "py4j.clientserver", "py4j.java_gateway")]
    for logger in loggers:
        logger.addFilter(is_foreign)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_foreign)


def quieten(context: SparkContext) -> None:
    """Silence a thread of Spark that prints a traceback when the connection breaks."""
    context._accumulatorServer.handle_error = lambda *request: None  # type: ignore[method-assign]


@contextlib.contextmanager
def handled_as_before(number: signal.Signals) -> Iterator[None]:
    """Restore, after the block, a signal's handler from before."""
    handler = signal.getsignal(number)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and handler is not None:
            signal.signal(number, handler)


@contextlib.contextmanager
def logged(say: Callable[[str], None]) -> Iterator[BinaryIO]:
    """Open a file for Spark's own log, which is kept if the engine fails."""
    with tempfile.NamedTemporaryFile(prefix="nearkin-spark-", suffix=".log", delete=False) as log:
        is_wanted = False
        try:
            yield cast("BinaryIO", log)
        except Exception as error:
            is_wanted = isinstance(error, EngineError) or not isinstance(error, NearkinError)
            raise
        finally:
            path = Path(log.name)
            if is_wanted and path.stat().st_size:
                say(f"Spark's own log: {path}")
            else:
                path.unlink()
