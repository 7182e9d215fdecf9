"""Effect of the shingle length on the similarity of the article's sentences, with our shingles and with its own.

The sentences are compared without normalisation. The article cuts n-grams in two ways. Its plots keep every n-gram; its
function ``get_shingles`` stops one short and drops the last one, which is the same as cutting all n-grams of the text
without its last character. Nearkin keeps the last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.records import Candidates
from nearkin.stages.features.shingles import Characters
from nearkin.stages.verification.overlap import verify

_CAT = ("The cat sat on the mat.", "The red cat sat on the mat.")
_FLIGHT = "what's the flight time from Berlin to Helsinki?"
_SAME_MEANING = (_FLIGHT, "how long does it take to fly from Berlin to Helsinki?")
_OTHER_MEANING = (_FLIGHT, "what's the flight time from Berlin to Oulu?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePair:
    """Two sentences with one shingle length.

    Parameters
    ----------
    name : str
    text_a, text_b : str
    length : int
        Characters in a shingle.
    published : float
        Value in the article, or result of its plotting code where it only draws.
    similarity : float
        Jaccard similarity with Nearkin's shingles.
    without_last : float
        The same without the last shingle of each text.
    """

    name: str
    text_a: str
    text_b: str
    length: int
    published: float
    similarity: float
    without_last: float


def compare_sentences() -> tuple[SentencePair, ...]:
    """Compare the article's sentences at its shingle lengths.

    Examples
    --------
    >>> for pair in compare_sentences():
    ...     print(f"{pair.name:27} {pair.length} {pair.similarity:.4f} {pair.without_last:.4f}")
    cat sentences               2 0.8095 0.8000
    cat sentences               3 0.7500 0.7391
    cat sentences               4 0.6923 0.6800
    cat sentences               5 0.6154 0.6000
    one question, two wordings  4 0.3099 0.3000
    two questions, one wording  4 0.7143 0.7447
    """
    cases = (
        ("cat sentences", _CAT, 2, 17 / 21),
        ("cat sentences", _CAT, 3, 18 / 24),
        ("cat sentences", _CAT, 4, 18 / 26),
        ("cat sentences", _CAT, 5, 16 / 26),
        ("one question, two wordings", _SAME_MEANING, 4, 0.30985915492957744),
        ("two questions, one wording", _OTHER_MEANING, 4, 0.7142857142857143),
    )
    return tuple(
        SentencePair(
            name=name,
            text_a=a,
            text_b=b,
            length=n,
            published=published,
            similarity=_similarity(a, b, n),
            without_last=_similarity(a[:-1], b[:-1], n),
        )
        for name, (a, b), n, published in cases
    )


def _similarity(a: str, b: str, length: int) -> float:
    """Return the Jaccard similarity of two texts by character shingles."""
    sets = Characters(length).sets(pa.array([a, b], pa.large_string()))
    pair = Candidates(np.array([0], np.uint32), np.array([1], np.uint32))
    return float(verify(pair, sets.hashes, sets.offsets[:-1], sets.offsets[1:]).jaccard[0])
