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
    from nearkin.collection.check_in.results import Checked as Checked
    from nearkin.collection.check_in.results import CheckIn as CheckIn
    from nearkin.collection.check_in.results import CheckInMany as CheckInMany
    from nearkin.collection.check_in.results import CheckOptions as CheckOptions
    from nearkin.collection.conflicts.by_group import Conflicts as Conflicts
    from nearkin.collection.groups.changes import GroupsSince as GroupsSince
    from nearkin.collection.groups.current import CollectionGroups as CollectionGroups
    from nearkin.collection.history import DocumentHistory as DocumentHistory
    from nearkin.collection.listing.lists import DocumentFilter as DocumentFilter
    from nearkin.collection.listing.lists import ListedDocuments as ListedDocuments
    from nearkin.collection.results import SimilarDocuments as SimilarDocuments
    from nearkin.collection.stored.passages import DocumentsOfPassage as DocumentsOfPassage
    from nearkin.collection.stored.passages import PassagesOfDocument as PassagesOfDocument
    from nearkin.collection.versions import Versions as Versions
    from nearkin.collection.word_search.searching import SearchResult as SearchResult
    from nearkin.jobs.auditing import AuditResult as AuditResult
    from nearkin.jobs.auditing import EvaluationResult as EvaluationResult
    from nearkin.jobs.deduplicating import DedupResult as DedupResult
    from nearkin.jobs.families import FamiliesResult as FamiliesResult
    from nearkin.jobs.families import PassagesResult as PassagesResult
    from nearkin.jobs.families import ThreadsResult as ThreadsResult
    from nearkin.jobs.pairing import PairsResult as PairsResult
    from nearkin.jobs.planning import CorpusPlan as CorpusPlan
    from nearkin.jobs.planning import PairsPlan as PairsPlan
    from nearkin.jobs.signing import NeighboursResult as NeighboursResult
    from nearkin.jobs.signing import SignedDocuments as SignedDocuments
    from nearkin.stages.translation.table import TranslationTable as TranslationTable
    from nearkin.workflows.comparing import ComparedTexts as ComparedTexts
    from nearkin.workflows.stream.deduplicator import StreamMatch as StreamMatch

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "nearkin.collection.check_in.results": "CheckIn CheckInMany CheckOptions Checked",
        "nearkin.collection.conflicts.by_group": "Conflicts",
        "nearkin.collection.groups.changes": "GroupsSince",
        "nearkin.collection.groups.current": "CollectionGroups",
        "nearkin.collection.history": "DocumentHistory",
        "nearkin.collection.listing.lists": "DocumentFilter ListedDocuments",
        "nearkin.collection.results": "SimilarDocuments",
        "nearkin.collection.stored.passages": "DocumentsOfPassage PassagesOfDocument",
        "nearkin.collection.versions": "Versions",
        "nearkin.collection.word_search.searching": "SearchResult",
        "nearkin.jobs.auditing": "AuditResult EvaluationResult",
        "nearkin.jobs.deduplicating": "DedupResult",
        "nearkin.jobs.families": "FamiliesResult PassagesResult ThreadsResult",
        "nearkin.jobs.pairing": "PairsResult",
        "nearkin.jobs.planning": "CorpusPlan PairsPlan",
        "nearkin.jobs.signing": "NeighboursResult SignedDocuments",
        "nearkin.stages.translation.table": "TranslationTable",
        "nearkin.workflows.comparing": "ComparedTexts",
        "nearkin.workflows.stream.deduplicator": "StreamMatch",
    },
)
