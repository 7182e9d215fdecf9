"""The edits planted in copies: lists of words in, a new list of words out.

Each kind has strengths that spread the Jaccard similarity of word 5-grams over 0.5 to 1. A word keeps its punctuation
and the line break after it, so ``" ".join(words)`` is the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from sources import SentencePool

Words = list[str]
Edit = Callable[[Words, float, Random, SentencePool], Words]

OCR_CONFUSIONS = {
    "l": "1", "i": "l", "o": "0", "e": "c", "m": "rn", "h": "b", "s": "5", "t": "f", "a": "o", "n": "ri", "g": "9",
    "u": "v", "d": "cl", "c": "e", "r": "n", "b": "6", "w": "vv",
}  # fmt: skip


def every_nth_or_so(n_items: int, rate: float, random: Random) -> list[int]:
    """Positions chosen independently with probability ``rate``, in order, by jumping from one to the next."""
    positions: list[int] = []
    at, scale = -1, 1.0 / math.log1p(-rate)
    while True:
        at += 1 + int(math.log(1.0 - random.random()) * scale)
        if at >= n_items:
            return positions
        positions.append(at)


def _some(n_items: int, rate: float, random: Random) -> list[int]:
    """As above, and never none: an edit leaves a trace."""
    return every_nth_or_so(n_items, rate, random) or [int(random.random() * n_items)]


def _other_word(random: Random, pool: SentencePool) -> str:
    """A word from the vocabulary."""
    return pool.vocabulary[int(random.random() * len(pool.vocabulary))]


def substitute(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """Words replaced by others; ``strength`` is the share replaced."""
    result = words.copy()
    for at in _some(len(words), strength, random):
        result[at] = _other_word(random, pool)
    return result


def insert(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """Single words put in between; ``strength`` is their share."""
    result, start = [], 0
    for at in _some(len(words), strength, random):
        result += words[start:at]
        result.append(_other_word(random, pool))
        start = at
    return result + words[start:]


def delete(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """Single words left out; ``strength`` is their share."""
    result, start = [], 0
    for at in _some(len(words), strength, random):
        result += words[start:at]
        start = at + 1
    return result + words[start:]


def append(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """New sentences at the end; ``strength`` is their length relative to the document's."""
    n_new = max(1, round(strength * len(words)))
    new: Words = []
    while len(new) < n_new:
        new += pool.sentences[int(random.random() * len(pool.sentences))]
    return words + new[:n_new]


def reorder(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """The document cut in blocks, and the blocks put in another order; ``strength`` is cuts per word."""
    n_cuts = max(1, round(strength * len(words)))
    cuts = sorted({1 + int(random.random() * (len(words) - 1)) for _ in range(n_cuts)})
    blocks = [words[a:b] for a, b in zip([0, *cuts], [*cuts, len(words)], strict=True)]
    for last in range(len(blocks) - 1, 0, -1):
        other = int(random.random() * last)  # never itself: no block keeps its place (Sattolo's shuffle)
        blocks[last], blocks[other] = blocks[other], blocks[last]
    return [word for block in blocks for word in block]


def ocr(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """Letters misread, words split or run together; ``strength`` is the share of words hit."""
    result = words.copy()
    for at in _some(len(words), strength, random):
        word, kind = result[at], random.random()
        if kind < 0.1 and len(word) > 3:
            cut = 1 + int(random.random() * (len(word) - 1))
            result[at] = word[:cut] + " " + word[cut:]
        elif kind < 0.2 and at + 1 < len(result):
            result[at], result[at + 1] = "", word + result[at + 1]
        else:
            spot = int(random.random() * len(word)) if word else 0
            letter = word[spot : spot + 1]
            result[at] = word[:spot] + OCR_CONFUSIONS.get(letter.lower(), "~" + letter) + word[spot + 1 :]
    return [word for word in result if word]


def layout(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """Case and white space alone; ``strength`` is the share of words touched. The normalised text stays the same."""
    shout = random.random() < 0.2
    result = [word.upper() for word in words] if shout else words.copy()
    for at in _some(len(words) - 1, strength, random):  # not the last: trailing space would be cut by some readers
        word, kind = result[at], random.random()
        result[at] = word.upper() if kind < 0.3 else word + ("\n" if kind < 0.7 else "  " if kind < 0.9 else "\t")
    return result


def exact(words: Words, strength: float, random: Random, pool: SentencePool) -> Words:
    """The same bytes."""
    return words


EDITS: dict[str, tuple[Edit, tuple[float, ...]]] = {
    "substitute": (substitute, (0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.07)),
    "insert": (insert, (0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.07)),
    "delete": (delete, (0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.07)),
    "append": (append, (0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.24, 0.35, 0.6)),
    "reorder": (reorder, (0.003, 0.006, 0.01, 0.015, 0.02, 0.026, 0.04, 0.06)),
    "ocr": (ocr, (0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.035, 0.05, 0.07)),
    "layout": (layout, (0.01, 0.05, 0.2)),
    "exact": (exact, (0.0,)),
}
"""Kind of edit → the function, and the strengths it is planted with."""
