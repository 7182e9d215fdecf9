"""Two documents side by side, and all versions of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearkin.collection.documents import contents_of, document, with_documents
from nearkin.collection.results import SimilarDocument, SimilarDocuments, StoredDocument
from nearkin.collection.similar import compare_with, similar
from nearkin.collection.tolerance import Tolerance
from nearkin.reports.comparison import Comparison, Piece, compare_texts, first_difference
from nearkin.store.schema import documents

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection, Snapshot

VERSIONS_GAMMA = 0.05
"""Versions differ by more than copies do: the relaxed setting of the article."""
MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class ComparedDocuments:
    """Two documents of a collection, and how they differ.

    Parameters
    ----------
    a : StoredDocument
    b : SimilarDocument
        With its distance from A and the similarities, by name.
    comparison : Comparison
        Word by word.
    """

    a: StoredDocument
    b: SimilarDocument
    comparison: Comparison

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"a": self.a.to_dict(), "b": self.b.to_dict(), "comparison": self.comparison.to_json()}


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document, and what changed in it.

    Parameters
    ----------
    similar : SimilarDocument
        The version, its distance from the document and the similarities, by name.
    n_words_removed, n_words_added : int
        Words that only the document has, and that only the version has.
    n_differences : int
    passage : tuple of Piece
        The most telling difference, with a few words around it; "only_a" is the document's, "only_b" the version's.
    is_whole : bool
        False: the texts were too long to be compared to the end.
    """

    similar: SimilarDocument
    n_words_removed: int
    n_words_added: int
    n_differences: int
    passage: tuple[Piece, ...]
    is_whole: bool

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            **self.similar.to_dict(),
            "n_words_removed": self.n_words_removed,
            "n_words_added": self.n_words_added,
            "n_differences": self.n_differences,
            "is_whole": self.is_whole,
            "passage": [{"kind": piece.kind, "text": piece.text} for piece in self.passage],
        }


@dataclass(frozen=True, slots=True)
class Versions:
    """All versions of a document that a collection has.

    Parameters
    ----------
    document : StoredDocument
    tolerance : Tolerance
    versions : tuple of Version
        What was stored under the same id before, and other documents within the tolerance; the most alike first.
    n_found : int
        Documents within the tolerance, and older versions.
    """

    document: StoredDocument
    tolerance: Tolerance
    versions: tuple[Version, ...]
    n_found: int

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "document": self.document.to_dict(),
            "method": self.tolerance.method,
            self.tolerance.parameter: self.tolerance.value,
            "n_found": self.n_found,
            "versions": [one.to_dict() for one in self.versions],
        }


def compare(
    collection: Collection,
    a: str,
    b: str,
    *,
    version_a: int | None,
    version_b: int | None,
    context_lines: int,
) -> ComparedDocuments:
    """See `Collection.compare`."""
    with collection.store.reading() as connection:
        one, other = document(connection, a, version_a), document(connection, b, version_b)
        contents = contents_of(connection, [one.content, other.content])
        (measured,) = compare_with(connection, collection.counting, contents[one.content], [other])
    comparison = compare_texts(contents[one.content].text, contents[other.content].text, context_lines=context_lines)
    return ComparedDocuments(one, measured, comparison)


def versions(collection: Collection, doc_id: str, tolerance: Tolerance, *, version: int | None, limit: int) -> Versions:
    """See `Collection.versions`."""

    def ask(seen: Snapshot) -> Versions:
        connection = seen.connection
        own = document(connection, doc_id, version)
        query = contents_of(connection, [own.content])[own.content]
        found: SimilarDocuments = similar(
            connection, collection.counting, seen.segments, query, tolerance, limit=limit, leave_out=own
        )
        is_older = (documents.c.doc_id == doc_id) & (documents.c.version != own.version)
        rows = connection.execute(with_documents().where(is_older).order_by(documents.c.version)).all()
        older = [StoredDocument(*row) for row in rows if not row.is_current]
        alike = [*found.documents, *compare_with(connection, collection.counting, query, older)]
        alike.sort(key=lambda one: (-_likeness(one), str(one.document)))
        texts = contents_of(connection, list({one.document.content for one in alike}))
        told = tuple(_version(one, query.text, texts[one.document.content].text) for one in alike[:limit])
        return Versions(own, tolerance, told, found.n_found + len(older))

    return collection.answered(ask)


def _likeness(one: SimilarDocument) -> float:
    """The edit similarity; where two texts are too long for it, that of their words."""
    return one.jaccard if one.edit_similarity is None else one.edit_similarity


def _version(one: SimilarDocument, text: str, other: str) -> Version:
    comparison = compare_texts(text, other, context_lines=0)
    return Version(
        one,
        comparison.n_words_only_a,
        comparison.n_words_only_b,
        comparison.n_differences,
        first_difference(comparison),
        comparison.is_whole,
    )
