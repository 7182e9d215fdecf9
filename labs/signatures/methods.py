"""Compared kinds of signatures, at seven lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa

from labs.signatures.truncated_minhash import HASHES, TruncatedMinHash
from nearkin.engines.local import map_ordered
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.signatures import project_sparse
from nearkin.records import I64, U8, U64, BitSignatures, FeatureCounts, ShingleSets
from nearkin.runs.progress import Progress
from nearkin.stages.features.shingles import Characters, count_features
from nearkin.stages.signatures.bits import BitMethod
from nearkin.stages.signatures.minhash import BitMinHash
from nearkin.stages.signatures.simhash import Simhash
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.stages.signatures.topsig import TopSig, WeightedTopSig, weights

BITS = (16, 32, 64, 128, 256, 512, 1024)
FEATURES = Characters(4)
LONGEST = BITS[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of signature.

    Parameters
    ----------
    key : str
        Name in files.
    label : str
        Name for people.
    needs_statistics : bool
    is_advised : bool
        Whether it may be recommended; kinds included only for comparison may not.
    has_code_density : bool
        Whether the density of its vectors is that of the authors' code instead of their text.
    counts_once : bool
        Whether a feature counts once, regardless of its frequency in a document.
    """

    key: str
    label: str
    needs_statistics: bool = False
    is_advised: bool = True
    has_code_density: bool = False
    counts_once: bool = False


SIMHASH = Kind(key="simhash", label="Simhash")
FAST_SIMHASH = Kind(key="simhash-fast", label="Simhash, fast hash")
TOPSIG = Kind(key="topsig", label="TopSig")
WEIGHTED = Kind(key="weighted-topsig", label="weighted TopSig", needs_statistics=True)
SIMPLE_MINHASH = Kind(key="simple-minhash", label="simple Minhash", is_advised=False)
MINHASH = Kind(key="minhash", label="MinHash in bits")
TOPSIG_CODE = Kind(key="topsig-code", label="TopSig, code's density", is_advised=False, has_code_density=True)
WEIGHTED_CODE = Kind(
    key="weighted-topsig-code",
    label="weighted TopSig, code's density",
    needs_statistics=True,
    is_advised=False,
    has_code_density=True,
)
SIMHASH_ONCE = Kind(
    key="simhash-once", label="Simhash, fast hash, each feature once", is_advised=False, counts_once=True
)
TOPSIG_ONCE = Kind(key="topsig-once", label="TopSig, each feature once", is_advised=False, counts_once=True)

KINDS = (SIMHASH, TOPSIG, WEIGHTED, SIMPLE_MINHASH, FAST_SIMHASH, MINHASH)
"""Kinds shown in the figures: the article's four, then ours."""
PUBLISHED_KINDS = KINDS[:4]
PROJECTIONS = (SIMHASH, TOPSIG, WEIGHTED)
CUT_KINDS = (SIMHASH, FAST_SIMHASH, SIMHASH_ONCE, SIMPLE_MINHASH)
"""Kinds whose shorter signatures are parts of the longest."""
ALL_KINDS = (*KINDS, TOPSIG_CODE, WEIGHTED_CODE, SIMHASH_ONCE, TOPSIG_ONCE)


def code_density(bits: int) -> float:
    """Return the share of a vector that is not 0 in the authors' published code; their text says 1/√bits."""
    return 1 / 16 if bits <= 256 else 1 / 32


def method(kind: Kind, bits: int, statistics: Statistics) -> BitMethod:
    """Return the method of a kind at a length."""
    density = code_density(bits) if kind.has_code_density else None
    if kind.needs_statistics:
        return WeightedTopSig(statistics, bits, density)
    if kind in (TOPSIG, TOPSIG_CODE, TOPSIG_ONCE):
        return TopSig(bits, density)
    if kind == SIMPLE_MINHASH:
        return TruncatedMinHash(bits)
    return BitMinHash(bits) if kind == MINHASH else Simhash(bits, "shake256" if kind == SIMHASH else "fast")


def cut(kind: Kind, longest: U8, bits: int) -> U8:
    """Cut signatures of a shorter length from the longest ones.

    Parameters
    ----------
    kind : Kind
        One of `CUT_KINDS`.
    longest : uint8 array, shape (n_documents, LONGEST // 8)
    bits : int

    Examples
    --------
    >>> longest = np.arange(128, dtype=np.uint8)[None]
    >>> cut(SIMHASH, longest, 16).tolist(), cut(SIMPLE_MINHASH, longest, 32).tolist()
    ([[0, 1]], [[0, 32, 64, 96]])
    """
    if kind != SIMPLE_MINHASH:
        return np.ascontiguousarray(longest[:, : bits // 8])
    parts = np.unpackbits(longest.reshape(len(longest), len(HASHES), -1), axis=2)[:, :, : bits // len(HASHES)]
    return np.packbits(parts.reshape(len(longest), -1), axis=1)


def once(counted: FeatureCounts) -> FeatureCounts:
    """Count every distinct feature of a document once."""
    return replace(counted, counts=np.ones_like(counted.counts))


def project(counted: FeatureCounts, weights: I64, bits: int, density: float | None = None) -> U8:
    """Project as `WeightedTopSig`, with weights computed before: they are the same for all lengths."""
    plain = TopSig(bits, density)
    return project_sparse(
        counted.hashes, weights, counted.offsets, n_bits=bits, n_nonzero=plain.n_nonzero, seed=plain.seed
    )


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
