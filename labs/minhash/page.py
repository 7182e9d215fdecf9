"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from labs.minhash import figures
from labs.minhash.experiment import MinhashResults
from labs.minhash.published import PUBLISHED, REMARKS
from labs.minhash.tables import side_by_side
from labs.page import Drawn, LabPage, drawn, places
from nearkin.nouns import counted


def draw(results: MinhashResults) -> tuple[Drawn, ...]:
    """Draw all figures."""
    n_near, n_unrelated = results.lengths.n_near, results.lengths.n_unrelated
    pairs = f"{n_near:,} near-duplicates and {counted(n_unrelated, 'other pair')}"
    return (
        drawn("sentences", figures.sentence_columns, results, "The two cat sentences by the length of a shingle."),
        drawn(
            "lengths-chars",
            lambda r, **how: figures.length_lines(r, unit="chars", **how),
            results,
            f"{pairs} of this corpus, by shingles of characters.",
        ),
        drawn(
            "lengths-words",
            lambda r, **how: figures.length_lines(r, unit="words", **how),
            results,
            "The same pairs by shingles of words.",
        ),
        drawn(
            "s-curves",
            figures.s_curves,
            results,
            "How likely a pair becomes a candidate, with 100 hashes cut five ways.",
        ),
        drawn("similarities", figures.all_similarities, results, "All pairs of this corpus by their exact similarity."),
        drawn(
            "candidates",
            figures.candidate_columns,
            results,
            "Candidate pairs: columns measured with one sketch, points predicted from the exact similarities.",
        ),
        drawn(
            "in-vain",
            figures.in_vain_columns,
            results,
            "Candidates that turn out below 0.9: the cost of checking in vain.",
        ),
    )


def _values(results: MinhashResults) -> dict[str, object]:
    return {
        "truth": results.truth,
        "copies": results.copies,
        "beside": side_by_side(results),
        "published": PUBLISHED,
        "remarks": REMARKS,
    }


PAGE = LabPage(
    "labs.minhash",
    draw,
    _values,
    {
        "tenths": lambda x: f"{x:,.1f}",
        "similarity": places(4),
    },
)
