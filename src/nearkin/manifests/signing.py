"""Manifest of ``nearkin sign``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nearkin.manifests.stored import DamagedFile, Stored
from nearkin.stages.documents.source import NotRead


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
