"""Forecast of a search for pairs, from samples."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.planning.pairs.search import Plan, Question


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairForecast:
    """Forecast: a question whose unknown values were measured on samples.

    Parameters
    ----------
    question : Question
        With the measured cosines, numbers of terms and, if measured, clustering of the documents, and the
        costs of the machine.
    plan : Plan
        Plan that `nearkin pairs` would choose, with the costs of the machine.
    n_left, n_right : int
        Number of sampled documents that have a vector.
    n_compared : int
        Number of left documents that were compared with all on the right.
    n_pairs : int
        Pairs at or above the threshold among these.
    """

    question: Question
    plan: Plan
    n_left: int
    n_right: int
    n_compared: int
    n_pairs: int
