"""Nearkin finds documents that say nearly the same thing.

Every reported pair is verified, and what may have been missed is measured. Each name is imported when it is first used,
so importing the package is quick. Signatures have a module of their own, `nearkin.signatures`, and so has Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin._lazy import lazy
from nearkin._version import __version__

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection
    from nearkin.errors import NearkinError
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import Characters, Words
    from nearkin.workflows.comparing import ComparedTexts, compare
    from nearkin.workflows.dedup.options import DedupOptions
    from nearkin.workflows.dedup.tables_in_memory import DedupResult, dedup
    from nearkin.workflows.stream import StreamDeduplicator, StreamMatch

__all__ = [
    "Characters",
    "Collection",
    "ComparedTexts",
    "DedupOptions",
    "DedupResult",
    "NearkinError",
    "Normalisation",
    "StreamDeduplicator",
    "StreamMatch",
    "Words",
    "__version__",
    "compare",
    "dedup",
]
__getattr__ = lazy(
    __name__,
    {
        "Characters": "nearkin.stages.features.shingles",
        "Collection": "nearkin.collection.collection",
        "ComparedTexts": "nearkin.workflows.comparing",
        "DedupOptions": "nearkin.workflows.dedup.options",
        "DedupResult": "nearkin.workflows.dedup.tables_in_memory",
        "NearkinError": "nearkin.errors",
        "Normalisation": "nearkin.stages.documents.normalisation",
        "StreamDeduplicator": "nearkin.workflows.stream",
        "StreamMatch": "nearkin.workflows.stream",
        "Words": "nearkin.stages.features.shingles",
        "compare": "nearkin.workflows.comparing",
        "dedup": "nearkin.workflows.dedup.tables_in_memory",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
