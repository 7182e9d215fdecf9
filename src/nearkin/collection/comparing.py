"""Comparison of two documents word by word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nearkin.collection.measuring import compare_with
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import SimilarDocument, StoredDocument
from nearkin.collection.stored.contents import contents_of
from nearkin.collection.stored.documents import document
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison
from nearkin.stages.differences.ignoring import check_ignored


@dataclass(frozen=True, slots=True)
class ComparedDocuments:
    """Two documents of a collection, and their differences.

    Parameters
    ----------
    a : StoredDocument
    b : SimilarDocument
        With its distance from A and its similarities.
    comparison : Comparison
        Word-by-word comparison.
    """

    a: StoredDocument
    b: SimilarDocument
    comparison: Comparison

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"a": self.a.to_dict(), "b": self.b.to_dict(), "comparison": self.comparison.to_json()}


def compare(
    collection: OpenedCollection,
    a: str,
    b: str,
    *,
    version_a: int | None,
    version_b: int | None,
    context_lines: int,
    ignore: Iterable[str] = (),
) -> ComparedDocuments:
    """Compare two documents; see `Collection.compare`."""
    kinds = check_ignored(ignore)
    with collection.store.reading() as connection:
        one, other = document(connection, a, version_a), document(connection, b, version_b)
        contents = contents_of(connection, [one.content, other.content])
        (measured,) = compare_with(connection, collection.counting, contents[one.content], [other], {})
    text_a, text_b = (contents[document.content].text for document in (one, other))
    comparison = compare_texts(text_a, text_b, context_lines=context_lines, with_moves=True, ignore=kinds)
    return ComparedDocuments(one, measured, comparison)
