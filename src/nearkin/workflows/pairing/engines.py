"""Engines of the search for pairs: threads of this process, or a cluster. The results are the same."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.engines.local import Engine
from nearkin.planning.pairs.search import PairSearch
from nearkin.runs.run import JobRun
from nearkin.workflows.pairing.collecting import collect
from nearkin.workflows.pairing.inputs import PairEngine, PairInput
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.searching import KeptSearch, search
from nearkin.workflows.pairing.vectors import PairVectors, weigh_here
from nearkin.workflows.pairing.verifying import FoundPairs
from nearkin.workflows.reading.identity import digested_sides, records_of
from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster


def _threads(run: JobRun, resources: Resources) -> PairEngine:
    def find(vectors: PairVectors, way: PairSearch, options: PairOptions) -> FoundPairs:
        return search(
            vectors, way, options.threshold, top=options.top, seed=options.seed, threads=resources.n_threads,
            meter=run.meter, kept=KeptSearch(run.work / "search.arrow"),
        )  # fmt: skip

    work = arrays_of(run)
    return PairEngine(
        collect=partial(collect, work=work, threads=resources.n_threads, meter=run.meter),
        weigh=partial(weigh_here, work=work, meter=run.meter),
        search=find,
    )


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
        return engine_on(chosen, given, records, run.work / "cluster", arrays_of(run), run.meter)

    return engine.choose(local=lambda: nullcontext(_threads(run, resources)), cluster=on_cluster)


def arrays_of(run: JobRun) -> Path:
    """Return the folder of words, counts and vectors while they are in use."""
    return run.work / "arrays"
