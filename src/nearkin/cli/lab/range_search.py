"""``nearkin lab range-search``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.lab.experiment_command import PlannedExperiment, experiment_command, result_table
from nearkin.cli.options.definitions import Corpus, Out
from nearkin.cli.options.inputs import ReadingOptions
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nearkin.cli.printing import Printer
    from nearkin.lab.range_search.experiment import RangeSearchResults

_measured = partial(typer.Option, rich_help_panel="What is measured")
First = Annotated[int, _measured("--documents", help="Number of documents to use; their texts are held in memory.")]
Alphabet = Annotated[str, _measured(help="latin: A-Z, a-z, 0-9. universal: letters and digits of all scripts.")]
Queries = Annotated[int, _measured(help="Number of documents to draw as queries.")]
Tau = Annotated[
    float | None,
    _measured(
        help="Factor of the width of a projection's range: 0.707 for precision, 7.6 for recall. "
        "[dim]default: 7.6, the paper's[/]",
        show_default=False,
    ),
]
Pairs = Annotated[int, _measured(help="Maximum number of matches of a query whose texts are compared.")]
Longest = Annotated[
    int, _measured(help="Maximum length, in characters, of a text to compare; longer texts are counted.")
]
ExperimentSeed = Annotated[int, _measured("--seed", help="Random seed of queries and projections.")]

HELP = """
Repeat the published measurements of range search by letter counts on your corpus: recall and precision of random \
projections against an exhaustive search, how many candidates each step leaves and what it costs, and whether \
the texts of matches are similar.

[bold]Examples[/]

  nearkin lab range-search contracts/ --out lab

  nearkin lab range-search mail/ --alphabet universal --queries 1000 --out lab
"""


@experiment_command
def range_search(
    inputs: Corpus,
    out: Out,
    *,
    reading: ReadingOptions,
    documents: First = 100_000,
    alphabet: Alphabet = "latin",
    queries: Queries = 500,
    tau: Tau = None,
    pairs: Pairs = 20,
    longest: Longest = 1_000_000,
    seed: ExperimentSeed = 0,
) -> PlannedExperiment:
    """Repeat the paper's measurements."""
    from nearkin.lab.range_search.delivery import EXPERIMENT
    from nearkin.lab.range_search.experiment import RangeSearchPlan
    from nearkin.lab.range_search.similarity import Bounds

    plan = RangeSearchPlan(
        n_documents=documents,
        n_queries=queries,
        alphabet=alphabet,  # type: ignore[arg-type]  # one of Alphabet, by the command line
        tau=tau,
        seed=seed,
        bounds=Bounds(pairs, longest),
    )
    return PlannedExperiment(EXPERIMENT, (reading.request(inputs), plan), out, _show)


def _show(console: Printer, results: RangeSearchResults) -> None:
    """Print the searches beside the paper's numbers, then the similarity of the matches, then what was left out."""
    from nearkin.lab.range_search.claims import percent
    from nearkin.lab.range_search.published import ALIKE

    n_counted, n_queries = results.counted.n_counted, len(results.queries)
    console.print(
        f"{counted(n_queries, 'query', 'queries')} over {counted(n_counted, 'document')}. Column compared: documents "
        "that reach the exact comparison.",
        highlight=False,
    )
    console.print(_table(results))
    for alike in results.alikes:
        said = ALIKE[alike.gamma]
        console.print(
            f"γ {alike.gamma}: {percent(alike.at_least(said.similarity))} of the matches have an edit similarity of at "
            f"least {said.similarity:.2f} (paper: {said.words}); "
            f"{counted(len(alike.query), 'match', 'matches')} compared, "
            f"{counted(int(alike.is_copy.sum()), 'exact copy', 'exact copies')}.",
            highlight=False,
        )
    left_out = (
        (results.counted.n_few_letters, "with fewer than 20 letters"),
        (results.counted.n_other_letters, "in other letters"),
        (results.documents.n_without_text, "without text"),
        (results.documents.n_unreadable, "unreadable"),
    )
    if any(n for n, _ in left_out):
        words = ", ".join(f"{n:,} {why}" for n, why in left_out if n)
        console.print(f"Skipped: {words}.", highlight=False)


def _table(results: RangeSearchResults) -> Table:
    """Tabulate recall, precision before the exact comparison, exact comparisons and time, by search and tolerance."""
    from nearkin.lab.range_search.published import GAMMAS, SAID
    from nearkin.lab.range_search.ways import WAYS

    headings = ("γ", "search", "recall", "(paper)", "precision", "(paper)", "compared", "ms")
    table = result_table(headings, left=("search",))
    for gamma in GAMMAS:
        for way in WAYS:
            one, said = results.searches.of(way, gamma), SAID.get((way.key, gamma))
            table.add_row(
                str(gamma) if way is WAYS[0] else "",
                way.label,
                f"{one.quality.recall.mean:.3f}",
                f"({said.recall:.3f})" if said else "",
                f"{one.quality.precision.mean:.3f}",
                f"({said.precision:.3f})" if said else "",
                f"{one.n_passed:,.1f}",
                f"{1000 * one.mean_seconds:.3g}",
            )
    seconds = results.exhaustive_seconds
    table.add_row("", "exhaustive", "1", "", "", "", f"{results.counted.n_counted:,}", f"{1000 * seconds:.3g}")
    return table
