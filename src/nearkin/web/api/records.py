"""Answers of the API as types, from which the OpenAPI document is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from nearkin.collection.check_in.results import CheckMeasure, Verdict

JSONValues: TypeAlias = Mapping[str, Any]


class ApiProblem(msgspec.Struct, kw_only=True):
    """Refusal of a request: the kind of error, a sentence, and the place in the request, if there is one."""

    error: str
    message: str
    where: str | None = None


class ApiStoredDocument(msgspec.Struct, kw_only=True):
    """A stored document without its text."""

    doc_id: str
    version: int
    wave: str
    source: str
    line: int
    n_characters: int
    n_letters: int
    is_counted: bool
    is_current: bool
    content: int


class ApiGroupOfDocument(msgspec.Struct, kw_only=True):
    """A stored group of which a document is a member."""

    tolerance: str
    number: int
    principal: str
    n_documents: int
    note: str | None
    n_decisions: int


class ApiMailHeaders(msgspec.Struct, kw_only=True):
    """Headers of a mail, decoded."""

    message_id: str | None
    in_reply_to: list[str]
    references: list[str]
    subject: str | None
    sent_at: str | None
    sender: str | None
    to: str | None
    cc: str | None


class ApiOrigin(msgspec.Struct, kw_only=True):
    """File from which a document was extracted, the extractor, and the missing parts of its text."""

    sha256: str | None
    size_bytes: int | None
    kind: str
    declared_kind: str | None
    extractor: str
    n_pages: int | None
    exception: str | None
    sentence: str | None
    is_partial: bool
    warnings: str
    family: str | None
    position: int | None
    mail: ApiMailHeaders | None


class ApiDocument(ApiStoredDocument, kw_only=True):
    """A stored document with its text and its metadata.

    ``parent`` is the id of the document or container that it is inside of; ``origin`` is missing for texts and records.
    """

    text: str
    added_at: str
    removed_at: str | None
    versions: list[int]
    copies: list[str]
    n_copies: int
    tags: dict[str, str]
    note: str | None
    groups: list[ApiGroupOfDocument]
    parent: str | None
    origin: ApiOrigin | None


class ApiStored(msgspec.Struct, kw_only=True):
    """Outcome of a PUT: "new", "new version", or "unchanged" if the same text was stored under the id before.

    ``missing``: what could not be read of the file; ``not_stored``: documents inside the file, which are not stored.
    """

    doc_id: str
    outcome: str
    version: int
    wave: str
    missing: str | None
    not_stored: list[str]
    page: str


class ApiSimilarDocument(ApiStoredDocument, kw_only=True):
    """A document that is similar to another one, with its measures."""

    distance: float | None
    relative_distance: float | None
    n_bits: int | None
    edit_similarity: float | None
    jaccard: float
    is_same_text: bool
    similarity_index: int | None
    contained: float
    contains: float
    is_letters_only: bool


class ApiPartRecall(msgspec.Struct, kw_only=True):
    """Expected recall of texts that contain a text, and of its parts with this number of words."""

    containing_texts: float
    parts: float
    n_words: int


class ApiSimilar(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Documents within a tolerance, the nearest first.

    ``expected_recall`` is a minimum; ``null`` if it is not known.
    """

    measure: str
    value: float
    expected_recall: float | None
    expected_recall_of_parts: ApiPartRecall | msgspec.UnsetType | None = msgspec.UNSET
    n_found: int
    is_truncated: bool
    is_answered: bool
    n_not_compared: int
    n_hot_keys: int
    elapsed_s: float
    documents: list[ApiSimilarDocument]


class ApiCheckedDocument(ApiStoredDocument, kw_only=True):
    """A stored document that is similar to a checked text."""

    relation: Verdict
    jaccard: float
    contained: float
    contains: float
    edit_similarity: float | None
    similarity_index: int | None
    is_same_text: bool
    page: str


class ApiPiece(msgspec.Struct, kw_only=True):
    """A run of words of two texts: of both, or of one."""

    kind: str
    text: str


class ApiChecked(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Verdict of a check, and the documents that are similar, as ``nearkin check --json`` prints them."""

    verdict: Verdict
    measure: CheckMeasure
    threshold: float
    containment: float | None
    tolerance: float | None = None
    expected_recall: float | None
    expected_recall_of_parts: ApiPartRecall | msgspec.UnsetType | None = msgspec.UNSET
    is_answered: bool
    similarity_index: int | None
    n_found: int
    is_truncated: bool
    n_candidates: int
    n_compared: int
    n_hot_keys: int
    stored_as: str | None
    version: int | None
    is_resent: bool
    is_purged: bool
    missing: str | None
    not_checked: list[str]
    elapsed_s: float
    n_differences: int | None
    n_moves: int | None
    passage: list[ApiPiece]
    documents: list[ApiCheckedDocument]
    comparison: str | None = None


class ApiCheckAnswers(msgspec.Struct, kw_only=True):
    """Answers for several documents, in their order, as ``nearkin check --jsonl`` writes them.

    An answer has the ``error`` of a document that could not be checked; otherwise its ``verdict`` and what is similar.
    """

    answers: list[JSONValues]


class ApiRemoved(msgspec.Struct, kw_only=True):
    """Documents that were removed, and the number of the activity in the log."""

    n_documents: int
    n_unread: int
    number: int | None


class ApiFoundDocument(ApiStoredDocument, kw_only=True):
    """A document that has the words, its relevance, and a passage with the words in square brackets."""

    relevance: float
    snippet: str


class ApiFound(msgspec.Struct, kw_only=True):
    """Documents that have the words of a query, the most relevant first."""

    query: str
    n_found: int
    is_truncated: bool
    elapsed_s: float
    documents: list[ApiFoundDocument]


class ApiGroup(msgspec.Struct, kw_only=True):
    """A stored group."""

    number: int
    principal: str
    n_documents: int
    n_texts: int
    note: str | None


class ApiGroups(msgspec.Struct, kw_only=True):
    """A page of the stored groups at a tolerance, the largest first.

    ``expected_recall``: of the pairs that link groups, a minimum; ``n_not_compared`` more pairs were not compared.
    ``n_not_grouped`` documents were added or changed, and ``n_decisions`` decisions on groups were made or undone,
    since the groups were updated.
    """

    measure: str
    value: float
    expected_recall: float | None
    n_not_compared: int
    is_stored: bool
    n_groups: int
    n_documents: int
    n_not_grouped: int
    n_decisions: int
    groups: list[ApiGroup]


class ApiMember(ApiStoredDocument, kw_only=True):
    """A member of a group, compared with the principal."""

    jaccard: float
    relative_distance: float
    is_principal: bool
    is_match: bool
    is_same_text: bool
    is_letters_only: bool
    relation: str
    tags: dict[str, str]


class ApiMembers(msgspec.Struct, kw_only=True):
    """A stored group with its members: the principal, then the others, the most similar first."""

    number: int
    measure: str
    value: float
    principal: str
    n_documents: int
    note: str | None
    members: list[ApiMember]


class ApiComparison(msgspec.Struct, kw_only=True):
    """Two documents, and their differences word by word; ``page`` shows them."""

    a: ApiStoredDocument
    b: ApiSimilarDocument
    comparison: JSONValues
    page: str


class ApiWave(msgspec.Struct, kw_only=True):
    """Documents that were added under one name."""

    name: str
    first_added_at: str
    last_added_at: str
    n_current: int
    n_new: int
    n_new_versions: int
    n_problems: int


class ApiWaves(msgspec.Struct, kw_only=True):
    """All waves, and the number of current documents."""

    n_documents: int
    waves: list[ApiWave]


class ApiTagCount(msgspec.Struct, kw_only=True):
    """Number of documents with a tag; the value of a bare tag is empty."""

    field: str
    value: str
    n_documents: int
    n_removed: int


class ApiTags(msgspec.Struct, kw_only=True):
    """A page of the tags."""

    n_found: int
    tags: list[ApiTagCount]


class ApiChange(msgspec.Struct, kw_only=True):
    """A value before and after an activity."""

    kind: str
    subject: str
    other: str
    was: str | None
    now: str | None


class ApiTagged(msgspec.Struct, kw_only=True):
    """Changes by a request for tags, or those of a dry run; ``number`` is that of the activity."""

    number: int | None
    kind: str
    n_changed: int
    n_unchanged: int
    is_dry_run: bool
    changes: list[ApiChange]


class ApiActivity(msgspec.Struct, kw_only=True):
    """An activity of the log."""

    number: int
    at: str
    by: str
    kind: str
    data: JSONValues
    undoes: int | None
    undone_by: int | None
    changes: list[ApiChange]


class ApiLog(msgspec.Struct, kw_only=True):
    """A page of the log, the newest activity first."""

    n_found: int
    activities: list[ApiActivity]
