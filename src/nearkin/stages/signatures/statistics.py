"""How often each feature occurs in a collection: saved, merged, and named by what they hold.

A file of statistics is Parquet: a row for each feature, by rising hash, and what they are of in the file's metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.errors import FingerprintError, SourceError
from nearkin.formats import parquet
from nearkin.kernels.lookup import add_at
from nearkin.kernels.projections import growing_weights
from nearkin.records import I64, U64, FeatureCounts
from nearkin.stages.signatures.numbering import FeatureNumbers

FORMAT_VERSION = 1
_KEY = b"nearkin.statistics"
SCHEMA = pa.schema(
    [
        pa.field("feature", pa.uint64(), nullable=False),  # its hash
        pa.field("occurrences", pa.int64(), nullable=False),  # cf: in all documents, repeats counted
        pa.field("documents", pa.int64(), nullable=False),  # df: that have it
    ]
)


@dataclass(frozen=True)
class Statistics:
    """Collection and document frequencies of features.

    Parameters
    ----------
    features : str
        Fingerprint of what a feature is.
    hashes : uint64 array, shape (n_features,)
        Rising.
    occurrences, documents : int64 arrays, shape (n_features,)
        How often each feature occurs in all documents, and how many of them have it.
    n_documents : int
        Documents with any feature.

    Examples
    --------
    >>> from nearkin.stages.features.counting import count_features
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

    @classmethod
    def of(cls, batches: Iterable[FeatureCounts]) -> Statistics:
        """Count batches of documents.

        Raises
        ------
        FingerprintError
            If their features are not of one kind.
        """
        growing: GrowingStatistics | None = None
        for counted in batches:
            growing = growing or GrowingStatistics(counted.fingerprint)
            growing.add(counted)
        return (growing or GrowingStatistics("")).frozen()

    @property
    def n_occurrences(self) -> int:
        """Of all features in all documents."""
        return int(self.occurrences.sum())

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all of it: statistics of equal collections have equal ones."""
        digest = hashlib.sha256(f"{FORMAT_VERSION};{self.features};{self.n_documents};".encode())
        for array in (self.hashes, self.occurrences, self.documents):
            digest.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).data)
        return digest.hexdigest()[:16]

    @cached_property
    def _numbers(self) -> FeatureNumbers:
        """The place of each feature; worked out when features are looked up, not to merge or save."""
        numbers = FeatureNumbers()
        numbers.add(self.hashes)
        return numbers

    def frequencies(self, hashes: U64) -> I64:
        """How often each of these features occurs in the collection; 1 for those that do not."""
        number = self._numbers.find(hashes)
        return np.where(number >= 0, self.occurrences[number], 1) if len(self.hashes) else np.ones_like(number)

    def merged(self, other: Statistics) -> Statistics:
        """Of both collections together.

        Raises
        ------
        FingerprintError
            If they are of other features.
        """
        growing = GrowingStatistics(self.features)
        growing.merge(self)
        growing.merge(other)
        return growing.frozen()

    def save(self, path: Path) -> None:
        """Write to a file, as it is; publish it whole with `runs.files.published`."""
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
        """Read a file that `save` wrote.

        Raises
        ------
        SourceError
            If it is no such file, of another version, or damaged.
        """
        try:
            table = parquet.read_table(path)
        except parquet.UNREADABLE as error:
            reason = parquet.why_unreadable(path, error)
            raise SourceError(f"{path}: cannot be read as statistics: {reason}.") from error
        try:
            about = json.loads((table.schema.metadata or {}).get(_KEY, b"null"))
            if about is not None:
                version, kind, n_documents = about["version"], str(about["features"]), int(about["n_documents"])
        except (KeyError, TypeError, ValueError) as error:
            raise SourceError(f"{path}: is damaged: its metadata cannot be read ({error}).") from error
        if about is None or not table.schema.remove_metadata().equals(SCHEMA):
            raise SourceError(
                f"{path}: is not a file of statistics. Make one with: nearkin statistics INPUT --out FILE."
            )
        if version != FORMAT_VERSION:
            raise SourceError(
                f"{path}: statistics of format {version}; this version of Nearkin reads {FORMAT_VERSION}."
            )
        hashes, occurrences, documents = (table[name].to_numpy() for name in SCHEMA.names)
        loaded = cls(kind, hashes, occurrences, documents, n_documents)
        if loaded.fingerprint != about.get("fingerprint"):
            raise SourceError(
                f"{path}: is damaged: it holds {loaded.fingerprint}, and was written as {about.get('fingerprint')}."
            )
        return loaded


class GrowingStatistics:
    """Statistics to which documents are added.

    Parameters
    ----------
    features : str
        Fingerprint of what a feature is.

    Attributes
    ----------
    n_documents, n_occurrences : int
        Documents with any feature; features in them, repeats counted.
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
        """Distinct features."""
        return len(self._numbers)

    def add(self, counted: FeatureCounts) -> None:
        """Count a batch of documents."""
        numbers = self._note_documents(counted)
        add_at(self._occurrences, numbers, counted.counts.astype(np.int64))
        self.n_occurrences += int(counted.counts.sum(dtype=np.int64))

    def add_and_weigh(self, counted: FeatureCounts) -> I64:
        """Count a batch of documents, each weighed by those before it and itself.

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
        """Add those of another collection."""
        self._check(other.features)
        numbers = self._numbers_of(other.hashes)
        self._occurrences[numbers] += other.occurrences
        self._documents[numbers] += other.documents
        self.n_occurrences += other.n_occurrences
        self.n_documents += other.n_documents

    def frozen(self) -> Statistics:
        """As they are now."""
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
        """The numbers of the features of new documents, which are counted, but not yet their occurrences."""
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
