"""What a search for pairs says of itself: ``manifest.json``."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.runs.meter import Meter
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.inputs import PairInput, Prepared
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.planning import Planned
from nearkin.workflows.pairing.results import Ranked
from nearkin.workflows.pairing.vectors import SideFacts
from nearkin.workflows.pairing.verifying import FoundPairs
from nearkin.workflows.reading.problems import damaged_files


def manifest(
    given: PairInput,
    prepared: Prepared,
    planned: Planned,
    found: FoundPairs,
    pairs: Ranked,
    options: PairOptions,
    meter: Meter,
) -> dict[str, object]:
    """All but what is known of the pairs beforehand."""
    table, vectors = prepared.table, prepared.vectors
    return {
        "nearkin": __version__,
        "made_with": {"numpy": np.__version__, "pyarrow": pa.__version__},
        "command": "pairs",
        "parameters": options.in_words(),
        "fingerprint": vectors.fingerprint,
        "table": None
        if table is None
        else {
            "path": str(given.table),
            "fingerprint": table.fingerprint,
            "source": table.origin.source,
            "target": table.origin.target,
            "translated": None if prepared.translation is None else prepared.translation.side,
        },
        "left": _side(prepared.left, vectors.left_facts, given.left.encoding),
        "right": _side(prepared.right, vectors.right_facts, given.right.encoding),
        "plan": planned.as_stored(),
        "counts": {
            "pairs": len(pairs),
            "pairs_at_threshold": None if options.top else len(found),  # beyond the best they are not kept
            "left_with_pairs": len(np.unique(pairs.left)),
            "right_with_pairs": len(np.unique(pairs.right)),
            "comparisons": found.n_comparisons,
            "candidates": found.n_candidates,
        },
        "histogram": {"from": 0.0, "step": 0.05, "counts": _histogram(found)},
        "stages": [asdict(cost) for cost in meter.costs],
    }


def _side(collected: Collected, facts: SideFacts, encoding: str) -> dict[str, object]:
    return {
        "encoding": encoding,
        "inputs": [one.as_stored() for one in collected.inputs],
        "damaged_files": damaged_files([collected.documents]),
        **asdict(facts),
    }


def _histogram(found: FoundPairs) -> list[int]:
    counts, _ = np.histogram(found.cosine, np.linspace(0.0, 1.0, 21))
    return [int(n) for n in counts]
