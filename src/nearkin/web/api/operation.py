"""Operation of the REST API: its address, the types of its parameters and answer, and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

if TYPE_CHECKING:
    from nearkin.web.service import ReviewService
    from nearkin.web.sign_in import Visitor

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
    """Operation of the API.

    Any other than GET changes the collection, unless the parameters or the body of a request have a false attribute
    ``changes``.

    Parameters
    ----------
    method : {"GET", "PUT", "POST", "DELETE"}
        Any other than GET needs the token of scripts.
    path : str
        Below `ROOT`. A segment in braces is a field of ``query``.
    summary : str
        Sentence for the OpenAPI document.
    query : type of Struct
        Parameters, in the path and in the query string.
    answer : type
        Type of the answer; str for plain text.
    act : callable
        Receives the service, the visitor, the parameters and the body; runs in a thread of the workers.
    body : {"document", None} or type of Struct
        "document": a text or a file as it is; a type: JSON.
    statuses : tuple of int
        Statuses of success.
    """

    method: Method
    path: str
    summary: str
    query: type[msgspec.Struct]
    answer: Any
    act: Callable[[ReviewService, Visitor, Any, Any], object]
    body: type[msgspec.Struct] | Literal["document"] | None = None
    statuses: tuple[int, ...] = (200,)

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


class NoParameters(msgspec.Struct, forbid_unknown_fields=True):
    """An operation without parameters."""
