"""Whether the executors can do Nearkin's work, found out by one small job before the long ones."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin._version import __version__
from nearkin.engines.spark import looking
from nearkin.engines.spark.failures import INSTALL, engine_errors
from nearkin.engines.spark.masters import is_local
from nearkin.engines.spark.session import Voice
from nearkin.errors import EngineError, OutputError
from nearkin.paths import why

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST = (4, 1)
"""Of Spark: it can send a row to a partition by its number."""
_TOLD_AFTER_S = 5.0
_ROUNDS = 3
_ASKED = ("spark.executor.memory", "spark.executor.cores", "spark.cores.max", "spark.executor.instances")


@dataclass(frozen=True, kw_only=True)
class Executor:
    """What there is on a machine that runs executors.

    Parameters
    ----------
    host, python, release : str
        The machine, the path of its Python, the release of that.
    nearkin, numpy, pyarrow : str
        Versions.
    """

    host: str
    python: str
    release: str
    nearkin: str
    numpy: str
    pyarrow: str


def check_executors(
    spark: SparkSession, folder: Path, progress: Voice, *, patience_s: float = 60.0
) -> tuple[Executor, ...]:
    """Refuse a cluster whose executors could not do the work; those that are there are asked.

    Parameters
    ----------
    spark : SparkSession
    folder : Path
        Of this machine; every executor must see it under the same path.
    progress : Voice
        It is told when the cluster lets one wait.
    patience_s : float
        How long to wait for the first executor.

    Returns
    -------
    tuple of Executor
        One a machine and Python.

    Raises
    ------
    EngineError
        No executor came; or one lacks Nearkin, has another version of it, does not find Python, has another Python, or
        does not see the folder.
    OutputError
        The folder cannot be written here.
    """
    if tuple(map(int, re.findall(r"\d+", spark.version)[:2])) < OLDEST:
        raise EngineError(
            f"Spark {spark.version} is too old: Nearkin needs {'.'.join(map(str, OLDEST))} or newer, on the cluster as "
            "well as here."
        )
    with _token(folder) as (path, word), engine_errors():
        rows: list[dict[str, str]] = []
        for _ in range(_ROUNDS):
            rows += _ask(spark, str(path), progress, patience_s)
            if len({row["executor"] for row in rows}) >= _n_executors(spark):
                break  # else some came when others had done all of the work
    for row in rows:
        _check(row, word, folder)
    names = Executor.__dataclass_fields__
    return tuple(sorted({Executor(**{name: row[name] for name in names}) for row in rows}, key=lambda one: one.host))


@contextlib.contextmanager
def _token(folder: Path) -> Iterator[tuple[Path, str]]:
    """A file with a word that nobody can guess, there while the block runs."""
    path, word = folder.absolute() / f".nearkin-{secrets.token_hex(8)}", secrets.token_hex(16)
    try:
        path.write_text(word, encoding="ascii")
    except OSError as error:
        raise OutputError(f"Cannot write to {folder}: {why(error)}.") from error
    try:
        yield path, word
    finally:
        path.unlink(missing_ok=True)


def _check(row: dict[str, str], word: str, folder: Path) -> None:
    where = f"the executors on {row['host']} ({row['python']}, Python {row['release']})"
    for module in ("nearkin", "numpy", "pyarrow"):
        if row[f"without_{module}"]:
            raise EngineError(f"{where[0].upper()}{where[1:]} have no {module}: {row[f'without_{module}']}. {INSTALL}.")
    if row["nearkin"] != __version__:
        raise EngineError(
            f"{where[0].upper()}{where[1:]} have Nearkin {row['nearkin']}, and this is Nearkin {__version__}. The same "
            "must be everywhere, or results would differ from machine to machine. "
            f"{INSTALL.replace('nearkin[spark]', f'nearkin[spark]=={__version__}')}."
        )
    if row["said"] != word:
        raise EngineError(
            f"{folder.absolute()} is not the same folder for {where}: a file that this machine wrote is not there "
            f"({row['unread'] or 'it says something else'}). Workers read and write in it, so it must be on a file "
            "system that every worker mounts under this path, NFS for example."
        )


def _ask(spark: SparkSession, token: str, progress: Voice, patience_s: float) -> list[dict[str, str]]:
    n_tasks = 2 * _parallelism(spark)
    with _travelling_by_value():
        found = spark.range(0, n_tasks, 1, n_tasks).mapInArrow(looking.looker(token), looking.SCHEMA)
    rows = _in_time(spark, found.collect, progress, patience_s)
    return [json.loads(row["found"]) for row in rows]


@contextlib.contextmanager
def _travelling_by_value() -> Iterator[None]:
    """Within the block the functions of `looking` are pickled as they are, not as names to be imported."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(looking)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(looking)


def _in_time(
    spark: SparkSession, collect: Callable[[], Sequence[Any]], progress: Voice, patience_s: float
) -> Sequence[Any]:
    """The rows; Spark would wait for an executor for ever."""
    tag = f"nearkin-{secrets.token_hex(4)}"
    rows: list[Any] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            spark.addTag(tag)  # of this thread only
            rows.extend(collect())
        except Exception as error:  # noqa: BLE001  # raised again below, in the thread of who asked
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
    asked = [f"{key}={value}" for key in _ASKED if (value := spark.conf.get(key, ""))]
    return (
        f"The cluster gave no executor within {patience_s:.0f} s. One was asked for with "
        f"{', '.join(asked) or 'the memory and the cores that are the default'}. Either no worker has so much, as the "
        "page of the master shows, or other applications have it now. Ask for less, --conf spark.executor.memory=1g "
        "--conf spark.executor.cores=1, or wait."
    )


def _parallelism(spark: SparkSession) -> int:
    """How many tasks run at a time, or could; a server of Spark Connect does not tell."""
    context = getattr(spark, "_sc", None)
    return 4 if context is None else max(1, int(context.defaultParallelism))


def _n_executors(spark: SparkSession) -> int:
    """As far as Spark tells; the driver does the work where the master is local, and is the only one then."""
    context = getattr(spark, "_sc", None)
    if context is None:
        return 1
    n_known = len(context._jsc.sc().statusTracker().getExecutorInfos())
    return n_known if is_local(context.master) else n_known - 1
