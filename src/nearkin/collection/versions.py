"""All versions of a document, with their changes, relations, and the version in force at a date."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

import pyarrow as pa
from sqlalchemy import Connection

from nearkin.collection import results
from nearkin.collection.dates import DateAsked, InForce, in_force
from nearkin.collection.history import MAX_COMPARED, TextChange, change_columns
from nearkin.collection.measuring import compare_with
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.relations import relations_of
from nearkin.collection.similar import documents_among, near, prepare
from nearkin.collection.stored.contents import contents_of, purged_contents, stored_text
from nearkin.collection.stored.documents import current_documents, document, documents_by_row
from nearkin.collection.tolerance import ALL, Tolerance, check_limit, is_letters_only
from nearkin.nouns import counted
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.passages import first_difference
from nearkin.store.schema import documents
from nearkin.tabular import AnswerRecord, Tabular, json_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Version(AnswerRecord):
    """A version of a document, and its changes.

    Parameters
    ----------
    similar
        The version, with its distance from the document and its similarities to it.
    relation
        Relation of the version to the document, as in ``nearkin families``. Empty if it was found by its letters and
        its wording does not match: it is then not a version.
    filled_in : {"version", "document", "both", ""}
        Text that fills in the blanks of the other, if that is the relation.
    date
        If the versions in force at a date were requested.
    is_in_force
        Whether it is in force at that date.
    is_older
        Whether it was stored earlier under the same id. The changes then lead from it to the document; otherwise they
        lead from the document to it.
    change
        None: the texts are too long to compare all of them in one call.
    """

    hidden = ("change",)

    similar: results.SimilarDocument
    relation: str
    filled_in: str
    date: date | None
    is_in_force: bool
    is_older: bool
    change: TextChange | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types, with those of the change."""
        change = dict.fromkeys(json_names(TextChange)) if self.change is None else self.change.to_dict()
        relation = {"relation": self.relation or None, "filled_in": self.filled_in or None}
        return {**change, **AnswerRecord.to_dict(self), **relation}


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions(Tabular, AnswerRecord):
    """All versions of a document in a collection.

    Parameters
    ----------
    versions
        Other texts stored under the same id, and other documents within the tolerance: each text once, the most similar
        first. The versions in force are always included.
    in_force
        At the date, if one was given; the document itself may be in force.
    n_not_compared
        See `SimilarDocuments`.
    """

    hidden = ("document", "in_force")

    document: results.StoredDocument
    tolerance: Tolerance
    versions: tuple[Version, ...]
    n_found: int
    in_force: InForce | None = None
    n_not_compared: int = 0

    def first(self, limit: int) -> Versions:
        """Return the same with at most this many versions, and those in force."""
        kept = [version for i, version in enumerate(self.versions) if i < limit or version.is_in_force]
        return replace(self, versions=tuple(kept))

    @property
    def table(self) -> pa.Table:
        """A row for each version, the most similar first; the passage as marked-up text."""
        rows = (
            {**version.to_dict(), "passage": change_columns(version.change).get("passage")} for version in self.versions
        )
        return results.table_of(
            rows,
            *results.DOCUMENT,
            *results.SIMILARITIES,
            *results.columns("relation filled_in date is_in_force is_older"),
            *results.CHANGE,
        )

    def __repr__(self) -> str:
        return f"Versions({counted(self.n_found, 'version')} of {self.document})"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        force = {} if self.in_force is None else self.in_force.to_dict(self.document)
        is_truncated = self.n_found > len(self.versions) or self.n_not_compared > 0
        return {
            **AnswerRecord.to_dict(self),
            "document": self.document.to_dict(),
            "is_truncated": is_truncated,
            **force,
        }


def versions(
    collection: OpenedCollection,
    doc_id: str,
    tolerance: Tolerance,
    *,
    version: int | None,
    limit: int,
    dated: DateAsked | None = None,
) -> Versions:
    """List all versions of a document; see `Collection.versions`."""
    check_limit(limit)

    def ask(seen: Snapshot) -> Versions:
        connection, counting = seen.connection, collection.counting
        queried = document(connection, doc_id, version)
        query = contents_of(connection, [queried.content])[queried.content]
        stored = list(documents_by_row(connection, documents.c.doc_id, [doc_id]).values())
        current = next(
            (candidate for candidate in stored if candidate.is_current), None
        )  # a version, not a similar document
        erased = purged_contents(connection, [candidate.content for candidate in stored if not candidate.n_characters])
        others = [candidate for candidate in stored if candidate != queried and candidate.content not in erased]
        answer = near(collection, seen, query, tolerance)
        similar, n_found = documents_among(collection, seen, query, tolerance, answer, limit=limit, leave_out=current)
        alike = [*similar, *compare_with(connection, counting, query, others)]
        alike = sorted(
            alike,
            key=lambda candidate: (candidate.is_letters_only, *_order(candidate, tolerance), str(candidate.document)),
        )
        force = None
        if dated is not None:
            every, _ = current_documents(connection, answer.contents.tolist(), ALL)
            if tolerance.measure == "letters":  # like letters do not make a version
                measured = compare_with(connection, counting, query, every)
                every = [
                    candidate.document for candidate in measured if not is_letters_only(candidate.jaccard, tolerance)
                ]
            force = in_force(connection, dated, queried, [*others, *every])
        wanted = [candidate for candidate in (force.documents if force else ()) if candidate != queried]
        hidden = [candidate for candidate in wanted if candidate not in [shown.document for shown in alike[:limit]]][
            :limit
        ]
        alike = [*alike[: limit - len(hidden)], *compare_with(connection, counting, query, hidden)]
        compared = _compared(connection, queried, query.text, alike)
        return Versions(
            document=queried,
            tolerance=tolerance,
            versions=tuple(
                Version(
                    similar=candidate,
                    relation="",
                    filled_in="",
                    date=None if force is None else force.date_of(candidate.document),
                    is_in_force=force is not None and candidate.document in force.documents,
                    is_older=(is_older := _is_older(candidate.document, queried)),
                    change=compared.get((candidate.document.content, is_older)),
                )
                for candidate in alike
            ),
            n_found=n_found + len(others),
            in_force=force,
            n_not_compared=answer.n_not_compared,
        )

    prepare(collection, tolerance)
    answer = collection.answered(ask)
    return replace(answer, versions=tuple(_with_relations(collection, answer)))


def _compared(
    connection: Connection, stored_document: results.StoredDocument, text: str, alike: Sequence[results.SimilarDocument]
) -> dict[tuple[int, bool], TextChange]:
    """Compare the document with its versions, the longest last, as far as one call may."""
    changes, n_left = dict[tuple[int, bool], TextChange](), MAX_COMPARED
    for other in sorted((other.document for other in alike), key=lambda other: other.n_characters):
        key = other.content, _is_older(other, stored_document)
        n_left -= other.n_characters * (key not in changes)
        if n_left >= 0 and key not in changes:
            texts = text, stored_text(connection, other.content)
            comparison = compare_texts(*(texts[::-1] if key[1] else texts), context_lines=0, with_moves=True)
            changes[key] = TextChange.of(comparison, first_difference(comparison))
    return changes


def _is_older(stored_document: results.StoredDocument, base: results.StoredDocument) -> bool:
    return stored_document.doc_id == base.doc_id and stored_document.version < base.version


def _with_relations(collection: OpenedCollection, answer: Versions) -> Iterator[Version]:
    shown = {
        version.similar.document.content
        for version in answer.versions
        if version.change and not version.similar.is_letters_only
    }
    pairs = [(answer.document.content, content) for content in sorted(shown)]
    of_content = {content: related.comparison.judgement for (_, content), related in relations_of(collection, pairs)}
    for listed in answer.versions:
        judgement = of_content.get(listed.similar.document.content)
        if judgement is not None and not listed.similar.is_letters_only:
            filled_in = _FILLED_IN.get(judgement.filled_in, judgement.filled_in)
            yield replace(listed, relation=judgement.relation, filled_in=filled_in)
        else:
            yield listed


_FILLED_IN = {"principal": "document", "member": "version"}


def _order(similar: results.SimilarDocument, tolerance: Tolerance) -> tuple[float, float]:
    edit = similar.jaccard if similar.edit_similarity is None else similar.edit_similarity
    if tolerance.measure == "letters":
        return (math.inf if similar.relative_distance is None else similar.relative_distance), -edit
    if tolerance.measure == "containment":
        return -max(similar.contained, similar.contains), -similar.jaccard
    return -similar.jaccard, -edit
