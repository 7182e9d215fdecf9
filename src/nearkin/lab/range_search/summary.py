"""All numbers, for programs: ``summary.json``."""

from __future__ import annotations

import numpy as np

from nearkin._version import __version__
from nearkin.lab.range_search.experiment import Results
from nearkin.lab.range_search.projections import N_DRAWS, PROJECTIONS
from nearkin.lab.range_search.published import GAMMAS, N_PROJECTIONS
from nearkin.lab.range_search.similarity import EXACT_UP_TO, FLOOR
from nearkin.lab.range_search.tables import tables
from nearkin.stages.features.letters import LetterCounts


def summary(results: Results, corpus: dict[str, object]) -> dict[str, object]:
    """The results as JSON; ``corpus`` says what was read."""
    documents, counted, plan = results.documents, results.counted, results.plan
    return {
        "nearkin": __version__,
        "experiment": "range-search",
        "corpus": {
            **corpus,
            "n_documents": len(documents) + documents.n_without_text,
            "n_without_text": documents.n_without_text,
            "n_unreadable": documents.n_unreadable,
            "n_counted": counted.n_counted,
            "n_few_letters": counted.n_few_letters,
            "n_other_letters": counted.n_other_letters,
            "mean_letters": counted.mean_letters,
            "median_letters": counted.median_letters,
            "most_letters": int(counted.most_letters),
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
            "most_matches_compared": plan.bounds.most_matches,
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
        "tables": {table.name: table.records() for table in tables(results)},
        "elapsed_s": round(results.elapsed_s, 3),
    }
