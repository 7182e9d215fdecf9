"""Results and number of rows of an SQL condition on a column of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from labs.similarity_index.truths import FamilyTruth
from nearkin.records import I64, U64, Bool
from nearkin.stages.signatures.similarity_index import interval

TOLERANCES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
DISTANCES = tuple(range(0, 25, 2))
ROWS, BANDS = (1, 2, 3, 4), (1, 4, 12)
_RANGE = np.iinfo(np.int64)
_BLOCK_QUERIES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundByColumn:
    """Result of a setting of a column.

    Parameters
    ----------
    column : str
        Key of the stored number.
    setting : float
        A tolerance, rows in a band, or a distance.
    n_rows : float
        Mean number of rows returned by a query, without its own.
    precision, recall, pooled_recall : dict of str to float
        By truth: share of correct rows among all returned; mean share found per query; and share found of all
        correct pairs.
    """

    column: str
    setting: float
    n_rows: float
    precision: dict[str, float]
    recall: dict[str, float]
    pooled_recall: dict[str, float]

    def f1(self, truth: str) -> float:
        """Return the harmonic mean of precision and recall; 0 if either is missing."""
        p, r = self.precision[truth], self.recall[truth]
        return 2 * p * r / (p + r) if p + r > 0 else 0.0


def _counted(
    column: str, setting: float, n_rows: float, truths: Sequence[FamilyTruth], is_found: Callable[[FamilyTruth], Bool]
) -> FoundByColumn:
    """Make the record of a setting from the rows it returns and the correct pairs among them."""
    precision, recall, pooled = {}, {}, {}
    for truth in truths:
        found = is_found(truth)
        n_found, n_queries = int(found.sum()), truth.n_queries
        precision[truth.name] = n_found / (n_rows * n_queries) if n_rows else float("nan")
        recall[truth.name] = truth.mean_recall(found)
        pooled[truth.name] = n_found / len(truth) if len(truth) else float("nan")
    return FoundByColumn(
        column=column, setting=setting, n_rows=n_rows, precision=precision, recall=recall, pooled_recall=pooled
    )


def by_range(
    column: str, values: I64, has_value: Bool, queries: I64, truths: Sequence[FamilyTruth]
) -> tuple[FoundByColumn, ...]:
    """Evaluate ``WHERE si > :low AND si < :high`` for every tolerance."""
    ranked = np.sort(values[has_value])
    found = []
    for tolerance in TOLERANCES:
        bounds = np.array([_bounds(int(values[row]), tolerance) for row in queries.tolist()], np.int64).reshape(-1, 2)
        low, high = bounds[:, 0], np.maximum(bounds[:, 1], bounds[:, 0] - 1)
        n = np.searchsorted(ranked, high, "right") - np.searchsorted(ranked, low, "left")
        itself = has_value[queries] & (values[queries] >= low) & (values[queries] <= high)
        n_rows = float(np.where(has_value[queries], n - itself, 0).mean())

        def is_found(truth: FamilyTruth, low: I64 = low, high: I64 = high) -> Bool:
            theirs = values[truth.row]
            both = has_value[truth.row] & has_value[queries[truth.query]]
            inside: Bool = both & (theirs >= low[truth.query]) & (theirs <= high[truth.query])
            return inside

        found.append(_counted(column, tolerance, n_rows, truths, is_found))
    return tuple(found)


def _bounds(si: int, tolerance: float) -> tuple[int, int]:
    low, high = interval(si, tolerance)
    return max(low, _RANGE.min + 1), min(high, _RANGE.max)


def by_keys(
    column: str, setting: float, keys: U64, queries: I64, truths: Sequence[FamilyTruth], has_key: Bool
) -> FoundByColumn:
    """Evaluate ``WHERE band = :key``, or several such conditions joined by OR; keys have the shape (n_columns, n)."""
    usable = has_key[queries]
    n = keys.shape[1]
    pairs = [np.zeros(0, np.int64)]
    for own in keys:
        rows = np.flatnonzero(has_key)
        rows = rows[np.argsort(own[rows], kind="stable")]
        ranked = own[rows]
        start = np.searchsorted(ranked, own[queries], "left")
        sizes = np.where(usable, np.searchsorted(ranked, own[queries], "right") - start, 0)
        query = np.repeat(np.arange(len(queries)), sizes)
        within = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        pairs.append(query * n + rows[np.repeat(start, sizes) + within])
    n_rows = (len(np.unique(np.concatenate(pairs))) - int(usable.sum())) / len(queries)

    def is_found(truth: FamilyTruth) -> Bool:
        same = (keys[:, queries[truth.query]] == keys[:, truth.row]).any(axis=0)
        found: Bool = same & usable[truth.query] & has_key[truth.row]
        return found

    return _counted(column, setting, n_rows, truths, is_found)


def mean_of(found: Sequence[FoundByColumn]) -> FoundByColumn:
    """Return the mean over several columns of a kind."""
    first = found[0]

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values))

    return FoundByColumn(
        column=first.column,
        setting=first.setting,
        n_rows=mean([one.n_rows for one in found]),
        precision={name: mean([one.precision[name] for one in found]) for name in first.precision},
        recall={name: mean([one.recall[name] for one in found]) for name in first.recall},
        pooled_recall={name: mean([one.pooled_recall[name] for one in found]) for name in first.pooled_recall},
    )


def by_bits(
    column: str, signatures: U64, queries: I64, truths: Sequence[FamilyTruth], has_bits: Bool
) -> tuple[FoundByColumn, ...]:
    """Evaluate ``WHERE bit_count(sig # :sig) <= :d`` for every distance; a scan in SQL."""
    counts = np.zeros(65, np.int64)
    rows, usable = signatures[has_bits], queries[has_bits[queries]]
    for start in range(0, len(usable), _BLOCK_QUERIES):
        asked = signatures[usable[start : start + _BLOCK_QUERIES]]
        counts += np.bincount(np.bitwise_count(asked[:, None] ^ rows[None, :]).ravel(), minlength=65)
    counts[0] -= len(usable)
    returned = np.cumsum(counts) / len(queries)

    def within(distance: int) -> Callable[[FamilyTruth], Bool]:
        def is_found(truth: FamilyTruth) -> Bool:
            asked = queries[truth.query]
            near = np.bitwise_count(signatures[asked] ^ signatures[truth.row]) <= distance
            found: Bool = near & has_bits[asked] & has_bits[truth.row]
            return found

        return is_found

    return tuple(_counted(column, d, float(returned[d]), truths, within(d)) for d in DISTANCES)
