"""Cluster engine for the long work of a run."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from nearkin.engines.spark.session import Cluster
from nearkin.engines.spark.stages import stages_on
from nearkin.errors import InputError, ParameterError
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch
from nearkin.runs.files import writing
from nearkin.runs.progress import Meter
from nearkin.workflows.pairing.collecting import Collected, Splitting
from nearkin.workflows.pairing.inputs import PairEngine, PairInput
from nearkin.workflows.pairing.on_spark.reading import collect_all, weigh_all
from nearkin.workflows.pairing.on_spark.searching import search_all
from nearkin.workflows.pairing.searching import FoundPairs
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.reading.identity import SourceRecords, by_path
from nearkin.workflows.reading.texts import Texts


@contextlib.contextmanager
def engine_on(
    cluster: Cluster, given: PairInput, records: Mapping[str, SourceRecords], work: Path, arrays: Path, meter: Meter
) -> Iterator[PairEngine]:
    """Open a cluster, and check that it can do the work; executors need ``work`` and ``arrays``.

    Raises
    ------
    MissingExtraError, EngineError, OutputError
        The cluster cannot do the work.
    """
    work, arrays = work.absolute(), arrays.absolute()  # tasks run in other directories
    with writing(work):
        work.mkdir(exist_ok=True)

    def collect(texts: Texts, split: Splitting, side: str) -> Collected:
        reading = given.left if side == "left" else given.right
        return collect_all(
            stages, texts, reading, split, side, known=by_path(records[side]), work=work, arrays=arrays,
            progress=meter.progress,
        )  # fmt: skip

    def search(vectors: PairVectors, way: PairSearch, options: PairOptions) -> FoundPairs:
        return search_all(
            stages, vectors, way, options.threshold, top=options.top, seed=options.seed, arrays=arrays, work=work
        )

    try:
        with stages_on(cluster, work, meter) as stages:
            weigh = partial(weigh_all, stages, work=work, arrays=arrays)
            yield PairEngine(collect=collect, weigh=weigh, search=search, about=stages.about, records=records)
    except (InputError, ParameterError):  # the next run will differ, so this one cannot be resumed
        shutil.rmtree(work, ignore_errors=True)
        raise
