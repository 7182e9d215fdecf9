"""Near-duplicates among the rows of a data frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin._version import __version__
from nearkin.errors import ParameterError
from nearkin.options.declared import Same, option, taking
from nearkin.options.dedup import DedupOptions, GivenSearch
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.spark.work import arrow_schema, check_named, claimed, stages_in
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.dedup.on_spark.data_frames import ANNOTATIONS, FrameColumns, dedup_frame
from nearkin.workflows.dedup.plans import plan_as_stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OF = "spark.dedup"


@dataclass(frozen=True)
class SparkDedupResult:
    """Result of `dedup_result`.

    Data frames are computed from the work folder when they are used: write them elsewhere before you delete the folder.

    Parameters
    ----------
    documents
        The given rows, in any order, with ``group``, ``is_principal``, ``similarity_to_principal``, ``differs``,
        ``copy_of``, ``keep`` and ``reason``.
    pairs
        Every verified pair at or above the threshold: id_a, id_b, and a column for each measure of similarity: jaccard,
        containment_a_in_b, …
    """

    documents: DataFrame
    pairs: DataFrame
    kept: DataFrame
    manifest: Mapping[str, object]


class FrameJob(GivenSearch):
    """Options of `dedup_result`."""

    text: Same[str] = option("text", help="Column with the texts.")
    id: Same[str | None] = option(help="Column with the ids.")
    work: Same[str | Path | None] = option(kind=Path, help="Folder that every executor sees.")
    resume: Same[bool] = option(False, help="Continue an interrupted run.")
    prefix: Same[str] = option("", help="Prefix of the names of the added columns.")
    max_unreadable: Same[float | str] = option(0.5, kind=object, help="Maximum share of unreadable documents.")
    progress: Progress | None = None


@taking(FrameJob)
def dedup_result(df: DataFrame, job: FrameJob) -> SparkDedupResult:
    """Find the near-duplicates among the rows of a data frame; return also the pairs and counts.

    Parameters
    ----------
    df
        The documents. It must give the same rows in the same partitions each time it is computed; the order of the
        partitions decides ties.
    text, id : str
        Columns with the texts and the unique ids. Without ``id``, rows are named ``table:1``, ``table:2``, ….
    work : str or Path, optional
        New or empty folder that every executor sees under this path. By default a temporary folder, if the master is
        local.
    resume : bool
        Continue an interrupted run of the same data frame in ``work``.
    prefix : str
        Prefix of the names of the added columns.
    preset, threshold, measure, recall, shingle, normalise, ignore, ignore_numbers, seed, group, keep, keep_apart,
    max_unreadable, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError
        As for `nearkin.dedup`; or ids repeat.
    EngineError
        Nearkin is not installed on the executors, they do not see the folder, or the cluster failed.
    OutputExistsError, ResumeError, RunError
        The folder is not empty and holds no run to continue, or another process uses it.

    Examples
    --------
    >>> result = dedup_result(df, id="url", work="/shared/work", threshold=0.8)  # doctest: +SKIP
    >>> result.pairs.orderBy("jaccard").show()  # doctest: +SKIP
    """
    return _found(df, job)


@taking(FrameJob)
def dedup(df: DataFrame, job: FrameJob) -> DataFrame:
    """Find the near-duplicates among the rows of a data frame; every match is verified.

    Parameters
    ----------
    df, text, id, …
        As for `dedup_result`.

    Returns
    -------
    DataFrame
        The rows, with ``group``, ``is_principal``, ``similarity_to_principal``, ``differs``, ``copy_of``, ``keep`` and
        ``reason``.

    Examples
    --------
    >>> annotated = dedup(spark.read.parquet("crawl"), work="/shared/work")  # doctest: +SKIP
    >>> annotated.where("keep").drop("group", "reason").write.parquet("clean")  # doctest: +SKIP
    """
    return _found(df, job).documents


def _found(df: DataFrame, job: FrameJob) -> SparkDedupResult:
    options, prefix = job.part(DedupOptions), job.prefix
    rules = ReadingRules.of(max_unreadable=job.max_unreadable)
    columns = FrameColumns(job.text, job.id, options.keep.column)
    _check_columns(df, columns, prefix)
    spark, meter = df.sparkSession, Meter(job.progress or Silent())
    identity = {
        "command": "dedup",
        "parameters": options.in_words(),
        "columns": [job.text, job.id],
        "schema": df.dtypes,
    }
    with claimed(spark, job.work, identity, resume=job.resume, of=_OF) as folder:
        stages = stages_in(spark, folder, folder, meter)
        frames = dedup_frame(df, columns, options, folder, stages, prefix=prefix, rules=rules, meter=meter)
    manifest: dict[str, object] = {
        "nearkin": __version__,
        "command": "dedup",
        "parameters": options.in_words(),
        "fingerprint": options.fingerprint,
        "counts": {"documents": len(frames.result.corpus), "pairs_not_compared": frames.result.n_not_compared},
        "plan": plan_as_stored(frames.result.plan),
    }
    kept = frames.documents.where(f"`{prefix}keep`").drop(*(prefix + name for name in ANNOTATIONS))
    return SparkDedupResult(frames.documents, frames.pairs, kept, manifest)


def _check_columns(df: DataFrame, columns: FrameColumns, prefix: str) -> None:
    named = [("text", columns.text), ("id", columns.doc_id), ("keep", columns.keep)]
    check_named(df, named, of=_OF, place="the data frame")
    # Spark takes names that differ only in case for one, unless it is told otherwise
    added = {(prefix + name).casefold() for name in ANNOTATIONS}
    if taken := [name for name in df.columns if name.casefold() in added]:
        raise ParameterError.of("prefix", f"such that no column exists already ({', '.join(taken)} does)", prefix)
    arrow_schema(df)
