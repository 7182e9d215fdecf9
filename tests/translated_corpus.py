"""A small corpus in two made languages, and its table: for tests of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.table_words import TableWords

N_WORDS = 400


@dataclass(frozen=True)
class TranslatedCorpus:
    """Documents of two languages with equal ids, in two files, and a table."""

    left: Path
    right: Path
    table: Path
    left_texts: list[str]
    right_texts: list[str]
    pairs: list[tuple[str, str]]


def translated_corpus(folder: Path, n: int = 120, seed: int = 1) -> TranslatedCorpus:
    """Each document and its translation, word by word, with noise; a tenth of the words has two translations."""
    chance = np.random.default_rng(seed)
    words = [f"l{_name(i)}" for i in range(N_WORDS)]
    others = [f"r{_name(i)}" for i in range(N_WORDS)]
    pairs = [(words[i], others[i]) for i in range(N_WORDS)] + [
        (words[i], f"q{_name(i)}") for i in range(0, N_WORDS, 10)
    ]
    left, right = [], []
    for _ in range(n):
        topic = chance.integers(0, N_WORDS, 30)
        own = np.concatenate([chance.choice(topic, 40), chance.integers(0, 20, 10)])
        left.append(" ".join(words[i] for i in own))
        translated = np.where(chance.random(len(own)) < 0.25, chance.integers(0, N_WORDS, len(own)), own)
        right.append(" ".join(others[i] for i in chance.permutation(translated)))
    ids = [f"document {i}" for i in range(n)]
    for side, texts in (("left", left), ("right", right)):
        pq.write_table(pa.table({"id": ids, "text": texts}), folder / f"{side}.parquet")
    table = TranslationTable.of_pairs(pairs, source="aa", target="bb", words=TableWords("aa", "bb").fingerprint)
    table.write(folder / "table.parquet")
    return TranslatedCorpus(
        folder / "left.parquet", folder / "right.parquet", folder / "table.parquet", left, right, pairs
    )


def _name(i: int) -> str:
    """Letters only: numbers get over as they are."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{i:04d}")
