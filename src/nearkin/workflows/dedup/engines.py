"""Engines of the search for near-duplicates: threads of this process, or a cluster. The results are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nearkin.engines.local import Engine
from nearkin.manifests.dedup import MemoryUse
from nearkin.runs.progress import Meter
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import Source
from nearkin.workflows.dedup import job, manifest
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.reading.identity import SourceRecords, by_path
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster


@dataclass(frozen=True, slots=True)
class DedupFound:
    """Results of an engine, and the manifest's record of the engine."""

    result: job.Result
    engine: Mapping[str, object] | None = None


class DedupEngine(Protocol):
    """Engine of the search."""

    def find(
        self,
        inputs: Sequence[Input],
        others: Sequence[Input] | None,
        options: DedupOptions,
        work: Path,
        *,
        rules: ReadingRules,
    ) -> DedupFound:
        """Find the near-duplicates; see `workflows.dedup.job.find`."""

    def memory(self, result: job.Result) -> MemoryUse | None:
        """Return the memory and time of the search, if known."""


@dataclass(frozen=True, slots=True)
class DedupThreads:
    """Threads of this process; see `DedupEngine`."""

    resources: Resources
    meter: Meter

    def find(
        self,
        inputs: Sequence[Input],
        others: Sequence[Input] | None,
        options: DedupOptions,
        work: Path,
        *,
        rules: ReadingRules,
    ) -> DedupFound:
        """See `DedupEngine`."""
        found = job.find(inputs, others, options, work, rules=rules, resources=self.resources, meter=self.meter)
        return DedupFound(found)

    def memory(self, result: job.Result) -> MemoryUse | None:
        """Return the resources used by this process."""
        return manifest.memory(self.resources, self.meter, int(result.corpus.n_characters.max(initial=0)))


@dataclass(frozen=True, slots=True)
class DedupCluster:
    """Tasks on a cluster, which read files whose digests are known; see `DedupEngine`."""

    cluster: Cluster
    records: Mapping[str, SourceRecords]
    resources: Resources
    meter: Meter

    def find(
        self,
        inputs: Sequence[Input],
        others: Sequence[Input] | None,
        options: DedupOptions,
        work: Path,
        *,
        rules: ReadingRules,
    ) -> DedupFound:
        """See `DedupEngine`."""
        from nearkin.engines.spark.stages import stages_on
        from nearkin.workflows.dedup.on_spark.job import find

        with stages_on(self.cluster, work, self.meter) as stages:
            given = inputs, others, options, work, stages
            found = find(
                *given, rules=rules, resources=self.resources, meter=self.meter,
                known=(by_path(self.records["inputs"]), by_path(self.records["against"])),
            )  # fmt: skip
            return DedupFound(found, stages.about)

    def memory(self, result: job.Result) -> MemoryUse | None:
        """Return None: tasks use most of the memory."""
        return None


def check_sources(engine: Engine, sources: Sequence[Source]) -> None:
    """Refuse, before anything is read, input that an engine cannot read.

    Raises
    ------
    ParameterError
        Only this machine can read a source.
    """
    engine.choose(local=lambda: None, cluster=lambda _: check_can_be_shared(sources))


def dedup_engine(
    engine: Engine, records: Mapping[str, SourceRecords], resources: Resources, meter: Meter
) -> DedupEngine:
    """Return the search of an engine in files whose digests are known."""

    def on_cluster(chosen: Cluster) -> DedupEngine:
        return DedupCluster(chosen, records, resources, meter)

    return engine.choose(local=lambda: DedupThreads(resources, meter), cluster=on_cluster)
