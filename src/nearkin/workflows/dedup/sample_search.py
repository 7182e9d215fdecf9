"""Search by containment: small texts lead with rare shingles, large ones with sampled ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from nearkin.planning.search import SamplingPlan
from nearkin.records import U32, U64, Bool, ShingleSets
from nearkin.runs.checkpoint import Arrays, load_arrays, save_arrays
from nearkin.runs.spool import Chunk
from nearkin.stages.search.exhaustive import LeadKeys, is_new_entry
from nearkin.stages.search.prefixes import COUNT_BITS, Occurrences, Prefixes
from nearkin.stages.search.sampling import Sampling
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.searching import Search, Sizes, load_entries, save_entries
from nearkin.workflows.resources import Resources


class SampleKeys:
    """Keys by which a text is found: sampled shingles if it has many shingles, else rare ones.

    Parameters
    ----------
    plan : SamplingPlan
    options : DedupOptions
    """

    def __init__(self, plan: SamplingPlan, options: DedupOptions) -> None:
        self.exact_below = plan.exact_below
        self.sampling = Sampling(plan.rate, options.seed)
        self.prefixes = Prefixes(options.threshold)

    def is_small(self, sets: ShingleSets) -> Bool:
        """Whether each text leads with rare shingles, shape (n_texts,)."""
        return sets.sizes < self.exact_below

    def sampled(self, nodes: U32, sets: ShingleSets) -> tuple[U64, U32]:
        """Return the sampled shingles of large texts, and the text of each."""
        is_large = ~self.is_small(sets)
        keys, set_of_key = self.sampling.keys(sets.where(is_large))
        return keys, nodes[is_large][set_of_key]

    def leading(self, nodes: U32, sets: ShingleSets, counts: U32) -> tuple[U64, U32]:
        """Return the rare shingles of small texts, and the text of each."""
        keys, set_of_key = self.prefixes.keys(sets, counts)
        return keys, nodes[set_of_key]

    def following(
        self, nodes: U32, sets: ShingleSets, leads: LeadKeys, own: Sequence[tuple[U64, U32]]
    ) -> tuple[U64, U32]:
        """Return shingles with which some small text leads, and the text of each, without its ``own`` entries."""
        keys, set_of_key = leads.followed_by(sets)
        nodes = nodes[set_of_key]
        others = np.concatenate([keys for keys, _ in own]), np.concatenate([of_key for _, of_key in own])
        is_new = is_new_entry(keys, nodes, others)
        return keys[is_new], nodes[is_new]


class SampleSearch(Search):
    """Search by shared shingles in the sample, and by those with which a small text leads."""

    def __init__(
        self, plan: SamplingPlan, corpus: Corpus, options: DedupOptions, work: Path, resources: Resources
    ) -> None:
        super().__init__(corpus, options, work, resources)
        self.keys = SampleKeys(plan, options)

    def _write_keys(self, sizes: Sizes) -> Iterator[int]:
        counts = np.zeros(1 << COUNT_BITS, np.uint32)
        for n_texts, counted in self._over_chunks(self._write_chunk, sizes):
            counted.add_to(counts)
            yield n_texts
        leads = self._write_leads(counts)
        if len(leads):
            write = partial(self._write_followers, leads=LeadKeys.of(leads))
            for _ in self._over_chunks(write, sizes):
                pass

    def _write_chunk(self, chunk: Chunk, nodes: U32, sets: ShingleSets) -> Occurrences:
        """Write the sampled keys of large texts; keep the small ones, and count the occurrences of all shingles."""
        save_entries(self._entries_of(chunk, "sampled"), *self.keys.sampled(nodes, sets))
        is_small = self.keys.is_small(sets)
        small = sets.where(is_small)
        arrays: Arrays = {"nodes": nodes[is_small], "hashes": small.hashes, "offsets": small.offsets}
        save_arrays(self._small(chunk), arrays)
        return Occurrences.of(sets.hashes)

    def _write_leads(self, counts: U32) -> U64:
        """Write the rarest elements of each small set, now that the counts are known."""
        found: list[U64] = [np.zeros(0, np.uint64)]
        for chunk in self.corpus.chunks:
            stored = load_arrays(self._small(chunk))
            nodes = stored["nodes"]
            sets = ShingleSets(stored["hashes"], stored["offsets"], np.zeros(len(nodes), np.int64), "")
            keys, nodes = self.keys.leading(nodes, sets, counts)
            save_entries(self._entries_of(chunk, "leads"), keys, nodes)
            self._small(chunk).unlink()
            found.append(keys)
        return np.concatenate(found)

    def _write_followers(self, chunk: Chunk, nodes: U32, sets: ShingleSets, leads: LeadKeys) -> None:
        """Write the shingles of all texts with which some small text leads."""
        own = [load_entries(self._entries_of(chunk, kind)) for kind in ("sampled", "leads")]
        keys, nodes = self.keys.following(nodes, sets, leads, own)
        save_entries(self._entries_of(chunk, "followers"), keys, nodes, np.ones(len(keys), np.bool_))

    @cached_property
    def _entry_files(self) -> Sequence[Path]:
        """Return the files of all kinds; there are followers if any small text leads with a shingle."""
        of_kind = {
            kind: [self._entries_of(chunk, kind) for chunk in self.corpus.chunks]
            for kind in ("sampled", "leads", "followers")
        }
        if not any(len(load_entries(path)[0]) for path in of_kind["leads"]):
            del of_kind["followers"]
        return [path for paths in of_kind.values() for path in paths]

    def _entries_of(self, chunk: Chunk, kind: str) -> Path:
        return self.work / f"entries-{kind}-{chunk.start:012d}.npz"

    def _small(self, chunk: Chunk) -> Path:
        return self.work / f"small-{chunk.start:012d}.npz"
