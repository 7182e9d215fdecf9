"""Sentences of ``nearkin plan pairs``: the question, and the chosen method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.planning.pairs.search import QUICK_S, Plan, Prediction, Question
from nearkin.planning.search import EVERY_SIZE, BandPlan
from nearkin.reports.quantities import many_text, recall_text, rough_share_text, share_percent_text, size_text
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.planning.cluster_needs import ClusterNeeds, CorpusForecast
    from nearkin.planning.pairs.search import PairForecast


_NAMES = {"vectors": "every pair of vectors", "signatures": "every pair of signatures", "window": "a window"}


def question_sentence(question: Question) -> Sentence:
    """Describe the search, and the share of the pairs to find."""
    pairs, sought = f"{many_text(question.n_pairs)} pairs", many_text(question.n_sought)
    return Sentence(
        f": {pairs}, {sought} of them expected to have a cosine of at least {question.threshold:g}",
        strong=f"{question.n_left:,} × {counted(question.n_right, 'document')}",
    )


def plan_sentences(
    question: Question,
    planned: Plan,
    sampled: PairForecast | None,
    *,
    speed: float | None,
    is_fixed: bool,
    min_pairs: int,
    max_pairs: int,
) -> Iterator[Sentence]:
    """Name the chosen method, the reason for it, the basis of the prediction, and its limits.

    Parameters
    ----------
    question : Question
    planned : Plan
    sampled : PairForecast or None
        None: no documents were looked at.
    speed : float or None
        Times as fast as the machine on which costs were measured. None: costs were measured on the present one.
    is_fixed : bool
        The way was not free.
    min_pairs : int
        That show how signatures cluster.
    max_pairs : int
        That are reported.
    """
    yield Sentence(f": {planned.search.describe()}.", strong=planned.search.method)
    yield Sentence(_why(question, planned, is_fixed=is_fixed))
    faster = "" if speed in (1, None) else f", assumed to be {speed:g} times as fast"
    measured = "on this machine" if speed is None else f"on an AMD EPYC at 2.6 GHz{faster}"
    yield Sentence(
        f"Costs measured {measured}, for {counted(question.cores, 'core')}. {_told_by(question, sampled, min_pairs)}",
        "quiet",
    )
    if not planned.reaches:
        low = _recall(planned.prediction.recall_low)
        yield Sentence(
            f"The fixed options do not reach {question.recall:.3g}; the best they reach is {low}.", "warning"
        )
    if planned.prediction.n_pairs > max_pairs:
        yield Sentence(
            f"nearkin pairs reports at most {counted(max_pairs, 'pair')}. Raise --threshold, or keep only the best "
            "pairs of each document with --top.",
            "warning",
        )


def predicted_recall_text(told: Prediction) -> str:
    """Write the recall of a method, from the lowest to the highest expected."""
    low, high = _recall(told.recall_low), _recall(told.recall_high)
    return low if low == high else f"{low.removesuffix('%')} to {high}"


def _recall(value: float) -> str:
    """Write a recall, with more digits near 0 and 100.

    >>> [_recall(value) for value in (0.9088, 0.99996, 1.0, 0.0001)]
    ['90.8%', '99.99%', '100%', '0.01%']
    """
    return recall_text(value, 1 if 0.005 <= value < 0.995 else 2)


def _told_by(question: Question, sampled: PairForecast | None, min_pairs: int) -> str:
    """Name the source of the spread of cosines."""
    if sampled is None:
        return (
            "Without documents, the distribution of cosines is assumed, and signatures are assumed to be spread "
            "uniformly; real signatures cluster, so windows find fewer pairs than predicted."
        )
    clustering = "How much signatures cluster was measured too."
    if not question.prefix.is_measured:
        clustering = (
            "These pairs are too few to measure how much signatures cluster, so no clustering is assumed."
            if sampled.n_pairs < min_pairs
            else "How much signatures cluster was not measured: clustering only makes the window method slower, and it "
            "is not the fastest even without clustering."
        )
    grows = ""
    if question.n_left > sampled.n_left or question.n_right > sampled.n_right:
        grows = (
            " The number of pairs is assumed to grow with both corpora. Samples that are translations of each "
            "other make it far too high: draw each sample independently."
        )
    return (
        f"The distribution of cosines is that of {counted(sampled.n_compared, 'document')}, each compared with "
        f"{sampled.n_right:,}: {counted(sampled.n_pairs, 'pair')}. {clustering}{grows}"
    )


def _why(question: Question, planned: Plan, *, is_fixed: bool) -> str:
    """Explain the choice of this method over the others."""
    chosen = planned.prediction
    beside = []
    for search, told in planned.alternatives:
        times = told.core_s / max(chosen.core_s, 1e-12)
        if times >= 1.05:
            beside.append(f"{_NAMES[search.method]} would take {_times(times)} times as long")
        elif times > 0.95:
            beside.append(f"{_NAMES[search.method]} would take about as long")
        elif told.recall_low < question.recall:
            beside.append(
                f"{_NAMES[search.method]} would be quicker, but would reach only {predicted_recall_text(told)}"
            )
        elif not planned.is_quick:
            why = ", but --method was given" if is_fixed else f" on this machine: --method {search.method}"
            beside.append(f"{_NAMES[search.method]} would be quicker{why}")
    if planned.is_quick:
        return (
            f"Exact search, which misses nothing, is chosen if it takes less than {QUICK_S:g} s on one core of the "
            "reference machine."
        )
    part = _costliest(chosen)
    said = "; ".join(beside)
    return f"{said[0].upper()}{said[1:]}. {part}."


def _times(times: float) -> str:
    return f"{times:,.0f}" if times >= 10 else f"{times:.1f}"


def _costliest(told: Prediction) -> str:
    parts = {
        "making signatures": told.signing_s,
        "sorting signatures": told.sorting_s,
        "comparing": told.comparing_s,
        "computing the cosines of candidates": told.checking_s,
    }
    name = max(parts, key=lambda part: parts[part])
    return f"The chosen method spends {100 * parts[name] / max(told.core_s, 1e-12):.0f}% of its time {name}"


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
    n_unrelated = told.n_unrelated
    if n_unrelated is None:
        yield Sentence(
            "The number of unrelated pairs compared is not predicted: the sample has no two different texts.", "quiet"
        )
    else:
        number = f"Predicted number of unrelated pairs: {_number_text(told)}."
        if n_compared >= _PAIR:
            number += (
                f" This prediction is from {counted(n_compared, 'sampled text')}, compared with one another. The "
                "number grows with the square of the number of documents."
            )
        yield Sentence(number, "quiet")
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
        longer = f" If the corpus has longer texts, their recall at the threshold is at least {recall}."
        yield Sentence(
            f"Each text is searched by its rare shingles, on average by {n_keys:,.1f} of them."
            f"{longer if told.plan.exact_below < EVERY_SIZE else ''}"
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


_HEAP_BYTES = 1 << 30
"""Java heap for each core."""
_CORES = 4
"""Maximum number of cores of an executor: more of them share one Java heap and its disks."""


def shuffled_sentence(n_cores: int) -> Sentence:
    """Introduce the list of shuffled data."""
    return Sentence(": data shuffled, before compression", strong=f"On Spark with {counted(n_cores, 'core')}")


def cluster_sentences(needs: ClusterNeeds, n_cores: int) -> Iterator[Sentence]:
    """Describe the use of memory and disks, and how to set up executors."""
    if needs.pair_bytes:
        yield Sentence(f"Each pair of near-duplicates adds about {size_text(needs.pair_bytes)}.")
    cores = min(n_cores, _CORES)
    python, java = (-(-cores * n_bytes // (1 << 30)) for n_bytes in (needs.core_bytes, _HEAP_BYTES))
    yield Sentence(
        f"Up to {counted(needs.n_tasks, 'task')} per stage. Memory per core: {size_text(needs.core_bytes)} for Python "
        f"and {size_text(_HEAP_BYTES)} for Java; for Python on the driver: {size_text(needs.driver_bytes)}."
    )
    yield Sentence(
        f"With {counted(cores, 'core')} per executor: --conf spark.executor.cores={cores} --conf "
        f"spark.executor.memory={java}g --conf spark.executor.memoryOverhead={python}g"
    )
    yield Sentence(
        f"Disk: {size_text(needs.folder_bytes)} in the shared folder, and {size_text(needs.shuffled_bytes)} in "
        "spark.local.dir over all machines."
    )
