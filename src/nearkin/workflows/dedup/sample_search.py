"""The search for containment: the keys of a text are its sampled shingles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nearkin.planning.search import SamplingPlan
from nearkin.records import U32, ShingleSets
from nearkin.runs.spool import Chunk
from nearkin.stages.search.sampling import Sampling
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.options import DedupOptions, Resources
from nearkin.workflows.dedup.searching import Search, Sizes, save_entries


class SampleSearch(Search):
    """By shingles that two texts share in the sample."""

    def __init__(
        self, plan: SamplingPlan, corpus: Corpus, options: DedupOptions, work: Path, resources: Resources
    ) -> None:
        super().__init__(corpus, options, work, resources)
        self.sampling = Sampling(plan.rate)

    def _write_keys(self, sizes: Sizes) -> Iterator[int]:
        for n_texts, _ in self._over_chunks(self._write_chunk, sizes):
            yield n_texts

    def _write_chunk(self, chunk: Chunk, nodes: U32, sets: ShingleSets) -> None:
        keys, set_of_key = self.sampling.keys(sets)
        save_entries(self.work / f"entries-{chunk.start:012d}.npz", keys, nodes[set_of_key])
