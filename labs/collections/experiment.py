"""The whole experiment on one table of documents, with its results in one record."""

from __future__ import annotations

import time
from dataclasses import dataclass

from labs.collections.documents import LabelledFile, LabelledTexts, read_labelled
from labs.collections.pairs import FoundCounts, ask_collection, compare_all
from nearkin.errors import ParameterError, SourceError
from nearkin.runs.progress import Progress
from nearkin.workflows.resources import Resources

MAX_SEED = 2**32 - 1
QUESTIONS = ("pairs", "versions", "groups", "conflicts")
"""Measured answers: all pairs, compared without a search, and those of three questions to a collection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionsPlan:
    """Parameters of the experiment.

    Parameters
    ----------
    file : LabelledFile
    n_queries : int
        Number of documents whose versions are asked for, at least 1.
    n_planted : int
        Number of wrong labels to plant, at least 1.
    seed : int
        Seed of the queries and the wrong labels.

    Raises
    ------
    ParameterError
    """

    file: LabelledFile
    n_queries: int = 500
    n_planted: int = 60
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("queries", self.n_queries), ("wrong_labels", self.n_planted)):
            if value < 1:
                raise ParameterError.of(name, "an int >= 1", value)
        if not 0 <= self.seed <= MAX_SEED:
            raise ParameterError.of("seed", f"an int from 0 to {MAX_SEED}", self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionsResults:
    """All measurements.

    Parameters
    ----------
    plan : CollectionsPlan
    documents : LabelledTexts
    n_true : int
        Number of pairs that belong together.
    outcomes : dict of str to tuple of FoundCounts
        For each of `QUESTIONS`, the outcome of every setting.
    elapsed_s : float
    """

    plan: CollectionsPlan
    documents: LabelledTexts
    n_true: int
    outcomes: dict[str, tuple[FoundCounts, ...]]
    elapsed_s: float


def run(plan: CollectionsPlan, *, resources: Resources, progress: Progress) -> CollectionsResults:
    """Measure every setting on the documents of a table.

    Raises
    ------
    SourceError
        Nothing can be read, or no two texts belong together.
    """
    started = time.perf_counter()
    documents = read_labelled(plan.file)
    true = compare_all(documents, progress)
    if not len(true):
        raise SourceError(f"{plan.file.path}: no two distinct texts belong together, so there is nothing to find.")
    pairs = zip(true.right_found.tolist(), true.found.tolist(), strict=True)
    asked = ask_collection(
        documents, true, n_queries=plan.n_queries, n_planted=plan.n_planted, seed=plan.seed, progress=progress
    )
    return CollectionsResults(
        plan=plan,
        documents=documents,
        n_true=len(true),
        outcomes={"pairs": tuple(FoundCounts(right, found, len(true)) for right, found in pairs), **asked},
        elapsed_s=time.perf_counter() - started,
    )
