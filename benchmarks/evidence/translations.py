"""Recall as a function of likeness: chapters of the King James Bible, and the same chapters in other translations.

``python benchmarks/evidence/translations.py --data FOLDER``
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pairs import SHINGLES, THRESHOLDS, data_folder, jaccard, normalised, print_table

from nearkin.stages.features.shingles import Words

BASE = "KJV"
BY_LIKENESS = ("KJVPCE", "RLT", "RNKJV", "Webster", "ASV", "ACV", "Rotherham", "YLT", "BBE")
SHOWN = (0.5, 0.6, 0.7, 0.75, 0.8, 0.9)


def print_translations(path: Path) -> None:
    """Median likeness of each translation, and the part of its chapters that reach a threshold."""
    table = pq.read_table(path).to_pandas()
    table = table[table.translation.isin((BASE, *BY_LIKENESS))].reset_index(drop=True)
    texts = normalised(table.text)
    row_of = {key: i for i, key in enumerate(zip(table.translation, table.passage, strict=True))}
    passages = table.passage[table.translation == BASE]
    base = np.array([row_of[BASE, p] for p in passages], np.uint32)
    others = {t: np.array([row_of[t, p] for p in passages], np.uint32) for t in BY_LIKENESS}
    medians, recalls = [], {threshold: [] for threshold in SHOWN}
    for shingle in SHINGLES:
        sets = shingle.sets(texts)
        similarity = {t: jaccard(sets, base, rows) for t, rows in others.items()}
        medians.append((shingle, *(f"{np.median(similarity[t]):.3f}" for t in BY_LIKENESS)))
        for threshold in SHOWN:
            recalls[threshold].append((shingle, *(f"{(similarity[t] >= threshold).mean():.2f}" for t in BY_LIKENESS)))
    print_table(f"Translations: median Jaccard similarity to {BASE}", ("shingle", *BY_LIKENESS), medians)
    for threshold in SHOWN:
        print_table(
            f"Translations: part of the 1,189 chapters at or above {threshold}",
            ("shingle", *BY_LIKENESS),
            recalls[threshold],
        )
    three = jaccard(Words(3).sets(texts), np.tile(base, len(others)), np.concatenate(list(others.values())))
    edges = np.linspace(0.3, 1.0, 8)
    rows = []
    for shingle in SHINGLES:
        similarity = jaccard(shingle.sets(texts), np.tile(base, len(others)), np.concatenate(list(others.values())))
        cells = [similarity[(three >= low) & (three < low + 0.1)] for low in edges[:-1]]
        rows.append((shingle, *(f"{np.mean(cell):.3f}" for cell in cells)))
    print_table(
        "Translations: mean similarity of chapters by their likeness in words:3",
        ("shingle", *(f"{low:.1f} to {low + 0.1:.1f}" for low in edges[:-1])),
        rows,
    )


if __name__ == "__main__":
    if not set(SHOWN) <= set(THRESHOLDS):
        raise SystemExit("SHOWN must be thresholds")
    print_translations(data_folder(__doc__) / "bible_chapters.parquet")
