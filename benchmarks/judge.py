"""Answers against the truth: recall, also by kind of edit and by similarity, precision, and what was dropped wrongly.

- A true pair is found if it was reported, or lies inside one reported cluster, or (where only flags are given) if
  both of its documents are flagged. Clusters and flags are judged generously: they need not know which pair they
  mean.
- Precision is the share of reported pairs (for clusters: of all pairs inside them) that are true.
- Dropped: all but one document of each cluster of reported pairs. Dropped alone: those that resemble no other
  document at the threshold, so that nothing like them may be left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from truth import TruePairs, pair_keys

I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
SIMILARITY_BANDS = ((0.8, 0.85), (0.85, 0.9), (0.9, 0.95), (0.95, 1.0), (1.0, 1.01))


@dataclass(frozen=True, slots=True)
class Share:
    """``n_found`` of ``n_all``."""

    n_found: int
    n_all: int

    @property
    def value(self) -> float:
        """In [0, 1]; NaN of nothing."""
        return self.n_found / self.n_all if self.n_all else float("nan")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How good one answer is."""

    recall: Share
    precision: Share | None  # None for flags: they name no pair
    by_edit: dict[str, Share]
    by_similarity: dict[str, Share]
    n_dropped: int
    n_dropped_alone: int
    candidate_recall: Share | None = None
    candidate_precision: Share | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool reported: exactly one of the four.

    Parameters
    ----------
    keys : int64 array or None
        Pairs, as ``truth.pair_keys`` makes them, sorted.
    clusters : int64 array or None
        A label for each row.
    flags : bool array or None
        Rows that are called duplicates.
    copies : int64 array or None
        With ``keys``: the row that stands for each row; pairs are between these alone.
    candidate_keys : int64 array or None
        Pairs from which ``keys`` were picked.
    dropped : bool array or None
        Where the tool itself says which rows go.
    """

    keys: I64 | None = None
    clusters: I64 | None = None
    flags: Bools | None = None
    copies: I64 | None = None
    candidate_keys: I64 | None = None
    dropped: Bools | None = None

    def holds(self, a: I64, b: I64) -> Bools:
        """Which of these pairs were found."""
        if self.keys is not None:
            if self.copies is None:
                return np.isin(pair_keys(a, b), self.keys)
            a, b = self.copies[a], self.copies[b]
            return np.asarray((a == b) | np.isin(pair_keys(a, b), self.keys))
        if self.clusters is not None:
            return np.asarray(self.clusters[a] == self.clusters[b])
        if self.flags is not None:
            return self.flags[a] & self.flags[b]
        return np.zeros(len(a), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Planted:
    """What was planted, and the true pairs of the corpus."""

    pairs: TruePairs
    edit_of_pair: NDArray[np.object_]
    n_documents: int
    has_twin: Bools = field(repr=False)

    @classmethod
    def of(cls, corpus: pa.Table, pairs: TruePairs) -> Planted:
        """Name each true pair after the edit between its two documents."""
        family = corpus.column("family").to_numpy()
        edit = np.array(corpus.column("edit").to_pylist(), dtype=object)
        a, b = pairs.a, pairs.b
        names = np.where(edit[a] == "base", edit[b], np.where(edit[b] == "base", edit[a], "two copies"))
        names = np.where(family[a] == family[b], names, "not planted")
        has_twin = np.zeros(corpus.num_rows, dtype=np.bool_)
        has_twin[a] = has_twin[b] = True
        return cls(pairs, names.astype(object), corpus.num_rows, has_twin)

    def judge(self, found: Found) -> Verdict:
        """The verdict on one answer."""
        pairs = self.pairs
        is_found = found.holds(pairs.a, pairs.b)
        by_edit = {
            str(name): _share(is_found[self.edit_of_pair == name]) for name in sorted(set(self.edit_of_pair.tolist()))
        }
        by_similarity = {
            "1" if low == 1.0 else f"{low:g} to {high:g}": _share(
                is_found[(pairs.jaccard >= low) & (pairs.jaccard < high)]
            )
            for low, high in SIMILARITY_BANDS
        }
        is_dropped = self._dropped(found)
        candidates = None if found.candidate_keys is None else Found(keys=found.candidate_keys)
        return Verdict(
            recall=_share(is_found),
            precision=self._precision(found),
            by_edit=by_edit,
            by_similarity=by_similarity,
            n_dropped=int(is_dropped.sum()),
            n_dropped_alone=int((is_dropped & ~self.has_twin).sum()),
            candidate_recall=_share(candidates.holds(pairs.a, pairs.b)) if candidates else None,
            candidate_precision=self._precision(candidates) if candidates else None,
        )

    def _precision(self, found: Found) -> Share | None:
        """Reported pairs that are true."""
        if found.keys is not None:
            return Share(int(np.isin(found.keys, self.pairs.keys).sum()), len(found.keys))
        if found.clusters is not None:
            sizes = np.unique(found.clusters, return_counts=True)[1].astype(np.int64)
            return Share(int(found.holds(self.pairs.a, self.pairs.b).sum()), int((sizes * (sizes - 1) // 2).sum()))
        return None

    def _dropped(self, found: Found) -> Bools:
        """As the tool says; else all but the first of each cluster; a flagged document is dropped."""
        if found.dropped is not None:
            return found.dropped
        if found.flags is not None:
            return found.flags
        clusters = found.clusters
        if clusters is None:
            keys = found.keys if found.keys is not None else np.zeros(0, np.int64)
            a, b = keys >> 32, keys & 0xFFFFFFFF
            clusters = components(self.n_documents, a, b)
        first = np.unique(clusters, return_index=True)[1]
        is_dropped = np.ones(self.n_documents, dtype=np.bool_)
        is_dropped[first] = False
        return is_dropped


def components(n: int, a: I64, b: I64) -> I64:
    """The smallest row that each row is connected to."""
    parent = list(range(n))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for left, right in zip(a.tolist(), b.tolist(), strict=True):
        low, high = sorted((root(left), root(right)))
        parent[high] = low
    return np.array([root(row) for row in range(n)], dtype=np.int64)


def _share(mask: Bools) -> Share:
    """How many are true."""
    return Share(int(mask.sum()), len(mask))


def read_peer_answer(folder: Path) -> Found | None:
    """What a peer's runner left; None when it only told its time."""

    def numbers(name: str) -> I64 | None:
        path = folder / f"{name}.bin"
        return np.fromfile(path, dtype=np.int64) if path.is_file() else None

    def keys(name: str) -> I64 | None:
        flat = numbers(name)
        return None if flat is None else np.unique(pair_keys(flat[0::2], flat[1::2]))

    pairs, clusters, flags = keys("pairs"), numbers("clusters"), numbers("flags")
    if pairs is None and clusters is None and flags is None:
        return None
    return Found(pairs, clusters, None if flags is None else flags.astype(np.bool_), None, keys("candidates"))


@dataclass(frozen=True, slots=True)
class NearkinAnswer:
    """What a finished run of Nearkin holds.

    Parameters
    ----------
    found : Found
    jaccard : float64 array
        As reported, in the order of ``listed``.
    listed : int64 array
        Keys of all pairs as they stand in ``pairs.parquet``, copies included.
    """

    found: Found
    jaccard: NDArray[np.float64]
    listed: I64


def read_nearkin_answer(run: Path) -> NearkinAnswer:
    """Pairs and copies of a run directory, as rows of the corpus (ids are ``d`` and the row)."""
    documents = pq.read_table(run / "documents.parquet", columns=["id", "copy_of", "keep"])
    pairs = pq.read_table(run / "pairs.parquet", columns=["id_a", "id_b", "jaccard"])
    rows = _rows(documents.column("id"))
    n_documents = len(rows)
    copy_of = documents.column("copy_of").combine_chunks()
    is_copy = copy_of.is_valid().to_numpy(zero_copy_only=False)
    stands_for = components(n_documents, rows[is_copy], _rows(copy_of.drop_null()))
    a, b = _rows(pairs.column("id_a")), _rows(pairs.column("id_b"))
    is_kept = np.zeros(n_documents, dtype=np.bool_)
    is_kept[rows] = documents.column("keep").to_numpy()
    keys = np.unique(pair_keys(stands_for[a], stands_for[b]))
    keys = keys[(keys >> 32) != (keys & 0xFFFFFFFF)]
    return NearkinAnswer(
        found=Found(keys=keys, copies=stands_for, dropped=~is_kept),
        jaccard=pairs.column("jaccard").to_numpy(),
        listed=pair_keys(a, b),
    )


def _rows(ids: pa.ChunkedArray | pa.Array) -> I64:
    """Row numbers from the ids of a generated corpus."""
    numbers = pc.cast(pc.utf8_slice_codeunits(ids.cast(pa.string()), 1), pa.int64())
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)
