"""The experiment on a much larger collection: results of one number, and of better ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from labs.similarity_index.columns import (
    BANDS,
    ROWS,
    Families,
    FamilyTruth,
    FoundByColumn,
    Walk,
    by_bits,
    by_keys,
    by_range,
    mean_of,
    truths,
    walk,
)
from labs.similarity_index.runs import label
from nearkin.records import I64, BitSignatures, ShingleSets
from nearkin.runs.progress import Progress
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Words, count_features
from nearkin.stages.search.bands import Bands
from nearkin.stages.signatures.minhash import BitMinHash, MinHash
from nearkin.stages.signatures.simhash import Simhash
from nearkin.stages.signatures.similarity_index import SimilarityIndex

LENGTH, SHA, BITS, VOTES = "words", "sha-256", "minhash-64-bits", "simhash-64-bits"
_SHINGLES = Words(5)
_MAX_WALKED = 5
_WALKS = (SimilarityIndex(k=40), SimilarityIndex(k=4, w=5))


@dataclass(frozen=True, slots=True)
class Column:
    """A stored number: its key, its label, and the SQL condition."""

    key: str
    label: str
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Larger:
    """All measurements on the documents.

    Parameters
    ----------
    families : Families
    queries : int64 array, shape (n_queries,)
    truths : tuple of FamilyTruth
        Similar pairs by family, and by wording.
    methods : tuple of SimilarityIndex
    n_without_index : dict of str to int
        Number of documents without one, by the key of the column.
    columns : tuple of Column
    found : tuple of FoundByColumn
        One record per setting of a column.
    walks : tuple of Walk
    """

    families: Families
    queries: I64
    truths: tuple[FamilyTruth, ...]
    methods: tuple[SimilarityIndex, ...]
    n_without_index: dict[str, int]
    columns: tuple[Column, ...]
    found: tuple[FoundByColumn, ...]
    walks: tuple[Walk, ...]

    def of(self, key: str) -> tuple[FoundByColumn, ...]:
        """Return all settings of a column."""
        return tuple(one for one in self.found if one.column == key)

    def at(self, key: str, setting: float) -> FoundByColumn:
        """Return one of them."""
        return next(one for one in self.of(key) if one.setting == setting)

    def best(self, key: str, truth: str) -> FoundByColumn:
        """Return the setting with the maximum F1."""
        return max(self.of(key), key=lambda one: one.f1(truth))


def bands_key(n_bands: int) -> str:
    """Return the key for a number of columns with band keys."""
    return f"minhash-{n_bands}-columns"


def si_key(method: SimilarityIndex) -> str:
    """Return the key of a similarity index.

    Examples
    --------
    >>> si_key(SimilarityIndex())
    'si-43B-k40'
    """
    return f"si-{method.name}-k{method.k}"


def columns_of(methods: Sequence[SimilarityIndex]) -> tuple[Column, ...]:
    """Return all compared columns, in the order of tables."""
    of_range = "WHERE n > :low AND n < :high"
    several = "WHERE band_1 = :key_1 OR band_2 = :key_2 …"
    return (
        Column(SHA, "SHA-256 of the text", "WHERE sha = :sha"),
        *(Column(si_key(m), f"SI {label(m)}", of_range) for m in methods),
        Column(LENGTH, "length in words", of_range),
        Column(bands_key(1), "one MinHash key", "WHERE band = :key"),
        *(Column(bands_key(n), f"{n} MinHash keys", several) for n in BANDS[1:]),
        Column(BITS, "64 bits of MinHash", "WHERE bit_count(sig # :sig) <= :d"),
        Column(VOTES, "64 bits of Simhash", "WHERE bit_count(sig # :sig) <= :d"),
    )


def measure(
    families: Families, methods: Sequence[SimilarityIndex], n_queries: int, *, seed: int, threads: int,
    progress: Progress,
) -> Larger:  # fmt: skip
    """Measure everything on some documents, with some of them as queries."""
    n = len(families)
    draw = np.random.default_rng(seed)
    queries = np.sort(draw.choice(n, n_queries, replace=False)) if n > n_queries else np.arange(n)
    normalised = Normalisation().apply(families.texts)
    sets = _SHINGLES.sets(normalised)
    wanted = truths(families, sets, queries, threads=threads, progress=progress)
    progress.start("search by one number", len(methods) + 3, "steps")
    found = [by_keys(SHA, 0, families.digests.astype(np.uint64)[None], queries, wanted, np.ones(n, np.bool_))]
    n_without, walks = dict[str, int](), list[Walk]()
    for method in methods:
        made = method.index(families.texts)
        n_without[si_key(method)] = int((~made.has_value).sum())
        found += by_range(si_key(method), made.values, made.has_value, queries, wanted)
        progress.advance(1)
    found += by_range(LENGTH, sets.n_units.astype(np.int64), sets.n_units > 0, queries, wanted)
    progress.advance(1)
    found += [*_by_bands(sets, queries, wanted), *_by_signatures(normalised, sets, queries, wanted)]
    progress.advance(1)
    left, right = _pairs(wanted, queries, draw)
    for method in _WALKS:
        made = method.index(families.texts)
        walks.append(walk(method, families.texts, made.values, made.has_value, left, right))
    progress.advance(1)
    progress.finish()
    return Larger(
        families=families,
        queries=queries,
        truths=wanted,
        methods=tuple(methods),
        n_without_index=n_without,
        columns=columns_of(methods),
        found=tuple(found),
        walks=tuple(walks),
    )


def _by_bands(sets: ShingleSets, queries: I64, wanted: Sequence[FamilyTruth]) -> list[FoundByColumn]:
    """Evaluate one key per document, as the mean over all that it could be, and several keys."""
    signatures = MinHash(max(BANDS) * max(ROWS)).sign(sets)
    has_key = sets.sizes > 0
    found = []
    for n_bands in BANDS:
        for rows in ROWS:
            keys = Bands(max(BANDS), rows).keys(signatures)
            chosen = [keys[:n_bands]] if n_bands > 1 else [key[None] for key in keys]
            found.append(
                mean_of([by_keys(bands_key(n_bands), rows, some, queries, wanted, has_key) for some in chosen])
            )
    return found


def _by_signatures(
    normalised: pa.LargeStringArray, sets: ShingleSets, queries: I64, wanted: Sequence[FamilyTruth]
) -> list[FoundByColumn]:
    counted = count_features(normalised, _SHINGLES)
    has_bits = sets.sizes > 0
    found: list[FoundByColumn] = []
    for key, signed in ((BITS, BitMinHash(64).sign(counted)), (VOTES, Simhash(64, "fast").sign(counted))):
        words = BitSignatures(signed.packed, signed.has_features, "").words[:, 0]
        found += by_bits(key, np.ascontiguousarray(words), queries, wanted, has_bits)
    return found


def _pairs(wanted: Sequence[FamilyTruth], queries: I64, draw: np.random.Generator) -> tuple[I64, I64]:
    """Select rows of correct pairs, few per query, because a large family would outweigh all others."""
    parts = []
    for truth in wanted:
        order = draw.permutation(len(truth))
        order = order[np.argsort(truth.query[order], kind="stable")]
        asked = truth.query[order]
        place = np.arange(len(asked)) - np.searchsorted(asked, asked)
        parts.append((queries[asked], truth.row[order], place < _MAX_WALKED))
    left, right, is_taken = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return left[is_taken], right[is_taken]
