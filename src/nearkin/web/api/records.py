"""Answers of the API as types, from which the OpenAPI document is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

from nearkin.collection.check_in.results import CheckMeasure, Verdict
from nearkin.collection.results import FLAT, json_names

JSONValues: TypeAlias = Mapping[str, Any]


class ApiProblem(msgspec.Struct, kw_only=True):
    """Refusal of a request: the kind of error, a sentence, and the place in the request, if there is one."""

    error: str
    message: str
    where: str | None = None


@cache
def answer_type(answer: type, **others: Any) -> Any:
    """Return the type of an answer as JSON, with some fields of other types; see `AnswerRecord`."""
    return msgspec.defstruct(answer.__name__, [*(_types(answer) | others).items()], kw_only=True)


def _types(answer: Any) -> dict[str, object]:
    """Return the types of the fields of an answer as JSON."""
    types, hints = dict[str, object](), get_type_hints(answer)
    for name in json_names(answer):
        found = hints[name] if name in hints else get_type_hints(getattr(answer, name).fget)["return"]
        is_flat = name in FLAT and is_dataclass(found)
        types |= _types(found) if is_flat else {name: _as_type(found)}
    return types


def _as_type(hint: Any) -> Any:
    """Return the type of a value as JSON."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is tuple:
        return list[_as_type(parts[0])]  # type: ignore[misc]
    if kind in (UnionType, Union):
        return Union[tuple(map(_as_type, parts))]  # noqa: UP007  # made at run time
    if kind is Mapping:
        return dict[str, _as_type(parts[1])]  # type: ignore[misc]
    return answer_type(hint) if isinstance(hint, type) and is_dataclass(hint) else hint


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
    bcc: str | None
    thread_index: str | None
    thread_topic: str | None


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


class ApiPartRecall(msgspec.Struct, kw_only=True):
    """Expected recall of texts that contain a text, and of its parts with this number of words."""

    containing_texts: float
    parts: float
    n_words: int


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
