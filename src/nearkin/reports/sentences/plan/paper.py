"""Sentences of ``nearkin plan paper``: the published experiment."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.planning.pairs.tradeoff import PUBLISHED_BOUND, PUBLISHED_PERMUTATIONS
from nearkin.reports.sentences.sentence import Sentence


def experiment_sentences(bound: float) -> Iterator[Sentence]:
    """Describe the experiment, and what comparing every pair of signatures finds."""
    yield Sentence("", strong="3,440,000 × 1,470,000 documents, cosine 0.3, 1,000 bits, distance 400")
    yield Sentence(f"Every pair of signatures: recall {bound:.2f}; the article measured {PUBLISHED_BOUND}")


COST_SENTENCE = Sentence(
    "Cost as in the article is orders × documents × window over all pairs. Here pairs of one language are not "
    "compared, and the time for sorting counts."
)
EFFECTIVENESS_SENTENCE = Sentence(
    "Recall as a share of the recall of every pair of signatures: as stated in the text of the article, and by the "
    f"model with {PUBLISHED_PERMUTATIONS:,} orders and a window of the same cost:"
)
