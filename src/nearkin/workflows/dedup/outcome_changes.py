"""Documents with another outcome after ``nearkin regroup``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from nearkin.formats import parquet
from nearkin.records import Bool


@dataclass(frozen=True, slots=True)
class OutcomeChanges:
    """Numbers of documents that a run dropped and its new groups keep, and the reverse."""

    n_now_kept: int
    n_now_dropped: int


def outcome_changes(directory: Path, regrouped: Path) -> OutcomeChanges:
    """Compare the results of a run with its results after regrouping, which have the same documents in their rows."""
    before, after = _kept(directory), _kept(regrouped)
    return OutcomeChanges(int(np.count_nonzero(after & ~before)), int(np.count_nonzero(before & ~after)))


def _kept(directory: Path) -> Bool:
    """Return for each document whether it is kept."""
    keep = parquet.read_table(directory / "documents.parquet", ["keep"])["keep"]
    kept: Bool = pc.fill_null(keep, False).to_numpy()
    return kept
