"""Answers of the API as types, from which the OpenAPI document is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import date
from functools import cache
from types import UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

from nearkin.collection.check_in.results import CheckedDocument, CheckMeasure, Verdict
from nearkin.collection.decisions.log import Activity
from nearkin.collection.results import FLAT, json_names
from nearkin.planning.part_recall import PartRecall
from nearkin.stages.differences.comparison import Piece

JSONValues: TypeAlias = Mapping[str, Any]


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
    if isinstance(hint, type) and issubclass(hint, date):
        return str
    if kind is Mapping:
        return dict[str, _as_type(parts[1])]  # type: ignore[misc]
    return answer_type(hint) if isinstance(hint, type) and is_dataclass(hint) else hint


class ApiProblem(msgspec.Struct, kw_only=True):
    """Refusal of a request: the kind of error, a sentence, and the place in the request, if there is one."""

    error: str
    message: str
    where: str | None = None
    activities: list[answer_type(Activity, data=JSONValues)] | msgspec.UnsetType = msgspec.UNSET  # type: ignore[valid-type]


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


class ApiChecked(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Verdict of a check, and the documents that are similar, as ``nearkin check --json`` prints them."""

    verdict: Verdict
    measure: CheckMeasure
    threshold: float
    containment: float | None
    tolerance: float | None = None
    expected_recall: float | None
    expected_recall_of_parts: answer_type(PartRecall) | msgspec.UnsetType | None = msgspec.UNSET  # type: ignore[valid-type]
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
    passage: list[answer_type(Piece)]  # type: ignore[valid-type]
    documents: list[answer_type(CheckedDocument, page=str)]  # type: ignore[valid-type]
    comparison: str | None = None


class ApiCheckAnswers(msgspec.Struct, kw_only=True):
    """Answers for several documents, in their order, as ``nearkin check --jsonl`` writes them.

    An answer has the ``error`` of a document that could not be checked; otherwise its ``verdict`` and what is similar.
    """

    answers: list[JSONValues]
