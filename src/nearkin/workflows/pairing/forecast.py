"""Forecast of a search, from a sample of the documents."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.costs import COSTS
from nearkin.planning.pairs.search import PairForecast, PairSearch, Plan, Prediction, Question
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.workflows.pairing.inputs import PairInput, opened, prepare, read_table, say_which_side
from nearkin.workflows.pairing.planning import answer_by_sample, question_of
from nearkin.workflows.resources import Resources


def forecast(
    given: PairInput,
    options: PairOptions,
    *,
    n_documents: tuple[int, int] | None,
    cores: int,
    resources: Resources,
    progress: Progress | None = None,
) -> PairForecast:
    """Read two samples, compare some of their documents, and forecast the search of collections of any size."""
    meter = Meter(progress or Silent())
    with tempfile.TemporaryDirectory(prefix="nearkin-plan-") as work:
        table = read_table(given.table, given.right_language)
        sides = opened(given, table, meter.progress)
        prepared = prepare(sides, table, options, Path(work), resources=resources, meter=meter)
        say_which_side(prepared, options, meter.progress)
        vectors = prepared.vectors
        left, right = vectors.left_facts, vectors.right_facts
        n_left, n_right = n_documents or (None, None)
        question = question_of(vectors, options, cores=cores, n_left=n_left, n_right=n_right)
        answer = answer_by_sample(vectors, question, options, resources=resources, meter=meter)
        is_whole = (question.n_left, question.n_right) == (left.n_vectors, right.n_vectors)
        plan, question, sampled = answer.capped() if is_whole else answer.plan, answer.question, answer.sampled
    return PairForecast(
        question=question,
        plan=plan,
        n_left=left.n_vectors,
        n_right=right.n_vectors,
        n_compared=sampled.n_documents,
        n_pairs=len(sampled.keys),
    )


def question_without_samples(n_left: int, n_right: int, options: PairOptions, *, cores: int) -> Question:
    """Return the question to the planner if there are only numbers."""
    return Question(n_left=n_left, n_right=n_right, threshold=options.threshold, recall=options.recall, cores=cores)


def plan_as_stored(question: Question, planned: Plan, sampled: PairForecast | None) -> dict[str, object]:
    """Return a plan as JSON types."""

    def of(search: PairSearch, prediction: Prediction) -> dict[str, object]:
        return {**asdict(search), **asdict(prediction), "core_s": prediction.core_s, "in_words": search.describe()}

    return {
        "left": question.n_left,
        "right": question.n_right,
        "threshold": question.threshold,
        "recall": question.recall,
        "cores": question.cores,
        "pairs_sought": question.n_sought,
        "reaches_recall": planned.reaches,
        "is_exact_search_quick": planned.is_quick,
        "chosen": of(planned.search, planned.prediction),
        "alternatives": [of(*alternative) for alternative in planned.alternatives],
        "costs_ns": asdict(COSTS),
        "sample": None
        if sampled is None
        else {
            "left": sampled.n_left,
            "right": sampled.n_right,
            "compared": sampled.n_compared,
            "pairs": sampled.n_pairs,
            "is_calibrated": question.prefix.is_measured,
        },
    }
