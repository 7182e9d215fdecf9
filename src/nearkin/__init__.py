"""Nearkin finds documents that say nearly the same thing.

What it reports is verified, and what it may have missed is measured. The names below are loaded when they are first
used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nearkin._version import __version__

if TYPE_CHECKING:
    from nearkin.errors import NearkinError
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import Characters, Words
    from nearkin.stages.search.bands import Bands
    from nearkin.stages.signatures.minhash import MinHash
    from nearkin.workflows.dedup.options import DedupOptions
    from nearkin.workflows.dedup.tables_in_memory import DedupResult, dedup
    from nearkin.workflows.stream import StreamDeduplicator, StreamMatch

_HOMES = {
    "dedup": "nearkin.workflows.dedup.tables_in_memory",
    "DedupResult": "nearkin.workflows.dedup.tables_in_memory",
    "DedupOptions": "nearkin.workflows.dedup.options",
    "StreamDeduplicator": "nearkin.workflows.stream",
    "StreamMatch": "nearkin.workflows.stream",
    "MinHash": "nearkin.stages.signatures.minhash",
    "Bands": "nearkin.stages.search.bands",
    "Words": "nearkin.stages.features.shingles",
    "Characters": "nearkin.stages.features.shingles",
    "Normalisation": "nearkin.stages.documents.normalisation",
    "NearkinError": "nearkin.errors",
}

__all__ = [
    "Bands",
    "Characters",
    "DedupOptions",
    "DedupResult",
    "MinHash",
    "NearkinError",
    "Normalisation",
    "StreamDeduplicator",
    "StreamMatch",
    "Words",
    "__version__",
    "dedup",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nearkin' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
