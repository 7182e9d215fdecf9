"""Forecast of a search, from a sample of the documents."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.costs import FEW_TERMS, Costs, measured_costs
from nearkin.planning.pairs.search import PairForecast, PairSearch, Plan, Prediction, Question
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.workflows.pairing.inputs import PairInput, opened, prepare, read_table, say_which_side
from nearkin.workflows.pairing.planning import answer_by_sample, costs_here, question_of
from nearkin.workflows.resources import Resources


def forecast(
    given: PairInput,
    options: PairOptions,
    *,
    n_documents: tuple[int, int] | None,
    cores: int,
    costs: Costs | None,
    resources: Resources,
    progress: Progress | None = None,
) -> PairForecast:
    """Read two samples, compare some of their documents, and forecast the search of collections of any size.

    Parameters
    ----------
    options
        Options of the search that they set are not chosen.
    n_documents
        Sizes of the collections; None: those of the samples.
    """
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
        costs = costs or costs_here(answer.sampled)
        plan = answer.told(costs, is_capped=(question.n_left, question.n_right) == (left.n_vectors, right.n_vectors))
    question, sampled = replace(answer.question, costs=costs), answer.sampled
    return PairForecast(
        question=question,
        plan=plan,
        n_left=left.n_vectors,
        n_right=right.n_vectors,
        n_compared=sampled.n_documents,
        n_pairs=len(sampled.keys),
    )


def question_without_samples(
    n_left: int,
    n_right: int,
    options: PairOptions,
    *,
    terms: tuple[float, float] = (FEW_TERMS, FEW_TERMS),
    cores: int = 1,
    costs: Costs | None = None,
) -> Question:
    """Return the question to the planner if there are only numbers; without ``costs`` they are measured here."""
    left_terms, right_terms = terms
    return Question(
        n_left=n_left,
        n_right=n_right,
        threshold=options.threshold,
        recall=options.recall,
        cores=cores,
        left_terms=left_terms,
        right_terms=right_terms,
        costs=costs or measured_costs(left_terms=left_terms, right_terms=right_terms),
    )


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
        "costs_ns": asdict(question.costs),
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
