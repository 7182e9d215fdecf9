"""Options and results of a check-in, of one document and of a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

import pyarrow as pa
from msgspec import UNSET, UnsetType

from nearkin.arguments import checking_methods
from nearkin.collection.results import DOCUMENT, StoredDocument, columns, table_of
from nearkin.collection.tolerance import LIMITS, Measure, is_limit
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.planning.part_recall import MeanPartRecall, PartRecall
from nearkin.stages.differences.comparison import Piece
from nearkin.stages.documents.members import UNKNOWN_FILE, KnownFile
from nearkin.stages.verification.difference_names import Difference
from nearkin.store.bulk import is_name, is_storable
from nearkin.tabular import AnswerRecord, Tabular

Verdict = Literal["exact", "near", "contained", "contains", "new"]
VERDICTS: tuple[Verdict, ...] = ("exact", "near", "contained", "contains", "new")
"""Verdicts in order; the first that applies to any document is the verdict."""
DROPPED_FROM_STREAMS: frozenset[Verdict] = frozenset(("exact", "near", "contained"))
"""Verdicts with which a stream drops a document. "contains" is none of them: such a document has text of its own."""
CheckMeasure = Literal["jaccard", "index"]
MAX_TOLD = 10_000
MIN_COMMON = 8
"""Minimum number of shared shingles for one text to count as part of another: fewer are common phrases."""


@checking_methods
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """Thresholds and limits of a check.

    Parameters
    ----------
    threshold
        Minimum Jaccard similarity (word 5-grams) of a near-duplicate, in (0, 1].
    containment
        Minimum share of one text's word 5-grams that occur in the other, in (0, 1]. None: a text that is part of
        another is not similar to it.
    measure : {"jaccard", "index"}
        Search for candidates. "jaccard": bands and sampled shingles. "index": the documents with the nearest similarity
        indexes within ``tolerance``. With both, every listed document was compared word by word.
    tolerance
        Maximum relative difference of similarity indexes, for "index".
    with_passage
        Return the passage in which the text differs from the most similar document; this doubles the time.
    """

    threshold: float = 0.7
    containment: float | None = 0.9
    measure: CheckMeasure = "jaccard"
    tolerance: float = 0.3
    limit: int = 10
    with_passage: bool = True

    def __post_init__(self) -> None:
        limits: tuple[tuple[str, Measure], ...] = (
            ("threshold", "jaccard"), ("containment", "containment"), ("tolerance", "index"),
        )  # fmt: skip
        for name, measure in limits:
            value = getattr(self, name)
            is_off = name == "containment" and value is None
            if not is_off and not is_limit(measure, value):
                raise ParameterError.of(name, LIMITS[measure].rule, value)
        if self.measure not in ("jaccard", "index"):
            raise ParameterError.of("measure", "jaccard or index", self.measure)
        if not isinstance(self.limit, int) or isinstance(self.limit, bool) or not 1 <= self.limit <= MAX_TOLD:
            raise ParameterError.of("limit", f"an int from 1 to {MAX_TOLD:,}", self.limit)


@checking_methods
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInMany:
    """Wave under which to store several documents that are checked in together, and which of them to store.

    Parameters
    ----------
    wave
        A missing wave is created.
    lines
        Line of each document in its source; by default 1, 2, …
    only_new
        Store a document only if its verdict is "new" or "contains": the text that it adds is not stored yet.
    """

    wave: str = "check-ins"
    source: str = "check-in"
    lines: Sequence[int] = ()
    only_new: bool = False
    by: str | None = None

    def __post_init__(self) -> None:
        check_name("source", self.source)
        is_sequence = isinstance(self.lines, Sequence) and not isinstance(self.lines, str | bytes)
        if not is_sequence or not all(type(line) is int and 0 <= line < 2**63 for line in self.lines):
            raise ParameterError.of("lines", "a sequence of ints from 0 to 2**63 - 1", self.lines)


@checking_methods
@dataclass(frozen=True, slots=True)
class CheckIn(CheckInMany):
    """Id and wave under which to store one document; with ``only_new``, only if its verdict is "new".

    Parameters
    ----------
    id_is_new
        Whether the id must be new (True) or that of a current document (False) when the text is stored; by default both
        are accepted.
    wave, source, lines, only_new, by
        As in `CheckInMany`.
    """

    doc_id: str
    _: KW_ONLY
    file: KnownFile = UNKNOWN_FILE
    id_is_new: bool | None = None

    def __post_init__(self) -> None:
        CheckInMany.__post_init__(self)
        check_name("doc_id", self.doc_id)

    def refuse_other_id(self, is_there: bool) -> None:
        """Refuse an id that breaks the rule of ``id_is_new``; ``is_there``: a current document has it."""
        if self.id_is_new and is_there:
            raise ParameterError(
                f"The document {self.doc_id!r} already exists. Choose another id, or store a version of it."
            )
        if self.id_is_new is False and not is_there:
            raise ParameterError(f"There is no document {self.doc_id!r} any more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDocument(AnswerRecord):
    """A stored document that is similar to the checked text, compared word by word.

    Parameters
    ----------
    relation : {"exact", "near", "contained", "contains"}
        Relation of the text to this document: a "contained" text is part of it.
    jaccard
        Jaccard similarity of the word 5-grams, ignoring case and white space; in [0, 1].
    contained, contains
        Share of the text's word 5-grams that occur in the document, and vice versa.
    edit_similarity
        In characters; None if the texts are too long, or if one is only part of the other.
    differs
        What differs in the texts, as ``nearkin dedup`` has it.
    """

    document: StoredDocument
    relation: Verdict
    jaccard: float
    contained: float
    contains: float
    edit_similarity: float | None
    similarity_index: int | None
    is_same_text: bool
    differs: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Tabular, AnswerRecord):
    """Result of a check.

    Parameters
    ----------
    documents
        In the order of the verdicts, the most similar first; at most ``limit``.
    passage
        First significant difference between the first document ("only_a") and the text ("only_b"); empty if there is
        none, or if one text is only part of the other.
    n_differences, n_moves
        Number of differences between the two, and of passages that both have in different places; None if not compared.
    expected_recall
        Expected share of the near-duplicates exactly at the threshold that are found; more are found above it. None
        with the measure "index", and if ``n_hot_keys`` is not 0.
    n_candidates, n_compared
        Number of candidates, and of those compared word by word.
    n_hot_keys
        Number of keys of the text that occur in too many stored texts to compare all of these.
    is_answered
        Whether the text has enough words to compare; if not, only identical texts are listed, and for an empty text
        only the document that has it under the same id.
    stored_as
        Id under which the text was stored; None if it was not.
    version
        Version of the stored document; above 1, the id had another text before.
    is_resent
        Whether this text was already stored under the id.
    is_purged
        Whether this text was erased by a purge, so that it cannot be stored again.
    missing
        The parts that the text lacks, if it could be extracted only partly from its file.
    not_checked
        Ids of the documents inside the file, such as attachments, which were not compared.
    expected_recall_of_parts
        Expected share found of the texts exactly at the containment. None if parts are not searched for, if the text
        has fewer than eight word 5-grams, if ``n_hot_keys`` is not 0, or if not all candidates were compared.
    """

    hidden = ("options", "expected_recall_of_parts")
    computed = (
        "is_truncated", "measure=options.measure", "threshold=options.threshold", "containment=options.containment",
        "tolerance=used_tolerance", "expected_recall_of_parts=stated_recall_of_parts",
    )  # fmt: skip

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
    elapsed_s: float
    is_resent: bool = False
    is_purged: bool = False
    missing: str | None = None
    not_checked: tuple[str, ...] = ()
    expected_recall_of_parts: PartRecall | None = None
    n_differences: int | None = None
    n_moves: int | None = None

    @property
    def is_truncated(self) -> bool:
        """Whether documents were found that are not returned."""
        return self.n_found > len(self.documents)

    @property
    def table(self) -> pa.Table:
        """A row for each similar document, in the order of the verdicts."""
        own_columns = columns(
            "relation jaccard contained contains edit_similarity similarity_index is_same_text differs"
        )
        return table_of((document.to_dict() for document in self.documents), *DOCUMENT, *own_columns)

    def __repr__(self) -> str:
        return f"Checked({self.verdict}; {counted(self.n_found, 'similar document')})"

    @property
    def used_tolerance(self) -> float | UnsetType:
        """Tolerance of the similarity indexes, if they are compared."""
        return self.options.tolerance if self.options.measure == "index" else UNSET

    @property
    def stated_recall_of_parts(self) -> PartRecall | UnsetType | None:
        """Expected recall of parts, if they are searched for."""
        return UNSET if self.options.containment is None else self.expected_recall_of_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer(AnswerRecord):
    """Answer for one of several documents that were checked together.

    Parameters
    ----------
    checked
        None if the document could not be checked or stored.
    problem
        The reason for that.
    """

    doc_id: str
    checked: Checked | None = None
    problem: str | None = None
    is_purged: bool = False

    @property
    def is_resent(self) -> bool:
        """Whether this text was already stored under this id."""
        return self.checked is not None and self.checked.is_resent

    @property
    def is_kept(self) -> bool:
        """Whether the document is part of the cleaned stream."""
        return self.checked is not None and (self.checked.verdict not in DROPPED_FROM_STREAMS or self.is_resent)

    def to_dict(self) -> dict[str, object]:
        """Return the answer as JSON types."""
        if self.checked is None:
            return {"id": self.doc_id, "error": self.problem, "is_purged": self.is_purged}
        names = ("relation", "jaccard", "contained", "contains", "edit_similarity", "is_same_text", "differs")
        return {
            "id": self.doc_id,
            "verdict": self.checked.verdict,
            "is_kept": self.is_kept,
            "is_stored": self.checked.stored_as is not None,
            "is_purged": self.checked.is_purged,
            **{name: value for name, value in self.checked.to_dict().items() if name in _OF_A_CHECK},
            "documents": [
                {"id": row.document.doc_id, "wave": row.document.wave, **{name: getattr(row, name) for name in names}}
                for row in self.checked.documents
            ],
        }


_OF_A_CHECK = ("version", "expected_recall", "expected_recall_of_parts", "n_found", "n_hot_keys")


def check_given(options: object, store: object, kind: type) -> None:
    """Refuse ``options`` that are no `CheckOptions` and a ``store`` that is no ``kind``."""
    for name, value, wanted in (("options", options, CheckOptions), ("store", store, kind)):
        if value is not None and not isinstance(value, wanted):
            raise ParameterError.of(name, f"a {wanted.__name__}", value)


def check_name(parameter: str, value: object) -> None:
    """Refuse an id or a source that cannot be stored, or an id that is not one line."""
    is_one = is_name if parameter in ("id", "doc_id") else is_storable
    if not isinstance(value, str) or not value.strip() or not is_one(value):
        rule = "text that is not blank, without control characters, and that a database can hold"
        raise ParameterError.of(parameter, rule, value)


@dataclass(slots=True, kw_only=True)
class StreamSummary(AnswerRecord):
    """Counts of a stream that was checked.

    Parameters
    ----------
    n_stored, n_already_stored, n_repeated
        Documents that this call stored; whose text was stored under their id before, also by this stream; those of
        these that repeat an earlier line.
    n_purged
        Documents whose text was erased by a purge. If documents are stored, these are not, and have no verdict.
    """

    hidden = ("parts",)
    computed = ("expected_recall_of_parts",)

    threshold: float
    containment: float | None
    expected_recall: float | None = None
    parts: MeanPartRecall = field(default_factory=MeanPartRecall)
    n_hot: int = 0
    n_documents: int = 0
    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    n_kept: int = 0
    n_stored: int = 0
    n_already_stored: int = 0
    n_repeated: int = 0
    n_purged: int = 0
    n_problems: int = 0
    elapsed_s: float = 0.0

    @property
    def expected_recall_of_parts(self) -> Mapping[str, float | int | None] | UnsetType:
        """Mean expected recall of parts, if they are searched for."""
        return UNSET if self.containment is None else self.parts.means
