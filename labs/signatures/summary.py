"""All numbers except the long tables, for programs: ``summary.json``."""

from __future__ import annotations

from labs.signatures.experiment import SignatureResults
from labs.signatures.methods import BITS, FEATURES
from labs.signatures.signing import DRIFT_BITS
from labs.signatures.truth import CHARACTER_THRESHOLD, WORD_THRESHOLD
from nearkin.workflows.reading.request import ReadingRequest


def summary(files: ReadingRequest, results: SignatureResults) -> dict[str, object]:
    """Return the results as JSON types."""
    documents, advice, drifts = results.documents, results.advice, results.drifts
    return {
        "corpus": {
            **documents.read_from(files),
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
    }
