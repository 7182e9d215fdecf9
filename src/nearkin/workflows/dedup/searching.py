"""Texts → candidates: every distinct text shingled once, sketched or sampled, its keys written down, sorted, linked."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.local import map_ordered
from nearkin.planning.search import BandPlan, SamplingPlan
from nearkin.records import U8, U32, U64, ShingleSets
from nearkin.runs.checkpoint import kept_arrays
from nearkin.runs.files import published, write_json, writing
from nearkin.runs.meter import Meter
from nearkin.runs.spool import Chunk
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.linking import Linking
from nearkin.stages.search.prefixes import COUNT_BITS, Prefixes
from nearkin.stages.search.sampling import Sampling
from nearkin.stages.signatures.minhash import MinHash
from nearkin.workflows.dedup.corpus import NO_NODE, Corpus
from nearkin.workflows.dedup.options import DedupOptions, Resources

_BYTES_PER_ENTRY = 48  # a key and a row, sorted into a second pair of arrays, and the pairs they make


@dataclass(frozen=True, slots=True)
class Sizes:
    """What shingling found of each distinct text.

    Parameters
    ----------
    n_shingles, n_units : uint32 arrays, shape (n_nodes,)
        Distinct shingles; words or characters.
    """

    n_shingles: U32
    n_units: U32


@dataclass(frozen=True, slots=True)
class Runs:
    """Candidates on disk.

    Parameters
    ----------
    paths : tuple of Path
        Files of sorted uint64: the lower node in the upper 32 bits, the higher in the lower.
    n_not_compared : int
        At most so many pairs shared a key with too many others to be compared.
    """

    paths: tuple[Path, ...]
    n_not_compared: int

    def arrays(self) -> list[U64]:
        """The runs, mapped into memory."""
        return [np.memmap(path, np.uint64, "r") for path in self.paths if path.stat().st_size]


class Search:
    """The search of one run: `shingle_all`, then `link_all`."""

    def __init__(
        self, corpus: Corpus, options: DedupOptions, plan: BandPlan | SamplingPlan, work: Path, resources: Resources
    ) -> None:
        self.corpus = corpus
        self.options = options
        self.plan = plan
        self.work = work / "search"
        self.resources = resources
        self.work.mkdir(exist_ok=True)
        if isinstance(plan, BandPlan):
            self.bands = Bands(plan.bands, plan.rows)
            self.minhash = MinHash(plan.size, options.seed)
            self.prefixes = Prefixes(options.threshold)
            # a short text may match one that is longer, up to this size: that one must contribute a prefix too
            self.most_for_prefix = int(np.ceil((plan.exact_below - 1) / options.threshold + 1e-9))

    def shingle_all(self, meter: Meter) -> Sizes:
        """Shingle every distinct text and write its keys down."""
        corpus = self.corpus
        with meter.stage("sketch", corpus.n_nodes, "documents") as progress:

            def make() -> dict[str, U32]:
                sizes = Sizes(np.zeros(corpus.n_nodes, np.uint32), np.zeros(corpus.n_nodes, np.uint32))
                counts = np.zeros(1 << COUNT_BITS, np.uint32)
                with writing(self.work):
                    self._begin_keys()
                    for done, part in map_ordered(
                        lambda c: self._shingle_chunk(c, sizes), corpus.chunks, threads=self.resources.n_threads
                    ):
                        if part is not None:
                            counts += part
                        progress.advance(done)
                    if isinstance(self.plan, BandPlan):
                        self._write_prefixes(counts)
                return {"n_shingles": sizes.n_shingles, "n_units": sizes.n_units}

            stored = kept_arrays(self.work / "sizes.npz", make)
        return Sizes(stored["n_shingles"], stored["n_units"])

    def link_all(self, sizes: Sizes, order: U32, meter: Meter) -> Runs:
        """Sort the keys and pair the texts that share one.

        Parameters
        ----------
        sizes : Sizes
        order : uint32 array, shape (n_nodes,)
            The most preferred text first: in a run of many equal keys the first are the ones all others are compared with.
        """
        mark = self.work / "runs.json"
        folder = self.work / "runs"
        parts = self._parts(sizes)
        with meter.stage("link", len(parts), "steps") as progress:
            if not mark.exists():
                ratio = self.options.threshold if self.options.measure == "jaccard" else 0.0
                linking = Linking(sizes.n_shingles, self.corpus.sides, ratio)
                folder.mkdir(exist_ok=True)

                def link(numbered: tuple[int, _Part]) -> int:
                    return self._link_part(*numbered, linking, sizes, order, folder)

                n_not_compared = 0
                for n in map_ordered(link, enumerate(parts), threads=self.resources.n_threads):
                    n_not_compared += n
                    progress.advance(1)
                write_json(mark, {"n_not_compared": n_not_compared}, durable=False)
        return Runs(tuple(sorted(folder.glob("*.u64"))), json.loads(mark.read_text())["n_not_compared"])

    # -- shingling ------------------------------------------------------------------------------------------------

    def _begin_keys(self) -> None:
        """Make the file of band keys its full size at once; each chunk then writes its columns."""
        if isinstance(self.plan, BandPlan):
            with open(self._band_file, "wb") as file:
                file.truncate(8 * self.plan.bands * self.corpus.n_nodes)

    @property
    def _band_file(self) -> Path:
        return self.work / "bands.u64"

    def _shingle_chunk(self, chunk: Chunk, sizes: Sizes) -> tuple[int, U32 | None]:
        """How many texts of a chunk were new, and how often the elements of its small sets occur."""
        nodes, sets = chunk_sets(self.corpus, chunk, self.options.shingle)
        sizes.n_shingles[nodes] = sets.sizes
        sizes.n_units[nodes] = sets.n_units
        if isinstance(self.plan, SamplingPlan):
            keys, set_of_key = Sampling(self.plan.rate).keys(sets)
            self._write_entries(chunk, keys, nodes[set_of_key])
            return len(nodes), None
        is_long = sets.sizes >= self.plan.exact_below
        self._write_band_keys(nodes, is_long, sets.where(is_long))
        small = sets.where(sets.sizes <= self.most_for_prefix)
        self._write_small(chunk, nodes[sets.sizes <= self.most_for_prefix], small)
        return len(nodes), self.prefixes.counts(small) if len(small.hashes) else None

    def _write_band_keys(self, nodes: U32, is_long: np.ndarray, sets: ShingleSets) -> None:
        """Nodes of a chunk follow one another, so each band is one stretch of the file."""
        if not len(sets):
            return
        keys = np.zeros((self.bands.bands, len(nodes)), np.uint64)
        keys[:, is_long] = self.bands.keys(self.minhash.sign(sets))
        with open(self._band_file, "rb+", buffering=0) as file:
            for band in range(self.bands.bands):
                os.pwrite(file.fileno(), keys[band].data, 8 * (band * self.corpus.n_nodes + int(nodes[0])))

    def _write_small(self, chunk: Chunk, nodes: U32, sets: ShingleSets) -> None:
        with published(self.work / f"small-{chunk.start:012d}.npz", durable=False) as aside, open(aside, "wb") as file:
            np.savez(file, nodes=nodes, hashes=sets.hashes, offsets=sets.offsets)

    def _write_prefixes(self, counts: U32) -> None:
        """The rarest elements of each small set, now that it is known which are rare."""
        for path in sorted(self.work.glob("small-*.npz")):
            with np.load(path) as stored:
                nodes = stored["nodes"]
                sets = ShingleSets(stored["hashes"], stored["offsets"], np.zeros(len(nodes), np.int64), "")
            keys, set_of_key = self.prefixes.keys(sets, counts)
            _save_entries(path.with_name(path.name.replace("small", "entries")), keys, nodes[set_of_key])
            path.unlink()

    def _write_entries(self, chunk: Chunk, keys: U64, nodes: U32) -> None:
        _save_entries(self.work / f"entries-{chunk.start:012d}.npz", keys, nodes)

    # -- linking --------------------------------------------------------------------------------------------------

    def _parts(self, sizes: Sizes) -> list[_Part]:
        """What is sorted at a time: a band, or all prefix or sample entries, in as many ranges of keys as memory asks for."""
        room = self.resources.memory_bytes // 4 // self.resources.n_threads
        parts = []
        if isinstance(self.plan, BandPlan):
            n_entries = int((sizes.n_shingles >= self.plan.exact_below).sum())
            n_ranges = 1 + n_entries * _BYTES_PER_ENTRY // room
            parts += [_Part(band, i, n_ranges) for band in range(self.plan.bands) for i in range(n_ranges) if n_entries]
        n_bytes = sum(path.stat().st_size for path in self.work.glob("entries-*.npz"))
        n_ranges = 1 + n_bytes * _BYTES_PER_ENTRY // 12 // room
        return parts + [_Part(None, i, n_ranges) for i in range(n_ranges) if n_bytes]

    def _link_part(self, number: int, part: _Part, linking: Linking, sizes: Sizes, order: U32, folder: Path) -> int:
        keys, nodes = (
            self._band_entries(part, sizes, order) if part.band is not None else self._loose_entries(part, order)
        )
        n_not_compared = 0
        for i, (pairs, n_left) in enumerate(linking.link(keys, nodes)):
            n_not_compared += n_left
            with published(folder / f"{number:05d}-{i:05d}.u64", durable=False) as aside:
                pairs.tofile(aside)
        return n_not_compared

    def _band_entries(self, part: _Part, sizes: Sizes, order: U32) -> tuple[U64, U32]:
        """The keys of the long texts of one band that lie in the range, the most preferred text first."""
        n_nodes = self.corpus.n_nodes
        keys = np.fromfile(self._band_file, np.uint64, n_nodes, offset=8 * (part.band or 0) * n_nodes)
        assert isinstance(self.plan, BandPlan)
        wanted = part.holds(keys) & (sizes.n_shingles >= self.plan.exact_below)
        nodes = order[wanted[order]]
        return keys[nodes], nodes

    def _loose_entries(self, part: _Part, order: U32) -> tuple[U64, U32]:
        """The entries of the range, the most preferred text first."""
        all_keys, all_nodes = [], []
        for path in sorted(self.work.glob("entries-*.npz")):
            with np.load(path) as stored:
                wanted = part.holds(stored["keys"])
                all_keys.append(stored["keys"][wanted])
                all_nodes.append(stored["nodes"][wanted])
        keys, nodes = np.concatenate(all_keys), np.concatenate(all_nodes)
        rank = np.empty(len(order), np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        by_rank = np.argsort(rank[nodes], kind="stable")
        return keys[by_rank], nodes[by_rank]


@dataclass(frozen=True, slots=True)
class _Part:
    """One range of the keys of one band; ``band`` None stands for the entries that belong to no band."""

    band: int | None
    number: int
    n_ranges: int

    def holds(self, keys: U64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which keys lie in the range."""
        if self.n_ranges == 1:
            return np.ones(len(keys), np.bool_)
        return (keys >> np.uint64(32)) * np.uint64(self.n_ranges) >> np.uint64(32) == np.uint64(self.number)


def chunk_sets(corpus: Corpus, chunk: Chunk, shingle: Shingling, wanted: U8 | None = None) -> tuple[U32, ShingleSets]:
    """The texts of a chunk that occur there for the first time, as shingle sets; only those that ``wanted`` marks by node, if given."""
    rows = np.arange(chunk.start, chunk.end, dtype=np.uint32)
    nodes = corpus.node[chunk.start : chunk.end]
    is_first = nodes != NO_NODE
    is_first[is_first] = corpus.first_row[nodes[is_first]] == rows[is_first]
    if wanted is not None:
        is_first[is_first] = wanted[nodes[is_first]] != 0
    if not is_first.any():
        return np.zeros(0, np.uint32), ShingleSets(
            np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.int64), shingle.fingerprint
        )
    texts = chunk.column("text")
    return nodes[is_first], shingle.sets(texts if is_first.all() else texts.filter(is_first))


def _save_entries(path: Path, keys: U64, nodes: U32) -> None:
    with published(path, durable=False) as aside, open(aside, "wb") as file:
        np.savez(file, keys=keys, nodes=nodes)
