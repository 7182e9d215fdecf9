"""``python -m labs.collections``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from labs.collections.documents import LabelledFile
from labs.collections.experiment import QUESTIONS, CollectionsPlan, CollectionsResults
from labs.collections.page import EXPERIMENT
from labs.collections.pairs import SETTINGS
from labs.experiment import command, conduct, print_table
from nearkin.nouns import counted

DESCRIPTION = """
Measure precision and recall of groups, versions and conflicts of a collection on your own labelled documents, for
several thresholds and gammas: against the labels, or without labels against an exhaustive comparison of wording.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure groups, versions and conflicts."""
    parser = command("collections", DESCRIPTION)
    parser.add_argument("file", type=Path, metavar="FILE", help="table of documents: .parquet, .csv, .tsv or .jsonl")
    parser.add_argument("--text", metavar="COLUMN", default="text", help="column with the texts")
    parser.add_argument(
        "--label", metavar="COLUMN",
        help="column with the labels; documents with the same label belong together; None: pairs with a Jaccard "
        "similarity of at least 0.5 belong together",
    )  # fmt: skip
    parser.add_argument("--only", metavar="COLUMN=VALUE", help="use only these rows; | between several values")
    parser.add_argument("--leave-out", metavar="LABELS", help="labels that name no family, joined by commas")
    parser.add_argument("--of-a-label", type=int, default=10, help="most documents with one label")
    parser.add_argument("--documents", type=int, default=2_000, help="most distinct texts, evenly spaced")
    parser.add_argument("--queries", type=int, default=500, help="documents whose versions are queried")
    parser.add_argument("--wrong-labels", type=int, default=60, help="wrong labels to plant")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the queries and the wrong labels")
    return conduct(parser, arguments, EXPERIMENT, _plan, _show)


def _plan(options: Namespace) -> tuple[CollectionsPlan]:
    table = LabelledFile(
        path=options.file,
        text=options.text,
        label=options.label,
        only=options.only,
        leave_out=tuple(name.strip() for name in (options.leave_out or "").split(",") if name.strip()),
        of_a_label=options.of_a_label,
        n_documents=options.documents,
    )
    return (CollectionsPlan(file=table, n_queries=options.queries, n_planted=options.wrong_labels, seed=options.seed),)


def _show(results: CollectionsResults) -> None:
    """Print the precision and recall of each question, with a row for each setting."""
    rows = []
    for i, setting in enumerate(SETTINGS):
        shown = [results.outcomes[name][i] for name in QUESTIONS]
        cells = ("/".join("–" if x != x else f"{x:.3f}" for x in (one.precision, one.recall)) for one in shown)
        rows.append((f"{setting.measure} {setting.value}", *cells))
    print("precision/recall")
    print_table(("setting", *QUESTIONS), rows, left=("setting",))
    label = results.plan.file.label
    truth = f"the same {label!r}" if label else "a Jaccard similarity of at least 0.5"
    print(f"{counted(len(results.documents), 'distinct text')}, {counted(results.n_true, 'pair')} with {truth}.")


if __name__ == "__main__":
    sys.exit(main())
