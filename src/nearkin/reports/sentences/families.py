"""Sentences of ``nearkin families``: documents in form groups, and remarks about the input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.criterion import criterion_text
from nearkin.reports.reasons import textless_in_words
from nearkin.reports.sentences.cost import speed_text, total_s
from nearkin.reports.sentences.dedup import input_sentences, missed_pairs_sentence
from nearkin.reports.sentences.groups import change_sentences, search_sentences
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.collection.groups.current import CollectionGroups
    from nearkin.manifests.dedup import DedupManifest, FamilyCounts


def families_sentences(
    told: DedupManifest,
    found: FamilyCounts,
    *,
    has_compiled: bool = False,
) -> Iterator[Sentence]:
    """Count the documents in form groups, and those in none."""
    n_documents, groups = told.count("documents"), counted(found.families, "form group")
    others = "".join(f", {n:,} {name}" for name, n in textless_in_words(told).items())
    yield Sentence(
        f", {found.alone:,} without a match at {criterion_text(told.parameters)}{others}",
        strong=f"{counted(n_documents, 'document')}: {found.documents:,} in {groups}",
    )
    if found.families:
        yield Sentence(
            "Relations are to the principal only: two identical members can both be 'revised'",
            "quiet",
        )
    yield from input_sentences(
        told, empty_files="above as without readable text, and in documents.parquet as unreadable"
    )
    if "recall_at_threshold" in told.plan_numbers:  # of files; of a collection, see `family_group_sentences`
        yield missed_pairs_sentence(told)
    yield Sentence(speed_text(total_s(told.stages), n_documents, has_compiled=has_compiled))


def family_group_sentences(found: CollectionGroups) -> Iterator[Sentence]:
    """State the expected recall of the groups of a collection, and describe the changes since last time."""
    yield from search_sentences(found.tolerance, found.n_not_compared)
    if not found.is_first:
        yield from change_sentences(found)
