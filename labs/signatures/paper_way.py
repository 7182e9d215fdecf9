"""The article's own way of making signatures: one hash or lookup per occurrence, vectors in SQLite in memory.

It is included to compare times. After the hashes, it uses numpy, so that the comparison is one of hashes and lookups
instead of Python's loops: this makes the article's way faster than it was.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from labs.signatures.methods import BITS, FEATURES, PUBLISHED_KINDS, SIMHASH, SIMPLE_MINHASH, TOPSIG, method
from labs.signatures.timing import Timings
from labs.signatures.truncated_minhash import HASHES
from nearkin.records import F64, I64
from nearkin.runs.progress import Progress
from nearkin.stages.features.shingles import count_features
from nearkin.stages.signatures.statistics import Statistics

_MAX_DOCUMENTS, _MAX_FEATURES = 3, 60_000
_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class PaperWay:
    """The article's way for a few documents, compared with ours.

    Parameters
    ----------
    key : str
    bits : int
    seconds_per_feature : float
        Time of the article's way.
    ratio : float
        Time relative to ours per feature, over the documents of the timing.
    n_equal : int or None
        Number of documents with the same signature as ours; None if the vectors are random.
    """

    key: str
    bits: int
    seconds_per_feature: float
    ratio: float
    n_equal: int | None


@dataclass(frozen=True, slots=True)
class PaperWays:
    """Results of all kinds, and the number of documents and features."""

    rows: tuple[PaperWay, ...]
    n_documents: int
    n_features: int

    @property
    def compared(self) -> tuple[int, int]:
        """Number of signatures equal to ours bit for bit, and of all that are not random."""
        found = [row.n_equal for row in self.rows if row.n_equal is not None]
        return sum(found), len(found) * self.n_documents

    def of(self, key: str, bits: int) -> PaperWay:
        """Return the result for a kind and a length."""
        return next(row for row in self.rows if (row.key, row.bits) == (key, bits))


def time_paper_way(
    texts: pa.LargeStringArray, n_occurrences: I64, statistics: Statistics, timings: Timings, progress: Progress
) -> PaperWays:
    """Sign a few documents of medium length in the article's way."""
    rows = _middling(n_occurrences)
    chosen = texts.take(pa.array(rows))
    documents = [list(_windows(text)) for text in chosen.to_pylist()]
    n_features = sum(map(len, documents))
    counted = count_features(chosen, FEATURES)
    results = []
    progress.start("the article's way", len(PUBLISHED_KINDS) * len(BITS), "steps")
    for kind in PUBLISHED_KINDS:
        for bits in BITS:
            sign = _signer(kind.key, bits, documents)
            started = time.thread_time()
            signed = [sign(document) for document in documents]
            each = (time.thread_time() - started) / max(1, n_features)
            n_equal = None
            if kind in (SIMHASH, SIMPLE_MINHASH):
                ours = method(kind, bits, statistics).sign(counted).packed
                n_equal = sum(bytes(row) == theirs for row, theirs in zip(ours, signed, strict=True))
            ours_each = timings.of(kind.key, bits).mean / timings.mean_features
            results.append(PaperWay(kind.key, bits, each, each / ours_each, n_equal))
            progress.advance(1)
    progress.finish()
    return PaperWays(tuple(results), len(documents), n_features)


def _middling(n_occurrences: I64) -> list[int]:
    """Return rows around the median length, as many as are not too long together, at least one."""
    order = np.argsort(n_occurrences, kind="stable")
    around = sorted(range(len(order)), key=lambda place: abs(place - len(order) // 2))[:_MAX_DOCUMENTS]
    rows = [int(order[place]) for place in around]
    running = np.cumsum(n_occurrences[rows])
    return rows[: max(1, int((running <= _MAX_FEATURES).sum()))]


def _windows(text: str) -> Iterator[bytes]:
    """Yield every occurrence of a 4-gram; a shorter text is one."""
    n = FEATURES.length
    return (text[i : i + n].encode() for i in range(max(1, len(text) - n + 1)))


def _signer(key: str, bits: int, documents: Sequence[Sequence[bytes]]) -> Callable[[Sequence[bytes]], bytes]:
    if key == SIMHASH.key:
        return lambda document: _simhash(document, bits)
    if key == SIMPLE_MINHASH.key:
        return lambda document: _simple_minhash(document, bits)
    connection = _vectors(bits, documents)
    if key == TOPSIG.key:
        return lambda document: _topsig(document, dict.fromkeys(document, 1.0), bits, connection)
    collection = Counter(feature for document in documents for feature in document)
    total = collection.total()

    def weighted(document: Sequence[bytes]) -> bytes:
        counts = Counter(document)
        shares = {f: math.log(n / len(document) / (collection[f] / total)) for f, n in counts.items()}
        return _topsig(list(counts), shares, bits, connection)

    return weighted


def _simhash(document: Sequence[bytes], bits: int) -> bytes:
    sums = np.zeros(bits, np.int64)
    for start in range(0, len(document), _AT_ONCE):
        some = document[start : start + _AT_ONCE]
        digests = b"".join([hashlib.shake_256(feature).digest(bits // 8) for feature in some])
        ones = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(len(some), -1), axis=1)
        sums += 2 * ones.sum(axis=0, dtype=np.int64) - len(some)
    return np.packbits(sums > 0).tobytes()


def _simple_minhash(document: Sequence[bytes], bits: int) -> bytes:
    n_bits = bits // len(HASHES)
    strings = []
    for name in HASHES:
        least = min(hashlib.new(name, feature, usedforsecurity=False).digest() for feature in document)
        strings.append(np.unpackbits(np.frombuffer(least.ljust(n_bits // 8 + 1, b"\0"), np.uint8))[:n_bits])
    return np.packbits(np.concatenate(strings)).tobytes()


def _vectors(bits: int, documents: Sequence[Sequence[bytes]]) -> sqlite3.Connection:
    """Store a random vector for each feature in SQLite; not timed, as in the article."""
    chance = np.random.default_rng(0)
    features = sorted({feature for document in documents for feature in document})
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE vectors (feature BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
    for start in range(0, len(features), _AT_ONCE):
        some = features[start : start + _AT_ONCE]
        is_set = chance.random((len(some), bits)) < 1 / math.sqrt(bits)
        vectors = np.where(is_set, chance.choice(np.array([-1, 1], np.int8), is_set.shape), 0).astype(np.int8)
        rows = zip(some, (vector.tobytes() for vector in vectors), strict=True)
        connection.executemany("INSERT INTO vectors VALUES (?, ?)", rows)
    return connection


def _topsig(features: Sequence[bytes], weights: dict[bytes, float], bits: int, connection: sqlite3.Connection) -> bytes:
    """Look up each given feature, and sum the vectors times their weights."""
    sums: F64 = np.zeros(bits)
    look_up = "SELECT vector FROM vectors WHERE feature = ?"
    for start in range(0, len(features), _AT_ONCE):
        some = features[start : start + _AT_ONCE]
        joined = b"".join([connection.execute(look_up, (feature,)).fetchone()[0] for feature in some])
        vectors = np.frombuffer(joined, np.int8).reshape(len(some), bits)
        sums += np.array([weights[feature] for feature in some], np.float32) @ vectors.astype(np.float32)
    return np.packbits(sums > 0).tobytes()
