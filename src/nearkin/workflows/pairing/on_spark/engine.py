"""Cluster engine for the long work of a run."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nearkin.engines.spark.session import Cluster
from nearkin.engines.spark.stages import Stages, stages_on
from nearkin.errors import InputError, ParameterError
from nearkin.manifests.stored import InputFile
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import WeightedVectors
from nearkin.runs.files import writing
from nearkin.runs.progress import Meter, Progress
from nearkin.workflows.pairing.collecting import Collected, Splitting
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.on_spark.reading import collect_all, weigh_all
from nearkin.workflows.pairing.on_spark.searching import search_all
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.vectors import PairVectors, ToWeigh
from nearkin.workflows.pairing.verifying import FoundPairs
from nearkin.workflows.reading.identity import SourceRecords, by_path, check_unchanged
from nearkin.workflows.reading.texts import Texts


@contextlib.contextmanager
def engine_on(
    cluster: Cluster, given: PairInput, records: Mapping[str, SourceRecords], work: Path, arrays: Path, meter: Meter
) -> Iterator[PairCluster]:
    """Open a cluster, and check that it can do the work.

    Parameters
    ----------
    cluster : Cluster
    given : PairInput
    records : mapping of str to sequence of SourceRecord
        Files of both sides, with their digests.
    work, arrays : Path
        Folders that every executor can access: for finished stages, and for vectors.
    meter : Meter

    Raises
    ------
    MissingExtraError, EngineError, OutputError
        The cluster cannot do the work.
    """
    work, arrays = work.absolute(), arrays.absolute()  # tasks run in other directories
    with writing(work):
        work.mkdir(exist_ok=True)
    try:
        with stages_on(cluster, work, meter) as stages:
            yield PairCluster(
                stages=stages, given=given, records=records, work=work, arrays=arrays, progress=meter.progress
            )
    except (InputError, ParameterError):  # the next run will differ, so this one cannot be resumed
        shutil.rmtree(work, ignore_errors=True)
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCluster:
    """See `workflows.pairing.engines.PairEngine`.

    Parameters
    ----------
    stages : Stages
    given : PairInput
    records : mapping of str to sequence of SourceRecord
    work, arrays : Path
    progress : Progress
    """

    stages: Stages
    given: PairInput
    records: Mapping[str, SourceRecords]
    work: Path
    arrays: Path
    progress: Progress

    @property
    def about(self) -> Mapping[str, object]:
        """Record for the manifest."""
        return self.stages.about

    def collect(self, texts: Texts, split: Splitting, side: str) -> Collected:
        """Read and count a collection, one task per input."""
        reading = self.given.left if side == "left" else self.given.right
        return collect_all(
            self.stages, texts, reading, split, side, known=by_path(self.records[side]), work=self.work,
            arrays=self.arrays, progress=self.progress,
        )  # fmt: skip

    def weigh(self, sides: Sequence[ToWeigh]) -> Sequence[WeightedVectors]:
        """Weigh documents, some per task."""
        return weigh_all(self.stages, sides, work=self.work, arrays=self.arrays)

    def search(self, vectors: PairVectors, way: PairSearch, options: PairOptions) -> FoundPairs:
        """Search round by round."""
        return search_all(
            self.stages, vectors, way, options.threshold, top=options.top, seed=options.seed, arrays=self.arrays,
            work=self.work,
        )  # fmt: skip

    def described_files(self, side: str) -> Sequence[InputFile]:
        """Return the files of a side with their digests."""
        return [one.file for one in self.records[side]]

    def check_unchanged(self) -> None:
        """Compare the bytes of files that the system has seen change since their digests were computed."""
        check_unchanged([one for side in self.records.values() for one in side if one.has_many_documents])
