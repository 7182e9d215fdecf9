"""Answers of a search for words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pyarrow as pa

from nearkin.collection.results import FOUND, StoredDocument, table_of
from nearkin.nouns import counted
from nearkin.tabular import Tabular


@dataclass(frozen=True, slots=True)
class SnippetPiece:
    """Piece of a snippet: a word that was searched for, or text around it; "…" stands for omitted text."""

    text: str
    is_match: bool


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that meets a query.

    Parameters
    ----------
    document : StoredDocument
    relevance : float
        BM25 of the query in SQLite, ts_rank in PostgreSQL: higher if its words are more frequent in the text.
    snippet : tuple of SnippetPiece
        Passage with as many of the words as possible, on one line.
    """

    document: StoredDocument
    relevance: float
    snippet: tuple[SnippetPiece, ...]

    @property
    def snippet_text(self) -> str:
        """The passage with the words in square brackets."""
        return "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in self.snippet)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {**self.document.to_dict(), "relevance": self.relevance, "snippet": self.snippet_text}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(Tabular):
    """Result of a search for words.

    Parameters
    ----------
    query : str
    documents : tuple of FoundDocument
        Documents, the most relevant first; at most ``limit``.
    n_found : int
        Number of current documents that meet the query, including those not returned.
    elapsed_s : float
    """

    tables: ClassVar[tuple[str, ...]] = ("table",)

    query: str
    documents: tuple[FoundDocument, ...]
    n_found: int
    elapsed_s: float

    @property
    def is_truncated(self) -> bool:
        """Whether documents were found that are not returned."""
        return self.n_found > len(self.documents)

    def first(self, n: int) -> SearchResult:
        """Return the same result with only the first documents."""
        return replace(self, documents=self.documents[:n])

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def table(self) -> pa.Table:
        """A row for each document, the most relevant first, with its snippet."""
        return table_of((one.to_dict() for one in self.documents), *FOUND)

    def __repr__(self) -> str:
        return f"SearchResult({counted(self.n_found, 'document')} with {self.query})"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            "query": self.query,
            "n_found": self.n_found,
            "is_truncated": self.is_truncated,
            "elapsed_s": self.elapsed_s,
            "documents": [one.to_dict() for one in self.documents],
        }
