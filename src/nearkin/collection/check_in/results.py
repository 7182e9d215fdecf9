"""What a check-in is asked and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from nearkin.collection.results import StoredDocument
from nearkin.errors import ParameterError
from nearkin.stages.differences.comparison import Piece
from nearkin.store.bulk import is_storable

Verdict = Literal["exact", "near", "contained", "contains", "new"]
VERDICTS: tuple[Verdict, ...] = ("exact", "near", "contained", "contains", "new")
"""The first that holds for any document is the verdict."""
Method = Literal["minhash", "si"]
MAX_TOLD = 10_000
MIN_COMMON = 8
"""Shingles that two texts must share for the one to be told as a part of the other: fewer are said by everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How alike is alike.

    Parameters
    ----------
    threshold : float
        In (0, 1]: from this Jaccard similarity of the sets of five words on, two texts are near-duplicates.
    containment : float
        In (0, 1]: from this part of a text's five words on that is in the other text, it is contained in it.
    method : {"minhash", "si"}
        How candidates are found. "minhash": by bands and sampled shingles. "si": by the similarity index alone, the
        nearest documents within ``tolerance``. What is told was compared word by word in both cases.
    tolerance : float
        Of the similarity index.
    limit : int
        Documents to tell.
    with_passage : bool
        Also where the text differs from the document that is most like it, which takes as long as all the rest.
    """

    threshold: float = 0.7
    containment: float = 0.9
    method: Method = "minhash"
    tolerance: float = 0.3
    limit: int = 10
    with_passage: bool = True

    def __post_init__(self) -> None:
        for name in ("threshold", "containment"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value <= 1:
                raise ParameterError.of(name, "check", "above 0 and at most 1", value)
        if self.method not in ("minhash", "si"):
            raise ParameterError.of("method", "check", "minhash or si", self.method)
        if not _is_number(self.tolerance) or not 0 < self.tolerance <= 10:
            raise ParameterError.of("tolerance", "check", "above 0 and at most 10", self.tolerance)
        if not isinstance(self.limit, int) or isinstance(self.limit, bool) or not 1 <= self.limit <= MAX_TOLD:
            raise ParameterError.of("limit", "check", f"an int from 1 to {MAX_TOLD:,}", self.limit)


@dataclass(frozen=True, slots=True)
class CheckIn:
    """Under what a document is stored.

    Parameters
    ----------
    doc_id : str
    wave : str
        It grows; made if it is not there.
    source : str
        Where the document came from.
    only_new : bool
        Store it only if the verdict is "new".
    """

    doc_id: str
    wave: str = "check-ins"
    source: str = "check-in"
    only_new: bool = False

    def __post_init__(self) -> None:
        for name in ("doc_id", "source"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip() or not is_storable(value):
                raise ParameterError.of(name, "CheckIn", "text that is not blank, and that a database can hold", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDocument:
    """A stored document that is like the one that is checked in, compared word by word.

    Parameters
    ----------
    document : StoredDocument
    relation : {"exact", "near", "contained", "contains"}
        Of the text that is checked in to this document: "contained" in it, or "contains" it.
    jaccard : float
        Of the sets of five words, case and spacing apart; in [0, 1].
    contained : float
        The part of the text's five words that the document has.
    contains : float
        The part of the document's five words that the text has.
    edit_similarity : float or None
        In characters; None if it would have taken too long, or the one is only a part of the other.
    similarity_index : int or None
        The document's; None if it has none.
    is_same_text : bool
        Not one character differs.
    is_damaged : bool
        The stored text is damaged; by its SHA-256 it was the same.
    """

    document: StoredDocument
    relation: Verdict
    jaccard: float
    contained: float
    contains: float
    edit_similarity: float | None
    similarity_index: int | None
    is_same_text: bool
    is_damaged: bool = False

    def to_dict(self) -> dict[str, object]:
        """For JSON and tables."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "document"}
        return {**self.document.to_dict(), **own}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found.

    Parameters
    ----------
    verdict : {"exact", "near", "contained", "contains", "new"}
    documents : tuple of CheckedDocument
        In the order of the verdicts, the most alike first; at most as many as were asked for.
    n_found : int
        All that there are, told or not.
    passage : tuple of Piece
        The most telling difference between the first document, "only_a", and the text, "only_b"; empty if there is
        none, or if the one is only a part of the other.
    options : CheckOptions
    expected_recall : float or None
        The part of near-duplicates just at the threshold that is expected to be found; of those more alike it is more.
        None: not known, as with the similarity index.
    n_candidates, n_compared : int
        Texts that may have been like it, and those that were compared word by word.
    n_hot_keys : int
        Keys that more texts share than were looked at for each.
    is_answered : bool
        False: the text has too few words to be compared; only equal texts are told.
    similarity_index : int or None
        The text's.
    stored_as : str or None
        The id under which it is in the collection now; None: nothing was stored.
    version : int or None
        Of that document; above 1 there was another text under the id before.
    damaged : tuple of StoredDocument
        Documents that could not be compared, because their stored texts are damaged; at most as many as were asked for.
    n_damaged : int
        All that there are, told or not.
    is_repaired : bool
        The stored text of documents with this very text was damaged, and was replaced by it.
    elapsed_s : float
        Of all of it: where the keys of stored texts had to be made first, that too.
    """

    verdict: Verdict
    documents: tuple[CheckedDocument, ...]
    n_found: int
    passage: tuple[Piece, ...]
    options: CheckOptions
    expected_recall: float | None
    n_candidates: int
    n_compared: int
    n_hot_keys: int
    is_answered: bool
    similarity_index: int | None
    stored_as: str | None
    version: int | None
    damaged: tuple[StoredDocument, ...]
    n_damaged: int
    elapsed_s: float
    is_repaired: bool = False

    @property
    def is_truncated(self) -> bool:
        """More was found than is told."""
        return self.n_found > len(self.documents)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        options = self.options
        return {
            "verdict": self.verdict,
            "method": options.method,
            "threshold": options.threshold,
            "containment": options.containment,
            **({"tolerance": options.tolerance} if options.method == "si" else {}),
            "expected_recall": self.expected_recall,
            "is_answered": self.is_answered,
            "similarity_index": self.similarity_index,
            "n_found": self.n_found,
            "is_truncated": self.is_truncated,
            "n_candidates": self.n_candidates,
            "n_compared": self.n_compared,
            "n_hot_keys": self.n_hot_keys,
            "stored_as": self.stored_as,
            "version": self.version,
            "is_repaired": self.is_repaired,
            "n_damaged": self.n_damaged,
            "damaged": [one.doc_id for one in self.damaged],
            "elapsed_s": self.elapsed_s,
            "passage": [{"kind": piece.kind, "text": piece.text} for piece in self.passage],
            "documents": [one.to_dict() for one in self.documents],
        }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
