"""How similar texts are that have nothing to do with one another: the floor that a threshold must stay above.

``python benchmarks/evidence/unrelated.py --data FOLDER``
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pairs import SHINGLES, data_folder, jaccard, normalised, print_table, random_pairs

from nearkin.records import U32

QUANTILES = (0.5, 0.99, 0.999, 0.9999)


@dataclass(frozen=True, slots=True)
class Strangers:
    """Pairs of texts that share at most a subject."""

    name: str
    texts: pa.LargeStringArray
    left: U32
    right: U32


def collections(data: Path) -> Iterator[Strangers]:
    """Each kind of text once."""
    reuters = pq.read_table(data / "reuters21578.parquet").to_pandas()
    texts = normalised(reuters.title + " " + reuters.text)
    # Copies are about 3 in a million random pairs: they do not reach the 99.99th percentile.
    yield Strangers("newswire: random pairs of Reuters stories", texts, *random_pairs(len(texts), 400_000))
    yield Strangers(
        "headlines: random pairs of Reuters titles",
        normalised(reuters.title[reuters.title.str.len() > 20]),
        *random_pairs(int((reuters.title.str.len() > 20).sum()), 400_000),
    )
    contracts = pq.read_table(data / "contracts.parquet").to_pandas()
    for kind, n_texts, n_pairs in (("employment", 1000, 100_000), ("credit", 150, 12_000)):
        some = contracts[(contracts.kind == kind) & (contracts.text.str.len() > 1000)].head(n_texts)
        filer = some.id.str.extract(r"/(\d+)_")[0].to_numpy()
        left, right = random_pairs(len(some), n_pairs)
        other = filer[left] != filer[right]
        length = int(some.text.str.len().median())
        yield Strangers(
            f"{kind} agreements of two filers, median {length:,} characters",
            normalised(some.text),
            left[other],
            right[other],
        )
    bible = pq.read_table(data / "bible_chapters.parquet").to_pandas()
    for language, translation in (("English", "KJV"), ("German", "GerElb1905")):
        chapters = bible[bible.translation == translation]
        yield Strangers(
            f"chapters of the Bible, {language}", normalised(chapters.text), *random_pairs(len(chapters), 200_000)
        )
        books = chapters.groupby(chapters.passage.str.rpartition(".")[0], sort=False).text.agg(" ".join)
        left, right = np.triu_indices(len(books), 1)
        yield Strangers(
            f"books of the Bible, {language}, median {int(books.str.len().median()):,} characters",
            normalised(books),
            left.astype(np.uint32),
            right.astype(np.uint32),
        )


if __name__ == "__main__":
    for strangers in collections(data_folder(__doc__)):
        rows = []
        for shingle in SHINGLES:
            similarity = jaccard(shingle.sets(strangers.texts), strangers.left, strangers.right)
            quantiles = np.quantile(similarity, QUANTILES)
            rows.append((shingle, *(f"{q:.4f}" for q in quantiles), f"{(similarity >= 0.5).sum():,}"))
        print_table(
            f"Unrelated pairs: {strangers.name} ({len(strangers.left):,} pairs)",
            ("shingle", "median", "99 %", "99.9 %", "99.99 %", "pairs ≥ 0.5"),
            rows,
        )
