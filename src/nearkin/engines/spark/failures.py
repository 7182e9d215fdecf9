"""Translation of Spark's errors into errors of Nearkin that say what to do."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from nearkin import errors
from nearkin.errors import EngineError, NearkinError

INSTALL = (
    "Install it for the Python of every worker (pip install 'nearkin[spark]'), or send an environment with the job: "
    "--conf spark.archives=environment.tar.gz#environment --conf spark.pyspark.python=environment/bin/python"
)
ONE_PYTHON = "Every worker must have the Python version of the driver: --conf spark.pyspark.python=/path/on/the/workers"
_MORE_MEMORY = (
    "Increase the memory of Java, --conf spark.executor.memory=4g, and of Python, --conf "
    "spark.executor.memoryOverhead=8g; with master local[...], use --conf spark.driver.memory=4g. Or run fewer tasks "
    "at a time: --conf spark.task.cpus=2"
)
_PRECISELY = (  # the first match counts; Spark's own message is shown too
    (r"No module named '\w+", "A module is missing on the executors.", INSTALL),
    (r"PYTHON_VERSION_MISMATCH", "The executors and the driver have different versions of Python.", ONE_PYTHON),
    (r'Cannot run program "', "The executors cannot find Python.", ONE_PYTHON),
    (r"No space left on device|disk is full", "A disk of the cluster is full.", "Free some space, or choose another "
     "directory: --conf spark.local.dir=/path"),
    (r"OutOfMemoryError|^MemoryError|exit(ed with)? code (137|52)\b|MEMORY_LIMIT|memory limits|OOMKilled",
     "An executor had too little memory.", _MORE_MEMORY),
    (r"Python worker exited unexpectedly", "A Python process of an executor was killed, usually for lack of memory.",
     _MORE_MEMORY),
    (r"maxResultSize", "The result exceeds spark.driver.maxResultSize.",
     "Raise the limit: --conf spark.driver.maxResultSize=4g"),
    (r"ExecutorLostFailure|FetchFailed|has failed the maximum allowable number", "Executors were lost repeatedly.",
     "Check the machines, or allow more attempts: --conf spark.task.maxFailures=10"),
    (r"All masters are unresponsive", "The Spark master does not answer.",
     "Check that it runs, and that the address is the master's and not that of its web page"),
    (r"Master removed our application", "The master ended the application.",
     "Executors fail to start; see the logs of the workers"),
    (r"SparkContext was shut down|stopped SparkContext|SparkContext has been shutdown|cancelled",
     "The Spark application was stopped.", "If this was not on purpose, its Java had too little memory: --conf "
     "spark.driver.memory=4g; see Spark's log"),
)  # fmt: skip
GONE = "The driver's Java has ended, or its connection broke. More memory may help: --conf spark.driver.memory=4g."
_OURS = re.compile(
    r"^nearkin\.errors\.(\w+)(?:: (.*?))?(?=\n+\s+at |\n+Driver stacktrace|\n+JVM stacktrace|"
    r"\n+\s*SQLSTATE: |\n+During handling of|\n+The above exception|\s*\Z)",
    re.DOTALL | re.MULTILINE,
)
_OF_A_TASK = re.compile(r"most recent failure: Lost task \S+ in stage \S+ \(TID \d+\) \(([^)\s]*)[^)]*\): (.*)")
_CALLING = re.compile(r"\AAn error occurred while calling .*\n:? ?")
_TRACEBACK = "Traceback (most recent call last):"
_SAYS_NOTHING = r".*(Exception thrown in awaitResult|Error while instantiating|An error has occurred)"
_KIND = re.compile(r"\A(?:[a-z]\w*\.)+\w+: ")


@contextlib.contextmanager
def engine_errors() -> Iterator[None]:
    """Translate errors of Spark raised inside the block into errors of Nearkin."""
    before = sys.exc_info()[1]
    try:
        yield
    except NearkinError:
        raise
    except Exception as error:
        interrupt = _interrupt(error, before)
        if interrupt is not None:
            raise interrupt from None
        reported = _told(error)
        if reported is None:
            raise
        raise reported from error


def of_a_task(text: str) -> NearkinError | None:
    r"""Return the error of Nearkin at the end of a Python traceback anywhere in the text.

    Examples
    --------
    >>> of_a_task("Traceback ...\nnearkin.errors.DocumentError: f.jsonl:3: not JSON\n\n\tat org.apache.spark ...")
    DocumentError('f.jsonl:3: not JSON')
    """
    occurrences = list(_OURS.finditer(text))
    if not occurrences:
        return None
    kind = getattr(errors, occurrences[-1][1], None)
    message = occurrences[-1][2] or ""
    if isinstance(kind, type) and issubclass(kind, NearkinError):
        return kind(message)
    return EngineError(f"{occurrences[-1][1]}: {message}")


def _interrupt(error: BaseException, before: BaseException | None) -> KeyboardInterrupt | SystemExit | None:
    """Return the interruption behind an error, unless it was handled ``before``: the signal may have ended Java."""
    while error.__context__ is not None and error.__context__ is not before:
        error = error.__context__
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            return error
    return None


def _told(error: Exception) -> NearkinError | None:
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    if isinstance(error, (Py4JNetworkError, ConnectionError)) or type(error) is Py4JError:
        return EngineError(GONE)
    if not isinstance(error, (PySparkException, Py4JError)):
        return None
    if isinstance(error, (TypeError, ValueError, AttributeError, LookupError, NotImplementedError, ImportError)):
        return None  # Spark was used wrongly: a bug of Nearkin, which should show its traceback
    text = _text(error)
    return of_a_task(text) or EngineError(_in_words(text))


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # it asks Java, which may be gone
        return type(error).__name__


def _in_words(text: str) -> str:
    where, reason = _reason(text)
    for pattern, what, help_ in _PRECISELY:
        if re.search(pattern, text, re.MULTILINE):
            return f"{what} Spark says{where}: {reason}. {help_.rstrip('.')}."
    return f"Spark gave up{where}: {reason}."


def _reason(text: str) -> tuple[str, str]:
    text = _CALLING.sub("", text)
    task = _OF_A_TASK.search(text)
    where, rest = (f" on {task[1]}", text[task.start(2) :]) if task and task[1] else ("", text)
    python = re.search(r"\n(\S[^\n]*)", rest[rest.rfind(_TRACEBACK) :]) if _TRACEBACK in rest else None
    if python is None and re.match(_SAYS_NOTHING, rest):
        rest = rest.rpartition("Caused by: ")[2]
    line = python[1] if python else next(filter(None, map(str.strip, rest.splitlines())), "nothing")
    return where, _KIND.sub("", line).partition(". Consider setting")[0].rstrip(". ")


@contextlib.contextmanager
def start_errors(master: str, log: Path) -> Iterator[None]:
    """Translate errors of the start, of which Spark only reports that its context is stopped, or nothing."""
    try:
        with engine_errors():
            yield
    except EngineError as error:
        text = log.read_text(encoding="utf-8", errors="replace")
        complaints = re.findall(r" ERROR (\w+: .*)", text)
        if str(error) == GONE and complaints:
            raise EngineError(f"Spark does not start: {complaints[-1].rstrip('.')}.") from error
        if "All masters are unresponsive" not in text:
            raise
        raise EngineError(
            f"Something listens at {master}, but it does not answer like a Spark master. Is it a web page, or a "
            "master of another version of Spark? The master's log and its web page show its URL."
        ) from error


def reason_in_log(log: Path) -> str:
    """Return the line of Java's log that says why it did not start; empty if there is none."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    chatter = re.compile(r"at |\.\.\. |WARNING: |Using |Setting |\d\S+ \S+ WARN")
    kept = [line for line in lines if line and not chatter.match(line)]
    thrown = [line for line in kept if "Exception: " in line]
    if kept[:1] == ["Error occurred during initialization of VM"]:
        kept = kept[1:]
    return thrown[-1].partition("Exception: ")[2] if thrown else next(iter(kept), "")
