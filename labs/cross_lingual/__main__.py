"""``python -m labs.cross_lingual``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from labs.cross_lingual.documents import ParallelColumns
from labs.cross_lingual.experiment import CrossLingualPlan, CrossLingualResults
from labs.cross_lingual.page import EXPERIMENT
from labs.cross_lingual.published import BOUND, CLAIMS
from labs.experiment import command, conduct, print_table
from nearkin.nouns import counted
from nearkin.stages.documents.rules import ReadingRules

DESCRIPTION = """
Repeat the published experiments on similar documents in two languages with your own documents and their
translations: how similar a document and its translation are, whether the translation is found among all documents,
what each step of the projection is worth, how accurate signatures are, and what a sliding window finds at which
cost. Train the table on texts that are not among the inputs.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Repeat the article's experiments."""
    parser = command("cross_lingual", DESCRIPTION)
    parser.add_argument(
        "inputs", nargs="+", type=Path, metavar="INPUT",
        help="Parquet, JSON Lines, CSV or TSV files; a row is a document and its translation",
    )  # fmt: skip
    parser.add_argument("--left-column", required=True, metavar="COLUMN", help="language that the table translates")
    parser.add_argument("--right-column", required=True, metavar="COLUMN", help="language that it translates to")
    parser.add_argument(
        "--table", action="append", type=Path, required=True, metavar="FILE",
        help="translation table from nearkin align: one for all inputs, or one for each, in the same order",
    )  # fmt: skip
    parser.add_argument("--id", metavar="COLUMN", help="column with the id; None: guessed")
    parser.add_argument(
        "--translated", type=Path, metavar="FILE",
        help="ids and texts: the left documents, translated by a translator; None: a word-by-word gloss",
    )  # fmt: skip
    parser.add_argument("--documents", type=int, default=5000, help="documents of each input, evenly spaced")
    parser.add_argument("--seed", type=int, default=0, help="random seed of signatures and orders")
    return conduct(parser, arguments, EXPERIMENT, _plan, _show)


def _plan(options: Namespace) -> tuple[CrossLingualPlan]:
    columns = ParallelColumns(options.left_column, options.right_column, options.id, ReadingRules())
    plan = CrossLingualPlan(
        documents=tuple(options.inputs),
        tables=tuple(options.table),
        columns=columns,
        translated=options.translated,
        most=options.documents,
        seed=options.seed,
    )
    return (plan,)


def _show(results: CrossLingualResults) -> None:
    """Print the translations found by each method, the recall of signatures alone, and the cost of a window."""
    headings = ("documents", "way", "translation first", "mean cosine", "recall at 0.3")
    rows = []
    for one in results.sets:
        for i, way in enumerate(one.ways):
            finding = way.finding
            first = f"{finding.n_first:,} of {len(one.documents):,}"
            numbers = f"{finding.mean_cosine:.3f}", f"{finding.recall(0.3):.3f}"
            rows.append(("" if i else one.name, way.label, first, *numbers))
    print_table(headings, rows, left=headings[:2])
    alone = results.scans.scans[0].at_threshold
    if alone.n_true:
        print(
            f"{results.largest.name}: 1,000 bits alone find {alone.recall:.2f} of {counted(alone.n_true, 'pair')} at "
            f"0.3 (article: {BOUND})."
        )
    if results.windows is not None:
        costs = []
        for effectiveness, cost in CLAIMS:
            cheapest = results.windows.cheapest(effectiveness)
            costs.append(f"{effectiveness:.0%} for {cheapest[0] if cheapest else float('nan'):.0%} ({cost:.0%})")
        print(
            f"Of that, a sliding window finds {', '.join(costs)} of the comparisons, without the time for sorting "
            "(article: with it)."
        )


if __name__ == "__main__":
    sys.exit(main())
