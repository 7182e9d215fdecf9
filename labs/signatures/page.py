"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from functools import partial

from labs.page import Drawn, LabPage, drawn
from labs.signatures import figures
from labs.signatures.apart import WANTED
from labs.signatures.experiment import SignatureResults
from labs.signatures.methods import (
    ALL_KINDS,
    BITS,
    FAST_SIMHASH,
    KINDS,
    PUBLISHED_KINDS,
    SIMHASH_ONCE,
    TOPSIG,
    TOPSIG_CODE,
    TOPSIG_ONCE,
    WEIGHTED,
    WEIGHTED_CODE,
)
from labs.signatures.published import DOCUMENTS_PER_SIGNATURE, ONE_NEIGHBOUR, SECONDS
from labs.signatures.retrieval import DISTANCES
from labs.signatures.signing import DRIFT_BITS
from labs.signatures.truth import BY_CHARACTERS, BY_WORDS
from nearkin.planning.neighbour_recall import SIMILARITY, usual_distance


def draw(results: SignatureResults) -> tuple[Drawn, ...]:
    """Draw all figures."""
    every = [
        drawn("figure-1", figures.unique_signatures, results, "Figure 1 on these documents."),
        drawn(
            "figure-1-published",
            figures.published_unique_signatures,
            results,
            "Figure 1 of the article: 90,000 agreements. The shares are the inverse of its Table 2.",
        ),
    ]
    for bits, distance in ((32, 1), (128, 1), (1024, 1), (1024, 3)):
        number = 2 if distance == 1 else 3
        every.append(
            drawn(
                f"figure-{number}-{bits}",
                partial(figures.neighbours, bits=bits, distance=distance),
                results,
                f"Figure {number}: documents by neighbours within distance {distance}, {bits:,} bits.",
            )
        )
    for truth, words in ((BY_CHARACTERS, "4-gram sets at 0.8"), (BY_WORDS, "word 5-gram sets at 0.7")):
        if results.n_true[truth]:
            caption = f"F1 at the best distance, against {words}."
            every.append(drawn(f"f1-{truth}", partial(figures.best_f1, truth=truth), results, caption))
    if results.n_true[BY_CHARACTERS]:
        caption = "Precision and recall at 64 bits, against 4-gram sets at 0.8."
        every.append(drawn("precision-recall", figures.precision_recall, results, caption))
    caption = "Weighted TopSig by the statistics of the first documents: bits that differ from the final signature."
    every.append(drawn("drift", figures.drift, results, caption))
    return tuple(every)


def _values(results: SignatureResults) -> dict[str, object]:
    return {
        "documents": results.documents,
        "advice": results.advice,
        "timings": results.timings,
        "paper_ways": results.paper_ways,
        "drifts": results.drifts,
        "labels": {kind.key: kind.label for kind in ALL_KINDS},
        "all_bits": BITS,
        "drift_bits": DRIFT_BITS,
        "distances": DISTANCES,
        "kinds": KINDS,
        "usual_distances": {(one.key, one.bits): usual_distance(one.key, one.bits) for one in results.apart},
        "wanted": WANTED,
        "similarity": SIMILARITY,
        "compared": (FAST_SIMHASH, TOPSIG, TOPSIG_CODE, WEIGHTED, WEIGHTED_CODE, SIMHASH_ONCE, TOPSIG_ONCE),
        "published_kinds": PUBLISHED_KINDS,
        "truths": {BY_CHARACTERS: "4-gram sets of at least 0.8", BY_WORDS: "word 5-gram sets of at least 0.7"},
        "published_seconds": SECONDS,
        "published_documents": DOCUMENTS_PER_SIGNATURE,
        "one_neighbour": ONE_NEIGHBOUR,
    }


PAGE = LabPage(
    "labs.signatures",
    draw,
    _values,
    {
        "thousandths": lambda x: "–" if x != x else f"{x:,.3f}",
        "share": lambda x: "–" if x != x else f"{100 * x:.1f} %",
        "milliseconds": lambda x: f"{1000 * x:,.3g}" if x < 1 else f"{1000 * x:,.0f}",
        "times": lambda x: f"{x:,.0f}" if x >= 10 else f"{x:.1f}",
        "microseconds": lambda x: f"{1e6 * x:,.2f}",
    },
)
