"""Signatures of every document in two passes: the first counts, the second uses the statistics of all documents.

Each pass counts a batch of documents once for all kinds and lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from labs.signatures.methods import (
    BITS,
    CUT_KINDS,
    FEATURES,
    LONGEST,
    MINHASH,
    TOPSIG,
    TOPSIG_CODE,
    TOPSIG_ONCE,
    WEIGHTED,
    WEIGHTED_CODE,
    Kind,
    code_density,
    cut,
    method,
    once,
    project,
)
from nearkin.engines.local import map_ordered
from nearkin.kernels.buffers import text_buffers
from nearkin.records import I64, U8, U64, BitSignatures, FeatureCounts, ShingleSets
from nearkin.runs.progress import Progress
from nearkin.stages.features.shingles import count_features
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.stages.signatures.topsig import weights

DRIFT_BITS = (32, 64, 256)
_FIRST_SNAPSHOT = 8
_BATCH_BYTES, _BATCH_DOCUMENTS = 4 << 20, 1024
_AT_EACH_LENGTH = (TOPSIG, TOPSIG_CODE, TOPSIG_ONCE, MINHASH)
Packed = dict[tuple[str, int], U8]
Name = TypeVar("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCorpus:
    """All signatures, and the data they were made with.

    Parameters
    ----------
    packed : mapping of (key of a kind, bits) to uint8 array, shape (n_documents, bits // 8)
    online : mapping of bits to uint8 array
        Weighted TopSig, each document with the statistics up to itself.
    early : mapping of (n, bits) to uint8 array
        Weighted TopSig with the statistics of the first ``n`` documents.
    sets : ShingleSets
        Distinct features of each document.
    n_occurrences : int64 array, shape (n_documents,)
        Number of features of each document, counting repeats.
    statistics : Statistics
        Statistics of all documents.
    """

    packed: Mapping[tuple[str, int], U8]
    online: Mapping[int, U8]
    early: Mapping[tuple[int, int], U8]
    sets: ShingleSets
    n_occurrences: I64
    statistics: Statistics

    def signatures(self, kind: Kind, bits: int, rows: I64 | None = None) -> BitSignatures:
        """Return signatures of all documents, or of some, in the form for the stages."""
        packed = self.packed[kind.key, bits]
        return as_signatures(packed if rows is None else packed[rows], f"{kind.key};bits={bits}")


def as_signatures(packed: U8, fingerprint: str) -> BitSignatures:
    """Return signatures of documents that all have features."""
    return BitSignatures(packed, np.ones(len(packed), np.bool_), fingerprint)


def sign_all(texts: pa.LargeStringArray, *, threads: int, progress: Progress) -> SignedCorpus:
    """Sign texts by all kinds at all lengths.

    Parameters
    ----------
    texts : LargeStringArray
        Texts that are not empty.
    """
    unweighted, online, snapshots, (sets, n_occurrences) = _first_pass(texts, threads, progress)
    statistics = snapshots.pop(len(texts))
    weighted, early = _second_pass(texts, statistics, snapshots, threads, progress)
    return SignedCorpus(
        packed=unweighted | weighted,
        online=online,
        early=early,
        sets=sets,
        n_occurrences=n_occurrences,
        statistics=statistics,
    )


def snapshot_sizes(n_documents: int) -> tuple[int, ...]:
    """Return the numbers of documents after which statistics are captured: doubling up to all.

    Examples
    --------
    >>> snapshot_sizes(50), snapshot_sizes(8)
    ((8, 16, 32, 50), (8,))
    """
    sizes = []
    n = _FIRST_SNAPSHOT
    while n < n_documents:
        sizes.append(n)
        n *= 2
    return (*sizes, n_documents)


def _batches(texts: pa.LargeStringArray) -> Iterator[pa.LargeStringArray]:
    """Yield slices of a few megabytes that end at snapshots."""
    _, offsets = text_buffers(texts)
    start = 0
    for stop in snapshot_sizes(len(texts)):
        while start < stop:
            end = int(np.searchsorted(offsets, offsets[start] + _BATCH_BYTES, side="right")) - 1
            end = max(start + 1, min(end, stop, start + _BATCH_DOCUMENTS))
            yield texts.slice(start, end - start)
            start = end


def _first_pass(
    texts: pa.LargeStringArray, threads: int, progress: Progress
) -> tuple[Packed, dict[int, U8], dict[int, Statistics], tuple[ShingleSets, I64]]:
    """Make plain signatures, growing statistics, and signatures by these."""
    none = Statistics.of([])
    made = [(kind, LONGEST) for kind in CUT_KINDS] + [(kind, bits) for kind in _AT_EACH_LENGTH for bits in BITS]
    makers = [(kind, method(kind, bits, none)) for kind, bits in made]

    def sign(batch: pa.LargeStringArray) -> tuple[FeatureCounts, Packed]:
        counted = count_features(batch, FEATURES)
        as_sets = once(counted)
        return counted, {
            (kind.key, maker.bits): maker.sign(as_sets if kind.counts_once else counted).packed
            for kind, maker in makers
        }

    progress.start("count and sign", len(texts), "documents")
    growing, snapshots, wanted = GrowingStatistics(FEATURES.fingerprint), {}, set(snapshot_sizes(len(texts)))
    parts: list[Packed] = []
    online: list[dict[int, U8]] = []
    hashes: list[U64] = []
    sizes: list[I64] = []
    occurrences: list[I64] = []
    for counted, packed in map_ordered(sign, _batches(texts), threads=threads):
        of_now = growing.add_and_weigh(counted)
        online.append({bits: project(counted, of_now, bits) for bits in DRIFT_BITS})
        if growing.n_documents in wanted:
            snapshots[growing.n_documents] = growing.frozen()
        parts.append(packed)
        hashes.append(counted.hashes.copy())  # a view would keep a longer buffer alive
        sizes.append(np.diff(counted.offsets))
        occurrences.append(counted.n_occurrences)
        progress.advance(len(counted))
    progress.finish()
    joined = _joined(parts)
    for kind in CUT_KINDS:
        longest = joined[kind.key, LONGEST]
        joined |= {(kind.key, bits): cut(kind, longest, bits) for bits in BITS[:-1]}
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    n_occurrences = np.concatenate(occurrences)
    sets = ShingleSets(np.concatenate(hashes), offsets, n_occurrences, FEATURES.fingerprint)
    return joined, _joined(online), snapshots, (sets, n_occurrences)


def _second_pass(
    texts: pa.LargeStringArray,
    statistics: Statistics,
    snapshots: Mapping[int, Statistics],
    threads: int,
    progress: Progress,
) -> tuple[Packed, dict[tuple[int, int], U8]]:
    """Make weighted signatures, by the statistics of all documents and of the first ones."""

    def sign(batch: pa.LargeStringArray) -> tuple[Packed, dict[tuple[int, int], U8]]:
        counted = count_features(batch, FEATURES)
        of_all = weights(counted, statistics)
        packed = {(WEIGHTED.key, bits): project(counted, of_all, bits) for bits in BITS}
        packed |= {(WEIGHTED_CODE.key, bits): project(counted, of_all, bits, code_density(bits)) for bits in BITS}
        early: dict[tuple[int, int], U8] = {}
        for n, of_first in snapshots.items():
            by_first = weights(counted, of_first)
            early |= {(n, bits): project(counted, by_first, bits) for bits in DRIFT_BITS}
        return packed, early

    progress.start("sign with weights", len(texts), "documents")
    parts, early_parts = [], []
    for packed, early in map_ordered(sign, _batches(texts), threads=threads):
        parts.append(packed)
        early_parts.append(early)
        progress.advance(len(next(iter(packed.values()))))
    progress.finish()
    return _joined(parts), _joined(early_parts)


def _joined(parts: list[dict[Name, U8]]) -> dict[Name, U8]:
    """Stack the rows of all batches."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
