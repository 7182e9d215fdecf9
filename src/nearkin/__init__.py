"""Nearkin finds documents that say nearly the same thing.

`Collection` stores documents, `StreamDeduplicator` reads a stream. The records that the functions return are in
`nearkin.results`; `nearkin.signatures` is for signatures, `nearkin.spark` for Spark.
"""

from __future__ import annotations

from nearkin._lazy import lazy
from nearkin._version import __version__

TYPE_CHECKING = False  # typing is imported late: until a command can catch Ctrl-C, little is to be imported
if TYPE_CHECKING:
    from nearkin.collection.collection import Collection
    from nearkin.errors import NearkinError
    from nearkin.jobs.auditing import audit, evaluate
    from nearkin.jobs.deduplicating import dedup
    from nearkin.jobs.families import families, passages, threads
    from nearkin.jobs.pairing import pairs
    from nearkin.jobs.planning import plan, plan_pairs
    from nearkin.jobs.signing import neighbours, sign
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import Characters, Code, Words
    from nearkin.workflows.comparing import compare
    from nearkin.workflows.stream.deduplicator import StreamDeduplicator

__all__ = [
    "Characters",
    "Code",
    "Collection",
    "NearkinError",
    "Normalisation",
    "StreamDeduplicator",
    "Words",
    "__version__",
    "audit",
    "compare",
    "dedup",
    "evaluate",
    "families",
    "neighbours",
    "pairs",
    "passages",
    "plan",
    "plan_pairs",
    "sign",
    "threads",
]
__getattr__ = lazy(
    __name__,
    {
        "Characters": "nearkin.stages.features.shingles",
        "Code": "nearkin.stages.features.shingles",
        "Collection": "nearkin.collection.collection",
        "NearkinError": "nearkin.errors",
        "Normalisation": "nearkin.stages.documents.normalisation",
        "StreamDeduplicator": "nearkin.workflows.stream.deduplicator",
        "Words": "nearkin.stages.features.shingles",
        "audit": "nearkin.jobs.auditing",
        "compare": "nearkin.workflows.comparing",
        "dedup": "nearkin.jobs.deduplicating",
        "evaluate": "nearkin.jobs.auditing",
        "families": "nearkin.jobs.families",
        "neighbours": "nearkin.jobs.signing",
        "pairs": "nearkin.jobs.pairing",
        "passages": "nearkin.jobs.families",
        "plan": "nearkin.jobs.planning",
        "plan_pairs": "nearkin.jobs.planning",
        "results": "nearkin.results",
        "sign": "nearkin.jobs.signing",
        "signatures": "nearkin.signatures",
        "threads": "nearkin.jobs.families",
    },
)


def __dir__() -> list[str]:
    return sorted([*__all__, "results", "signatures"])
