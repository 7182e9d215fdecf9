"""Records of the functions of `nearkin` and of a `Collection`, for type hints and to open the results of commands.

>>> import nearkin
>>> result = nearkin.dedup(["a note on the rent of the house", "A note on the rent of the house"])
>>> isinstance(result, DedupResult), result.to_pandas("groups")["size"].tolist()
(True, [2])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin._lazy import lazy

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import Checked, CheckIn, CheckInMany, CheckOptions
    from nearkin.collection.conflicts.by_group import Conflicts
    from nearkin.collection.groups.changes import GroupsSince
    from nearkin.collection.groups.current import CollectionGroups
    from nearkin.collection.history import DocumentHistory
    from nearkin.collection.listing.lists import DocumentFilter, ListedDocuments
    from nearkin.collection.results import SimilarDocuments
    from nearkin.collection.stored.passages import DocumentsOfPassage, PassagesOfDocument
    from nearkin.collection.versions import Versions
    from nearkin.collection.word_search.searching import SearchResult
    from nearkin.jobs.auditing import AuditResult, EvaluationResult
    from nearkin.jobs.deduplicating import DedupResult
    from nearkin.jobs.families import FamiliesResult, PassagesResult, ThreadsResult
    from nearkin.jobs.pairing import PairsResult
    from nearkin.jobs.planning import CorpusPlan, PairsPlan
    from nearkin.jobs.signing import NeighboursResult, SignedDocuments
    from nearkin.stages.translation.table import TranslationTable
    from nearkin.workflows.comparing import ComparedTexts
    from nearkin.workflows.stream.deduplicator import StreamMatch

__all__ = [
    "AuditResult",
    "CheckIn",
    "CheckInMany",
    "CheckOptions",
    "Checked",
    "CollectionGroups",
    "ComparedTexts",
    "Conflicts",
    "CorpusPlan",
    "DedupResult",
    "DocumentFilter",
    "DocumentHistory",
    "DocumentsOfPassage",
    "EvaluationResult",
    "FamiliesResult",
    "GroupsSince",
    "ListedDocuments",
    "NeighboursResult",
    "PairsPlan",
    "PairsResult",
    "PassagesOfDocument",
    "PassagesResult",
    "SearchResult",
    "SignedDocuments",
    "SimilarDocuments",
    "StreamMatch",
    "ThreadsResult",
    "TranslationTable",
    "Versions",
]
__getattr__ = lazy(
    __name__,
    {
        "AuditResult": "nearkin.jobs.auditing",
        "CheckIn": "nearkin.collection.check_in.results",
        "CheckInMany": "nearkin.collection.check_in.results",
        "CheckOptions": "nearkin.collection.check_in.results",
        "Checked": "nearkin.collection.check_in.results",
        "CollectionGroups": "nearkin.collection.groups.current",
        "ComparedTexts": "nearkin.workflows.comparing",
        "Conflicts": "nearkin.collection.conflicts.by_group",
        "CorpusPlan": "nearkin.jobs.planning",
        "DedupResult": "nearkin.jobs.deduplicating",
        "DocumentFilter": "nearkin.collection.listing.lists",
        "DocumentHistory": "nearkin.collection.history",
        "DocumentsOfPassage": "nearkin.collection.stored.passages",
        "EvaluationResult": "nearkin.jobs.auditing",
        "FamiliesResult": "nearkin.jobs.families",
        "GroupsSince": "nearkin.collection.groups.changes",
        "ListedDocuments": "nearkin.collection.listing.lists",
        "NeighboursResult": "nearkin.jobs.signing",
        "PairsPlan": "nearkin.jobs.planning",
        "PairsResult": "nearkin.jobs.pairing",
        "PassagesOfDocument": "nearkin.collection.stored.passages",
        "PassagesResult": "nearkin.jobs.families",
        "SearchResult": "nearkin.collection.word_search.searching",
        "SignedDocuments": "nearkin.jobs.signing",
        "SimilarDocuments": "nearkin.collection.results",
        "StreamMatch": "nearkin.workflows.stream.deduplicator",
        "ThreadsResult": "nearkin.jobs.families",
        "TranslationTable": "nearkin.stages.translation.table",
        "Versions": "nearkin.collection.versions",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
