"""What a collection answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from nearkin.collection.tolerance import Tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document of a collection, without its text.

    Parameters
    ----------
    doc_id : str
    version : int
        From 1: a changed text under the same id is another version.
    wave : str
        In which this version came.
    source : str
        The file it came from.
    line : int
        From 1; in Parquet and tables the row.
    n_characters : int
    n_letters : int
        Letters and digits that have a place in the letter counts.
    is_counted : bool
        False: too few letters for range search.
    is_current : bool
        False: it was removed, or a newer version took its place.
    content : int
        The number of its text; equal texts have one number.
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

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return self.doc_id if self.is_current else f"{self.doc_id} (version {self.version})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarDocument:
    """A document that was found.

    Parameters
    ----------
    document : StoredDocument
    distance : float or None
        Euclidean, between the letter counts; None if either has too few letters.
    relative_distance : float or None
        The same as a part of the query's length: what gamma is compared with.
    n_bits : int or None
        Bits in which the signatures differ; None if either has no words.
    edit_similarity : float or None
        1 − edit distance / length of the longer text, in characters; in [0, 1]. None if it would have taken too long.
    jaccard : float
        Of the sets of five words, case and spacing apart; in [0, 1].
    is_same_text : bool
        Not one character differs.
    similarity_index : int or None
        Of its text; None if that has too few words for one.
    """

    document: StoredDocument
    distance: float | None
    relative_distance: float | None
    n_bits: int | None
    edit_similarity: float | None
    jaccard: float
    is_same_text: bool
    similarity_index: int | None = None

    def to_dict(self) -> dict[str, object]:
        """For JSON and tables."""
        return {**self.document.to_dict(), **{k: v for k, v in _shallow(self).items() if k != "document"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarDocuments:
    """What a query found.

    Parameters
    ----------
    tolerance : Tolerance
    documents : tuple of SimilarDocument
        The nearest first; at most as many as were asked for.
    n_found : int
        Documents within the tolerance, shown or not.
    is_answered : bool
        False: almost nothing of the query can be compared by this method; only equal texts are told.
    similarity_index : int or None
        Of the query, if it was asked by method "si"; None if its text has too few words for one.
    stages : tuple of (str, int)
        What a text must pass, and how many did.
    elapsed_s : float
    """

    tolerance: Tolerance
    documents: tuple[SimilarDocument, ...]
    n_found: int
    is_answered: bool
    stages: tuple[tuple[str, int], ...]
    elapsed_s: float
    similarity_index: int | None = None

    @property
    def is_truncated(self) -> bool:
        """More was found than is told."""
        return self.n_found > len(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "method": self.tolerance.method,
            self.tolerance.parameter: self.tolerance.value,
            "expected_recall": self.tolerance.recall,
            "is_answered": self.is_answered,
            "similarity_index": self.similarity_index,
            "n_found": self.n_found,
            "is_truncated": self.is_truncated,
            "stages": [{"stage": name, "n_left": n} for name, n in self.stages],
            "elapsed_s": self.elapsed_s,
            "documents": [one.to_dict() for one in self.documents],
        }


def _shallow(record: Any) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
