"""Records that are stored as JSON: what every manifest has, how an input was read, manifests of the smaller jobs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import msgspec
import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.runs.progress import StageCost
from nearkin.stages.documents.source import NotRead


@dataclass(frozen=True, slots=True)
class Stored:
    """A record that JSON can hold, of values, records, mappings from names, and tuples."""

    @classmethod
    def of(cls, stored: object) -> Self:
        """Restore a record from `as_stored`, with defaults for missing fields; ``ValidationError`` if it is none."""
        return msgspec.convert(stored, cls)

    def as_stored(self) -> dict[str, object]:
        """Return the record as JSON types."""
        stored: dict[str, object] = json.loads(json.dumps(asdict(self)))
        return stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Stored):
    """What ``manifest.json`` says of every run; values that do not apply are None or empty."""

    nearkin: str = __version__
    # Arrow's C++ does NFKC and lower case beyond ASCII
    made_with: Mapping[str, str] = field(default_factory=lambda: {"numpy": np.__version__, "pyarrow": pa.__version__})
    command: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[StageCost, ...] = ()
    report_problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile(Stored):
    """A source that was read; fields that do not apply are None.

    ``sha256`` covers a file; of a collection the numbers of its documents; of a run its manifest.
    """

    path: str = ""
    size_bytes: int | None = None
    sha256: str | None = None
    format: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    """Prefix of the names given to documents that have no id."""
    end_row: int | None = None
    """For a collection only: upper limit of the numbers of its documents in its store."""
    n_documents: int | None = None
    texts_sha256: str | None = None
    """For a load file only: SHA-256 of the texts in the files that it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndigestedFile(InputFile):
    """A source of pairs or signatures, which are made without a digest of each file."""

    changed_ns: int | None = None
    """Time of the last change of a file, in nanoseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile(Stored):
    """File that was used only in part; ``line`` is None if the place of the damage is unknown."""

    path: str
    line: int | None = None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HowRead(Stored):
    """Settings with which the files were read, and the errors that were tolerated."""

    format: str | None = None
    on_error: str | None = None
    max_unreadable: float | None = None
    max_document_bytes: int | None = None
    text_root: str | None = None
    extraction_limits: Mapping[str, int] | None = None
    """Those that differ from the defaults; see `ExtractionLimits.of`."""
    ocr: str | None = None


@dataclass(frozen=True, slots=True)
class KeptFile(Stored):
    """A file of the cleaned corpus, in the directory of the run, and the index of its input."""

    path: str
    input: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionCounts(Stored):
    """Number of documents to be extracted, partial and unread ones among them, and exceptions by kind."""

    documents: int = 0
    in_part: int = 0
    unread: int = 0
    exceptions: Mapping[str, int] = field(default_factory=dict)
    by_ocr: int | None = None
    """Number of texts that were recognised in images, at least in part; None if there are none."""
    not_stored_others: int | None = None
    """Number of exceptions of collections in the other set that are none of their documents; None if there are none."""

    @property
    def read(self) -> int:
        """Number of documents that were read completely."""
        return self.documents - self.in_part - self.unread

    @property
    def others(self) -> int:
        """Number of exceptions that were not extracted."""
        return sum(self.exceptions.values()) - self.in_part - self.unread


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestOfDocuments(Manifest):
    """What it says of every run that reads documents of one set."""

    inputs: tuple[InputFile, ...] = ()
    encoding: str | None = None
    reading: HowRead | None = None
    extraction: ExtractionCounts | None = None
    damaged_files: tuple[DamagedFile, ...] | None = None
    not_read: tuple[NotRead, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCounts(Stored):
    """Numbers of documents, threads and mails by result.

    Parameters
    ----------
    quoting_more
        With ``new_text_only``: mails that are not inclusive and quote text that is in no inclusive mail of their
        thread.
    """

    documents: int = 0
    mails: int = 0
    inside_mails: int = 0
    others: int = 0
    unreadable: int = 0
    threads: int = 0
    threads_of_several: int = 0
    missing: int = 0
    inclusive: int = 0
    duplicate_spares: int = 0
    included: int = 0
    quoting_more: int | None = None
    by_reason: Mapping[str, int] = field(default_factory=dict)
    by_link: Mapping[str, int] = field(default_factory=dict)
    other_subject: int = 0
    without_message_id: int = 0
    without_date: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsManifest(ManifestOfDocuments):
    """``manifest.json`` of a run of threads."""

    command: str = "threads"
    counts: ThreadCounts = field(default_factory=ThreadCounts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageCounts(Stored):
    """Numbers of documents, passages and characters.

    Parameters
    ----------
    repeated_characters, copied_characters, own_characters
        Characters in passages; in those that stand in an earlier document; that repeat what stands earlier in the same
        one.
    """

    documents: int = 0
    others: int = 0
    unreadable: int = 0
    too_short: int = 0
    with_passages: int = 0
    passages: int = 0
    occurrences: int = 0
    inside_one_document: int = 0
    longest_words: int = 0
    most_documents: int = 0
    characters: int = 0
    repeated_characters: int = 0
    copied_characters: int = 0
    own_characters: int = 0
    boilerplate: int = 0
    items_found: int | None = None
    cut_characters: int | None = None
    emptied: int | None = None
    dropped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagesManifest(ManifestOfDocuments):
    """``manifest.json`` of a run of passages."""

    command: str = "passages"
    against: tuple[InputFile, ...] | None = None
    engine: Mapping[str, object] | None = None
    counts: PassageCounts = field(default_factory=PassageCounts)
    written: tuple[KeptFile, ...] | None = None


@dataclass(frozen=True, slots=True)
class DriftRow:
    """Drift of signatures by the range of documents counted so far when their documents were signed."""

    n_seen_from: int
    n_seen_to: int
    n_sampled: int
    mean_share: float
    high_share: float


@dataclass(frozen=True, slots=True)
class StatisticsRecord(Stored):
    """Statistics that weighted the signatures: number of documents and features counted."""

    fingerprint: str
    documents: int
    features: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningRecord(Stored):
    """Number of signed documents, the method, and the documents that could not be signed.

    ``drift`` is that of signatures while the statistics grew with the documents.
    """

    command: str = "sign"
    documents: int
    signed: int
    distinct_signatures: int
    without_features: int
    unreadable: int
    damaged_files: tuple[DamagedFile, ...]
    parameters: Mapping[str, str | int | float]
    fingerprint: str
    statistics: StatisticsRecord | None
    drift: tuple[DriftRow, ...]
    elapsed_s: float
    not_read: tuple[NotRead, ...] | None = None
