"""Comparison of candidates, word by word, with the text that is checked in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from nearkin.collection.check_in.candidates import CheckCandidates, Query, candidates_by_index, candidates_by_keys
from nearkin.collection.check_in.results import MIN_COMMON, VERDICTS, Checked, CheckedDocument, CheckOptions, Verdict
from nearkin.collection.counting import TextCounting
from nearkin.collection.loads.known_texts import numbers_of
from nearkin.collection.measuring import verified
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.documents import current_documents
from nearkin.collection.stored.keys import BANDS
from nearkin.collection.stored.profiles import similarity_indexes
from nearkin.collection.stored.word_sets import Shares
from nearkin.kernels.buffers import strings
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store import schema
from nearkin.store.bulk import is_storable
from nearkin.wording import rounded_down

if TYPE_CHECKING:
    from nearkin.stages.differences.comparing import FirstPassage


MAX_COMPARED = 256


@dataclass(frozen=True, slots=True)
class _Likeness:
    """Result of comparing a stored text word by word."""

    content: int
    relation: Verdict
    shares: Shares
    is_same_text: bool
    text: str

    @property
    def rank(self) -> tuple[object, ...]:
        """Sort key; the most similar texts come first."""
        by_parts = {"contained": self.shares.contained, "contains": self.shares.contains}
        alike = by_parts.get(self.relation, self.shares.jaccard)
        return VERDICTS.index(self.relation), not self.is_same_text, -alike, self.content


def check(
    connection: Connection,
    counting: TextCounting,
    query: Query,
    options: CheckOptions,
    *,
    first_missing: int | None,
) -> Checked:
    """Find the texts similar to a text, in one snapshot or transaction.

    Parameters
    ----------
    connection : Connection
    counting : TextCounting
    query : Query
    options : CheckOptions
    first_missing : int or None
        First content without stored keys.

    Raises
    ------
    CollectionError
        The stored text of a candidate is damaged.
    """
    started = time.perf_counter()
    search = candidates_by_keys if options.measure == "jaccard" else candidates_by_index
    candidates = search(connection, counting, query, options, first_missing)
    alike = _compared(connection, counting, query, candidates, options)
    found, n_found = current_documents(connection, [one.content for one in alike], options.limit)
    documents = _documents(connection, found, alike, query)
    passage = _passage(documents, alike, query) if options.with_passage else None
    n_candidates = len(candidates.contents)
    return Checked(
        verdict=documents[0].relation if documents else "new",
        documents=documents,
        n_found=n_found,
        passage=passage.pieces if passage else (),
        n_differences=passage.n_differences if passage else None,
        n_moves=passage.n_moves if passage else None,
        options=options,
        expected_recall=None if candidates.n_hot_keys else expected_recall(options),
        n_candidates=n_candidates,
        n_compared=min(n_candidates, MAX_COMPARED),
        n_hot_keys=candidates.n_hot_keys,
        is_answered=query.signature is not None,
        similarity_index=query.similarity_index,
        stored_as=None,
        version=None,
        elapsed_s=round(time.perf_counter() - started, 4),
        expected_recall_of_parts=None if n_candidates > MAX_COMPARED else candidates.part_recall,
    )


def expected_recall(options: CheckOptions) -> float | None:
    """Return the expected recall of near-duplicates of a text without hot keys; None with another measure."""
    if options.measure != "jaccard":
        return None
    return rounded_down(float(BANDS.probability(options.threshold)), 4)


def _compared(
    connection: Connection, counting: TextCounting, query: Query, candidates: CheckCandidates, options: CheckOptions
) -> list[_Likeness]:
    """Return the similar contents, the most similar first."""
    normalised = _normalised(counting.normalise, query.text)
    if not normalised:  # a text without words, or of which all are ignored, is no copy of another one
        return []
    alike, n_own = list[_Likeness](), len(query.shingles)
    for content, shares in verified(connection, counting, query.text, candidates.contents[:MAX_COMPARED]):
        is_same = content.digest == query.digest
        is_equal = is_same or (
            shares.contained == shares.contains == 1 and _normalised(counting.normalise, content.text) == normalised
        )
        if is_equal:
            shares = Shares(1.0, 1.0, 1.0, shares.n_common)
        elif not n_own:
            shares = Shares(0.0, 0.0, 0.0, 0)
        relation = "exact" if is_equal else _relation(shares, options)
        if relation is not None:
            alike.append(_Likeness(content.number, relation, shares, is_same, content.text))
    return sorted(alike, key=lambda one: one.rank)


def _normalised(normalise: Normalisation, text: str) -> str:
    return str(normalise.apply(strings([text]))[0].as_py())


def _relation(shares: Shares, options: CheckOptions) -> Verdict | None:
    if shares.jaccard >= options.threshold:
        return "near"
    is_part = options.containment is not None and max(shares.contained, shares.contains) >= options.containment
    if not is_part or shares.n_common < MIN_COMMON:
        return None
    return "contained" if shares.contained >= shares.contains else "contains"


def _documents(
    connection: Connection, found: Sequence[StoredDocument], alike: Sequence[_Likeness], query: Query
) -> tuple[CheckedDocument, ...]:
    """Return documents with how similar their texts are."""
    contents = {one.content for one in found}
    of_content = {one.content: one for one in alike if one.content in contents}
    indexes = similarity_indexes(connection, list(contents))
    edits = {content: _edit(one, query) for content, one in of_content.items()}
    return tuple(_checked(one, of_content[one.content], edits[one.content], indexes.get(one.content)) for one in found)


def _edit(one: _Likeness, query: Query) -> float | None:
    if one.is_same_text:
        return 1.0
    return edit_similarity(query.text, one.text).similarity if one.relation in ("exact", "near") else None


def _checked(document: StoredDocument, one: _Likeness, edit: float | None, index: int | None) -> CheckedDocument:
    return CheckedDocument(
        document=document,
        relation=one.relation,
        jaccard=one.shares.jaccard,
        contained=one.shares.contained,
        contains=one.shares.contains,
        edit_similarity=edit,
        similarity_index=index,
        is_same_text=one.is_same_text,
    )


def _passage(documents: Sequence[CheckedDocument], alike: Sequence[_Likeness], query: Query) -> FirstPassage | None:
    """Return the passage in which the text differs from the most similar document; None if they are not compared."""
    if not documents or documents[0].is_same_text or documents[0].relation not in ("exact", "near"):
        return None
    from nearkin.stages.differences.comparing import first_passage  # here, because most answers have no passage

    text = next(one.text for one in alike if one.content == documents[0].document.content)
    return first_passage(text, query.text)


def mark_resent(connection: Connection, checked: Checked, doc_id: object, query: Query) -> Checked:
    """Add whether a checked text is stored under this id already; to be asked before the text is stored.

    An empty text is no copy of another document, so it was compared with none. If the document of this id has it, the
    text is resent like any other, and that document is its only match.
    """
    if any(one.is_same_text and one.document.doc_id == doc_id for one in checked.documents):
        return replace(checked, is_resent=True)
    is_compared = checked.is_answered or checked.n_found > 0
    if is_compared and (checked.verdict != "exact" or not checked.is_truncated):  # all equal texts are listed
        return checked
    if not isinstance(doc_id, str) or not is_storable(doc_id):
        return checked
    same = list(numbers_of(connection, [query.digest]).values())
    found, _ = current_documents(connection, same, 1, schema.documents.c.doc_id == doc_id)
    if not found:
        return checked
    if is_compared:
        return replace(checked, is_resent=True)
    itself = _Likeness(found[0].content, "exact", Shares(1.0, 1.0, 1.0, 0), is_same_text=True, text=query.text)
    return replace(
        checked, verdict="exact", documents=_documents(connection, found, [itself], query), n_found=1, is_resent=True
    )
