"""Candidates → matches: the exact similarity of every pair, from the shingles of both texts."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.engines.local import map_ordered
from nearkin.formats.sealed import sealed_length
from nearkin.kernels.linking import components
from nearkin.options.dedup import DedupOptions
from nearkin.records import I64, U8, U32, U64, Candidates, Matches
from nearkin.runs.files import make_work_folder, sealed
from nearkin.runs.progress import Meter
from nearkin.runs.spool import Chunk, GrowingArray, kept_arrays, texts_of
from nearkin.stages.differences.particulars import without_names
from nearkin.stages.documents.normalisation import CASED
from nearkin.stages.search.linking import merge_runs
from nearkin.stages.verification.form_fields import MIN_TEXTS, Fields, Steps, sample_of_groups
from nearkin.stages.verification.overlap import verify
from nearkin.stages.verification.what_differs import FIELDS, NAMES, OTHER, PASSAGE_ADDED, Compared, TextNumbers
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.outcome import differences_of
from nearkin.workflows.dedup.searching import Runs, Sizes, chunk_sets, chunk_texts
from nearkin.workflows.resources import Resources

_PAGES_OF_A_PAIR = 3 << 13  # Linux maps 64 KiB around each page of both sets
_MAX_PAIRS = 1 << 18
_TEXTS_A_BLOCK = 1 << 8
_SHINGLES_A_BLOCK = 1 << 22
_NONE = np.zeros(0, np.uint64)
_FIELDS = ("left", "right", "n_common", "n_left", "n_right")


@dataclass(frozen=True, slots=True)
class VerifiedMatches:
    """Result of verification, in nodes."""

    matches: Matches
    n_candidates: int


class SetStore:
    """Shingle sets of some texts in a memory-mapped file, whose pages can be released."""

    def __init__(self, path: Path, starts: I64, sizes: Sizes) -> None:
        self.starts = starts
        self.ends = starts + sizes.n_shingles
        n = sealed_length(path) // 8
        self.hashes: U64 = np.memmap(path, np.uint64, "r", shape=(n,)) if n else np.zeros(0, np.uint64)

    def release(self) -> None:
        """Return the memory to the system; the file remains."""
        if isinstance(self.hashes, np.memmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.hashes._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]  # not in numpy's types


def store_sets(
    corpus: Corpus,
    options: DedupOptions,
    sizes: Sizes,
    wanted: U8,
    folder: Path,
    *,
    resources: Resources,
    meter: Meter,
    stage: str,
) -> SetStore:
    """Shingle the texts that ``wanted`` marks by node, and store their sets."""
    path = folder / f"{stage}.u64"
    with meter.stage(stage, int(wanted.sum()), "documents") as progress:

        def make() -> dict[str, I64]:
            starts, at = np.zeros(corpus.n_nodes, np.int64), 0
            with sealed(path) as file:
                for nodes, sets in map_ordered(
                    lambda chunk: chunk_sets(corpus, chunk, options.shingle, wanted),
                    corpus.chunks,
                    threads=resources.n_threads,
                ):
                    starts[nodes] = at + sets.offsets[:-1]
                    at += len(sets.hashes)
                    file.write(np.ascontiguousarray(sets.hashes).data)
                    progress.advance(len(nodes))
            return {"starts": starts}

        starts = kept_arrays(folder / f"{stage}.arrow", make)["starts"]
    return SetStore(path, starts, sizes)


def verify_all(
    corpus: Corpus, options: DedupOptions, sizes: Sizes, runs: Runs, work: Path, *, resources: Resources, meter: Meter
) -> tuple[VerifiedMatches, SetStore]:
    """Verify every candidate; the compared sets remain available."""
    folder = work / "verification"
    make_work_folder(folder)
    arrays = runs.arrays()
    mean_shingles = int(sizes.n_shingles.mean()) if corpus.n_nodes else 0
    block_pairs = min(_MAX_PAIRS, resources.memory_bytes // 8 // (16 * mean_shingles + _PAGES_OF_A_PAIR))
    store = store_sets(
        corpus,
        options,
        sizes,
        _touched(arrays, corpus.n_nodes),
        folder,
        resources=resources,
        meter=meter,
        stage="shingle pairs",
    )
    with meter.stage("verify", sum(map(len, arrays)), "pairs") as progress:

        def make() -> dict[str, NDArray[Any]]:
            n_candidates, parts = 0, []
            blocks = merge_runs(arrays, block_pairs=block_pairs)
            for verified in verify_blocks(blocks, store, threads=resources.n_threads):
                n_candidates += len(verified)
                parts.append(verified.where(options.is_match(verified)))
                progress.advance(len(verified))
                store.release()
            joined = as_arrays(parts)
            parts.clear()
            left, right, n_common, n_left, n_right = (joined[name] for name in _FIELDS)
            matches = Matches(left, right, n_common, n_left, n_right)
            differs = _differences(matches, corpus, options, store, folder, threads=resources.n_threads)
            return {"n_candidates": np.array(n_candidates), **joined, "differs": differs}

        stored = kept_arrays(folder / "matches.arrow", make)
    matches = Matches(**{name: stored[name] for name in (*_FIELDS, "differs")})
    return VerifiedMatches(matches, int(stored["n_candidates"])), store


def verify_blocks(blocks: Iterable[Candidates], store: SetStore, *, threads: int) -> Iterator[Matches]:
    """Verify blocks of candidates, each split among the threads, in order."""
    for block in blocks:
        bounds = np.linspace(0, len(block), threads + 1).astype(int)
        pieces = [Candidates(block.left[a:b], block.right[a:b]) for a, b in pairwise(bounds)]
        yield from map_ordered(
            lambda piece: verify(piece, store.hashes, store.starts, store.ends), pieces, threads=threads
        )


def compare_in_store(store: SetStore, pairs: Iterable[Candidates], *, threads: int) -> Iterator[Matches]:
    """Yield the similarity of the texts of each pair, without a threshold."""
    for compared in verify_blocks(pairs, store, threads=threads):
        yield compared
        store.release()


def as_arrays(parts: list[Matches]) -> dict[str, U32]:
    """Return the joined parts, by field."""
    none = np.zeros(0, np.uint32)
    return {name: np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in _FIELDS}


def _differences(
    matches: Matches, corpus: Corpus, options: DedupOptions, store: SetStore, folder: Path, *, threads: int
) -> U8:
    wanted = np.zeros(corpus.n_nodes, np.uint8)
    wanted[matches.left] = wanted[matches.right] = 1
    nodes, parts = [np.zeros(0, np.uint32)], list[TextNumbers]()
    path = folder / "numbers.u64"  # on disk: a text can have as many numbers as words
    hashes = GrowingArray(path, np.uint64)

    def numbers_of(chunk: Chunk) -> tuple[U32, TextNumbers]:
        here, texts = chunk_texts(corpus, chunk, wanted)
        return here, TextNumbers.of(texts)

    for here, numbers in map_ordered(numbers_of, corpus.chunks, threads=threads):
        nodes.append(here)
        hashes.add(numbers.hashes)
        parts.append(replace(numbers, hashes=_NONE))
    rows = np.concatenate(nodes)  # ascending: nodes are numbered in order of first occurrence
    length, unit_words = options.shingle.length_in_words
    joined = TextNumbers.joined(parts, hashes.mapped().view(np.uint64))
    compared = Compared(
        hashes=store.hashes, starts=store.starts, ends=store.ends, numbers=joined, length=length,
        unit_words=unit_words, number_rows=rows,
    )  # fmt: skip
    differences = compared.differences(matches)
    path.unlink()
    return differences


def with_fields(matches: Matches, sizes: Sizes, corpus: Corpus, options: DedupOptions) -> Matches:
    """Mark the pairs of large groups that differ in fields of a form, and if asked for, those in nothing but names."""
    left, right, differs = matches.left, matches.right, differences_of(matches)
    group = components(left, right, corpus.n_nodes)
    is_open = np.isin(differs, [OTHER, PASSAGE_ADDED])
    is_open &= np.bincount(group, minlength=corpus.n_nodes)[group[left]] >= MIN_TEXTS
    if is_open.any():
        left, right = left[is_open], right[is_open]
        sampled = sample_of_groups(group, np.unique(group[left]))
        block = np.cumsum(sizes.n_shingles[sampled], dtype=np.int64) // _SHINGLES_A_BLOCK
        block = block[np.searchsorted(group[sampled], group[sampled])]
        blocks = np.split(sampled, np.flatnonzero(np.diff(block)) + 1)
        fields = Fields.joined([_steps(corpus, options, texts, group).fields() for texts in blocks])
        steps = _steps(corpus, options, np.concatenate([left, right]), group, fields)
        differs[is_open] = np.where(steps.differ(left, right), FIELDS, differs[is_open])
    if options.looks_for_names:
        differs = with_names(differs, corpus.first_row[np.stack([matches.left, matches.right])], corpus.chunks)
    return replace(matches, differs=differs)


def _steps(corpus: Corpus, options: DedupOptions, nodes: U32, group: U32, fields: Fields | None = None) -> Steps:
    wanted, parts = np.zeros(corpus.n_nodes, np.uint8), list[Steps]()
    wanted[nodes] = 1
    for chunk in corpus.chunks:
        here, sets = chunk_sets(corpus, chunk, options.shingle, wanted)
        steps = Steps.of(sets, here, group[here])
        parts.append(steps if fields is None else steps.at(fields))
    return Steps.joined(parts)


def with_names(differs: U8, rows_of_pairs: U32, chunks: Sequence[Chunk]) -> U8:
    """Mark the pairs of rows, shape (2, n_pairs), that differ in nothing but names; they were `OTHER`."""
    is_other = differs == OTHER
    rows, sides = np.unique(rows_of_pairs[:, is_other], return_inverse=True)
    hashes = np.zeros((len(rows), 2), np.uint64)
    for start in range(0, len(rows), _TEXTS_A_BLOCK):
        block = slice(start, start + _TEXTS_A_BLOCK)
        hashes[block] = [without_names(text) for text in texts_of(chunks, rows[block], CASED)]
    (rest_a, names_a), (rest_b, names_b) = hashes[sides.reshape(2, -1)].transpose(0, 2, 1)
    is_named = np.zeros(len(differs), np.bool_)
    is_named[is_other] = (rest_a == rest_b) & (names_a != names_b)
    return np.where(is_named, NAMES, differs)


def _touched(runs: list[U64], n_nodes: int) -> U8:
    touched = np.zeros(n_nodes, np.uint8)
    for run in runs:
        for start in range(0, len(run), 1 << 20):
            part = run[start : start + (1 << 20)]
            touched[(part >> np.uint64(32)).astype(np.uint32)] = 1
            touched[part.astype(np.uint32)] = 1
    return touched
