"""What samples tell of a search for pairs."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.planning.pairs.search import Plan, Question


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairForecast:
    """A question that documents have answered in part.

    Parameters
    ----------
    question : Question
        With their spread of cosines, their numbers of terms, how they cluster where that was measured, and the
        costs of the machine.
    plan : Plan
        What `nearkin pairs` would choose, with the costs of the machine.
    n_left, n_right : int
        Documents of the sample that have a vector.
    n_compared : int
        Of the left ones, those that were compared with all on the right.
    n_pairs : int
        At the threshold, among these.
    """

    question: Question
    plan: Plan
    n_left: int
    n_right: int
    n_compared: int
    n_pairs: int
