"""Counts of a stream of documents that was checked in."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from nearkin.collection.check_in.results import VERDICTS
from nearkin.planning.part_recall import MeanPartRecall


@dataclass(slots=True, kw_only=True)
class StreamSummary:
    """Counts of a stream that was checked.

    Parameters
    ----------
    threshold : float
    containment : float or None
        See `CheckOptions`.
    expected_recall : float or None
        Expected share of the near-duplicates exactly at the threshold that are found, for documents without skewed
        keys; None if it is unknown.
    parts : MeanPartRecall
        Mean expected recall of parts, of the documents for which it is known.
    n_hot : int
        Number of documents with skewed keys, of which similar documents may have been missed.
    n_documents : int
        Lines that are not blank, including unreadable ones.
    verdicts : dict of str to int
        Number of documents with each verdict.
    n_kept : int
        Documents that are new, contain a stored document, or are stored under their ids with the same text; a repeated
        line of a stream that is stored counts once.
    n_stored : int
        Documents that this call stored.
    n_already_stored : int
        Documents whose text was stored under their id before, also by this stream; their verdict is "exact".
    n_repeated : int
        Those of them that repeat the id and the text of an earlier line of the stream.
    n_purged : int
        Documents whose text was erased by a purge. If documents are stored, these are not, and have no verdict.
    n_problems : int
        Documents that could not be read, checked or stored for another reason; they have no verdict.
    elapsed_s : float
    """

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

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types; the mean recall of parts only if they are searched for."""
        fields = asdict(self)
        del fields["parts"]
        of_parts = {} if self.containment is None else {"expected_recall_of_parts": self.parts.to_dict()}
        return {**fields, **of_parts}
