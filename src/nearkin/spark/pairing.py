"""Similar pairs of two data frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.errors import ParameterError
from nearkin.options.declared import Same, option, taking_two
from nearkin.options.pairs import PairOptions, TableOptions
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.spark.work import arrow_schema, check_named, claimed, stages_in
from nearkin.stages.documents.readers.tables import check_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nearkin.workflows.pairing.on_spark.job import FrameSide

_OF = "spark.similar_pairs"


class FramePairsJob(PairOptions, TableOptions):
    """Options of `similar_pairs`."""

    text: Same[str] = option("text", help="Column with the texts.")
    id: Same[str | None] = option(help="Column with the ids.")
    right_text: Same[str | None] = option(help="Column with the texts of the right side.")
    right_id: Same[str | None] = option(help="Column with the ids of the right side.")
    work: Same[str | Path | None] = option(kind=Path, help="Folder that every executor sees.")
    resume: Same[bool] = option(False, help="Continue an interrupted run.")
    progress: Progress | None = None


@taking_two(FramePairsJob)
def similar_pairs(left: DataFrame, right: DataFrame, job: FramePairsJob) -> DataFrame:
    """Find the similar pairs of two data frames, in one language or in two, with their exact cosine.

    Parameters
    ----------
    left, right
        The documents. They must give the same rows in the same partitions each time they are computed; the order of the
        partitions decides ties.
    text, id : str
        Columns of both sides; ids are unique on each side. Without ids, rows are named ``left:1``, ``right:1``, ….
    right_text, right_id : str, optional
        Columns of the right side, if they have other names there.
    work, resume
        As for `nearkin.spark.dedup_result`; the pairs stay in ``work``.
    table, right_language, threshold, recall, top, n_terms, min_occurrences, min_terms, agreement, stems,
    splits, translate, seed, method, ignore, ignore_numbers, bits, distance, permutations, window, progress
        As for `nearkin.pairs`.

    Returns
    -------
    DataFrame
        Columns: left_id, right_id, cosine, rank (1 for the most similar pair of the left document), and terms (the
        words that add most to the cosine).

    Raises
    ------
    ParameterError, SourceError, FingerprintError
        As for `nearkin.pairs`; or ids repeat.
    EngineError, OutputExistsError, ResumeError, RunError
        As for `nearkin.spark.dedup_result`.

    Examples
    --------
    >>> pairs = similar_pairs(german, english, id="url", table="de-en.parquet", work="/shared/work")  # doctest: +SKIP
    >>> pairs.where("rank = 1").write.parquet("pairs")  # doctest: +SKIP
    """
    # here, not above: they load numba, which who only has duplicates to find need not wait for
    from nearkin.workflows.pairing.inputs import read_table
    from nearkin.workflows.pairing.on_spark.job import FrameSide, pair_frames, pairs_in

    options = job.part(PairOptions)
    sides = FrameSide(left, job.text, job.id), FrameSide(right, job.right_text or job.text, job.right_id or job.id)
    _check(*sides, is_text_own=job.right_text is not None, is_id_own=job.right_id is not None)
    if job.table is None and job.right_language:
        raise ParameterError("needs a translation table.", parameter="right_language")
    translation = read_table(None if job.table is None else Path(job.table), job.right_language)
    identity = {
        "command": "pairs",
        "parameters": options.in_words(),
        "table": translation.fingerprint if translation else None,
        "columns": [[side.text, side.doc_id] for side in sides],
        "schema": [side.frame.dtypes for side in sides],
    }
    spark, meter = left.sparkSession, Meter(job.progress or Silent())
    with claimed(spark, job.work, identity, resume=job.resume, of=_OF) as folder:
        pairs, inside = folder / "pairs.parquet", folder / ".work"
        if not pairs.exists():
            pair_frames(sides, translation, options, pairs, inside, stages_in(spark, folder, inside, meter), meter)
    return pairs_in(pairs, left)


def _check(left: FrameSide, right: FrameSide, *, is_text_own: bool, is_id_own: bool) -> None:
    right_names = "right_text" if is_text_own else "text", "right_id" if is_id_own else "id"
    for side, names, place in (
        (left, ("text", "id"), "the left data frame"),
        (right, right_names, "the right data frame"),
    ):
        check_named(side.frame, list(zip(names, (side.text, side.doc_id))), of=_OF, place=place)
        check_schema(place, arrow_schema(side.frame, side.columns), side.text, side.doc_id)
    if left.text == right.text and left.frame.sameSemantics(right.frame):
        raise ParameterError(
            f"Both data frames are the same, with the same text, the column {left.text!r}. right_text names another "
            "column for the right side; for pairs inside one corpus use nearkin.spark.dedup."
        )
