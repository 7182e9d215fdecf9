"""``nearkin audit`` and ``evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, check_free, check_list, place_line, working
from nearkin.options.collection import CacheOptions, ListOptions, ReadOnlyOptions, ToleranceOptions
from nearkin.options.declared import Same, argument, option
from nearkin.options.measuring import AuditJob, EvaluateJob
from nearkin.options.running import PrintOptions
from nearkin.paths import path_of
from nearkin.reports.facts.fact import Part, Table
from nearkin.wording import share_text
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearkin.planning.evaluation import Evaluated
    from nearkin.workflows.auditing.audited import Audited


HELP = """
Measure the recall of a finished run, or of the searches of a collection.

A random sample of documents is compared with all others, by the measure and threshold of the run or of the search. \
The true pairs are then looked up in the results. The recall comes with a 95% interval; it is exact if all documents \
are sampled. Exact copies count as one text.

DIR is a finished run of nearkin dedup, families, regroup or pairs, whose input is read again and must be unchanged; \
or a collection, in which each sampled document is queried as by nearkin similar. The options under Tolerance and \
The collection are for collections only. --out writes the missed pairs to a .csv, .tsv, .jsonl or .parquet file.

Examples:

  nearkin audit clean --sample 1000 --out missed.tsv

  nearkin audit matter --threshold 0.8
"""
_SHOWN = 5


class AuditCommand(ListOptions, PrintOptions, ReadOnlyOptions, CacheOptions, AuditJob):
    """Options of the command."""

    place: Same[str] = argument("DIR", help="A finished run, or a collection: a directory or a URL.")


def audit(job: AuditCommand) -> None:
    """Measure recall."""
    from nearkin.collection.tolerance import Tolerance
    from nearkin.workflows.auditing.audit import audit as audited_place
    from nearkin.workflows.auditing.audited import AuditOptions

    check_list(job)
    options = AuditOptions(
        sample=job.sample, seed=job.seed, tolerance=Tolerance.if_given(**job.part(ToleranceOptions).given()),
        cache=job.cache, threads=Resources(job.threads).n_threads, is_read_only=job.read_only,
    )  # fmt: skip
    with working(job) as bars:
        audited = audited_place(job.place, options, bars)
    answer(
        job, audited, [_missed_table(audited), *audited.facts("" if job.out is None else str(job.out))],
        rows=lambda: audited.missed, row="missed pair",
    )  # fmt: skip


def _missed_table(audited: Audited) -> Table:
    rows = [
        (share_text(row["similarity"]), str(row["id_a"]), str(row["id_b"]))
        for row in audited.missed.slice(0, _SHOWN).to_pylist()
    ]
    return Table(("missed", "id_a", "id_b"), rows, 1)


EVALUATE_HELP = """
Compare a result with pairs or groups that are known to be true: precision, recall, F1, and the threshold with the \
best F1.

RESULT is a finished run of nearkin dedup, regroup, families or pairs, in which exact copies count as documents; or \
a table of pairs, such as that of nearkin neighbours, or of groups, such as that of nearkin groups.

The truth is a table (.csv, .tsv, .jsonl, .parquet) with the names of its columns. Two columns of ids: all true pairs. \
With a third column, match, of 1 and 0: only these pairs are judged. Columns id and group: documents of one group are \
true pairs, and documents without a group are not judged.

Examples:

  nearkin evaluate clean --truth pairs.csv

  nearkin evaluate pairs.parquet --truth groups.csv --out evaluation.html
"""


class EvaluateCommand(PrintOptions, EvaluateJob):
    """Options of the command."""

    result: Same[Path] = argument("RESULT", kind=Path, help="A finished run, or a table of pairs or groups.")
    truth: Same[Path] = option(
        kind=Path, required=True, metavar="FILE", help="Pairs or groups that are known to be true."
    )


def evaluate(job: EvaluateCommand) -> None:
    """Compare a result with the truth."""
    from nearkin.jobs.auditing import evaluated_at

    out = None if job.out is None else path_of(job.out, "out")
    if out is not None:
        check_free(out, overwrite=job.overwrite)
    evaluated = evaluated_at(job.result, job.truth, out)
    answer(job, evaluated, _evaluation_view(evaluated, out))


def _evaluation_view(evaluated: Evaluated, out: Path | None) -> Iterator[Part]:
    from nearkin.reports.evaluation import curve_table, evaluation_facts, totals_table

    yield totals_table(evaluated)
    yield from (curve_table(evaluation) for evaluation in evaluated.evaluations[:1] if evaluation.score)
    yield from evaluation_facts(evaluated)
    if out is not None:
        yield place_line("Page", out)
