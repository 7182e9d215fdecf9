"""Java process of the driver: its start, its end, and its log.

Spark's own messages go to a file, so that the console shows only Nearkin's; if the engine fails, the file is kept, and
its path is printed.
"""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from nearkin.errors import EngineError, NearkinError

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkConf, SparkContext

_STOPPING_S = 20.0


@contextlib.contextmanager
def java(settings: SparkConf, log: BinaryIO) -> Iterator[JavaGateway]:
    """Start the driver's Java and end it after the block; an existing one is used and continues.

    A Java process that continued would pass the settings of this session to the next one.
    """
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
        raise EngineError(f"Spark's Java does not start: {_reason(Path(log.name)) or error}") from error
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
    """Call a function in a thread of its own.

    After Ctrl-C, this thread's connection is in the middle of a call; and a Java process that was killed, or hangs,
    must not keep the command from ending.
    """

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


def _reason(log: Path) -> str:
    """Return the error of Java or of the script that starts it, without the stack trace."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    chatter = re.compile(r"at |\.\.\. |WARNING: |Using |Setting |\d\S+ \S+ WARN")
    said = [line for line in lines if line and not chatter.match(line)]
    thrown = [line for line in said if "Exception: " in line]
    if said[:1] == ["Error occurred during initialization of VM"]:
        said = said[1:]
    return thrown[-1].partition("Exception: ")[2] if thrown else next(iter(said), "")
