"""The whole experiment, with its results in one record."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from labs.similarity_index.chance import Chance
from labs.similarity_index.chance import measure as measure_chance
from labs.similarity_index.columns import FamilyFile, read_families
from labs.similarity_index.larger import Larger
from labs.similarity_index.larger import measure as measure_larger
from labs.similarity_index.published import TABLE_9
from labs.similarity_index.runs import SUPER_SHINGLE, IndexRun, best, by_length, run_all
from labs.similarity_index.stop_lists import ByStopList
from labs.similarity_index.stop_lists import measure as measure_stop_lists
from labs.similarity_index.zones import Folder, read_folder
from nearkin.errors import ParameterError, SourceError
from nearkin.runs.progress import Progress
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from nearkin.workflows.resources import Resources

N_BEST, N_TAKEN_ALONG = 5, 3
MAX_MULTIPLIERS, MAX_SEED, MAX_QUERIES = 100_000, 2**32 - 1, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlan:
    """Parameters of the experiment.

    Parameters
    ----------
    folder : Path
    expected : Path, optional
        File with the zones; by default the paper's.
    documents : FamilyFile, optional
        Documents of the larger collection.
    n_multipliers : int
        Number of multipliers other than Java's, at least 1.
    n_queries : int
        Number of queries of the larger collection, at least 1.
    seed : int
        Seed of the multipliers and the queries.

    Raises
    ------
    ParameterError
    """

    folder: Path
    expected: Path | None = None
    documents: FamilyFile | None = None
    n_multipliers: int = 200
    n_queries: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        rules = (
            ("multipliers", self.n_multipliers, 1, MAX_MULTIPLIERS),
            ("queries", self.n_queries, 1, MAX_QUERIES),
            ("seed", self.seed, 0, MAX_SEED),
        )
        for name, value, least, most in rules:
            if not least <= value <= most:
                raise ParameterError.of(name, f"an int from {least} to {most}", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResults:
    """All measurements.

    Parameters
    ----------
    plan : IndexPlan
    folder : Folder
    runs : tuple of IndexRun
        All 656 runs.
    by_length : IndexRun
        A run that uses the length of a file as its number.
    chance : Chance
    stop_lists : tuple of ByStopList
        The list used everywhere else comes first.
    larger : Larger or None
    elapsed_s : float
    """

    plan: IndexPlan
    folder: Folder
    runs: tuple[IndexRun, ...]
    by_length: IndexRun
    chance: Chance
    stop_lists: tuple[ByStopList, ...]
    larger: Larger | None
    elapsed_s: float

    @property
    def best(self) -> tuple[IndexRun, ...]:
        """The five runs with the highest scores."""
        return best(self.runs, N_BEST)

    @property
    def published(self) -> tuple[IndexRun, ...]:
        """The runs of the paper's Table 9, repeated here."""
        return tuple(self.of(SimilarityIndex.parse(said.spec)) for said in TABLE_9)

    def of(self, method: SimilarityIndex) -> IndexRun:
        """Return the run of a method."""
        return next(run for run in self.runs if run.method == method)

    @property
    def n_over_one(self) -> int:
        """Number of runs with a score above 1."""
        return sum(run.counted.score > 1 for run in self.runs)

    @property
    def n_over_one_compared(self) -> int:
        """The same without the super shingle, which is not run with other multipliers."""
        return sum(run.counted.score > 1 for run in self.runs if run.method.method != SUPER_SHINGLE)

    @property
    def best_compared(self) -> float:
        """Highest score without the super shingle."""
        return max(run.counted.score for run in self.runs if run.method.method != SUPER_SHINGLE)


def run(plan: IndexPlan, *, resources: Resources, progress: Progress) -> IndexResults:
    """Repeat the paper's experiment on a folder, and the larger one if documents are given.

    Raises
    ------
    SourceError
        The folder, its zones or the documents cannot be used.
    """
    started, threads = time.perf_counter(), resources.n_threads
    if not plan.folder.is_dir():
        raise SourceError(f"{plan.folder} is not a folder. The experiment needs one file per document.")
    folder = read_folder(plan.folder, plan.expected)
    families = read_families(plan.documents) if plan.documents is not None else None
    runs = run_all(folder, threads=threads, progress=progress)
    chance = measure_chance(folder, plan.n_multipliers, seed=plan.seed, threads=threads, progress=progress)
    stop_lists = measure_stop_lists(folder, plan.n_multipliers, seed=plan.seed, progress=progress)
    larger = None
    if families is not None:
        methods = list(dict.fromkeys(SimilarityIndex.parse(said.spec) for said in TABLE_9))
        others = [run.method for run in best(runs, len(runs)) if run.method not in methods]
        methods += [method for method in others if method.method != SUPER_SHINGLE][:N_TAKEN_ALONG]
        larger = measure_larger(families, methods, plan.n_queries, seed=plan.seed, threads=threads, progress=progress)
    elapsed_s = time.perf_counter() - started
    return IndexResults(
        plan=plan,
        folder=folder,
        runs=runs,
        by_length=by_length(folder),
        chance=chance,
        stop_lists=stop_lists,
        larger=larger,
        elapsed_s=elapsed_s,
    )
