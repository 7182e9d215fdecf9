"""Work folder of one run on data frames; every executor sees it."""

from __future__ import annotations

import atexit
import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin._version import __version__
from nearkin.engines.spark.masters import is_local
from nearkin.engines.spark.requirements import check_executors
from nearkin.engines.spark.stages import Stages
from nearkin.errors import OutputExistsError, ParameterError, ResumeError
from nearkin.runs.files import locked, write_json, writing
from nearkin.runs.progress import Meter
from nearkin.runs.run import LOCK, differences
from nearkin.stages.documents.columns import listed_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_IDENTITY = "run.json"


@contextlib.contextmanager
def claimed(
    spark: SparkSession, work: str | Path | None, identity: Mapping[str, object], *, resume: bool, of: str
) -> Iterator[Path]:
    """Claim a work folder, new or from the same run; keep other processes out until the block ends.

    Parameters
    ----------
    work
        None: a temporary one, if the master is local.
    identity
        Everything except the rows that determines the result; the version of Nearkin is added.
    """
    folder = _folder(spark, work, of)
    wanted = json.loads(json.dumps({"nearkin": __version__, **identity}))
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / LOCK, other="another work folder"):
        _prepare(folder, wanted, resume=resume)
        yield folder


def _prepare(folder: Path, wanted: Mapping[str, object], *, resume: bool) -> None:
    place = folder / _IDENTITY
    if resume and place.exists():
        stored = _stored(place)
        if different := differences(stored, wanted):
            raise ResumeError(
                f"The run in {folder} cannot be resumed: {different}. Use the original parameters and data, or name a "
                "new folder."
            )
    elif any(entry.name != LOCK for entry in folder.iterdir()):
        hint = ", or add resume=True to continue the run that was begun there" if place.exists() else ""
        raise OutputExistsError(f"{folder} is not empty. Name a new work folder{hint}.")
    else:
        write_json(place, wanted)


def _stored(place: Path) -> Mapping[str, object]:
    try:
        stored = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def stages_in(spark: SparkSession, folder: Path, work: Path, meter: Meter) -> Stages:
    """Return the stages kept in ``work``, inside ``folder``, after a check that executors can do them."""
    check_executors(spark, folder, meter.progress)
    return Stages(spark, work / "stages", meter)


def _folder(spark: SparkSession, work: str | Path | None, of: str) -> Path:
    if work is not None:
        return Path(work).absolute()
    master = str(spark.conf.get("spark.master", "") or "")
    if not is_local(master):
        raise ParameterError.of("work", f"given with master {master}: a folder that every executor sees", work)
    folder = Path(tempfile.mkdtemp(prefix="nearkin-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def check_named(df: DataFrame, named: Sequence[tuple[str, str | None]], *, of: str, place: str) -> None:
    """Raise ParameterError unless the columns exist and the names of all columns differ."""
    for name, value in named:
        if value is not None and value not in df.columns:
            raise ParameterError.of(name, f"a column of {place} ({listed_columns(df.columns)})", value)
    if repeated := sorted({name for name in df.columns if df.columns.count(name) > 1}):
        raise ParameterError(f"The column names of a data frame must be unique. Got {repeated[0]!r} twice.")


def arrow_schema(df: DataFrame, columns: Sequence[str] = ()) -> pa.Schema:
    """Return the Arrow schema in which Spark sends the rows to Python, for all or some columns."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    # Spark 4.3 wants to be told the time zone of times, earlier releases take none
    is_asked = "timezone" in signature(to_arrow_schema).parameters
    converted = partial(to_arrow_schema, timezone="UTC") if is_asked else to_arrow_schema
    fields = []
    for field in df.schema.fields:
        if columns and field.name not in columns:
            continue
        try:
            fields += converted(StructType([field]))
        except PySparkTypeError as error:
            raise ParameterError(
                f"Column {field.name!r} has the type {field.dataType.simpleString()}, which Spark cannot send to "
                "Python, and rows go through Python. Drop the column, or cast it."
            ) from error
    return pa.schema(fields)
