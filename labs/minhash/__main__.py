"""``python -m labs.minhash``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from labs.experiment import add_corpus, command, conduct, print_table, reading
from labs.minhash.corpus import TitledRequest
from labs.minhash.experiment import MinhashResults
from labs.minhash.page import EXPERIMENT, side_by_side

DESCRIPTION = """
Repeat the published measurements of shingles, MinHash and bands on the first documents of your corpus. Every pair
is also compared exactly.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Repeat the article's measurements."""
    parser = command("minhash", DESCRIPTION)
    add_corpus(parser)
    parser.add_argument("--title", metavar="COLUMN", help="column with a headline, put before the text with a space")
    parser.add_argument("--documents", type=int, default=1000, help="documents to use; every pair is compared")
    return conduct(parser, arguments, EXPERIMENT, _plan, _show)


def _plan(options: Namespace) -> tuple[TitledRequest, int]:
    return TitledRequest.of(reading(options), options.title), options.documents


def _show(results: MinhashResults) -> None:
    """Print the article's numbers beside ours, then the bands."""
    rows = [(row.what, row.published, row.here) for row in side_by_side(results)]
    print_table(("", "article", "here"), rows, left=("",))
    print()
    headings = ("bands × rows", "candidates", "predicted", "found ≥ 0.9", "predicted", "in vain")
    print_table(
        headings,
        [
            (
                f"{b.bands} × {b.rows}",
                f"{b.n_candidates[0]:,}",
                f"{b.n_expected:,.1f}",
                f"{b.n_high_found[0]:,} of {results.truth.n_high:,}",
                f"{b.n_high_expected:,.1f}",
                f"{b.n_in_vain:,}",
            )
            for b in results.truth.bandings
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
