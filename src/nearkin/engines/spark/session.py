"""A session with a Spark cluster: made from what the user chose, and ended whatever happens."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, TypeVar

from nearkin.engines.spark.driver import handled_as_before, java, logged, quiet_logs, quieten, stop_quietly
from nearkin.engines.spark.failures import GONE, engine_errors
from nearkin.engines.spark.java import check_java
from nearkin.engines.spark.masters import check_answers, check_form, is_connect, is_local, is_on_this_machine
from nearkin.errors import EngineError, MissingExtraError

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Nobody else needs to reach a driver whose executors are its own threads."""
_PYTHON = "spark.pyspark.python"
_EXECUTORS = {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
"""Java only moves blocks, and Python works beside it: compiled less, all processors took a fifth less time."""


Work = TypeVar("Work")


class Voice(Protocol):
    """Whom to tell what the user should know; any progress is one."""

    def say(self, message: str) -> None:
        """Something the user should know."""


@dataclass(frozen=True)
class Cluster:
    """What the user chose.

    Parameters
    ----------
    master : str or None
        As for spark-submit, or ``sc://HOST:PORT`` for Spark Connect. None: what ``spark-defaults.conf`` or spark-submit
        say, else ``local[*]``.
    settings : mapping of str to str
        Settings of Spark; they go before those of the files.

    Raises
    ------
    ParameterError
        A master of no known form.
    """

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.master is not None:
            check_form(self.master)

    @property
    def name(self) -> Literal["local", "spark"]:
        """See `nearkin.engines.choice.Engine`."""
        return "spark"

    def choose(self, *, local: Callable[[], Work], cluster: Callable[[Cluster], Work]) -> Work:
        """See `nearkin.engines.choice.Engine`."""
        return cluster(self)


@contextlib.contextmanager
def session(cluster: Cluster, progress: Voice, *, name: str = "nearkin") -> Iterator[SparkSession]:
    """A session for the block, stopped at its end; one that is active in this process is used and goes on.

    Parameters
    ----------
    cluster : Cluster
    progress : Voice
        It is told where Spark's log is, if the engine fails.
    name : str
        What the cluster's pages call the application.

    Raises
    ------
    MissingExtraError
        PySpark is not installed.
    EngineError
        There is no Java that Spark can run on, the master does not answer, Spark does not start, or the active session
        is another one than was asked for.
    """
    check_pyspark()
    try:
        active = _active_session()
        if active is not None:
            _check_is_the_same(active, cluster)
            yield active
        elif cluster.master is not None and is_connect(cluster.master):
            with _remote_session(cluster.master, cluster.settings) as made:
                yield made
        else:
            with logged(progress.say) as log, _own_session(cluster, log, name) as made:
                yield made
    except MemoryError as error:
        error.add_note("The driver of a cluster holds some 60 bytes per document: run it on a larger machine.")
        raise


def check_pyspark() -> None:
    """Say what is missing before anything is started.

    Raises
    ------
    MissingExtraError
    """
    if find_spec("pyspark") is None or find_spec("py4j") is None:
        raise MissingExtraError.of("--engine spark", "spark")
    # it warns of every newer pandas, which is not used here, wherever it looks whether there is one
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


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
    """A running session cannot change its master, nor most settings: ignoring them would be worse than refusing."""
    wanted = dict(cluster.settings)
    if cluster.master is not None and not (is_connect(cluster.master) and _is_remote(active)):
        wanted["spark.master"] = cluster.master
    for key, value in wanted.items():
        has = active.conf.get(key, "")
        if has != value:
            raise EngineError(
                f"This process has a Spark session already, with {key} {has or 'not set'}, and {value!r} was asked for."
                " Stop it first, spark.stop(), or leave the master and the settings out: then it is used as it is."
            )


def _is_remote(active: SparkSession) -> bool:
    """Whether it is one of Spark Connect; which server it speaks to is not looked at, since one has many names."""
    return getattr(active, "_sc", None) is None


@contextlib.contextmanager
def _remote_session(url: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    if find_spec("grpc") is None:
        raise MissingExtraError.of("Spark Connect", "spark")
    check_answers(url)
    with engine_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of settings that it does not take: looked at below
        builder = SparkSession.builder.remote(url)
        for key, value in settings.items():
            builder = builder.config(key, value)
        made = builder.create()
    try:
        for key, value in settings.items():
            if made.conf.get(key, "") != value:
                raise EngineError(f"{key} is set where the server at {url} is started: omit it.")
        yield made
    finally:
        stop_quietly(made.stop)


@contextlib.contextmanager
def _own_session(cluster: Cluster, log: BinaryIO, name: str) -> Iterator[SparkSession]:
    """Java, a context and a session, in this order; ended in the other."""
    from pyspark import SparkConf

    check_java()
    if cluster.master is not None:
        check_answers(cluster.master)
    settings = SparkConf(loadDefaults=False).setAll(list(cluster.settings.items()))
    settings.setIfMissing("spark.ui.showConsoleProgress", "false")  # it would fill the log with bars
    if cluster.master is not None:
        settings.setMaster(cluster.master)
    with quiet_logs(), java(settings, log) as gateway:
        conf = SparkConf(_jvm=gateway.jvm)  # with what spark-submit found in files
        for key, value in settings.getAll():
            conf.set(key, value)
        if "spark.app.name" not in cluster.settings:
            conf.setAppName(name)
        master = conf.get("spark.master", "local[*]") or "local[*]"
        conf.setMaster(master)
        if cluster.master is None:
            check_answers(master)
        _set_defaults(conf, master)
        # Spark's own handler of Ctrl-C speaks to Java in the middle of another call
        with handled_as_before(signal.SIGINT), _reasons_told(master, log), engine_errors():
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


@contextlib.contextmanager
def _reasons_told(master: str, log: BinaryIO) -> Iterator[None]:
    """Spark says only that its context is stopped where something listens at the address that is no master.

    And nothing at all where its Java ends of what it does not like.
    """
    try:
        yield
    except EngineError as error:
        said = Path(log.name).read_text(encoding="utf-8", errors="replace")
        complaints = re.findall(r" ERROR (\w+: .*)", said)
        if str(error) == GONE and complaints:
            raise EngineError(f"Spark does not start: {complaints[-1].rstrip('.')}.") from error
        if "All masters are unresponsive" not in said:
            raise
        raise EngineError(
            f"Something listens at {master}, but it does not answer as a Spark master does. Is it a web page, or a "
            "master of another version of Spark? The log of the master, and its page, tell its URL."
        ) from error


def _set_defaults(conf: SparkConf, master: str) -> None:
    """What Nearkin would have, where neither the user nor a file says anything."""
    for key, value in (_LOOPBACK if is_local(master) else _EXECUTORS).items():
        conf.setIfMissing(key, value)


def _choose_python(context: SparkContext, master: str) -> None:
    """Spark reads the setting only where spark-submit starts Python; the executors of this machine have this Python."""
    chosen = context.getConf().get(_PYTHON)
    if chosen:
        context.pythonExec = chosen
    elif context.pythonExec == "python3" and is_on_this_machine(master):  # PYSPARK_PYTHON is not set
        context.pythonExec = sys.executable
