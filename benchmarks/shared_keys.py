"""Recall of candidates that share keys, by the length of the texts and the Jaccard similarity of the pair.

Plain SQL by words compares texts that share a band key or a sampled shingle. Every pair here is also compared by brute
force: a text of random words, and a copy in which some words differ::

    python benchmarks/shared_keys.py --pairs 4000
"""

from __future__ import annotations

import argparse
import random

import numpy as np
from rich.console import Console
from rich.table import Table

from nearkin.collection.stored.key_table import keys_of
from nearkin.collection.stored.word_sets import shares as overlap


def jaccard(a, b) -> float:
    """Return the Jaccard similarity of two sets of hashes."""
    return overlap(a, b).jaccard


LENGTHS = 20, 50, 100, 300, 1000
BINS = (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 1.0)


def pair(rng: random.Random, n_words: int) -> tuple[str, str]:
    """Return a text and a copy of it in which up to one word in nine differs."""
    words = [f"w{rng.randrange(50_000)}" for _ in range(n_words)]
    altered = list(words)
    for _ in range(rng.randint(1, max(1, n_words // 9))):
        altered[rng.randrange(n_words)] = f"w{rng.randrange(50_000)}"
    return " ".join(words), " ".join(altered)


def measured(one: str, other: str) -> tuple[float, bool]:
    """Return the Jaccard similarity of two texts, and whether they share a key."""
    made = keys_of([one, other])
    sets = [np.sort(made.sets.hashes[a:b]) for a, b in zip(made.sets.offsets[:-1], made.sets.offsets[1:], strict=True)]
    keys = [made.values[made.texts == i] for i in range(2)]
    return jaccard(*sets), len(np.intersect1d(*keys)) > 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=4000, help="for each length")
    options = parser.parse_args()
    rng, table = random.Random(1), Table("words", *(f"{low:g} to {high:g}" for low, high in BINS))
    for n_words in LENGTHS:
        found = [measured(*pair(rng, n_words)) for _ in range(options.pairs)]
        cells = [[shares for similarity, shares in found if low <= similarity < high] for low, high in BINS]
        table.add_row(str(n_words), *(f"{np.mean(cell):.3f} of {len(cell):,}" if cell else "" for cell in cells))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
