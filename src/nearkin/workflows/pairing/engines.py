"""Engines of the search for pairs: threads of this process, or a cluster. The results are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nearkin.engines.local import Engine
from nearkin.manifests.stored import InputFile
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import WeightedVectors
from nearkin.runs.run import JobRun
from nearkin.workflows.pairing.collecting import Collected, Splitting, collect
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.searching import KeptSearch, search
from nearkin.workflows.pairing.vectors import PairVectors, ToWeigh, weigh_here
from nearkin.workflows.pairing.verifying import FoundPairs
from nearkin.workflows.reading.identity import digested_sides, records_of
from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster


class PairEngine(Protocol):
    """Engine for the long work of a run."""

    @property
    def about(self) -> Mapping[str, object] | None:
        """Return the manifest's record of the engine."""

    def collect(self, texts: Texts, split: Splitting, side: str) -> Collected:
        """Read and count the documents of a side; see `workflows.pairing.collecting.collect`."""

    def weigh(self, sides: Sequence[ToWeigh]) -> Sequence[WeightedVectors]:
        """Make the vectors of both sides; see `workflows.pairing.weighing.weigh_here`."""

    def search(self, vectors: PairVectors, way: PairSearch, options: PairOptions) -> FoundPairs:
        """Find the pairs; see `workflows.pairing.searching.search`."""

    def described_files(self, side: str) -> Sequence[InputFile] | None:
        """Return the files of a side with the digests that were computed before reading; None if none were."""

    def check_unchanged(self) -> None:
        """Refuse files of many documents with other bytes than before they were read, if their bytes are known.

        Raises
        ------
        SourceError
        """


@dataclass(frozen=True, slots=True)
class PairThreads:
    """Pair search by threads of this process.

    Parameters
    ----------
    run : JobRun
    resources : Resources
    """

    run: JobRun
    resources: Resources

    @property
    def about(self) -> Mapping[str, object] | None:
        """Return None: the manifest has no entry for threads."""
        return None

    def collect(self, texts: Texts, split: Splitting, side: str) -> Collected:
        """See `PairEngine`."""
        work, threads = arrays_of(self.run), self.resources.n_threads
        return collect(texts, split, side, work=work, threads=threads, meter=self.run.meter)

    def weigh(self, sides: Sequence[ToWeigh]) -> Sequence[WeightedVectors]:
        """See `PairEngine`."""
        return weigh_here(sides, work=arrays_of(self.run), meter=self.run.meter)

    def search(self, vectors: PairVectors, way: PairSearch, options: PairOptions) -> FoundPairs:
        """See `PairEngine`."""
        return search(
            vectors, way, options.threshold, top=options.top, seed=options.seed, threads=self.resources.n_threads,
            meter=self.run.meter, kept=KeptSearch(self.run.work / "search.arrow"),
        )  # fmt: skip

    def described_files(self, side: str) -> Sequence[InputFile] | None:
        """Return None: threads read the documents again in a resumed run, without digests."""
        return None

    def check_unchanged(self) -> None:
        """Accept the files: sizes and modification times were compared after they were read."""


def engine_of(
    engine: Engine,
    given: PairInput,
    sides: Mapping[str, Texts],
    run: JobRun,
    resources: Resources,
) -> AbstractContextManager[PairEngine]:
    """Return the search of an engine.

    Raises
    ------
    MissingExtraError, EngineError, OutputError
        The cluster cannot do the work.
    ParameterError
        Only this machine can read a source.
    ResumeError
        A file has other bytes than an interrupted run on a cluster read.
    """

    def on_cluster(chosen: Cluster) -> AbstractContextManager[PairEngine]:
        from nearkin.workflows.pairing.on_spark.engine import engine_on

        for texts in sides.values():
            check_can_be_shared(texts.sources)
        before = {side: records_of(texts.sources, texts.encoding) for side, texts in sides.items()}
        records = digested_sides(before, run, resources)
        return engine_on(chosen, given, records, _of_cluster(run), arrays_of(run), run.meter)

    return engine.choose(local=lambda: nullcontext(PairThreads(run, resources)), cluster=on_cluster)


def arrays_of(run: JobRun) -> Path:
    """Return the folder of words, counts and vectors while they are in use."""
    return run.work / "arrays"


def _of_cluster(run: JobRun) -> Path:
    """Return the folder of the finished stages of a cluster."""
    return run.work / "cluster"
