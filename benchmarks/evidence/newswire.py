"""Versions of one story against notices cut from one template, told apart by day and headline (Reuters).

Two stories that share wording are called versions if they came within three days of each other and their headlines
share at least 0.3 of their words; else a template with new figures (a dividend, a prime rate, reserves).
The rule is a proxy: nobody judged the pairs, and a version under a wholly new headline counts as a template. Pairs
without a headline or a date are left out, and so are texts whose shingles are all the same. The pool is every pair of
Jaccard similarity 0.4 or more in shingles of three words, as found by ``nearkin.dedup``; recall is recall within it.

``python benchmarks/evidence/newswire.py --data FOLDER``
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from labelled import auc
from numpy.typing import NDArray
from pairs import SHINGLES, THRESHOLDS, data_folder, jaccard, normalised, print_table

import nearkin
from nearkin.records import F64
from nearkin.stages.features.shingles import Words

LONG = 50


def print_newswire(path: Path) -> None:
    """Precision and recall of versions by shingle and threshold."""
    table = pq.read_table(path, columns=["id", "date", "title", "text"])
    found = nearkin.dedup(table, text="text", id="id", shingle="words:3", threshold=0.4, recall=0.99).pairs.to_pandas()
    stories = table.to_pandas()
    row_of = pd.Series(np.arange(len(stories), dtype=np.uint32), index=stories.id)
    left, right = (row_of[found[name]].to_numpy() for name in ("id_a", "id_b"))
    texts = normalised(stories.text)
    days = pd.to_datetime(stories.date.str.strip(), format="%d-%b-%Y %H:%M:%S.%f", errors="coerce").to_numpy()
    has_both = ~np.isnat(days) & (stories.title.str.len() > 0).to_numpy()
    order = np.lexsort((right, left))
    order = order[((found.jaccard < 1.0).to_numpy() & has_both[left] & has_both[right])[order]]
    left, right = left[order], right[order]
    headline = jaccard(Words(1).sets(normalised(stories.title)), left, right)
    is_version = (np.abs(days[left] - days[right]) <= np.timedelta64(timedelta(days=3))) & (headline >= 0.3)
    n_words = Words(1).sets(texts).n_units
    is_long = np.minimum(n_words[left], n_words[right]) >= LONG
    sets = {str(shingle): jaccard(shingle.sets(texts), left, right) for shingle in SHINGLES}
    for name, chosen in (
        (f"of {LONG} words or more", is_long),
        (f"of which one has fewer than {LONG} words", ~is_long),
    ):
        print_scores(name, {shingle: s[chosen] for shingle, s in sets.items()}, is_version[chosen])


def print_scores(name: str, similarities: Mapping[str, F64], is_version: NDArray[np.bool_]) -> None:
    """The tables of one kind of story."""
    n_versions = int(is_version.sum())
    rows, best = [], []
    for shingle, similarity in similarities.items():
        cells = []
        for threshold in THRESHOLDS:
            is_found = similarity >= threshold
            n_right = int((is_found & is_version).sum())
            precision, recall = n_right / max(int(is_found.sum()), 1), n_right / n_versions
            cells.append((2 * precision * recall / max(precision + recall, 1e-9), threshold, precision, recall))
        f1, threshold, precision, recall = max(cells)
        parted = auc(similarity[is_version], similarity[~is_version])
        best.append((shingle, f"{parted:.3f}", f"{threshold:.2f}", f"{precision:.2f}", f"{recall:.2f}", f"{f1:.3f}"))
        rows.append((shingle, *(f"{p:.2f} / {r:.2f}" for _, _, p, r in cells)))
    title = f"Newswire, stories {name}: {n_versions:,} pairs of versions, {len(is_version) - n_versions:,} of templates"
    print_table(
        f"{title}; the threshold of the best F1", ("shingle", "AUC", "threshold", "precision", "recall", "F1"), best
    )
    print_table(f"{title}; precision / recall by threshold", ("shingle", *map(str, THRESHOLDS)), rows)


if __name__ == "__main__":
    print_newswire(data_folder(__doc__) / "reuters21578.parquet")
