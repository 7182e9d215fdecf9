"""All versions of one document in the order in which they were added, with the change that each made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import pyarrow as pa
from sqlalchemy import Connection

from nearkin.collection.results import CHANGE, DOCUMENT, ENTRY, StoredDocument, table_of
from nearkin.collection.stored.contents import stored_text
from nearkin.collection.stored.documents import document, stored_documents, with_documents
from nearkin.collection.stored.purged import purged_contents
from nearkin.errors import UnknownDocumentError
from nearkin.nouns import counted
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison, Piece, marked_text, passage_as_stored
from nearkin.stages.differences.passages import first_difference
from nearkin.store.bulk import is_storable
from nearkin.store.schema import documents, loads
from nearkin.tabular import Tabular


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """The change from one version of a document to the next.

    Parameters
    ----------
    is_same_text : bool
        Whether the document was removed and added again with the same text.
    n_words_removed, n_words_added : int
        Number of words that occur only before the change, and only after it.
    n_words_moved : int
        Number of words of passages that occur before and after it, in different places.
    n_differences : int
        Without the moved passages.
    passage : tuple of Piece
        Most significant difference, with a few words around it; "only_a" is the text before the change, "only_b" the
        text after it.
    is_whole : bool
        Whether the texts were compared to the end; False if they were too long.
    """

    is_same_text: bool
    n_words_removed: int
    n_words_added: int
    n_differences: int
    passage: tuple[Piece, ...]
    is_whole: bool
    n_words_moved: int = 0

    @classmethod
    def of(cls, found: Comparison, passage: tuple[Piece, ...]) -> TextChange:
        """Return the change that a comparison found, with one of its differences."""
        return cls(
            is_same_text=found.is_identical,
            n_words_removed=found.n_words_only_a,
            n_words_added=found.n_words_only_b,
            n_differences=found.n_changes,
            passage=passage,
            is_whole=found.is_whole,
            n_words_moved=found.n_words_moved,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        names = ("is_same_text", "n_words_removed", "n_words_added", "n_words_moved", "n_differences", "is_whole")
        return {**{name: getattr(self, name) for name in names}, "passage": passage_as_stored(self.passage)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A version of a document.

    Parameters
    ----------
    document : StoredDocument
    added_at : str
        UTC, ISO 8601.
    removed_at : str or None
        When this version was removed; None if it is current, or was replaced by the next version.
    change : TextChange or None
        Change from the previous version; None for the first version, and if one of the two texts was erased.
    is_erased : bool
        Whether the text was erased: see `Collection.purge`.
    """

    document: StoredDocument
    added_at: str
    removed_at: str | None
    change: TextChange | None
    is_erased: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        change = None if self.change is None else self.change.to_dict()
        own = {"added_at": self.added_at, "removed_at": self.removed_at, "change": change, "is_erased": self.is_erased}
        return {**self.document.to_dict(), **own}


@dataclass(frozen=True, slots=True)
class DocumentHistory(Tabular):
    """All versions of a document.

    Parameters
    ----------
    doc_id : str
    versions : tuple of HistoryEntry
        The oldest first.
    """

    tables: ClassVar[tuple[str, ...]] = ("table",)

    doc_id: str
    versions: tuple[HistoryEntry, ...]

    @property
    def table(self) -> pa.Table:
        """A row for each version, the oldest first, with its change as columns."""
        rows = (
            {
                **({} if one.change is None else one.change.to_dict() | {"passage": marked_text(one.change.passage)}),
                **one.to_dict(),
            }
            for one in self.versions
        )
        return table_of(rows, *DOCUMENT, *ENTRY, *CHANGE)

    def __repr__(self) -> str:
        return f"DocumentHistory({counted(len(self.versions), 'version')} of {self.doc_id})"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"doc_id": self.doc_id, "versions": [one.to_dict() for one in self.versions]}


def history(connection: Connection, doc_id: str) -> DocumentHistory:
    """Return all versions of a document; see `Collection.history`."""
    try:
        document(connection, doc_id)
    except UnknownDocumentError:  # a removed document has a history too
        if not is_storable(doc_id) or not _rows(connection, doc_id):
            raise
    rows = _rows(connection, doc_id)
    erased = purged_contents(connection, [row.content for row in rows])
    compared = comparisons(connection, [None if row.content in erased else row.content for row in rows])
    return DocumentHistory(
        doc_id,
        tuple(
            HistoryEntry(
                document=stored,
                added_at=row.added_at,
                removed_at=row.removed_at,
                change=None if found is None else TextChange.of(found, first_difference(found)),
                is_erased=row.content in erased,
            )
            for stored, row, found in zip(stored_documents(rows), rows, compared, strict=True)
        ),
    )


def _rows(connection: Connection, doc_id: str) -> list[Any]:
    query = with_documents().add_columns(loads.c.added_at).where(documents.c.doc_id == doc_id)
    return list(connection.execute(query.order_by(documents.c.version)))


def comparisons(connection: Connection, numbers: Sequence[int | None]) -> Iterator[Comparison | None]:
    """Yield for each content its comparison with the previous one; None for the first, and beside an erased content.

    Two texts are held at a time. None among the numbers stands for an erased text.

    Raises
    ------
    CollectionError
        A text is damaged.
    """
    if not numbers:
        return
    yield None
    text = None if numbers[0] is None else stored_text(connection, numbers[0])
    for before, after in pairwise(numbers):
        other = text if before == after else None if after is None else stored_text(connection, after)
        yield None if text is None or other is None else compare_texts(text, other, context_lines=0, with_moves=True)
        text = other
