"""What ``nearkin sign`` says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nearkin.manifests.inputs import DamagedFile
from nearkin.manifests.stored import Stored


@dataclass(frozen=True, slots=True)
class DriftRow:
    """Documents signed when so many had been seen.

    Parameters
    ----------
    n_seen_from, n_seen_to : int
        Documents counted up to theirs.
    n_sampled : int
    mean_share, high_share : float
        Of the bits, those that differ from the final signature: on average, and at the 95th percentile.
    """

    n_seen_from: int
    n_seen_to: int
    n_sampled: int
    mean_share: float
    high_share: float


@dataclass(frozen=True, slots=True)
class StatisticsRecord(Stored):
    """The statistics that signatures were weighted by: how many documents and features were counted."""

    fingerprint: str
    documents: int
    features: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningRecord(Stored):
    """How many documents were signed, how, and which could not be.

    Parameters
    ----------
    command : str
    documents, signed, distinct_signatures, without_features, unreadable : int
    damaged_files : tuple of DamagedFile
    parameters : mapping
        Method, bits, features, normalise, seed, density.
    fingerprint : str
        Signatures may be compared if theirs are equal.
    statistics : StatisticsRecord or None
    drift : tuple of DriftRow
        Where statistics grew with the documents.
    elapsed_s : float
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
