"""``python -m labs.similarity_index``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from labs.experiment import command, conduct, print_table
from labs.similarity_index.columns import WORDING, FamilyFile
from labs.similarity_index.delivery import EXPERIMENT
from labs.similarity_index.experiment import IndexPlan, IndexResults
from labs.similarity_index.larger import Larger
from labs.similarity_index.published import BEST_SCORE, N_OVER_ONE, N_RUNS, TABLE_9
from nearkin.errors import SourceError
from nearkin.nouns import counted

DESCRIPTION = """
Repeat the published experiment with the similarity index, one number per document: all methods on a folder of files
with known similar pairs, their scores beside the paper's, and the part of a score that is due to chance. --documents
adds a larger corpus: what a query over one column of numbers finds, and what better numbers find.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Repeat the paper's experiment."""
    parser = command("similarity_index", DESCRIPTION)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="one document per file; inner folders are skipped")
    parser.add_argument(
        "--expected", type=Path, metavar="FILE",
        help="CSV file with the columns file,zone: files of one zone are similar to one another, and to no other "
        "files; None: the paper's zones, by the names of its files",
    )  # fmt: skip
    parser.add_argument("--multipliers", type=int, default=200, help="other odd multipliers of the hash to try")
    parser.add_argument("--seed", type=int, default=0, help="random seed of multipliers and queries")
    parser.add_argument(
        "--documents", type=Path, metavar="FILE",
        help="a larger corpus: Parquet, CSV, TSV or JSON Lines with thousands of documents in known families",
    )  # fmt: skip
    parser.add_argument("--family", metavar="COLUMN", help="its column with the family")
    parser.add_argument("--text", default="text", metavar="COLUMN", help="its column with the text")
    parser.add_argument("--only", metavar="COLUMN=VALUE", help="use only these rows of it")
    parser.add_argument("--leave-out", metavar="VALUES", help="values that name no family, joined by commas")
    parser.add_argument("--queries", type=int, default=2000, help="documents of it to draw as queries")
    return conduct(parser, arguments, EXPERIMENT, _plan, _show)


def _plan(options: Namespace) -> tuple[IndexPlan]:
    if (options.documents is None) != (options.family is None):
        raise SourceError("Give both --documents and --family: a file, and its column with the family.")
    families = None
    if options.documents is not None:
        left_out = tuple(name.strip() for name in (options.leave_out or "").split(",") if name.strip())
        families = FamilyFile(options.documents, options.family, options.text, options.only, left_out)
    plan = IndexPlan(
        folder=options.folder,
        expected=options.expected,
        documents=families,
        n_multipliers=options.multipliers,
        n_queries=options.queries,
        seed=options.seed,
    )
    return (plan,)


def _show(results: IndexResults) -> None:
    """Print the runs of Table 9 beside the paper's, the best here, the role of chance, then the larger corpus."""
    is_published, chance = results.folder.zones.is_published, results.chance
    headings = ("run", "FP", "FN", "correct", "score", "(paper)", "as expected")
    print_table(headings, _table_9(results), left=("run",))
    said = f" (paper: {N_OVER_ONE} of {N_RUNS})" if is_published else ""
    print(f"Scores above 1: {results.n_over_one} of {counted(len(results.runs), 'run')}{said}.")
    others = counted(len(chance.multipliers), "other multiplier")
    share = 100 * float((chance.best.round(2) >= BEST_SCORE).mean())
    with_published = f"; {share:.3g}% reach the paper's {BEST_SCORE:.2f}" if is_published else ""
    print(
        f"With {others} than 31: on average {chance.n_over_one.mean():.0f} runs above 1; best score "
        f"{chance.best.min():.2f} to {chance.best.max():.2f}{with_published}."
    )
    if results.larger is not None:
        print_table(("column", "setting", "rows", "precision", "recall"), _columns(results.larger), left=("column",))


def _table_9(results: IndexResults) -> list[tuple[str, ...]]:
    """Tabulate the runs: the paper's five, then the best here."""
    is_published = results.folder.zones.is_published
    scores = [f"({said.score:.2f})" if is_published else "" for said in TABLE_9]
    rows = list(zip(results.published, scores, strict=True))
    published = {run.method for run, _ in rows}
    table: list[tuple[str, ...]] = []
    for run, said in (*rows, *((run, "") for run in results.best if run.method not in published)):
        c = run.counted
        numbers = f"{c.n_false_positives}", f"{c.n_false_negatives}", f"{c.n_correct}", f"{c.score:.2f}"
        table.append((run.label, *numbers, said, f"{c.n_as_expected} of {c.n_pairs}"))
    return table


def _columns(larger: Larger) -> list[tuple[str, ...]]:
    """Tabulate the columns: an index at the paper's tolerance, another number at its best setting."""
    rows: list[tuple[str, ...]] = []
    for column in larger.columns:
        one = larger.at(column.key, 0.3) if column.key.startswith("si-") else larger.best(column.key, WORDING)
        precision = "–" if one.precision[WORDING] != one.precision[WORDING] else f"{one.precision[WORDING]:.3f}"
        rows.append((column.label, f"{one.setting:g}", f"{one.n_rows:,.1f}", precision, f"{one.recall[WORDING]:.3f}"))
    return rows


if __name__ == "__main__":
    sys.exit(main())
