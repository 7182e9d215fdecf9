"""Results and number of rows of an SQL condition on a column of numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from labs.signatures.truth import WORD_THRESHOLD, SimilarPairs, similar_pairs
from nearkin.errors import ParameterError, SourceError
from nearkin.formats import parquet
from nearkin.records import F64, I32, I64, U64, Bool, ShingleSets
from nearkin.runs.progress import Progress
from nearkin.stages.documents.arrays import holds_characters
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.rows import ids_from_characters
from nearkin.stages.signatures.similarity_index import DIVISOR, TOLERANCE, SimilarityIndex, TextStream, interval

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


SHARED_EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Bins for the share of common k-grams; pairs that share all have a bin of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Similarity index by length of the document, and hits by share of common k-grams.

    Parameters
    ----------
    method : SimilarityIndex
        A method that sums the shingles divisible by 25.
    n_grams : int64 array, shape (n_documents,)
        Lengths of documents that have an index.
    size : float64 array, shape (n_documents,)
        Absolute value of the index.
    n_pairs : int64 array, shape (n_bins,)
        Pairs of related documents by share of common k-grams.
    measured, expected : float64 arrays, shape (n_bins,)
        Share of them that a tolerance of 0.3 finds; NaN in an empty bin.
    """

    method: SimilarityIndex
    n_grams: I64
    size: F64
    n_pairs: I64
    measured: F64
    expected: F64

    @property
    def scale_of_size(self) -> float:
        """Root mean square of size over expected scale: 1 in a random walk; NaN if no document has an index."""
        if not len(self.size):
            return float("nan")
        return float(np.sqrt(np.mean((self.size / scale(self.n_grams.astype(np.float64))) ** 2)))

    @property
    def slope(self) -> float:
        """Slope of log size by log length: 0.5 in a random walk, 1 in a sum of positive numbers."""
        seen = (self.size > 0) & (self.n_grams > 0)
        logs = np.log(self.n_grams[seen].astype(np.float64)), np.log(self.size[seen])
        return float(np.polyfit(*logs, 1)[0]) if seen.sum() > 2 and np.ptp(logs[0]) > 0 else float("nan")


def scale(n_grams: F64) -> F64:
    """Return the expected size of the sum of those of ``n_grams`` random shingles that are divisible by 25."""
    size: F64 = np.sqrt(n_grams / DIVISOR) * 2.0**32 / math.sqrt(12)
    return size


def hit_chance(shared: F64, ratio: F64 | float = 1.0, tolerance: float = TOLERANCE) -> F64:
    """Return the probability that a range of a tolerance around one sum contains the other.

    Parameters
    ----------
    shared : float64 array
        Cosine of the counts of k-grams: with equal lengths, the share in common.
    ratio : float64 array
        Scale of the second sum relative to that of the first.
    tolerance : float

    Examples
    --------
    >>> hit_chance(np.array([0.0, 0.9, 0.99, 1.0])).round(3)
    array([0.097, 0.373, 0.72 , 1.   ])
    """
    centre = shared * ratio
    width = ratio * np.sqrt(np.maximum(1 - shared**2, 1e-18))
    chance: F64 = (np.arctan((1 + tolerance - centre) / width) - np.arctan((1 - tolerance - centre) / width)) / np.pi
    return chance


def walk(
    method: SimilarityIndex, texts: pa.LargeStringArray, values: I64, has_value: Bool, left: I64, right: I64
) -> Walk:
    """Measure a method on some documents, and on some pairs of them."""
    shingles, offsets = TextStream(method.stream, method.variation).shingles(texts, method.k)
    n_grams = np.diff(offsets)
    counts = [_counts(shingles[a:b]) for a, b in pairwise(offsets.tolist())]
    both = has_value[left] & has_value[right]
    left, right = left[both], right[both]
    shared, ratio = np.zeros(len(left)), np.ones(len(left))
    for i, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        shared[i], ratio[i] = _cosine(counts[a], counts[b])
    reach = TOLERANCE * np.abs(values[left].astype(np.float64))
    is_hit = np.abs(values[left] - values[right]) < reach
    bins = np.where(shared >= 1 - 1e-12, len(SHARED_EDGES) - 1, np.digitize(shared, SHARED_EDGES[1:-1]))
    n_pairs = np.bincount(bins, minlength=len(SHARED_EDGES))
    with np.errstate(invalid="ignore"):
        measured, expected = (
            np.bincount(bins, weights, len(SHARED_EDGES)) / n_pairs
            for weights in (is_hit.astype(np.float64), hit_chance(shared, ratio))
        )
    size = np.abs(values[has_value].astype(np.float64))
    return Walk(
        method=method,
        n_grams=n_grams[has_value],
        size=size,
        n_pairs=n_pairs.astype(np.int64),
        measured=measured,
        expected=expected,
    )


def _counts(shingles: I32) -> tuple[I32, I64]:
    values, counts = np.unique(shingles, return_counts=True)
    return values, counts.astype(np.int64)


def _cosine(a: tuple[I32, I64], b: tuple[I32, I64]) -> tuple[float, float]:
    """Return the cosine of two counts, and the length of the second relative to the first."""
    _, at, bt = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    lengths = math.sqrt(float(a[1] @ a[1])), math.sqrt(float(b[1] @ b[1]))
    if not all(lengths):
        return 0.0, 1.0
    return min(1.0, float(a[1][at] @ b[1][bt]) / (lengths[0] * lengths[1])), lengths[1] / lengths[0]


FAMILY, WORDING = "family", "wording"
LABELS = {FAMILY: "same family", WORDING: f"Jaccard ≥ {WORD_THRESHOLD} of word 5-shingles"}


@dataclass(frozen=True, slots=True)
class FamilyTruth:
    """Ordered pairs of a query and another document that it should find.

    Parameters
    ----------
    name : str
    query, row : int64 arrays, shape (n_pairs,)
        Position of the query among the queries; row of the other document.
    n_queries : int
    """

    name: str
    query: I64
    row: I64
    n_queries: int

    def __len__(self) -> int:
        return len(self.query)

    @property
    def n_with_relatives(self) -> int:
        """Number of queries that should find something."""
        return len(np.unique(self.query))

    def mean_recall(self, found: Bool) -> float:
        """Return the mean share found, over the queries that should find something."""
        wanted = np.bincount(self.query, minlength=self.n_queries)
        got = np.bincount(self.query[found], minlength=self.n_queries)
        shares: F64 = got[wanted > 0] / wanted[wanted > 0]
        return float(shares.mean()) if len(shares) else float("nan")


def truths(
    families: Families, sets: ShingleSets, queries: I64, *, threads: int, progress: Progress
) -> tuple[FamilyTruth, ...]:
    """Return both truths."""
    pairs = similar_pairs(sets, WORD_THRESHOLD, threads=threads, progress=progress)
    return _by_family(families.family, queries), _by_wording(pairs, queries, len(families))


def _by_family(family: I64, queries: I64) -> FamilyTruth:
    order = np.argsort(family, kind="stable")
    starts = np.searchsorted(family[order], np.arange(family.max() + 2))
    sizes = np.diff(starts)[family[queries]]
    query = np.repeat(np.arange(len(queries)), sizes)
    within = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row = order[np.repeat(starts[family[queries]], sizes) + within]
    is_other = row != queries[query]
    return FamilyTruth(FAMILY, query[is_other], row[is_other], len(queries))


def _by_wording(pairs: SimilarPairs, queries: I64, n: int) -> FamilyTruth:
    place = np.full(n, -1, np.int64)
    place[queries] = np.arange(len(queries))
    ask = np.concatenate([pairs.left, pairs.right]).astype(np.int64)
    found = np.concatenate([pairs.right, pairs.left]).astype(np.int64)
    is_asked = place[ask] >= 0
    return FamilyTruth(WORDING, place[ask[is_asked]], found[is_asked], len(queries))


@dataclass(frozen=True, slots=True)
class FamilyFile:
    """File of the documents, in terms of the command line.

    Parameters
    ----------
    path : Path
    family, text : str
        Names of the columns.
    only : str, optional
        ``COLUMN=VALUE``: only rows with this value are used.
    leave_out : tuple of str
        Values that are no families, such as "other".
    """

    path: Path
    family: str
    text: str = "text"
    only: str | None = None
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.only is not None and not self.only.partition("=")[0].strip():
            raise ParameterError.of("only", "COLUMN=VALUE", self.only)
        if self.only is not None and "=" not in self.only:
            raise ParameterError.of("only", "COLUMN=VALUE", self.only)


@dataclass(frozen=True, slots=True)
class Families:
    """Documents that were read.

    Parameters
    ----------
    texts : LargeStringArray, shape (n_documents,)
    family : int64 array, shape (n_documents,)
        Numbers from 0.
    digests : int64 array, shape (n_documents,)
        Equal if the SHA-256 of the normalised texts is.
    n_left_out : int
        Number of documents of families that were omitted.
    n_without : int
        Number of rows without a text or a family.
    """

    texts: pa.LargeStringArray
    family: I64
    digests: I64
    n_left_out: int
    n_without: int

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def sizes(self) -> I64:
        """Number of documents in each family."""
        return np.bincount(self.family).astype(np.int64)


def read_families(file: FamilyFile) -> Families:
    """Read all documents of a file that have a text and a family.

    Raises
    ------
    SourceError
        The file cannot be read or lacks a column, or no family has two documents.
    """
    table = _table(file.path)
    only, _, wanted = (file.only or "").partition("=")
    for column in [file.text, file.family, *([only.strip()] if file.only else [])]:
        if column not in table.column_names:
            raise SourceError(
                f"{file.path} has no column {column!r}. Its columns are {', '.join(map(repr, table.column_names))}."
            )
    if file.only:
        table = table.filter(pc.equal(_strings(table, only.strip()), wanted.strip()))
    texts, names = _strings(table, file.text), _strings(table, file.family)
    has_both = pc.and_(
        pc.fill_null(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(texts)), 0), False),
        pc.fill_null(pc.greater(pc.utf8_length(names), 0), False),
    )
    is_left_out = pc.is_in(names, value_set=pa.array(file.leave_out, pa.large_string()))
    is_taken = pc.and_(has_both, pc.invert(is_left_out))
    texts, names = texts.filter(is_taken), names.filter(is_taken)
    family = names.dictionary_encode().indices.to_numpy().astype(np.int64)
    if not len(family) or np.bincount(family).max() < 2:
        raise SourceError(f"{file.path}: no two documents have the same {file.family!r}, so there is nothing to find.")
    n_both = int(pc.sum(has_both).as_py() or 0)
    return Families(texts, family, _digests(texts), n_both - len(texts), len(table) - n_both)


def _table(path: Path) -> pa.Table:
    """Read a file as a table."""
    name = path.name.removesuffix(".gz").removesuffix(".zst").lower()
    try:
        if name.endswith(".parquet"):
            return parquet.read_table(path)
        with pa.input_stream(str(path)) as stream:
            if name.endswith((".jsonl", ".ndjson")):
                return pyarrow.json.read_json(stream)
            if name.endswith((".csv", ".tsv")):
                parse = pyarrow.csv.ParseOptions(
                    delimiter="\t" if name.endswith(".tsv") else ",", newlines_in_values=True
                )
                return pyarrow.csv.read_csv(stream, parse_options=parse)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"Cannot read {path}: {error}.") from error
    raise SourceError(f"{path}: --documents accepts .parquet, .csv, .tsv and .jsonl files.")


def _strings(table: pa.Table, column: str) -> pa.LargeStringArray:
    """Return a column as texts."""
    values = table[column].combine_chunks()
    if holds_characters(values.type) and not pa.types.is_dictionary(values.type):
        return ids_from_characters(values)  # replaces invalid UTF-8
    try:
        return values.cast(pa.large_string())
    except pa.ArrowException as error:
        raise SourceError(f"The column {column!r} contains no texts: {error}.") from error


def _digests(texts: pa.LargeStringArray) -> I64:
    """Return a number for each text, equal if the normalised texts are."""
    numbers = dict[bytes, int]()
    digests = (hashlib.sha256(text.as_py().encode()).digest() for text in Normalisation().apply(texts))
    return np.array([numbers.setdefault(digest, len(numbers)) for digest in digests], np.int64)
