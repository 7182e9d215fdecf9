"""Sentences of ``nearkin plan corpus``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.planning.search import BandPlan
from nearkin.reports.sentences.rough_quantities import many_text, rough_share_text
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.planning.corpus_forecast import CorpusForecast

_FEW = 300
"""Minimum number of texts to compare, if there are that many."""


def corpus_plan_sentences(told: CorpusForecast, planned: str) -> Iterator[Sentence]:
    """Describe the sample, the plan (given in words), its certainty, and its limits."""
    n_compared, each = len(told.sample.sizes), told.plan.expected_candidates / told.n_documents
    yield Sentence(
        f" like the {told.n_sampled:,} of the sample, of which {n_compared:,} were compared with one another; "
        f"{counted(round(told.sample.mean_size), 'shingle')} per document",
        strong=counted(told.n_documents, "document"),
    )
    yield Sentence(f"{planned}.")
    if isinstance(told.plan, BandPlan) and told.n_other_keys:
        by_bands, n_keys = told.share_by_bands, told.n_other_keys / (1 - told.share_by_bands)
        if by_bands:
            yield Sentence(
                f"{rough_share_text(by_bands)} of the texts are long enough for bands. The others are searched by "
                f"their rare shingles, {n_keys:,.1f} per text."
            )
        else:
            yield Sentence(
                f"Each text is searched by its rare shingles, {n_keys:,.1f} on average. How many unrelated pairs they "
                "find is not predicted."
            )
    if told.is_sampling or told.share_by_bands:
        n_unrelated, by = told.plan.expected_candidates, "sampled shingles" if told.is_sampling else "bands"
        pairs = agreeing(round(n_unrelated), "pair", "pairs")
        yield Sentence(
            f"Predicted if all texts were searched by {by}: {many_text(n_unrelated)} unrelated {pairs} ({each:,.1f} "
            f"per document), from {counted(n_compared, 'sampled text')} compared with one another; the number grows "
            "with the square of the documents.",
            "quiet",
        )
    yield Sentence("The number of near-duplicates is not predicted.", "quiet")
    if n_compared < _FEW:
        yield Sentence(
            "The sample is too small for a good estimate: use a few thousand documents, drawn from the whole corpus.",
            "warning",
        )
