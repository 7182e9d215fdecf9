"""Vectors of one vocabulary from documents in two languages, in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from labs.cross_lingual.documents import ParallelDocuments
from nearkin.errors import SourceError
from nearkin.kernels.terms import project_terms
from nearkin.nouns import counted
from nearkin.options.pairs import PairOptions
from nearkin.records import F64, TermCounts, WeightedVectors
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.features.vocabulary import Vocabulary
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.pairing.collecting import Collected, Splitting
from nearkin.workflows.pairing.translating import SideTranslation, check_fits, way_of_words
from nearkin.workflows.pairing.vectors import PairVectors, vectors_of
from nearkin.workflows.reading.texts import FACTS, with_distinct_names
from nearkin.workflows.table_words import TableWords

_FINGERPRINT = "lab cross-lingual"


@dataclass(frozen=True, slots=True)
class CountedTranslations:
    """Both sides with vocabularies of their own, and the table between them."""

    documents: ParallelDocuments
    table: TranslationTable
    left: Collected
    right: Collected

    @classmethod
    def of(cls, documents: ParallelDocuments, table: TranslationTable, columns: tuple[str, str]) -> CountedTranslations:
        """Count the words of both sides.

        Raises
        ------
        SourceError
            A side has no words, or the table is of other languages or the other direction.
        FingerprintError
            The table's words were split by another method.
        """
        words = TableWords.of_table(table.origin)
        sides = zip(columns, (documents.left, documents.right), (words.of_source, words.of_target), strict=True)
        left, right = (
            collected(f"{column!r} of {documents.name}", documents.ids, texts, split, asked_by)
            for asked_by, (column, texts, split) in zip(("--left-column", "--right-column"), sides)
        )
        check_fits(table, left, right)
        return cls(documents, table, left, right)


@dataclass(frozen=True, slots=True)
class Projected:
    """Both sides as vectors of the right side's words, and the ways in which left words were translated."""

    vectors: PairVectors
    translation: SideTranslation


def collected(
    name: str, ids: pa.LargeStringArray, texts: pa.LargeStringArray, split: Splitting, asked_by: str = ""
) -> Collected:
    """Count texts as terms of their own vocabulary; ``asked_by`` is the option for their column, if any.

    Raises
    ------
    SourceError
        No text contains a word.
    """
    vocabulary = Vocabulary()
    counts = vocabulary.count(split(texts))
    if not len(counts.terms):
        raise SourceError(f"{name}: none of its {counted(len(texts), 'document')} has a word.")
    return _collected(name, ids, counts, vocabulary, asked_by)


def projected(counted: CountedTranslations, options: PairOptions) -> Projected:
    """Project the left side as `nearkin pairs` does with a table in that direction, as in the article.

    Raises
    ------
    ParameterError
        No document of a side has enough terms.
    """
    translation = SideTranslation("left", way_of_words(counted.table, counted.left, counted.right, options))
    return Projected(_vectors(counted.left, counted.right, options, translation), translation)


def in_one_language(translated: Collected, right: Collected, options: PairOptions) -> PairVectors:
    """Make vectors as `nearkin pairs` does without a table: both sides are in the right side's language."""
    return _vectors(translated, right, options, None)


def translated_side(counted: CountedTranslations, texts: Mapping[str, str]) -> Collected:
    """Count the left side in a given translation; a text is empty if its id is missing.

    Raises
    ------
    SourceError
        No text contains a word.
    """
    own = pa.array([texts.get(one, "") for one in counted.documents.ids.to_pylist()], pa.large_string())
    split = TableWords.of_table(counted.table.origin).of_target
    return collected(f"the translation of {counted.documents.name}", counted.documents.ids, own, split)


def gloss(counted: CountedTranslations) -> Collected:
    """Gloss the left side: each word becomes its likeliest translation, p(target | source), or stays."""
    words, table = counted.left.vocabulary.words, counted.table
    places = pc.index_in(words, value_set=table.source_words).fill_null(-1).to_numpy(zero_copy_only=False)
    direction = table.forward
    firsts, ends = direction.offsets[places], direction.offsets[places + 1]
    is_known = (places >= 0) & (ends > firsts)
    likeliest = direction.words[np.where(is_known, firsts, 0)]
    known = table.target_words.take(pa.array(likeliest))
    glossed = pc.if_else(pa.array(is_known), known, words)
    vocabulary = Vocabulary()
    targets = vocabulary.add(glossed)
    own = counted.left.counts
    one_each = np.arange(len(targets) + 1, dtype=np.int64), targets, np.ones(len(targets), np.float32)
    counts = TermCounts(*project_terms((own.terms, own.counts, own.offsets), one_each, len(vocabulary), least=0.0))
    return _collected(f"the gloss of {counted.documents.name}", counted.documents.ids, counts, vocabulary)


def _collected(
    name: str, ids: pa.LargeStringArray, counts: TermCounts, vocabulary: Vocabulary, asked_by: str = ""
) -> Collected:
    n = len(counts)
    columns = [ids, [True] * n, range(1, n + 1), [None] * n, [name] * n]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, FACTS, strict=True)]
    documents = with_distinct_names(pa.table(arrays, schema=FACTS), IdKind.STRINGS)
    occurrences: F64 = np.bincount(counts.terms, counts.counts, len(vocabulary)).astype(np.float64)
    frequencies: F64 = np.bincount(counts.terms, minlength=len(vocabulary)).astype(np.float64)
    return Collected(
        side="left",
        name=name,
        inputs=(),
        documents=documents,
        n_unreadable=0,
        counts=counts,
        vocabulary=vocabulary,
        n_occurrences=occurrences,
        document_frequencies=frequencies,
        asked_by=asked_by or name,
    )


def _vectors(
    left: Collected, right: Collected, options: PairOptions, translation: SideTranslation | None
) -> PairVectors:
    """Compute vectors in a temporary directory, and copy them to memory."""
    with tempfile.TemporaryDirectory() as folder:
        made = vectors_of(
            left, right, options, translation, Path(folder), fingerprint=_FINGERPRINT, meter=Meter(Silent())
        )
        return replace(made, left=_in_memory(made.left), right=_in_memory(made.right))


def _in_memory(vectors: WeightedVectors) -> WeightedVectors:
    return WeightedVectors(np.array(vectors.terms), np.array(vectors.weights), vectors.offsets)
