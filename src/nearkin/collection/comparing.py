"""Two documents compared word by word, and all versions of one."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.collection.contents import contents_of
from nearkin.collection.documents import document, stored_documents, with_documents
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.results import SimilarDocument, SimilarDocuments, StoredDocument
from nearkin.collection.similar import compare_with, similar
from nearkin.collection.tolerance import Tolerance
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison, Piece
from nearkin.stages.differences.passages import first_difference
from nearkin.store.schema import documents

VERSIONS_GAMMA = 0.05
"""Versions differ by more than copies do: the relaxed setting of the article."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of a document, and what changed in it.

    Parameters
    ----------
    similar : SimilarDocument
        The version, its distance from the document and the similarities, by name.
    is_older : bool
        It was stored under the same id before: what is told is how it became the document. Else it is told how the
        document becomes the version.
    n_words_removed, n_words_added : int
        Words that only the one before has, and that only the one after has.
    n_differences : int
    passage : tuple of Piece
        The most telling difference, with a few words around it; "only_a" is of the one before, "only_b" of the other.
    is_whole : bool
        False: the texts were too long to be compared to the end.
    """

    similar: SimilarDocument
    is_older: bool
    n_words_removed: int
    n_words_added: int
    n_differences: int
    passage: tuple[Piece, ...]
    is_whole: bool

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            **self.similar.to_dict(),
            "is_older": self.is_older,
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
        What else was stored under the same id (current, replaced or removed), and other documents within the tolerance;
        the most alike first, none twice.
    n_found : int
        All of these, told or not.
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
    collection: OpenedCollection,
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


def versions(
    collection: OpenedCollection, doc_id: str, tolerance: Tolerance, *, version: int | None, limit: int
) -> Versions:
    """See `Collection.versions`."""

    def ask(seen: Snapshot) -> Versions:
        connection = seen.connection
        own = document(connection, doc_id, version)
        query = contents_of(connection, [own.content])[own.content]
        of_same_id = connection.execute(
            with_documents().where(documents.c.doc_id == doc_id).order_by(documents.c.version)
        ).all()
        stored = stored_documents(of_same_id)
        current = next((one for one in stored if one.is_current), None)  # told as a version, not as one within reach
        others = [one for one in stored if one != own]
        found: SimilarDocuments = similar(
            connection, collection.counting, seen.segments, query, tolerance, limit=limit, leave_out=current
        )
        alike = [*found.documents, *compare_with(connection, collection.counting, query, others)]
        alike = sorted(alike, key=lambda one: (-_likeness(one), str(one.document)))[:limit]
        texts = contents_of(connection, list({one.document.content for one in alike}))
        told = tuple(_version(one, own, query.text, texts[one.document.content].text) for one in alike)
        return Versions(own, tolerance, told, found.n_found + len(others))

    return collection.answered(ask)


def _likeness(one: SimilarDocument) -> float:
    """The edit similarity; where two texts are too long for it, that of their words."""
    return one.jaccard if one.edit_similarity is None else one.edit_similarity


def _version(one: SimilarDocument, own: StoredDocument, text: str, other: str) -> Version:
    is_older = one.document.doc_id == own.doc_id and one.document.version < own.version
    before, after = (other, text) if is_older else (text, other)
    comparison = compare_texts(before, after, context_lines=0)
    return Version(
        similar=one,
        is_older=is_older,
        n_words_removed=comparison.n_words_only_a,
        n_words_added=comparison.n_words_only_b,
        n_differences=comparison.n_differences,
        passage=first_difference(comparison),
        is_whole=comparison.is_whole,
    )
