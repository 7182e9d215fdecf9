"""Made-up documents of two made-up languages, their translations, and a table between them."""

from __future__ import annotations

import numpy as np

from labs.cross_lingual.documents import ParallelDocuments
from nearkin.kernels.buffers import strings
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.table_words import TableWords

N_WORDS, N_TOPICS = 240, 12
LETTERS = "bdfgklmnprst"


def word(number: int, ending: str) -> str:
    """A word without digits, which would be the same in both languages."""
    spelled = "".join(LETTERS[number // 12**place % 12] + "aeiou"[(number + place) % 5] for place in range(3))
    return spelled + ending


def translated(n: int, *, seed: int, n_words: int = 40, noise: float = 0.25) -> ParallelDocuments:
    """Documents about topics; of each translation a share of the words is of nothing in the document."""
    draw = np.random.default_rng(seed)
    left, right = [], []
    for i in range(n):
        own = draw.integers(0, N_WORDS // N_TOPICS, n_words) * N_TOPICS + i % N_TOPICS
        numbers = np.where(draw.random(n_words) < 0.5, own, draw.integers(0, N_WORDS, n_words))
        others = np.where(draw.random(n_words) < noise, draw.integers(0, N_WORDS, n_words), numbers)
        left.append(" ".join(word(number, "heit") for number in numbers.tolist()))
        right.append(" ".join(word(number, "ness") for number in draw.permutation(others).tolist()))
    return ParallelDocuments.of("made-up", [f"d{i}" for i in range(n)], left, right)


def table() -> TranslationTable:
    """Each word and its translation, and for some a second, less likely one."""
    pairs = [(word(i, "heit"), word(i, "ness")) for i in range(N_WORDS)]
    pairs += [(word(i, "heit"), word(i + 1, "ness")) for i in range(0, N_WORDS - 1, 10)]
    words = TableWords("de", "en").fingerprint
    assert strings([one for one, _ in pairs]).null_count == 0
    return TranslationTable.of_pairs(pairs, source="de", target="en", words=words)
