"""Documents with another outcome after ``nearkin regroup``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from nearkin.formats import parquet
from nearkin.manifests.dedup import DedupManifest
from nearkin.records import Bool
from nearkin.runs.finished import read_results


@dataclass(frozen=True, slots=True)
class OutcomeChanges:
    """Differences between the results of a run and its new groups.

    Parameters
    ----------
    n_now_kept, n_now_dropped : int
        Numbers of documents that were dropped before and are kept now, and the reverse.
    run_threshold : float, optional
        Threshold of the run.
    """

    n_now_kept: int
    n_now_dropped: int
    run_threshold: float | None = None


def outcome_changes(directory: Path, regrouped: Path) -> OutcomeChanges:
    """Compare the results of a run with its results after regrouping, which have the same documents in their rows."""
    before, after = _kept(directory), _kept(regrouped)
    threshold = DedupManifest.of(read_results(directory)).threshold
    return OutcomeChanges(int(np.count_nonzero(after & ~before)), int(np.count_nonzero(before & ~after)), threshold)


def _kept(directory: Path) -> Bool:
    """Return for each document whether it is kept."""
    keep = parquet.read_table(directory / "documents.parquet", ["keep"])["keep"]
    kept: Bool = pc.fill_null(keep, False).to_numpy()
    return kept
