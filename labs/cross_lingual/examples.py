"""Example documents, their most similar documents in the other language, and the contributing words (Table 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.cross_lingual.documents import spread_rows
from labs.cross_lingual.finding import cosine_block
from labs.cross_lingual.projecting import CountedTranslations, Projected
from nearkin.workflows.pairing.tables import Ranked, Terms

N_EXAMPLES, N_SIMILAR, N_TERMS = 8, 3, 5


@dataclass(frozen=True, slots=True)
class Similar:
    """A document on the right: its id, the cosine, and its terms, each with its source word if that differs."""

    doc_id: str
    cosine: float
    is_translation: bool
    terms: tuple[tuple[str, str | None], ...]

    @property
    def terms_in_words(self) -> str:
        """Terms as `nearkin pairs` prints them."""
        return ", ".join(term if left is None else f"{left} = {term}" for term, left in self.terms)


@dataclass(frozen=True, slots=True)
class Example:
    """A document on the left, the most similar ones on the right, and the rank of its translation."""

    doc_id: str
    rank: int
    similar: tuple[Similar, ...]


def examples(counted: CountedTranslations, own: Projected) -> tuple[Example, ...]:
    """Select documents with a vector at equal distances."""
    vectors = own.vectors
    compared = np.flatnonzero((vectors.left.sizes > 0) & (vectors.right.sizes > 0))
    rows = compared[spread_rows(len(compared), N_EXAMPLES)]
    if not len(rows):
        return ()
    block = cosine_block(vectors, rows)
    order = np.argsort(-block, axis=1, kind="stable")  # in a tie the earlier row comes first
    ranks = np.argmax(order == rows[:, None], axis=1) + 1
    best = order[:, :N_SIMILAR]
    n = best.shape[1]
    left, right = np.repeat(rows, n), best.ravel()
    cosines = np.take_along_axis(block, best, axis=1).ravel()
    pairs = Ranked(left, right, cosines, np.tile(np.arange(1, n + 1), len(rows)).astype(np.int32))
    terms = Terms(vectors, (counted.left, counted.right), own.translation, N_TERMS)
    found = terms.of(pairs, slice(0, len(pairs))).to_pylist()
    ids = counted.documents.ids.to_pylist()
    similar = [
        Similar(
            ids[other], float(cosine), int(row) == int(other), tuple((one["term"], one["left_term"]) for one in terms)
        )
        for row, other, cosine, terms in zip(left.tolist(), right.tolist(), cosines, found, strict=True)
    ]
    return tuple(
        Example(ids[row], int(rank), tuple(one for one in similar[i * n : (i + 1) * n] if one.cosine > 0))
        for i, (row, rank) in enumerate(zip(rows.tolist(), ranks, strict=True))
    )
