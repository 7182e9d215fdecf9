"""Nearkin in a program for Apache Spark: data frames in, data frames out; in a notebook, or by spark-submit.

The executors need Nearkin as well, and a folder that all of them and the driver see under the same path. What is found
is what one machine would find; see ``docs/guides/spark.md``.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin._version import __version__
from nearkin.engines.spark.executors import check_executors
from nearkin.engines.spark.masters import is_local
from nearkin.engines.spark.stages import Stages
from nearkin.errors import OutputExistsError, ParameterError, ResumeError
from nearkin.runs.files import write_json, writing
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.workflows.dedup.on_spark.annotated import ANNOTATIONS
from nearkin.workflows.dedup.on_spark.data_frames import dedup_frame
from nearkin.workflows.dedup.on_spark.frames import FrameColumns
from nearkin.workflows.dedup.options import DedupOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkDedupResult", "dedup", "dedup_result"]
_IDENTITY = "run.json"


@dataclass(frozen=True)
class SparkDedupResult:
    """What `dedup_result` found.

    Data frames are computed when they are asked for, from what stands in the folder of work: write them where you want
    them before you remove it.

    Parameters
    ----------
    documents : DataFrame
        The rows that came, in any order, with ``group``, ``is_principal``, ``similarity_to_principal``, ``copy_of``,
        ``keep`` and ``reason``.
    pairs : DataFrame
        Every verified pair at or above the threshold: id_a, id_b, jaccard, containment_a_in_b, containment_b_in_a.
    kept : DataFrame
        The rows to keep, as they came.
    manifest : mapping
        Parameters, plan, counts.
    """

    documents: DataFrame
    pairs: DataFrame
    kept: DataFrame
    manifest: Mapping[str, object]


def dedup(df: DataFrame, text: str = "text", **options: object) -> DataFrame:
    """Find the near-duplicates among the rows of a data frame; every pair that counts is verified.

    Parameters
    ----------
    df, text, **options
        As of `dedup_result`.

    Returns
    -------
    DataFrame
        The rows, with ``group``, ``is_principal``, ``similarity_to_principal``, ``copy_of``, ``keep`` and ``reason``.

    Examples
    --------
    >>> annotated = dedup(spark.read.parquet("crawl"), work="/shared/work")  # doctest: +SKIP
    >>> annotated.where("keep").drop("group", "reason").write.parquet("clean")  # doctest: +SKIP
    """
    return dedup_result(df, text, **options).documents  # type: ignore[arg-type]  # it checks them


def dedup_result(
    df: DataFrame,
    text: str = "text",
    *,
    id: str | None = None,
    work: str | Path | None = None,
    resume: bool = False,
    prefix: str = "",
    preset: str | None = None,
    threshold: float | None = None,
    measure: str | None = None,
    recall: float | None = None,
    shingle: str | None = None,
    group: str | None = None,
    keep: str | None = None,
    normalise: str | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SparkDedupResult:
    """Find the near-duplicates among the rows of a data frame, and tell of pairs and counts, too.

    Parameters
    ----------
    df : DataFrame
        It must give the same rows in the same partitions whenever it is computed; the order of reading, which decides
        between equals, is that of its partitions.
    text, id : str
        Its columns. Without ids, which must be different, rows are called ``table:1``, ``table:2``, ….
    work : str or Path, optional
        A folder that is new or empty, and that every executor sees under this path. A temporary one if the master is
        local.
    resume : bool
        Go on with the run that was interrupted in ``work``, of the same data frame.
    prefix : str
        Of the names of the columns that are added.
    preset, threshold, measure, recall, shingle, group, keep, normalise, seed
        As on the command line; see `nearkin.DedupOptions`.
    progress : Progress, optional
        Told what is being done.

    Returns
    -------
    SparkDedupResult

    Raises
    ------
    ParameterError
        For a parameter that breaks its rule, or ids that come twice.
    EngineError
        Executors without Nearkin, or that do not see the folder; a cluster that gave up.
    OutputExistsError, ResumeError
        The folder holds something else.

    Examples
    --------
    >>> result = dedup_result(df, id="url", work="/shared/work", threshold=0.8)  # doctest: +SKIP
    >>> result.pairs.orderBy("jaccard").show()  # doctest: +SKIP
    """
    options = DedupOptions.of(
        preset=preset, threshold=threshold, measure=measure, recall=recall, shingle=shingle, group=group, keep=keep,
        normalise=normalise, seed=seed,
    )  # fmt: skip
    columns = FrameColumns(text, id, options.keep.column)
    _check_columns(df, columns, prefix)
    spark, meter = df.sparkSession, Meter(progress or Silent())
    identity = {"nearkin": __version__, "parameters": options.in_words(), "columns": [text, id], "schema": df.dtypes}
    folder = _claimed(_folder(spark, work), identity, resume=resume)
    check_executors(spark, folder, meter.progress)
    found = dedup_frame(df, columns, options, folder, Stages(spark, folder / "stages", meter), prefix=prefix)
    manifest: dict[str, object] = {
        "nearkin": __version__,
        "command": "dedup",
        "parameters": options.in_words(),
        "fingerprint": options.fingerprint,
        "counts": {"documents": found.n_documents, "pairs_not_compared": found.n_not_compared},
    }
    kept = found.documents.where(f"`{prefix}keep`").select(df.columns)
    return SparkDedupResult(found.documents, found.pairs, kept, manifest)


def _check_columns(df: DataFrame, columns: FrameColumns, prefix: str) -> None:
    for name, value in (("text", columns.text), ("id", columns.doc_id), ("keep", columns.keep)):
        if value is not None and value not in df.columns:
            raise ParameterError.of(name, "spark.dedup", f"a column of the data frame ({', '.join(df.columns)})", value)
    if taken := {prefix + name for name, _ in ANNOTATIONS} & set(df.columns):
        raise ParameterError.of(
            "prefix", "spark.dedup", f"such that no column is there already ({', '.join(sorted(taken))} is)", prefix
        )


def _folder(spark: SparkSession, work: str | Path | None) -> Path:
    """The folder of work; a temporary one goes away with the process."""
    if work is not None:
        return Path(work).absolute()
    master = str(spark.conf.get("spark.master", "") or "")
    if not is_local(master):
        raise ParameterError.of(
            "work", "spark.dedup", f"given with master {master}: a folder that every executor sees", work
        )
    folder = Path(tempfile.mkdtemp(prefix="nearkin-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _claimed(folder: Path, identity: Mapping[str, object], *, resume: bool) -> Path:
    """The folder, new, or that of the same run."""
    wanted = json.loads(json.dumps(identity))
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    place = folder / _IDENTITY
    if resume and place.exists():
        stored = json.loads(place.read_text(encoding="utf-8"))
        if different := sorted(name for name in wanted if stored.get(name) != wanted[name]):
            raise ResumeError(
                f"The run in {folder} cannot go on: {different[0]} was {stored.get(different[0])} and is "
                f"{wanted[different[0]]}. Run it as it was begun, or name a new folder."
            )
    elif any(folder.iterdir()):
        hint = " Add resume=True to go on with the run that was interrupted there." if place.exists() else ""
        raise OutputExistsError(f"{folder} is not empty.{hint} Name a new folder of work.")
    else:
        write_json(place, wanted)
    return folder
