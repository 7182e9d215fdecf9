"""Word-by-word comparison of candidates with the text that is checked in."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select

from nearkin.collection.check_in.candidates import CheckCandidates, Query, candidates_by_index, candidates_by_keys
from nearkin.collection.check_in.results import MIN_COMMON, VERDICTS, Checked, CheckedDocument, CheckOptions, Verdict
from nearkin.collection.counting import SHINGLES, TextCounting
from nearkin.collection.measuring import verified
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.documents import current_with, stored_documents
from nearkin.collection.stored.key_table import BANDS
from nearkin.collection.stored.word_sets import Shares
from nearkin.kernels.buffers import strings
from nearkin.stages.verification.difference_names import Difference
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store.bulk import is_storable
from nearkin.store.schema import contents, documents
from nearkin.wording import rounded_down

if TYPE_CHECKING:
    from nearkin.stages.differences.comparing import FirstPassage


MAX_COMPARED = 256


@dataclass(frozen=True, slots=True)
class _Likeness:
    content: int
    relation: Verdict
    shares: Shares
    is_same_text: bool
    text: str

    @property
    def rank(self) -> tuple[object, ...]:
        by_parts = {"contained": self.shares.contained, "contains": self.shares.contains}
        alike = by_parts.get(self.relation, self.shares.jaccard)
        return VERDICTS.index(self.relation), not self.is_same_text, -alike, self.content


class TextCheck:
    """Check of one text."""

    def __init__(self, counting: TextCounting, query: Query, options: CheckOptions, doc_id: str | None = None) -> None:
        self.query, self._counting, self._options, self._doc_id = query, counting, options, doc_id
        self._compared = dict[int, _Likeness | None]()
        self._edits = dict[int, float | None]()
        self._differences = dict[int, Difference]()
        self._passages: dict[int, FirstPassage] = {}

    def answer(self, connection: Connection, first_missing: int | None) -> Checked:
        """Find the texts similar to the text, in one snapshot or transaction; ``first_missing`` has no stored keys."""
        started = time.perf_counter()
        search = candidates_by_keys if self._options.measure == "jaccard" else candidates_by_index
        candidates = search(connection, self._counting, self.query, self._options, first_missing)
        alike = self._alike(connection, candidates)
        pairs, places = [], {content: place for place, content in enumerate(alike)}
        if alike:
            pairs = _current(connection, _with_index(documents.c.content), list(alike))
            pairs.sort(key=lambda pair: places[pair[0].content])  # those of one text stay in order
        listed = dict.fromkeys(document.content for document, _ in pairs[: self._options.limit])
        self._compare([alike[content] for content in listed])
        shown = tuple(
            self._shown(document, index, alike[document.content]) for document, index in pairs[: self._options.limit]
        )
        passage = self._passage(shown, alike) if self._options.with_passage else None
        n_candidates = len(candidates.contents)
        checked = Checked(
            verdict=shown[0].relation if shown else "new",
            documents=shown,
            n_found=len(pairs),
            passage=passage.pieces if passage else (),
            n_differences=passage.n_differences if passage else None,
            n_moves=passage.n_moves if passage else None,
            options=self._options,
            expected_recall=None if candidates.n_hot_keys else expected_recall(self._options),
            n_candidates=n_candidates,
            n_compared=min(n_candidates, MAX_COMPARED),
            n_hot_keys=candidates.n_hot_keys,
            is_answered=self.query.signature is not None,
            is_purged=candidates.is_purged,
            similarity_index=self.query.similarity_index,
            stored_as=None,
            version=None,
            elapsed_s=round(time.perf_counter() - started, 4),
            expected_recall_of_parts=None if n_candidates > MAX_COMPARED else candidates.part_recall,
        )
        return checked if self._doc_id is None else self._with_resent(connection, checked, self._doc_id)

    def _alike(self, connection: Connection, candidates: CheckCandidates) -> dict[int, _Likeness]:
        if not self._normalised:  # a text without words, or of which all are ignored, is no copy of another one
            return {}
        lots = candidates.lots(MAX_COMPARED, known=self._compared)
        for content, shares in verified(connection, self._counting, self.query.words, lots):
            is_same = content.digest == self.query.digest
            is_equal = is_same or (
                shares.contained == shares.contains == 1 and self._prepared(content.text) == self._prepared_query
            )
            if is_equal:
                shares = Shares(1.0, 1.0, 1.0, shares.n_common)
            elif not len(self.query.words):
                shares = Shares(0.0, 0.0, 0.0, 0)
            relation = "exact" if is_equal else _relation(shares, self._options)
            likeness = None
            if relation is not None:
                likeness = _Likeness(content.number, relation, shares, is_same, content.text)
            self._compared[content.number] = likeness
        compared = [self._compared[content] for content in candidates.contents[:MAX_COMPARED]]
        ranked = sorted((match for match in compared if match is not None), key=lambda match: match.rank)
        return {match.content: match for match in ranked}

    @cached_property
    def _normalised(self) -> str:
        return str(self._counting.normalise.apply(strings([self.query.text]))[0].as_py())

    @cached_property
    def _prepared_query(self) -> str:
        return self._prepared(self.query.text)

    def _prepared(self, text: str) -> str:
        return str(self._counting.with_numbers(strings([text]))[0].as_py())

    def _compare(self, likenesses: Sequence[_Likeness]) -> None:
        new = [
            likeness
            for likeness in likenesses
            if likeness.relation != "exact" and likeness.content not in self._differences
        ]
        if new:
            normalised = self._counting.with_numbers(strings([self.query.text, *(likeness.text for likeness in new)]))
            ours, theirs = np.zeros(len(new), np.int64), np.arange(1, len(new) + 1)
            differences = self._counting.differences(normalised, SHINGLES.sets(normalised), ours, theirs)
            self._differences |= dict(zip((likeness.content for likeness in new), differences, strict=True))

    def _shown(self, document: StoredDocument, index: int | None, likeness: _Likeness) -> CheckedDocument:
        if likeness.content not in self._edits:
            self._edits[likeness.content] = _edit(likeness, self.query)
        return CheckedDocument(
            document=document,
            relation=likeness.relation,
            jaccard=likeness.shares.jaccard,
            contained=likeness.shares.contained,
            contains=likeness.shares.contains,
            edit_similarity=self._edits[likeness.content],
            similarity_index=index,
            is_same_text=likeness.is_same_text,
            differs=self._differences.get(likeness.content, "nothing"),
        )

    def _passage(self, shown: Sequence[CheckedDocument], alike: Mapping[int, _Likeness]) -> FirstPassage | None:
        if not shown or shown[0].is_same_text or shown[0].relation not in ("exact", "near"):
            return None
        from nearkin.stages.differences.comparing import first_passage  # here, because most answers have no passage

        content = shown[0].document.content
        if content not in self._passages:
            self._passages[content] = first_passage(alike[content].text, self.query.text)
        return self._passages[content]

    def _with_resent(self, connection: Connection, checked: Checked, doc_id: str) -> Checked:
        """Add whether the text is stored under its id already, before it is stored."""
        if any(document.is_same_text and document.document.doc_id == doc_id for document in checked.documents):
            return replace(checked, is_resent=True)
        is_compared = checked.is_answered or checked.n_found > 0
        if is_compared and (checked.verdict != "exact" or not checked.is_truncated):  # all equal texts are listed
            return checked
        if not isinstance(doc_id, str) or not is_storable(doc_id):
            return checked
        has_text = contents.c.digest == self.query.digest
        pairs = _current(connection, _with_index(documents.c.doc_id).where(has_text), [doc_id])
        if not pairs:
            return checked
        if is_compared:
            return replace(checked, is_resent=True)
        ((document, index),) = pairs
        itself = _Likeness(document.content, "exact", Shares(1.0, 1.0, 1.0, 0), is_same_text=True, text=self.query.text)
        shown = (self._shown(document, index, itself),)
        return replace(checked, verdict="exact", documents=shown, n_found=1, is_resent=True)


def expected_recall(options: CheckOptions) -> float | None:
    """Expected recall of near-duplicates of a text without hot keys; None with another measure."""
    if options.measure != "jaccard":
        return None
    return rounded_down(float(BANDS.probability(options.threshold)), 4)


@cache
def _with_index(column: ColumnElement[Any]) -> Select[Any]:
    return current_with(column).add_columns(contents.c.similarity_index)


def _current(
    connection: Connection, query: Select[Any], values: Sequence[object]
) -> list[tuple[StoredDocument, int | None]]:
    rows = connection.execute(query, {"values": values}).all()
    return [(document, row.similarity_index) for document, row in zip(stored_documents(rows), rows, strict=True)]


def _relation(shares: Shares, options: CheckOptions) -> Verdict | None:
    if shares.jaccard >= options.threshold:
        return "near"
    is_part = options.containment is not None and max(shares.contained, shares.contains) >= options.containment
    if not is_part or shares.n_common < MIN_COMMON:
        return None
    return "contained" if shares.contained >= shares.contains else "contains"


def _edit(likeness: _Likeness, query: Query) -> float | None:
    if likeness.is_same_text:
        return 1.0
    if likeness.relation not in ("exact", "near"):
        return None
    return edit_similarity(query.text, likeness.text).similarity
