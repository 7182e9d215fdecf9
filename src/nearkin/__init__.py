"""Nearkin finds documents that say nearly the same thing.

`Collection` stores documents, `StreamDeduplicator` reads a stream. The records that the functions return are in
`nearkin.results`; `nearkin.signatures` is for signatures, `nearkin.spark` for Spark.
"""

from __future__ import annotations

from nearkin._lazy import lazy
from nearkin._version import __version__ as __version__

TYPE_CHECKING = False  # typing is imported late: until a command can catch Ctrl-C, little is to be imported
if TYPE_CHECKING:
    from nearkin.collection.collection import Collection as Collection
    from nearkin.errors import NearkinError as NearkinError
    from nearkin.jobs.auditing import audit as audit
    from nearkin.jobs.auditing import evaluate as evaluate
    from nearkin.jobs.deduplicating import dedup as dedup
    from nearkin.jobs.families import families as families
    from nearkin.jobs.families import passages as passages
    from nearkin.jobs.families import threads as threads
    from nearkin.jobs.pairing import pairs as pairs
    from nearkin.jobs.planning import plan as plan
    from nearkin.jobs.planning import plan_pairs as plan_pairs
    from nearkin.jobs.signing import neighbours as neighbours
    from nearkin.jobs.signing import sign as sign
    from nearkin.stages.documents.normalisation import Normalisation as Normalisation
    from nearkin.stages.features.shingles import Characters as Characters
    from nearkin.stages.features.shingles import Code as Code
    from nearkin.stages.features.shingles import Words as Words
    from nearkin.workflows.comparing import compare as compare
    from nearkin.workflows.stream.deduplicator import StreamDeduplicator as StreamDeduplicator

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "nearkin._version": "__version__",
        "nearkin.collection.collection": "Collection",
        "nearkin.errors": "NearkinError",
        "nearkin.jobs.auditing": "audit evaluate",
        "nearkin.jobs.deduplicating": "dedup",
        "nearkin.jobs.families": "families passages threads",
        "nearkin.jobs.pairing": "pairs",
        "nearkin.jobs.planning": "plan plan_pairs",
        "nearkin.jobs.signing": "neighbours sign",
        "nearkin.results": "results",
        "nearkin.signatures": "signatures",
        "nearkin.stages.documents.normalisation": "Normalisation",
        "nearkin.stages.features.shingles": "Characters Code Words",
        "nearkin.workflows.comparing": "compare",
        "nearkin.workflows.stream.deduplicator": "StreamDeduplicator",
    },
)
