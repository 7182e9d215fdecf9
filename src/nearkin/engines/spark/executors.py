"""Check that the executors can do Nearkin's work, by one small job before the long ones."""

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
"""Minimum version of Spark: it can send a row to a partition by number."""
_TOLD_AFTER_S = 5.0
_ROUNDS = 3
_ASKED = ("spark.executor.memory", "spark.executor.cores", "spark.cores.max", "spark.executor.instances")


@dataclass(frozen=True, kw_only=True)
class Executor:
    """Software on a machine that runs executors."""

    host: str
    python: str
    release: str
    nearkin: str
    numpy: str
    pyarrow: str


def check_executors(
    spark: SparkSession, folder: Path, progress: Voice, *, patience_s: float = 60.0
) -> tuple[Executor, ...]:
    """Refuse a cluster whose executors could not do the work; those already running are tested.

    Parameters
    ----------
    folder : Path
        Directory of this machine; every executor must see it under the same path.
    progress : Voice
        Receives a message if the cluster takes long.
    patience_s : float
        How long to wait for the first executor.

    Raises
    ------
    EngineError
        No executor started; or one lacks Nearkin, has another version of it, finds no
        Python or has another version, or does not see the directory.
    OutputError
        The directory is not writable here.
    """
    if tuple(map(int, re.findall(r"\d+", spark.version)[:2])) < OLDEST:
        raise EngineError(
            f"Spark {spark.version} is too old: Nearkin needs {'.'.join(map(str, OLDEST))} or newer, here "
            "and on the cluster."
        )
    with _token(folder) as (path, word), engine_errors():
        rows: list[dict[str, str]] = []
        for _ in range(_ROUNDS):
            rows += _ask(spark, str(path), progress, patience_s)
            if len({row["executor"] for row in rows}) >= _n_executors(spark):
                break  # otherwise some executors started when others had done all the work
    for row in rows:
        _check(row, word, folder)
    names = Executor.__dataclass_fields__
    return tuple(sorted({Executor(**{name: row[name] for name in names}) for row in rows}, key=lambda one: one.host))


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


def _check(row: dict[str, str], word: str, folder: Path) -> None:
    where = f"the executors on {row['host']} ({row['python']}, Python {row['release']})"
    for module in ("nearkin", "numpy", "pyarrow"):
        if row[f"without_{module}"]:
            raise EngineError(
                f"{where[0].upper()}{where[1:]} cannot import {module}: {row[f'without_{module}']}. {INSTALL}."
            )
    if row["nearkin"] != __version__:
        raise EngineError(
            f"{where[0].upper()}{where[1:]} have Nearkin {row['nearkin']}, but this is Nearkin {__version__}. All "
            "machines must have the same version, or results could differ between them. "
            f"{INSTALL.replace('nearkin[spark]', f'nearkin[spark]=={__version__}')}."
        )
    if row["said"] != word:
        raise EngineError(
            f"{folder.absolute()} is not the same directory for {where}: a file that this machine wrote is missing "
            f"there ({row['unread'] or 'it has another content'}). Workers read and write in it, so it must be on a "
            "file system that every worker mounts under this path, for example NFS."
        )


def _ask(spark: SparkSession, token: str, progress: Voice, patience_s: float) -> list[dict[str, str]]:
    n_tasks = 2 * _parallelism(spark)
    with _travelling_by_value():
        found = spark.range(0, n_tasks, 1, n_tasks).mapInArrow(looking.looker(token), looking.SCHEMA)
    rows = _in_time(spark, found.collect, progress, patience_s)
    return [json.loads(row["found"]) for row in rows]


@contextlib.contextmanager
def _travelling_by_value() -> Iterator[None]:
    """Make Spark pickle the functions of `looking` by value, not by name, inside the block."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(looking)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(looking)


def _in_time(
    spark: SparkSession, collect: Callable[[], Sequence[Any]], progress: Voice, patience_s: float
) -> Sequence[Any]:
    """Return the rows, or raise an error after a time; Spark would wait for an executor for ever."""
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
    asked = [f"{key}={value}" for key in _ASKED if (value := spark.conf.get(key, ""))]
    return (
        f"The cluster started no executor within {patience_s:.0f} s. One was requested with "
        f"{', '.join(asked) or 'the default memory and cores'}. Either no worker has that much (see the web page "
        "of the master), or other applications are using it. Request less (--conf spark.executor.memory=1g "
        "--conf spark.executor.cores=1), or wait."
    )


def _parallelism(spark: SparkSession) -> int:
    context = getattr(spark, "_sc", None)
    return 4 if context is None else max(1, int(context.defaultParallelism))


def _n_executors(spark: SparkSession) -> int:
    """Return the number of executors; with a local master, the driver is the only one."""
    context = getattr(spark, "_sc", None)
    if context is None:
        return 1
    n_known = len(context._jsc.sc().statusTracker().getExecutorInfos())
    return n_known if is_local(context.master) else n_known - 1
