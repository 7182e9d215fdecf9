"""Records of the functions of `nearkin`, for type hints and to open the results of commands.

The functions return them; only `CheckIn`, `CheckInMany` and `CheckOptions` are arguments: of `nearkin.Collection.check`
and `check_many`.

>>> import nearkin
>>> result = nearkin.dedup(["a note on the rent of the house", "A note on the rent of the house"])
>>> isinstance(result, DedupResult), result.to_pandas("groups")["size"].tolist()
(True, [2])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin._lazy import lazy

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import CheckIn, CheckInMany, CheckOptions
    from nearkin.jobs.auditing import AuditResult
    from nearkin.jobs.deduplicating import DedupResult
    from nearkin.jobs.families import FamiliesResult
    from nearkin.jobs.neighbouring import NeighboursResult
    from nearkin.jobs.pairing import PairsResult
    from nearkin.jobs.planning import CorpusPlan, PairsPlan
    from nearkin.jobs.signing import SignedDocuments
    from nearkin.jobs.threads import ThreadsResult
    from nearkin.stages.translation.table import TranslationTable
    from nearkin.workflows.comparing import ComparedTexts
    from nearkin.workflows.stream.deduplicator import StreamMatch

__all__ = [
    "AuditResult",
    "CheckIn",
    "CheckInMany",
    "CheckOptions",
    "ComparedTexts",
    "CorpusPlan",
    "DedupResult",
    "FamiliesResult",
    "NeighboursResult",
    "PairsPlan",
    "PairsResult",
    "SignedDocuments",
    "StreamMatch",
    "ThreadsResult",
    "TranslationTable",
]
__getattr__ = lazy(
    __name__,
    {
        "AuditResult": "nearkin.jobs.auditing",
        "CheckIn": "nearkin.collection.check_in.results",
        "CheckInMany": "nearkin.collection.check_in.results",
        "CheckOptions": "nearkin.collection.check_in.results",
        "ComparedTexts": "nearkin.workflows.comparing",
        "CorpusPlan": "nearkin.jobs.planning",
        "DedupResult": "nearkin.jobs.deduplicating",
        "FamiliesResult": "nearkin.jobs.families",
        "NeighboursResult": "nearkin.jobs.neighbouring",
        "PairsPlan": "nearkin.jobs.planning",
        "PairsResult": "nearkin.jobs.pairing",
        "SignedDocuments": "nearkin.jobs.signing",
        "StreamMatch": "nearkin.workflows.stream.deduplicator",
        "ThreadsResult": "nearkin.jobs.threads",
        "TranslationTable": "nearkin.stages.translation.table",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
