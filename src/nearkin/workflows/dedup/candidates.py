"""Search by Jaccard similarity: long texts by the bands of their sketches, short ones exactly, by prefixes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from nearkin.formats.sealed import seal_file, sealed_length
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import BandPlan, SamplingPlan
from nearkin.records import U32, U64, Bool, ShingleSets
from nearkin.runs.spool import Arrays, Chunk, load_arrays, save_arrays
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.exhaustive import LeadKeys, is_new_entry
from nearkin.stages.search.prefixes import COUNT_BITS, Occurrences, Prefixes
from nearkin.stages.search.sampling import Sampling
from nearkin.stages.signatures.minhash import MinHash
from nearkin.workflows.dedup.corpus import MINE, THEIRS, Corpus
from nearkin.workflows.dedup.searching import (
    BYTES_PER_ENTRY,
    Entries,
    KeyRange,
    Search,
    Sizes,
    load_entries,
    save_entries,
)
from nearkin.workflows.resources import Resources


class BandKeys:
    """Keys by which a text is found: bands of its sketch if it has many shingles, else its rare shingles."""

    def __init__(self, plan: BandPlan, options: DedupOptions) -> None:
        self.exact_below = plan.exact_below
        self.bands = Bands(plan.bands, plan.rows)
        self.minhash = MinHash(plan.size, options.seed)
        self.prefixes = Prefixes(options.threshold)
        self.max_for_prefix = plan.exact_up_to(options.threshold)

    def is_long(self, sets: ShingleSets) -> Bool:
        """Whether each text is found by bands, shape (n_texts,)."""
        return sets.sizes >= self.exact_below

    def is_small(self, sets: ShingleSets) -> Bool:
        """Whether each text contributes rare shingles, shape (n_texts,)."""
        return sets.sizes <= self.max_for_prefix

    def of_bands(self, sets: ShingleSets) -> U64:
        """Return the key of each band of long texts, shape (n_bands, n_texts)."""
        return self.bands.keys(self.minhash.sign(sets))


class BandSearch(Search):
    """Search by bands in which two sketches agree, and by rare elements that two small sets share."""

    def __init__(self, plan: BandPlan, corpus: Corpus, options: DedupOptions, work: Path, resources: Resources) -> None:
        super().__init__(corpus, options, work, resources)
        self.keys = BandKeys(plan, options)
        self.bands = self.keys.bands

    @property
    def _band_file(self) -> Path:
        return self.work / "bands.u64"

    @property
    def _counts_file(self) -> Path:
        return self.work / "counts.arrow"

    @property
    def counts(self) -> U32:
        """Frequencies of shingles in small texts; see `Occurrences.dense`."""
        counts: U32 = load_arrays(self._counts_file)["counts"]
        return counts

    def _write_keys(self, sizes: Sizes) -> Iterator[int]:
        with open(self._band_file, "wb") as file:  # allocated in full; each chunk then writes its columns
            file.truncate(8 * self.bands.bands * self.corpus.n_nodes)
        counts = np.zeros(1 << COUNT_BITS, np.uint32)
        for n_texts, counted in self._over_chunks(self._write_chunk, sizes):
            if counted is not None:
                counted.add_to(counts)
            yield n_texts
        seal_file(self._band_file)
        self._write_prefixes(counts)

    def _write_chunk(self, chunk: Chunk, nodes: U32, sets: ShingleSets) -> Occurrences | None:
        is_long = self.keys.is_long(sets)
        self._write_band_keys(nodes, is_long, sets.where(is_long))
        is_small = self.keys.is_small(sets)
        small = sets.where(is_small)
        self._write_small(chunk, nodes[is_small], small)
        return Occurrences.of(small.hashes) if len(small.hashes) else None

    def _write_band_keys(self, nodes: U32, is_long: Bool, sets: ShingleSets) -> None:
        if not len(sets):
            return
        keys = np.zeros((self.bands.bands, len(nodes)), np.uint64)
        keys[:, is_long] = self.keys.of_bands(sets)
        with open(self._band_file, "rb+", buffering=0) as file:
            for band in range(self.bands.bands):
                os.pwrite(file.fileno(), keys[band].data, 8 * (band * self.corpus.n_nodes + int(nodes[0])))

    def _write_small(self, chunk: Chunk, nodes: U32, sets: ShingleSets) -> None:
        save_arrays(self._small(chunk), {"nodes": nodes, "hashes": sets.hashes, "offsets": sets.offsets})

    def _write_prefixes(self, counts: U32) -> None:
        save_arrays(self._counts_file, {"counts": counts})
        for chunk, written in zip(self.corpus.chunks, self._entry_files, strict=True):
            path = self._small(chunk)
            stored = load_arrays(path)
            nodes = stored["nodes"]
            sets = ShingleSets(stored["hashes"], stored["offsets"], np.zeros(len(nodes), np.int64), "")
            keys, set_of_key, follows = self.keys.prefixes.keys(sets, counts)
            save_entries(written, keys, nodes[set_of_key], follows)
            path.unlink()

    @cached_property
    def _entry_files(self) -> Sequence[Path]:
        return [self.work / f"entries-{chunk.start:012d}.arrow" for chunk in self.corpus.chunks]

    def _small(self, chunk: Chunk) -> Path:
        return self.work / f"small-{chunk.start:012d}.arrow"

    def _parts(self, sizes: Sizes) -> list[KeyRange]:
        """Return the bands, each in as many ranges of keys as memory requires, and the prefix entries."""
        n_entries = int((sizes.n_shingles >= self.keys.exact_below).sum())
        n_ranges = 1 + n_entries * BYTES_PER_ENTRY // self._room_bytes
        if not n_entries:
            return super()._parts(sizes)
        places = [(band, i) for band in range(self.bands.bands) for i in range(n_ranges)]
        return [KeyRange(band, i, n_ranges) for band, i in places] + super()._parts(sizes)

    def _entries(self, part: KeyRange, sizes: Sizes, order: U32) -> Entries:
        if part.band is None:
            return super()._entries(part, sizes, order)
        n_nodes = self.corpus.n_nodes
        sealed_length(self._band_file)  # checks that the file is unchanged
        keys = np.fromfile(self._band_file, np.uint64, n_nodes, offset=8 * part.band * n_nodes)
        wanted = part.holds(keys) & (sizes.n_shingles >= self.keys.exact_below)
        nodes = order[wanted[order]]
        return Entries(keys[nodes], nodes)


class SampleKeys:
    """Keys by which a text is found: sampled shingles if it has many shingles, else rare ones."""

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
        keys, set_of_key, _ = self.prefixes.keys(sets, counts)
        return keys, nodes[set_of_key]

    def following(
        self, nodes: U32, sets: ShingleSets, leads: LeadKeys, sampled_and_leads: Sequence[tuple[U64, U32]]
    ) -> tuple[U64, U32]:
        """Return shingles with which some small text leads, and the text of each, without its own entries."""
        keys, set_of_key = leads.followed_by(sets)
        nodes = nodes[set_of_key]
        others = (
            np.concatenate([keys for keys, _ in sampled_and_leads]),
            np.concatenate([of_key for _, of_key in sampled_and_leads]),
        )
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
        save_entries(self._entries_of(chunk, "sampled"), *self.keys.sampled(nodes, sets))
        is_small = self.keys.is_small(sets)
        small = sets.where(is_small)
        arrays: Arrays = {"nodes": nodes[is_small], "hashes": small.hashes, "offsets": small.offsets}
        save_arrays(self._small(chunk), arrays)
        return Occurrences.of(sets.hashes)

    def _write_leads(self, counts: U32) -> U64:
        leads: list[U64] = [np.zeros(0, np.uint64)]
        for chunk in self.corpus.chunks:
            stored = load_arrays(self._small(chunk))
            nodes = stored["nodes"]
            sets = ShingleSets(stored["hashes"], stored["offsets"], np.zeros(len(nodes), np.int64), "")
            keys, nodes = self.keys.leading(nodes, sets, counts)
            save_entries(self._entries_of(chunk, "leads"), keys, nodes)
            self._small(chunk).unlink()
            leads.append(keys)
        return np.concatenate(leads)

    def _write_followers(self, chunk: Chunk, nodes: U32, sets: ShingleSets, leads: LeadKeys) -> None:
        sampled_and_leads = [load_entries(self._entries_of(chunk, kind)) for kind in ("sampled", "leads")]
        keys, nodes = self.keys.following(nodes, sets, leads, sampled_and_leads)
        save_entries(self._entries_of(chunk, "followers"), keys, nodes, np.ones(len(keys), np.bool_))

    @cached_property
    def _entry_files(self) -> Sequence[Path]:
        of_kind = {
            kind: [self._entries_of(chunk, kind) for chunk in self.corpus.chunks]
            for kind in ("sampled", "leads", "followers")
        }
        if not any(len(load_entries(path)[0]) for path in of_kind["leads"]):
            del of_kind["followers"]
        return [path for paths in of_kind.values() for path in paths]

    def _entries_of(self, chunk: Chunk, kind: str) -> Path:
        return self.work / f"entries-{kind}-{chunk.start:012d}.arrow"

    def _small(self, chunk: Chunk) -> Path:
        return self.work / f"small-{chunk.start:012d}.arrow"


def max_not_compared(n_counted: int, corpus: Corpus, *, n_candidates: int) -> int:
    """Return an upper limit of the pairs of texts that share a key and were not compared."""
    n_first, n_second = ((corpus.sides == side).sum() for side in (MINE, THEIRS))
    return within_what_there_is(
        n_counted, corpus.n_nodes, n_first=int(n_first), n_second=int(n_second), n_candidates=n_candidates
    )


def within_what_there_is(
    n_counted: int, n_texts: int, *, n_candidates: int, n_first: int = 0, n_second: int = 0
) -> int:
    """Return the count, or the number of existing pairs that were not compared if that is smaller.

    Of two sets: ``n_first`` and ``n_second`` texts occur in one of them only, and are not paired with each other.

    Examples
    --------
    >>> within_what_there_is(913, 30, n_candidates=35)
    400
    >>> within_what_there_is(913, 30, n_candidates=0, n_first=20, n_second=10)
    200
    """
    n_pairs = (n_texts * (n_texts - 1) - n_first * (n_first - 1) - n_second * (n_second - 1)) // 2
    return min(n_counted, max(0, n_pairs - n_candidates))
