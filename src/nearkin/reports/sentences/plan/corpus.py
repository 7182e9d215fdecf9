"""Sentences of ``nearkin plan corpus``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.planning.search import BandPlan
from nearkin.reports.quantities import share_percent_text
from nearkin.reports.sentences.rough_quantities import many_text, rough_share_text
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.planning.corpus_forecast import CorpusForecast

_FEW = 300
"""Minimum number of texts to compare, if there are that many."""
_PAIR = 2
"""Number of texts that make a pair to compare."""
_A_SECOND, _TOO_MANY_CORE_DAYS = 1_000_000, 1_000


def corpus_plan_sentences(told: CorpusForecast, planned: str) -> Iterator[Sentence]:
    """Describe the sample, the plan (given in words), and its certainty."""
    n_compared = len(told.sample.sizes)
    mean_size = f"{counted(round(told.sample.mean_size), 'shingle')} on average"
    sample = f"the {counted(told.n_sampled, 'document')} of the sample"
    if told.n_without_text:
        sample += f", {told.n_without_text:,} of them empty or unreadable"
    if n_compared < min(told.n_sampled, _PAIR):
        sample += f". It has {counted(n_compared, 'distinct text')}"
    elif n_compared < told.n_sampled:
        texts = f"{counted(n_compared, 'text')} of the sample {agreeing(n_compared, 'was', 'were')} compared"
        sample += f". For the plan, {texts} with one another; they have {mean_size}"
    else:
        sample += f", which {agreeing(told.n_sampled, 'has', 'have')} {mean_size}"
    other = " (for another number: --documents)" if told.n_documents == told.n_sampled else ""
    yield Sentence(
        f"{other}, assumed to be like {sample}",
        strong=f"Corpus: {counted(told.n_documents, 'document')}",
    )
    if told.n_documents > told.n_sampled:
        yield Sentence(
            f"Distinct texts: about {many_text(told.n_texts)}. A random sample shows few of the copies in a corpus; if "
            "there are more copies, there are fewer distinct texts, and fewer pairs are compared.",
            "quiet",
        )
    yield Sentence(f"{planned}.")
    yield from _ways_to_search(told)
    n_unrelated, has_keys = told.n_unrelated, bool(told.is_sampling or told.share_by_bands)
    if n_unrelated is None and has_keys:
        yield Sentence(
            "The number of unrelated pairs compared is not predicted: the sample has no two different texts.", "quiet"
        )
    elif n_unrelated is not None and has_keys:
        by = "sampled shingles" if told.is_sampling else "bands"
        number = f"Predicted number of unrelated pairs: {_number_text(told)}."
        if told.n_other_keys and told.share_by_bands < 1:
            number = f"If all texts were searched by {by}, the number of unrelated pairs would be {_number_text(told)}."
        if n_compared >= _PAIR:
            number += (
                f" This prediction is from {counted(n_compared, 'sampled text')}, compared with one another. The "
                "number grows with the square of the number of documents."
            )
        yield Sentence(number, "quiet")
        if told.n_other_keys and not told.is_sampling:
            yield Sentence(
                "The number of unrelated pairs compared in the search by rare shingles is not predicted.", "quiet"
            )
        if (core_days := n_unrelated / _A_SECOND / 86_400) >= _TOO_MANY_CORE_DAYS:
            yield Sentence(
                f"Not feasible: at a million comparisons per second on a core, which is fast, they take "
                f"{many_text(core_days)} days of one core. Choose a higher --threshold, a lower --recall, a longer "
                "--shingle, or fewer documents.",
                "warning",
            )
    yield Sentence("The number of near-duplicates is not predicted.", "quiet")


def _ways_to_search(told: CorpusForecast) -> Iterator[Sentence]:
    """Describe which texts are searched by bands and by rare shingles, if some are searched by rare shingles."""
    if not isinstance(told.plan, BandPlan) or not told.n_other_keys:
        return
    by_bands, n_keys = told.share_by_bands, told.n_other_keys / told.share_by_rare
    if by_bands:
        yield Sentence(
            f"{rough_share_text(by_bands)} of the texts have at least "
            f"{counted(told.plan.exact_below, 'shingle')} and are searched by bands. "
            f"{rough_share_text(told.share_by_rare)} have at most {counted(told.rare_up_to, 'shingle')} and are "
            f"searched by their rare shingles, on average by {n_keys:,.1f} of them per text; those in both ranges "
            "are searched in both ways."
        )
    else:
        recall = share_percent_text(told.plan.recall_at_threshold)  # a minimum
        yield Sentence(
            f"Each text is searched by its rare shingles, on average by {n_keys:,.1f} of them. The number of "
            f"unrelated pairs compared in this search is not predicted. If the corpus has longer "
            f"texts, their recall at the threshold is at least {recall}."
        )


def _number_text(told: CorpusForecast) -> str:
    """Write the predicted number of unrelated pairs, the number per document, and the range."""
    n_unrelated = told.plan.expected_candidates
    low, high = told.candidates_range() or (n_unrelated, n_unrelated)
    each = n_unrelated / told.n_documents
    per_document = f"{each:,.1f}" if each >= 0.05 or not each else "under 0.1"
    number = f"{many_text(n_unrelated)} ({per_document} per document)"
    if many_text(low) == many_text(high):
        return number
    return f"{number}, probably {f'{many_text(low)} to' if low >= 1 else 'at most'} {many_text(high)}"


def sample_sentences(told: CorpusForecast) -> Iterator[Sentence]:
    """Warn of a small sample; the warning belongs below all estimates, those of a cluster too."""
    if len(told.sample.sizes) < _FEW:
        yield Sentence(
            "The sample is too small for a good estimate: use a few thousand documents, drawn from the whole corpus.",
            "warning",
        )
