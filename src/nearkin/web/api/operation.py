"""Operation of the REST API: its address, the types of its parameters and answer, and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, Literal, get_type_hints

import msgspec

from nearkin.web.api.records import answer_type

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
        return [one[1:-1] for one in self.segments if one.startswith("{")]


def operation(
    method: Method, path: str, act: Callable[..., object], answer: Any = None, *, statuses: tuple[int, ...] = (200,)
) -> Operation:
    """Return the operation of a function.

    Parameters
    ----------
    path
        Below `ROOT`. A segment in braces is a field of the parameters.
    act
        Receives the service, the visitor, the parameters and the body, and runs in a thread of the workers. Its types
        are those of the request: a body of JSON is a Struct, a text or a file a `RequestBody`, "object" is none. The
        first sentence of its documentation describes the operation.
    answer
        Type of the answer as JSON; by default that of the record that ``act`` returns.
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
