"""Compared kinds of signatures, at seven lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from labs.signatures.truncated_minhash import HASHES, TruncatedMinHash
from nearkin.kernels.projections import project_sparse
from nearkin.records import I64, U8, FeatureCounts
from nearkin.stages.features.shingles import Characters
from nearkin.stages.signatures.bit_minhash import BitMinHash
from nearkin.stages.signatures.bits import BitMethod
from nearkin.stages.signatures.simhash import Simhash
from nearkin.stages.signatures.statistics import Statistics
from nearkin.stages.signatures.topsig import TopSig, WeightedTopSig

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
