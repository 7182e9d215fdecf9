"""All numbers, for programs: ``summary.json``."""

from __future__ import annotations

import numpy as np

from labs.range_search.experiment import RangeSearchResults
from labs.range_search.projections import N_DRAWS, PROJECTIONS
from labs.range_search.published import GAMMAS, N_PROJECTIONS
from labs.range_search.similarity import EXACT_UP_TO, FLOOR
from nearkin.stages.features.letters import LetterCounts
from nearkin.workflows.reading.request import ReadingRequest


def summary(files: ReadingRequest, results: RangeSearchResults) -> dict[str, object]:
    """Return the results as JSON types."""
    documents, counted, plan = results.documents, results.counted, results.plan
    return {
        "corpus": {
            **documents.read_from(files),
            "n_counted": counted.n_counted,
            "n_few_letters": counted.n_few_letters,
            "n_other_letters": counted.n_other_letters,
            "mean_letters": counted.mean_letters,
            "median_letters": counted.median_letters,
            "max_letters": int(counted.max_letters),
        },
        "parameters": {
            "alphabet": plan.alphabet,
            "dimensions": LetterCounts(plan.alphabet).n_dimensions,
            "gammas": list(GAMMAS),
            "tau": plan.factor,
            "half_width": plan.half_width,
            "projections": N_PROJECTIONS,
            "projections_compared": list(PROJECTIONS),
            "draws": N_DRAWS,
            "queries": len(results.queries),
            "seed": plan.seed,
            "max_matches_compared": plan.bounds.max_matches,
            "longest_compared": plan.bounds.longest,
            "floor": FLOOR,
            "exact_up_to": EXACT_UP_TO,
        },
        "texts_compared": [
            {
                "gamma": alike.gamma,
                "n_queries_with_matches": int((alike.n_others > 0).sum()),
                "n_matches": int(alike.n_others.sum()),
                "n_drawn": alike.n_drawn,
                "n_too_long": alike.n_too_long,
                "n_compared": len(alike.query),
                "n_copies": int(alike.is_copy.sum()),
                "n_under_floor": int(np.isnan(alike.similarity).sum()),
            }
            for alike in results.alikes
        ],
    }
