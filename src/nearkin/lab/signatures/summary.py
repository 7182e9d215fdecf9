"""All numbers but the long tables, for programs: ``summary.json``."""

from __future__ import annotations

from nearkin._version import __version__
from nearkin.lab.signatures.experiment import Results
from nearkin.lab.signatures.methods import BITS, FEATURES
from nearkin.lab.signatures.signing import DRIFT_BITS
from nearkin.lab.signatures.tables import tables
from nearkin.lab.signatures.truth import CHARACTER_THRESHOLD, WORD_THRESHOLD

_LONG = ("precision-recall-curve", "confusions")


def summary(results: Results, corpus: dict[str, object]) -> dict[str, object]:
    """The results as JSON; ``corpus`` says what was read."""
    documents, advice, drifts = results.documents, results.advice, results.drifts
    return {
        "nearkin": __version__,
        "experiment": "signatures",
        "corpus": {
            **corpus,
            "n_documents": len(documents) + documents.n_without_text,
            "n_without_text": documents.n_without_text,
            "n_unreadable": documents.n_unreadable,
            "n_distinct_texts": results.n_distinct,
            "n_occurrences": results.n_occurrences,
            "n_features": results.n_features,
        },
        "parameters": {
            "features": str(FEATURES),
            "normalise": "none",
            "bits": list(BITS),
            "character_threshold": CHARACTER_THRESHOLD,
            "word_threshold": WORD_THRESHOLD,
        },
        "n_alike": dict(results.n_true),
        "advice": {
            "method": advice.kind.key,
            "bits": advice.bits,
            "distance": advice.distance,
            "sentences": list(advice.sentences),
        },
        "statistics_needed": [
            {
                "bits": bits,
                "n_for_small_drift": drifts.n_for_small_drift(bits),
                "n_for_retrieval": drifts.n_for_retrieval(bits),
            }
            for bits in DRIFT_BITS
        ],
        "timed": {
            "n_documents": results.timings.n_documents,
            "n_batches": results.timings.n_batches,
            "mean_features": results.timings.mean_features,
        },
        "tables": {table.name: table.records() for table in tables(results) if not table.name.startswith(_LONG)},
        "elapsed_s": round(results.elapsed_s, 3),
    }
