"""``nearkin lab minhash``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.lab.experiment_command import PlannedExperiment, experiment_command, result_table
from nearkin.cli.options.definitions import Corpus, Documents, Out, Title
from nearkin.cli.options.inputs import ReadingOptions

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.lab.minhash.experiment import MinhashResults

HELP = """
Repeat the published measurements of shingles, MinHash and bands on the first documents of your corpus. Every pair \
is also compared exactly.

[bold]Examples[/]

  nearkin lab minhash crawl.jsonl --out lab

  nearkin lab minhash news.parquet --title headline --documents 2000 --out lab
"""


@experiment_command
def minhash(
    inputs: Corpus,
    out: Out,
    *,
    reading: ReadingOptions,
    title: Title = None,
    documents: Documents = 1000,
) -> PlannedExperiment:
    """Repeat the article's measurements."""
    from nearkin.lab.minhash.corpus import TitledRequest
    from nearkin.lab.minhash.delivery import EXPERIMENT

    files = TitledRequest.of(reading.request(inputs), title)
    return PlannedExperiment(EXPERIMENT, (files, documents), out, _show)


def _show(console: Printer, results: MinhashResults) -> None:
    """Print the article's numbers beside ours, then the bands."""
    from nearkin.lab.minhash.tables import side_by_side

    table = result_table(("", "article", "here"), left=("",), is_narrow=False)
    for row in side_by_side(results):
        table.add_row(row.what, row.published, row.here)
    console.print(table)
    console.print()
    headings = ("bands × rows", "candidates", "predicted", "found ≥ 0.9", "predicted", "in vain")
    bands = result_table(headings, is_narrow=False)
    for b in results.truth.bandings:
        bands.add_row(
            f"{b.bands} × {b.rows}",
            f"{b.n_candidates[0]:,}",
            f"{b.n_expected:,.1f}",
            f"{b.n_high_found[0]:,} of {results.truth.n_high:,}",
            f"{b.n_high_expected:,.1f}",
            f"{b.n_in_vain:,}",
        )
    console.print(bands)
