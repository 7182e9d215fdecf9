"""Comparison of candidates, word by word, with the text that is checked in."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, text

from nearkin.collection.check_in.candidates import CheckCandidates, Query, candidates_of
from nearkin.collection.check_in.results import MIN_COMMON, VERDICTS, Checked, CheckedDocument, CheckOptions, Verdict
from nearkin.collection.check_in.shared_keys import Searched
from nearkin.collection.counting import TextCounting
from nearkin.collection.loads.known_texts import numbers_of
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.contents import DamagedText, StoredText, stored_texts_in, stored_texts_of
from nearkin.collection.stored.documents import current_documents, stored_documents
from nearkin.collection.stored.profiles import similarity_indexes
from nearkin.collection.stored.reach import BANDS, Reach
from nearkin.collection.stored.word_sets import word_sets
from nearkin.errors import CollectionError
from nearkin.kernels.buffers import strings
from nearkin.records import U64
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store import schema
from nearkin.store.bulk import is_storable
from nearkin.store.damage import FSCK
from nearkin.store.store import Store
from nearkin.wording import rounded_down

if TYPE_CHECKING:
    from nearkin.stages.differences.comparing import FirstPassage


MAX_COMPARED = 256
_TEXT_BYTES_AT_A_TIME = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Likeness:
    """Result of comparing a stored text word by word."""

    content: int
    relation: Verdict
    jaccard: float
    contained: float
    contains: float
    is_same_text: bool
    text: str
    is_damaged: bool = False

    @property
    def rank(self) -> tuple[object, ...]:
        """Sort key; the most similar texts come first."""
        alike = {"contained": self.contained, "contains": self.contains}.get(self.relation, self.jaccard)
        return VERDICTS.index(self.relation), not self.is_same_text, -alike, self.content


def check(
    connection: Connection,
    store: Store,
    counting: TextCounting,
    query: Query,
    options: CheckOptions,
    *,
    state: Reach | None,
) -> Checked:
    """Find the texts similar to a text, in one snapshot or transaction.

    Parameters
    ----------
    connection : Connection
    store : Store
    counting : TextCounting
    query : Query
    options : CheckOptions
    state : Reach or None
        Reach of the stored keys; None: it is looked up with them.

    Raises
    ------
    MissingKeysError
        ``state`` is None, and keys are missing.
    CollectionError
        Nothing similar was found, but a damaged stored text may be similar.
    """
    started = time.perf_counter()
    searched = Searched(connection, store, counting, state)
    candidates = candidates_of(searched, query, options)
    fetched = Fetched()
    alike, unread = _compared(connection, counting, query, candidates, options, fetched)
    lost = [*unread, *candidates.lost]
    damaged, n_damaged = current_documents(connection, lost, options.limit) if lost else ([], 0)
    if not alike and unread and options.method == "minhash":  # a near similarity index is weak evidence
        raise CollectionError(
            f"The text is new or similar to {damaged[0]}: the two share wording, but the stored text of that document "
            f"is damaged, so they cannot be compared. {FSCK}"
        )
    documents, n_found = _documents(fetched, alike, query, options.limit)
    passage = _passage(documents, alike, query) if options.with_passage else None
    return Checked(
        verdict=documents[0].relation if documents else "new",
        documents=documents,
        n_found=n_found,
        passage=passage.pieces if passage else (),
        n_differences=passage.n_differences if passage else None,
        n_moves=passage.n_moves if passage else None,
        options=options,
        expected_recall=None if candidates.n_skewed else expected_recall(options),
        n_candidates=len(candidates.contents),
        n_compared=min(len(candidates.contents), MAX_COMPARED),
        n_hot_keys=candidates.n_skewed,
        is_answered=query.signature is not None,
        similarity_index=query.similarity_index,
        stored_as=None,
        version=None,
        damaged=tuple(damaged),
        n_damaged=n_damaged,
        elapsed_s=round(time.perf_counter() - started, 4),
        expected_recall_of_parts=None if lost or len(candidates.contents) > MAX_COMPARED else candidates.part_recall,
    )


def expected_recall(options: CheckOptions) -> float | None:
    """Return the expected recall of near-duplicates of a text without skewed keys; None with another method."""
    if options.method != "minhash":
        return None
    return rounded_down(float(BANDS.probability(options.threshold)), 4)


def _compared(
    connection: Connection,
    counting: TextCounting,
    query: Query,
    candidates: CheckCandidates,
    options: CheckOptions,
    fetched: Fetched,
) -> tuple[list[_Likeness], list[int]]:
    """Return the similar contents, the most similar first, and the damaged contents that may be similar."""
    own = np.sort(query.shingles)
    normalise = counting.normalise
    normalised = normalise.apply(strings([query.text]))[0].as_py()
    if not normalised:  # a text without words, or of which all are ignored, is no copy of another one
        return [], []
    found, unread = list[_Likeness](), list[int]()
    for some in _some_at_a_time(candidates):
        whole, damaged = fetched.fetch(connection, some, options.limit)
        stored = list(whole.values())
        others = word_sets(counting, [one.text for one in stored])
        for one, other in zip(stored, others, strict=True):
            alike = _likeness(one, other, own, normalised, query, options, normalise)
            if alike is not None:
                found.append(alike)
        for lost in damaged:
            if (same := _same_by_digest(lost, query)) is not None:
                found.append(same)
            else:
                unread.append(lost.number)
    return sorted(found, key=lambda one: one.rank), unread


def _same_by_digest(damaged: DamagedText, query: Query) -> _Likeness | None:
    """Recognise a damaged text by its SHA-256 as the text that is checked in."""
    if query.digest not in damaged.digests:
        return None
    return _same_text(damaged.number, query, is_damaged=True)


def _same_text(content: int, query: Query, *, is_damaged: bool = False) -> _Likeness:
    return _Likeness(
        content=content,
        relation="exact",
        jaccard=1.0,
        contained=1.0,
        contains=1.0,
        is_same_text=True,
        text=query.text,
        is_damaged=is_damaged,
    )


def _likeness(
    one: StoredText,
    other: U64,
    own: U64,
    normalised: str,
    query: Query,
    options: CheckOptions,
    normalise: Normalisation,
) -> _Likeness | None:
    n_common = len(np.intersect1d(own, other, assume_unique=True))
    is_same = one.digest == query.digest
    is_equal = is_same or (
        n_common == len(own) == len(other) and normalise.apply(strings([one.text]))[0].as_py() == normalised
    )
    jaccard = 1.0 if is_equal else _part(n_common, len(own) + len(other) - n_common)
    contained = 1.0 if is_equal else _part(n_common, len(own))
    contains = 1.0 if is_equal else _part(n_common, len(other))
    relation = _relation(is_equal, jaccard, contained, contains, n_common, options)
    if relation is None:
        return None
    return _Likeness(
        content=one.number,
        relation=relation,
        jaccard=jaccard,
        contained=contained,
        contains=contains,
        is_same_text=is_same,
        text=one.text,
    )


def _relation(
    is_equal: bool, jaccard: float, contained: float, contains: float, n_common: int, options: CheckOptions
) -> Verdict | None:
    if is_equal:
        return "exact"
    if jaccard >= options.threshold:
        return "near"
    if options.containment is None or n_common < MIN_COMMON or max(contained, contains) < options.containment:
        return None
    return "contained" if contained >= contains else "contains"


def _part(n: int, of: int) -> float:
    return n / of if of else 0.0


def _some_at_a_time(candidates: CheckCandidates) -> Iterator[list[int]]:
    """Yield the first contents, in batches whose texts fit in memory."""
    batch, n_bytes = list[int](), 0
    for number, size in zip(candidates.contents[:MAX_COMPARED], candidates.sizes_bytes):
        if batch and n_bytes + size > _TEXT_BYTES_AT_A_TIME:
            yield batch
            batch, n_bytes = [], 0
        batch.append(number)
        n_bytes += size
    if batch:
        yield batch


def _documents(
    fetched: Fetched, alike: Sequence[_Likeness], query: Query, limit: int
) -> tuple[tuple[CheckedDocument, ...], int]:
    """Return the current documents with the texts, and their total number."""
    found, n_found = fetched.documents_of([one.content for one in alike], limit)
    by_content = {one.content: one for one in alike}
    contents = list({one.content for one in found})
    edits = {content: _edit(by_content[content], query) for content in contents}
    return tuple(
        _checked(one, by_content[one.content], edits[one.content], fetched.indexes.get(one.content)) for one in found
    ), n_found


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
    index = similarity_indexes(connection, [found[0].content]).get(found[0].content)
    only = _checked(found[0], _same_text(found[0].content, query), 1.0, index)
    return replace(checked, verdict="exact", documents=(only,), n_found=1, is_resent=True)


def _checked(document: StoredDocument, one: _Likeness, edit: float | None, index: int | None) -> CheckedDocument:
    return CheckedDocument(
        document=document,
        relation=one.relation,
        jaccard=one.jaccard,
        contained=one.contained,
        contains=one.contains,
        edit_similarity=edit,
        similarity_index=index,
        is_same_text=one.is_same_text,
        is_damaged=one.is_damaged,
    )


def _edit(one: _Likeness, query: Query) -> float | None:
    if one.is_same_text:
        return 1.0
    return edit_similarity(query.text, one.text).similarity if one.relation in ("exact", "near") else None


def _passage(documents: Sequence[CheckedDocument], alike: Sequence[_Likeness], query: Query) -> FirstPassage | None:
    """Return the passage in which the text differs from the most similar document; None if they are not compared."""
    if not documents or documents[0].is_same_text or documents[0].relation not in ("exact", "near"):
        return None
    from nearkin.stages.differences.comparing import first_passage  # here, because most answers have no passage

    text = next(one.text for one in alike if one.content == documents[0].document.content)
    return first_passage(text, query.text)


_QUERY = text("""
    SELECT c.content, c.digest, c.text, p.similarity_index,
        (SELECT count(*) FROM documents WHERE documents.content = c.content AND documents.is_current) AS n_documents,
        (SELECT CAST(json_agg(json_build_array(
                d.row, d.doc_id, d.version, d.content, d.source, d.line, d.is_current, d.removed_at, w.name,
                c.n_characters, c.n_letters, c.is_counted
            ) ORDER BY d.row) AS text)
            FROM (SELECT * FROM documents WHERE documents.content = c.content AND documents.is_current
                ORDER BY documents.row LIMIT :limit) AS d
            LEFT JOIN loads AS l ON l.load = d.load LEFT JOIN waves AS w ON w.wave = l.wave) AS documents
    FROM contents AS c LEFT JOIN profiles AS p ON p.content = c.content
    WHERE c.content = ANY(CAST(:contents AS bigint[]))
""")


@dataclass(slots=True)
class Fetched:
    """Documents and similarity indexes that were fetched for the candidates of one check.

    Attributes
    ----------
    indexes : dict of int to int or None
        Similarity indexes, by content.
    """

    indexes: dict[int, int | None] = field(default_factory=dict)
    _connection: Connection | None = None
    _documents: dict[int, str | None] = field(default_factory=dict)
    _n_documents: dict[int, int] = field(default_factory=dict)

    def fetch(
        self, connection: Connection, numbers: Sequence[int], limit: int
    ) -> tuple[dict[int, StoredText], list[DamagedText]]:
        """Return texts by the numbers of their contents, and the damaged ones; see `stored_texts_of`."""
        self._connection = connection
        if connection.dialect.name == "sqlite":  # where a query costs no round trip
            return stored_texts_of(connection, numbers)
        rows = connection.execute(_QUERY, {"contents": list(numbers), "limit": limit}).all()
        for row in rows:
            self.indexes[row.content], self._n_documents[row.content] = row.similarity_index, row.n_documents
            self._documents[row.content] = row.documents  # JSON, parsed only for reported texts
        return stored_texts_in(rows, numbers)

    def documents_of(self, numbers: Sequence[int], limit: int) -> tuple[list[StoredDocument], int]:
        """Return the first documents that have these contents, and their total number; see `current_documents`."""
        if self._connection is None or not numbers:
            return [], 0
        if self._connection.dialect.name != "sqlite":
            listed = [self._documents[number] for number in numbers]
            rows = [tuple(row) for told in listed if told is not None for row in json.loads(told)]
            found = stored_documents(rows[:limit])
            return found, sum(self._n_documents[number] for number in numbers)
        found, n_found = current_documents(self._connection, numbers, limit)
        self.indexes |= similarity_indexes(self._connection, list({one.content for one in found}))
        return found, n_found
