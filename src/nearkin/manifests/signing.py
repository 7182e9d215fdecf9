"""Manifest of ``nearkin sign``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nearkin.manifests.stored import DamagedFile, NotReadFiles, Stored


@dataclass(frozen=True, slots=True)
class DriftRow:
    """Drift of the signatures of documents that were signed after a given number of documents.

    Parameters
    ----------
    n_seen_from, n_seen_to : int
        Range of the number of documents counted so far.
    mean_share, high_share : float
        Share of the bits that differ from the final signature: the mean, and the 95th percentile.
    """

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

    Parameters
    ----------
    parameters : mapping
        Method, bits, features, normalise, seed, density.
    fingerprint : str
        Two sets of signatures are comparable if their fingerprints are equal.
    drift : tuple of DriftRow
        Drift of signatures while the statistics grew with the documents.
    not_read : tuple of NotReadFiles or None
        Files and folders of the input that were not read.
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
    not_read: tuple[NotReadFiles, ...] | None = None
