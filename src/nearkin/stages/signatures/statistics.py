"""Frequencies of features in a set of documents, which can be saved and merged, and have a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.arguments import checking_records
from nearkin.errors import FingerprintError, ParameterError, SourceError, is_int
from nearkin.formats import parquet
from nearkin.kernels.signatures import growing_weights
from nearkin.kernels.terms import add_at
from nearkin.paths import path_of
from nearkin.records import I64, U64, FeatureCounts
from nearkin.stages.signatures.numbering import FeatureNumbers

FORMAT_VERSION = 1
_KEY = b"nearkin.statistics"
SCHEMA = pa.schema(
    [
        pa.field("feature", pa.uint64(), nullable=False),  # its hash
        pa.field("occurrences", pa.int64(), nullable=False),  # cf: in all documents, counting repeats
        pa.field("documents", pa.int64(), nullable=False),  # df: number of documents with it
    ]
)


@checking_records
@dataclass(frozen=True)
class Statistics:
    """Frequencies of features in a set of documents.

    Parameters
    ----------
    features
        Fingerprint of the definition of a feature.
    hashes : uint64 array, shape (n_features,)
        Ascending.
    occurrences, documents : int64 arrays, shape (n_features,)
        Number of occurrences of each feature in all documents, and number of documents with the feature.
    n_documents
        Number of documents with any feature.

    Examples
    --------
    >>> from nearkin.stages.features.shingles import count_features
    >>> from nearkin.stages.features.shingles import Characters
    >>> some = Statistics.of([count_features(pa.array(["aaaa", "ab"], pa.large_string()), Characters(2))])
    >>> some.n_documents, some.n_occurrences, sorted(some.occurrences.tolist())
    (2, 4, [1, 3])
    >>> some.merged(some).n_occurrences
    8
    """

    features: str
    hashes: U64
    occurrences: I64
    documents: I64
    n_documents: int

    def __post_init__(self) -> None:
        if not is_int(self.n_documents):
            raise ParameterError.of("n_documents", "an int", self.n_documents)

    @classmethod
    def of(cls, batches: Iterable[FeatureCounts]) -> Statistics:
        """Count batches of documents."""
        growing: GrowingStatistics | None = None
        if not isinstance(batches, Iterable):
            raise ParameterError.of("batches", "an iterable of FeatureCounts", batches)
        for counted in batches:
            if not isinstance(counted, FeatureCounts):
                raise ParameterError.of("batches", "an iterable of FeatureCounts", counted)
            growing = growing or GrowingStatistics(counted.fingerprint)
            growing.add(counted)
        return (growing or GrowingStatistics("")).frozen()

    @property
    def n_occurrences(self) -> int:
        """Number of occurrences of all features in all documents."""
        return int(self.occurrences.sum())

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the content; equal sets of documents have equal digests."""
        digest = hashlib.sha256(f"{FORMAT_VERSION};{self.features};{self.n_documents};".encode())
        for array in (self.hashes, self.occurrences, self.documents):
            digest.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).data)
        return digest.hexdigest()[:16]

    @cached_property
    def _numbers(self) -> FeatureNumbers:
        numbers = FeatureNumbers()
        numbers.add(self.hashes)
        return numbers

    def frequencies(self, hashes: U64) -> I64:
        """Return the number of occurrences of each feature; 1 for unknown features."""
        number = self._numbers.find(hashes)
        return np.where(number >= 0, self.occurrences[number], 1) if len(self.hashes) else np.ones_like(number)

    def merged(self, other: Statistics) -> Statistics:
        """Return the statistics of both sets of documents together.

        Raises
        ------
        FingerprintError
            The features are of different kinds.
        """
        growing = GrowingStatistics(self.features)
        growing.merge(self)
        growing.merge(other)
        return growing.frozen()

    def save(self, path: Path) -> None:
        """Write directly to a file; use `runs.files.published` to publish it atomically."""
        path = path_of(path, "path")
        about = {
            "version": FORMAT_VERSION,
            "features": self.features,
            "n_documents": self.n_documents,
            "fingerprint": self.fingerprint,
        }
        table = pa.table([pa.array(a) for a in (self.hashes, self.occurrences, self.documents)], schema=SCHEMA)
        parquet.write_table(table.replace_schema_metadata({_KEY: json.dumps(about)}), path)

    @classmethod
    def load(cls, path: Path) -> Statistics:
        """Read a file that `save` wrote."""
        path = path_of(path, "path")
        try:
            table = parquet.read_table(path)
        except parquet.UNREADABLE as error:
            reason = parquet.why_unreadable(path, error)
            raise SourceError(f"Cannot read {path} as statistics: {reason}.") from error
        try:
            about = json.loads((table.schema.metadata or {}).get(_KEY, b"null"))
            if about is not None:
                version, kind, n_documents = about["version"], str(about["features"]), int(about["n_documents"])
        except (KeyError, TypeError, ValueError) as error:
            raise SourceError(f"{path} is damaged: its metadata cannot be read ({error}).") from error
        if about is None or not table.schema.remove_metadata().equals(SCHEMA):
            raise SourceError(
                f"{path} is not a file of statistics. Make one with: nearkin statistics INPUT --out FILE."
            )
        if version != FORMAT_VERSION:
            raise SourceError(
                f"{path} has statistics of format {version}; this version of Nearkin reads {FORMAT_VERSION}."
            )
        hashes, occurrences, documents = (table[name].to_numpy() for name in SCHEMA.names)
        loaded = cls(kind, hashes, occurrences, documents, n_documents)
        if loaded.fingerprint != about.get("fingerprint"):
            raise SourceError(
                f"{path} is damaged: its content is {loaded.fingerprint}, not the stored {about.get('fingerprint')}."
            )
        return loaded


@checking_records
class GrowingStatistics:
    """Statistics to which documents can be added.

    Attributes
    ----------
    n_documents, n_occurrences : int
        Number of documents with any feature; number of their features, including repetitions.
    """

    def __init__(self, features: str) -> None:
        self.features = features
        self.n_documents = 0
        self.n_occurrences = 0
        self._numbers = FeatureNumbers()
        self._occurrences = np.zeros(1024, np.int64)
        self._documents = np.zeros(1024, np.int64)

    @property
    def n_features(self) -> int:
        """Number of distinct features."""
        return len(self._numbers)

    def add(self, counted: FeatureCounts) -> None:
        """Count a batch of documents."""
        numbers = self._note_documents(counted)
        add_at(self._occurrences, numbers, counted.counts.astype(np.int64))
        self.n_occurrences += int(counted.counts.sum(dtype=np.int64))

    def add_and_weigh(self, counted: FeatureCounts) -> I64:
        """Count a batch of documents, and weight each document with the statistics of the documents up to it.

        Returns
        -------
        int64 array, shape (n_features,)
            ``ln((tf / |d|) / (cf / |C|))`` of each feature, in units of 2**-20.
        """
        numbers = self._note_documents(counted)
        weights = growing_weights(counted.counts, numbers, counted.offsets, self._occurrences, self.n_occurrences)
        self.n_occurrences += int(counted.counts.sum(dtype=np.int64))
        return weights

    def merge(self, other: Statistics) -> None:
        """Add the statistics of another set of documents."""
        self._check(other.features)
        numbers = self._numbers_of(other.hashes)
        self._occurrences[numbers] += other.occurrences
        self._documents[numbers] += other.documents
        self.n_occurrences += other.n_occurrences
        self.n_documents += other.n_documents

    def frozen(self) -> Statistics:
        """Return a copy of the current statistics."""
        order = np.argsort(self._numbers.hashes)
        n = len(order)
        return Statistics(
            self.features,
            self._numbers.hashes[order],
            self._occurrences[:n][order],
            self._documents[:n][order],
            self.n_documents,
        )

    def _check(self, features: str) -> None:
        if features != self.features:
            raise FingerprintError(
                f"Statistics of different features cannot be joined: {self.features!r} and {features!r}."
            )

    def _note_documents(self, counted: FeatureCounts) -> I64:
        """Count documents, and return the numbers of their features, whose occurrences are not counted yet."""
        self._check(counted.fingerprint)
        numbers = self._numbers_of(counted.hashes)
        add_at(self._documents, numbers, np.ones(len(numbers), np.int64))
        self.n_documents += int(counted.has_features.sum())
        return numbers

    def _numbers_of(self, hashes: U64) -> I64:
        numbers = self._numbers.add(hashes)
        if len(self._numbers) > len(self._occurrences):
            room = 1 << (len(self._numbers) - 1).bit_length()
            self._occurrences, self._documents = (
                np.concatenate([old, np.zeros(room - len(old), np.int64)])
                for old in (self._occurrences, self._documents)
            )
        return numbers
