"""Sentences of ``nearkin neighbours`` and ``nearkin statistics``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nearkin.manifests.stored import DamagedFile
from nearkin.nouns import counted
from nearkin.reports.sentences.exceptions import damage_sentences
from nearkin.reports.sentences.sentence import Sentence
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.signing.neighbours import NeighboursFound


def neighbours_sentence(found: NeighboursFound) -> Sentence:
    """Count the pairs of neighbours, and the documents among which they are."""
    pairs = f"{counted(found.n_pairs, 'pair')} within distance {found.distance}"
    written = f", {found.n_written:,} written" if found.n_written != found.n_pairs or found.verification else ""
    if found.verification is not None:
        written += f" ({found.verification.in_words()})"
    among = f"{counted(found.n_signed, 'document')} with {counted(found.n_distinct, 'distinct signature')}"
    return Sentence(f", among {among}", strong=pairs + written)


def statistics_sentences(found: Statistics, damaged: Sequence[DamagedFile]) -> Iterator[Sentence]:
    """Count documents, features and their occurrences, and name the files of which only a part was used."""
    yield from damage_sentences(damaged, "The statistics have")
    documents, features = counted(found.n_documents, "document"), counted(len(found.hashes), "feature")
    yield Sentence("", strong=f"{documents}, {features}, {counted(found.n_occurrences, 'occurrence')}")
