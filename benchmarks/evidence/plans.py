"""What a choice costs: shingles a document, bands and candidates that the planner expects, time to shingle and sketch.

``python benchmarks/evidence/plans.py --data FOLDER``
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
from pairs import SHINGLES, data_folder, jaccard, normalised, print_table

from nearkin.errors import ParameterError
from nearkin.planning.search import Sample, plan_bands
from nearkin.stages.signatures.minhash import MinHash

N_DOCUMENTS = 1_000_000
N_SAMPLED = 300
THRESHOLDS = (0.6, 0.7, 0.8, 0.9)
RECALL = 0.99


def print_plans(name: str, texts: list[str]) -> None:
    """Plans for a collection of so many texts of this kind, from a sample of it."""
    chosen = np.linspace(0, len(texts) - 1, N_SAMPLED).astype(int)
    ready = normalised(texts[i] for i in chosen)
    left, right = (rows.astype(np.uint32) for rows in np.triu_indices(N_SAMPLED, 1))
    size_bytes = ready.nbytes
    rows = []
    for shingle in SHINGLES:
        sets = shingle.sets(ready)
        elapsed_s = _min_s(lambda shingle=shingle: shingle.sets(ready))
        sketched_s = _min_s(lambda sets=sets: MinHash(128).sign(sets))
        similarity = jaccard(sets, left, right)
        sample = Sample.of_one(N_DOCUMENTS, sets.sizes, similarity, np.zeros(len(left), np.int64))
        cells = []
        for threshold in THRESHOLDS:
            try:
                plan = plan_bands(threshold, RECALL, replace(sample, is_match=similarity >= threshold))
                cells.append(f"{plan.bands} × {plan.rows}: {_short(plan.expected_candidates / N_DOCUMENTS)}")
            except ParameterError:
                cells.append("none")
        rows.append(
            (shingle, f"{sample.mean_size:,.0f}", f"{size_bytes / 1e6 / (elapsed_s + sketched_s):,.0f}", *cells)
        )
    print_table(
        f"Plans: {name}, as {N_DOCUMENTS:,} documents; bands × rows: unrelated pairs compared per document",
        ("shingle", "shingles a document", "MB/s a core", *(f"at {t}" for t in THRESHOLDS)),
        rows,
    )


def _min_s(work: Callable[[], object]) -> float:
    """The time of the fastest of some runs: the others were disturbed."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def _short(x: float) -> str:
    return f"{x:,.0f}" if x >= 10 else f"{x:.1f}" if x >= 0.1 else f"{x:.0e}" if x > 0 else "0"


if __name__ == "__main__":
    data = data_folder(__doc__)
    reuters = pq.read_table(data / "reuters21578.parquet").to_pandas()
    print_plans("newswire (Reuters)", list(reuters.title + " " + reuters.text))
    contracts = pq.read_table(data / "contracts.parquet").to_pandas()
    print_plans("contracts (EDGAR)", list(contracts.text[contracts.text.str.len() > 1000]))
