"""Sentences of ``nearkin sign``: signed documents, and documents without a signature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.sentences.damage import damage_sentences
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.manifests.signing import SigningRecord


def sign_sentences(told: SigningRecord) -> Iterator[Sentence]:
    """Count the signatures, and the documents without one."""
    n_documents = counted(told.documents, "document")
    n_distinct = counted(told.distinct_signatures, "distinct signature")
    yield Sentence(f" of {told.parameters['bits']} bits", strong=f"{n_documents}, {told.signed:,} signed, {n_distinct}")
    if told.without_features:
        yield Sentence(f"{counted(told.without_features, 'document')} without text; never reported as a neighbour")
    if told.unreadable:
        yield Sentence(f"{counted(told.unreadable, 'unreadable document')}; see the column problem", "warning")
    yield from damage_sentences(told.damaged_files, "The file of signatures has")
