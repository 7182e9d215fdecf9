"""What a threshold tolerates: newswire stories of which some words are replaced, one by one or in one stretch.

``python benchmarks/evidence/edits.py --data FOLDER``
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pairs import SHINGLES, data_folder, jaccard, normalised, print_table

N_TEXTS = 1000
SHARES = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
WORD = re.compile(r"\w+")


def scattered(text: str, share: float, random: np.random.Generator, words: NDArray[np.str_]) -> str:
    """Each word replaced with the same probability."""
    return WORD.sub(
        lambda found: str(words[random.integers(len(words))]) if random.random() < share else found[0], text
    )


def in_one_stretch(text: str, share: float, random: np.random.Generator, words: NDArray[np.str_]) -> str:
    """As many words that follow one another replaced, at a random place."""
    n_words = len(WORD.findall(text))
    n_changed = round(share * n_words)
    start = int(random.integers(0, n_words - n_changed + 1))
    places = iter(range(n_words))
    return WORD.sub(
        lambda f: str(words[random.integers(len(words))]) if start <= next(places) < start + n_changed else f[0], text
    )


def misread(text: str, share: float, random: np.random.Generator, words: NDArray[np.str_]) -> str:
    """Each letter misread with a fifth of the probability, which spoils about that share of the words."""
    return "".join(
        chr(97 + int(random.integers(26))) if c.isalpha() and random.random() < share / 5 else c for c in text
    )


Edit = Callable[[str, float, np.random.Generator, NDArray[np.str_]], str]


def print_edit(name: str, edit: Edit, texts: list[str], words: NDArray[np.str_]) -> None:
    """Median similarity of a story and itself after the edit."""
    random = np.random.default_rng(0)
    both = [normalised([*texts, *(edit(text, share, random, words) for text in texts)]) for share in SHARES]
    left = np.arange(len(texts), dtype=np.uint32)
    rows = []
    for shingle in SHINGLES:
        medians = [np.median(jaccard(shingle.sets(one), left, left + len(texts))) for one in both]
        rows.append((shingle, *(f"{m:.3f}" for m in medians)))
    print_table(
        f"Edits: {name}; median similarity of {len(texts):,} stories", ("shingle", *(f"{s:.0%}" for s in SHARES)), rows
    )


if __name__ == "__main__":
    table = pq.read_table(data_folder(__doc__) / "reuters21578.parquet", columns=["text"]).to_pandas()
    stories = [text for text in table.text if len(text.split()) >= 100][:N_TEXTS]
    vocabulary = np.array(sorted({word for text in stories for word in WORD.findall(text.lower())}))
    print_edit("words replaced here and there", scattered, stories, vocabulary)
    print_edit("words replaced in one stretch", in_one_stretch, stories, vocabulary)
    print_edit("letters misread in that share of words, about", misread, stories, vocabulary)
