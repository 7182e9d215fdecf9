"""``nearkin evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer
from nearkin.options.declared import Same, argument, option
from nearkin.options.measuring import EvaluateJob
from nearkin.options.running import PrintOptions

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.planning.evaluation import Evaluated

HELP = """
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
    from nearkin.cli.answering import check_free
    from nearkin.jobs.auditing import evaluated_at
    from nearkin.paths import path_of

    out = None if job.out is None else path_of(job.out, "out")
    if out is not None:
        check_free(out, overwrite=job.overwrite)
    evaluated = evaluated_at(job.result, job.truth, out)
    answer(job, evaluated.to_dict, lambda console: _show(console, evaluated, out))


def _show(console: Printer, evaluated: Evaluated, out: Path | None) -> None:
    from nearkin.cli.printing import say_place
    from nearkin.reports.evaluation import curve_table, evaluation_facts, totals_table

    console.show(totals_table(evaluated))
    for one in evaluated.evaluations[:1]:
        if one.score:
            console.show(curve_table(one))
    console.say(evaluation_facts(evaluated))
    if out is not None:
        say_place(console, "Page", out)
