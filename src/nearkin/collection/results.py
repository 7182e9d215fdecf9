"""Answers of a collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from nearkin.collection.tolerance import Tolerance
from nearkin.nouns import counted
from nearkin.planning.part_recall import PartRecall
from nearkin.tabular import AnswerRecord, Tabular


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument(AnswerRecord):
    """A document of a collection, without its text.

    Parameters
    ----------
    version
        From 1; a changed text under the same id is a new version.
    source
        The file that held it.
    line
        Line in this file, from 1; in Parquet files and tables, the row.
    n_letters
        Number of letters and digits that range search counts.
    is_counted
        Whether there are enough letters for range search.
    is_current
        False if this version was removed or replaced.
    content
        Number of the text; identical texts share a number.
    """

    doc_id: str
    version: int
    wave: str
    source: str
    line: int
    n_characters: int
    n_letters: int
    is_counted: bool
    is_current: bool
    content: int

    def __str__(self) -> str:
        return self.doc_id if self.is_current else f"{self.doc_id} (version {self.version})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarDocument(AnswerRecord):
    """A document that a query found.

    Parameters
    ----------
    distance
        Euclidean distance of the letter counts; None if either text has too few letters.
    relative_distance
        ``distance`` as a share of the length of the query's vector, to be compared with gamma.
    n_bits
        Number of different bits of the signatures; None if either text has no words.
    edit_similarity
        1 − edit distance / length of the longer text, in characters; in [0, 1]. None if the texts are too long.
    jaccard
        Jaccard similarity of the word 5-grams, ignoring case and white space; in [0, 1].
    similarity_index
        None if the text has too few words.
    contained, contains
        Share of the query's word 5-grams that occur in the document, and vice versa.
    is_letters_only
        Whether it was found by its letters although its Jaccard similarity is below 0.5.
    """

    document: StoredDocument
    distance: float | None
    relative_distance: float | None
    n_bits: int | None
    edit_similarity: float | None
    jaccard: float
    is_same_text: bool
    similarity_index: int | None = None
    contained: float = 0.0
    contains: float = 0.0
    is_letters_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarDocuments(Tabular, AnswerRecord):
    """Result of a query.

    Parameters
    ----------
    documents
        The nearest first; at most ``limit``.
    n_found
        Number of documents within the tolerance, including those not returned.
    is_answered
        Whether the query is long enough for this method; if not, only identical texts are listed.
    similarity_index
        Of the query, for the measure "index"; None if its text has too few words.
    n_not_compared
        Number of candidates that were not compared because there were too many (for "jaccard", more than 20,000): the
        nearest were.
    n_hot_keys
        For "containment": number of keys of the query that occur in too many texts to compare all of these.
    expected_recall_of_parts
        For "containment": expected share found of the texts exactly at the threshold. None if the query has fewer than
        eight word 5-grams, or if ``n_hot_keys`` or ``n_not_compared`` is not 0.
    """

    computed = ("expected_recall", "is_truncated")

    tolerance: Tolerance
    documents: tuple[SimilarDocument, ...]
    n_found: int
    is_answered: bool
    elapsed_s: float
    similarity_index: int | None = None
    n_not_compared: int = 0
    n_hot_keys: int = 0
    expected_recall_of_parts: PartRecall | None = None

    @property
    def expected_recall(self) -> float | None:
        """As in `Tolerance.recall`."""
        return self.tolerance.recall

    @property
    def is_truncated(self) -> bool:
        """Whether there are, or may be, more documents than the returned ones."""
        return self.n_found > len(self.documents) or self.n_not_compared > 0

    def __len__(self) -> int:
        return len(self.documents)

    def first(self, limit: int) -> SimilarDocuments:
        """Return the same result with at most this many documents."""
        return replace(self, documents=self.documents[:limit])

    @property
    def table(self) -> pa.Table:
        """A row for each document, the nearest first."""
        return table_of((document.to_dict() for document in self.documents), *DOCUMENT, *SIMILARITIES)

    def __repr__(self) -> str:
        return f"SimilarDocuments({counted(self.n_found, 'document')} {self.tolerance.in_words()})"


_INTEGERS = {
    "activity",
    "group",
    "group_was",
    "line",
    "number",
    "similarity_index",
    "size_bytes",
    "undoes",
    "undone_by",
}
_NUMBERS = {"contained", "contains", "distance", "edit_similarity", "jaccard", "relative_distance", "relevance"}


def columns(names: str, *, nullable: bool = True) -> list[pa.Field]:
    """Return columns of tables, each with the one type that its name has everywhere.

    Examples
    --------
    >>> [str(one.type) for one in columns("doc_id n_bits is_current jaccard")]
    ['large_string', 'int64', 'bool', 'double']
    """

    def kind(name: str) -> pa.DataType:
        if name.startswith(("is_", "was_")):
            return pa.bool_()
        if name.startswith("n_") or name in _INTEGERS:
            return pa.int64()
        return pa.int32() if name == "version" else pa.float64() if name in _NUMBERS else pa.large_string()

    return [pa.field(name, kind(name), nullable) for name in names.split()]


DOCUMENT = columns("doc_id version wave source line n_characters n_letters is_counted is_current")
SIMILARITIES = columns(
    "jaccard edit_similarity distance relative_distance n_bits is_same_text similarity_index is_letters_only contained "
    "contains"
)
CHANGE = columns("n_words_removed n_words_added n_words_moved n_differences is_whole passage")


def table_of(rows: Iterable[Mapping[str, object]], *fields: pa.Field) -> pa.Table:
    """Return a table of the records with only these columns."""
    return pa.Table.from_pylist(list(rows), pa.schema(fields))
