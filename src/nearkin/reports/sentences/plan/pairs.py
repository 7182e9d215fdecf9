"""Sentences of ``nearkin plan pairs``: the question, and the chosen method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.planning.pairs.search import QUICK_S, Plan, Prediction, Question
from nearkin.reports.quantities import recall_text
from nearkin.reports.sentences.rough_quantities import many_text
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
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
