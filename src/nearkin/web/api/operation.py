"""Operation of the REST API: its address, the types of its parameters and answer, and its function."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import date
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

from nearkin.collection.decisions.log import Activity
from nearkin.errors import DocumentError, ParameterError
from nearkin.stages.documents.members import printable_id
from nearkin.tabular import FLAT, json_names
from nearkin.web.sent_files import SentFile
from nearkin.workflows.reading.request import OneDocument

ROOT = "/api/v1"
Method = Literal["GET", "PUT", "POST", "DELETE"]
DocId = Annotated[str, msgspec.Meta(min_length=1, description="Id of a document.")]
Version = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1, description="By default the current version.")]
Limit = Annotated[int, msgspec.Meta(ge=1, le=1_000, description="Maximum number of items to return.")]
Offset = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1, description="Number of items to skip.")]


@dataclass(frozen=True, slots=True)
class RequestBody:
    """Unchanged body of a request, and its media type."""

    content: bytes = b""
    media_type: str = ""
    charset: str = "utf-8"


@dataclass(frozen=True, slots=True)
class OperationAnswer:
    """Answer of an operation with a status of its own, such as 201 for a new document."""

    status: int
    answer: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Operation of the API; see `operation`.

    Any other than GET changes the collection, unless the parameters or the body of a request have a false attribute
    ``changes``, and needs the token of scripts.
    """

    method: Method
    path: str
    summary: str
    query: type[msgspec.Struct]
    body: Any
    answer: Any
    act: Callable[..., object]
    statuses: tuple[int, ...]

    @property
    def is_change(self) -> bool:
        """Whether it can change the collection."""
        return self.method != "GET"

    @property
    def segments(self) -> list[str]:
        """Segments of the path."""
        return self.path.strip("/").split("/")

    @property
    def in_path(self) -> list[str]:
        """Names of the parameters that are segments of the path."""
        return [segment[1:-1] for segment in self.segments if segment.startswith("{")]


def operation(
    method: Method, path: str, act: Callable[..., object], answer: Any = None, *, statuses: tuple[int, ...] = (200,)
) -> Operation:
    """Return the operation of a function.

    Parameters
    ----------
    act
        Its types are those of the request: a Struct is a body of JSON, a `RequestBody` a text or a file. The first
        sentence of its documentation describes the operation.
    """
    *_, query, body, returned = get_type_hints(act, include_extras=True).values()
    return Operation(
        method=method,
        path=path,
        summary=(act.__doc__ or "").splitlines()[0],
        query=query,
        body=None if body is object else body,
        answer=answer or (answer_type(returned) if isinstance(returned, type) and is_dataclass(returned) else returned),
        act=act,
        statuses=statuses,
    )


class NoParameters(msgspec.Struct, forbid_unknown_fields=True):
    """An operation without parameters."""


JSONValues: TypeAlias = Mapping[str, Any]


def answer_of(name: str, /, **types: Any) -> Any:
    """Return the type of an answer as JSON, by its fields; those that may be unset may be missing."""
    named = (
        (field, kind, msgspec.UNSET) if msgspec.UnsetType in get_args(kind) else (field, kind)
        for field, kind in types.items()
    )
    return msgspec.defstruct(name, named, kw_only=True)


@cache
def answer_type(answer: type, **others: Any) -> Any:
    """Return the type of a record as JSON, with some fields of other types; see `AnswerRecord`."""
    return answer_of(answer.__name__, **(_types(answer) | others))


def _types(answer: Any) -> dict[str, object]:
    types = dict[str, object]()
    for name, path in json_names(answer).items():
        kind: Any = answer
        for step in path.split("."):
            kind = _type_of(kind, step)
        is_flat = name in FLAT and path == name and is_dataclass(kind)
        types |= _types(kind) if is_flat else {name: _as_type(kind)}
    return types


def _type_of(record: Any, name: str) -> Any:
    hints = get_type_hints(record)
    return hints[name] if name in hints else get_type_hints(getattr(record, name).fget)["return"]


def _as_type(hint: Any) -> Any:
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


TEXT = "text/plain"
_SHOWN = "the document"
"""Name, in messages, of a file that was sent without one."""


def document_of(sent: RequestBody, name: str | None, encoding: str = "utf-8") -> OneDocument:
    """Return a document with its text and the properties of its file.

    Parameters
    ----------
    sent
        "text/plain" is text; anything else is a file as it is, whose kind its bytes say, or the suffix of ``name``.
    """
    if sent.media_type == TEXT:
        if not _is_utf8(encoding):
            raise ParameterError("is for files. Name the charset of text in Content-Type.", parameter="query.encoding")
        return OneDocument(doc_id="", text=_decoded(sent), source="")
    return SentFile(name or "", io.BytesIO(sent.content)).document(encoding, shown=printable_id(name or "") or _SHOWN)


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except (LookupError, ValueError):  # ValueError: NUL, or half a character
        return False


def _decoded(sent: RequestBody) -> str:
    try:
        if not codecs.lookup(sent.charset)._is_text_encoding:
            raise LookupError
        text = sent.content.decode(sent.charset)
        text.encode("utf-8")  # UTF-7 may have halves of characters
        return text
    except LookupError:
        raise DocumentError(f"The charset of the body must be that of a text. Got {sent.charset!r} instead.") from None
    except UnicodeError as error:
        raise DocumentError(
            f"The body must be text in {sent.charset}: {error}. Name its charset in Content-Type, or send "
            "application/octet-stream, so that it is read as a file."
        ) from None
