"""``python -m labs.range_search``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from labs.experiment import add_corpus, command, conduct, print_table, reading
from labs.range_search.claims import percent
from labs.range_search.experiment import RangeSearchPlan, RangeSearchResults
from labs.range_search.page import EXPERIMENT
from labs.range_search.projections import WAYS
from labs.range_search.published import ALIKE, GAMMAS, SAID
from labs.range_search.similarity import Bounds
from nearkin.nouns import counted
from nearkin.workflows.reading.request import ReadingRequest

DESCRIPTION = """
Repeat the published measurements of range search by letter counts on your corpus: recall and precision of random
projections against an exhaustive search, how many candidates each step leaves and what it costs, and whether
the texts of matches are similar.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Repeat the paper's measurements."""
    parser = command("range_search", DESCRIPTION)
    add_corpus(parser)
    parser.add_argument("--documents", type=int, default=100_000, help="documents to use; all texts are in memory")
    parser.add_argument(
        "--alphabet", choices=("latin", "universal"), default="latin",
        help="latin: A-Z, a-z, 0-9; universal: letters and digits of all scripts",
    )  # fmt: skip
    parser.add_argument("--queries", type=int, default=500, help="documents to draw as queries")
    parser.add_argument(
        "--tau", type=float,
        help="factor of the width of a projection's range: 0.707 for precision; None: the paper's, 7.6, for recall",
    )  # fmt: skip
    parser.add_argument("--pairs", type=int, default=20, help="most matches of a query whose texts are compared")
    parser.add_argument("--longest", type=int, default=1_000_000, help="longest text to compare, in characters")
    parser.add_argument("--seed", type=int, default=0, help="random seed of queries and projections")
    return conduct(parser, arguments, EXPERIMENT, _plan, _show)


def _plan(options: Namespace) -> tuple[ReadingRequest, RangeSearchPlan]:
    plan = RangeSearchPlan(
        n_documents=options.documents,
        n_queries=options.queries,
        alphabet=options.alphabet,
        tau=options.tau,
        seed=options.seed,
        bounds=Bounds(options.pairs, options.longest),
    )
    return reading(options), plan


def _show(results: RangeSearchResults) -> None:
    """Print the searches beside the paper's numbers, then the similarity of the matches, then what was left out."""
    n_counted, n_queries = results.counted.n_counted, len(results.queries)
    print(
        f"{counted(n_queries, 'query', 'queries')} over {counted(n_counted, 'document')}. Column compared: documents "
        "that reach the exact comparison."
    )
    headings = ("γ", "search", "recall", "(paper)", "precision", "(paper)", "compared", "ms")
    print_table(headings, _rows(results), left=("search",))
    for alike in results.alikes:
        said = ALIKE[alike.gamma]
        print(
            f"γ {alike.gamma}: {percent(alike.at_least(said.similarity))} of the matches have an edit similarity of at "
            f"least {said.similarity:.2f} (paper: {said.words}); "
            f"{counted(len(alike.query), 'match', 'matches')} compared, "
            f"{counted(int(alike.is_copy.sum()), 'exact copy', 'exact copies')}."
        )
    left_out = (
        (results.counted.n_few_letters, "with fewer than 20 letters"),
        (results.counted.n_other_letters, "in other letters"),
        (results.documents.n_without_text, "without text"),
        (results.documents.n_unreadable, "unreadable"),
    )
    if any(n for n, _ in left_out):
        print(f"Skipped: {', '.join(f'{n:,} {why}' for n, why in left_out if n)}.")


def _rows(results: RangeSearchResults) -> list[tuple[str, ...]]:
    """Tabulate recall, precision before the exact comparison, exact comparisons and time, by search and tolerance."""
    rows = []
    for gamma in GAMMAS:
        for way in WAYS:
            one, said = results.searches.of(way, gamma), SAID.get((way.key, gamma))
            rows.append(
                (
                    str(gamma) if way is WAYS[0] else "",
                    way.label,
                    f"{one.quality.recall.mean:.3f}",
                    f"({said.recall:.3f})" if said else "",
                    f"{one.quality.precision.mean:.3f}",
                    f"({said.precision:.3f})" if said else "",
                    f"{one.n_passed:,.1f}",
                    f"{1000 * one.mean_seconds:.3g}",
                )
            )
    seconds = results.exhaustive_seconds
    return [*rows, ("", "exhaustive", "1", "", "", "", f"{results.counted.n_counted:,}", f"{1000 * seconds:.3g}")]


if __name__ == "__main__":
    sys.exit(main())
