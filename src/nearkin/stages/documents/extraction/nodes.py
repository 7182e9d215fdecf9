"""Messages between Nearkin and its extraction workers: a head, JSON, and a text as bytes. Nothing is unpickled.

What a worker sends may be under the control of a hostile file: every value is compared with the type of its field.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nearkin.stages.documents.faults import Reason
from nearkin.stages.documents.origin import MailHeaders, Origin

MAX_TEXT_BYTES = 1 << 30
_MAX_JSON_BYTES = 16 << 20
_MAX_NUMBER = (1 << 53) - 1
"""Largest number that every table and program takes."""
HEAD = struct.Struct("<II")
"""Size of the JSON, and of the text behind it plus one; 0 if there is none."""
END, ALIVE = HEAD.pack(0, 0), HEAD.pack(0, 1)
"""The end of the nodes of a file, and a sign of life of a worker that has no node to send yet."""
_Record = TypeVar("_Record")


class WorkerFault(Exception):
    """A worker wrote something that is no message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRequest:
    """Request to a worker for one file, which comes as an open descriptor.

    Parameters
    ----------
    name : str
        Name of the file; only its suffix counts.
    kind : str or None
        Kind that the user named, for what looks like plain text.
    encoding : str
        Encoding of plain text that is not UTF-8.
    limits : dict
        See `ExtractionLimits`.
    first : int
        Number of the first node to send: those before it were received from a worker that died.
    parents : tuple of int
        Those before it that have members. Of the others nothing is read again: a document that was refused, or that
        killed a worker, may show members to another look, and then all numbers behind it would be different.
    given_up : tuple of str or None
        Exception and sentence of the first node, if it killed a worker.
    """

    name: str
    kind: str | None = None
    encoding: str = "utf-8"
    limits: dict[str, int] = field(default_factory=dict)
    first: int = 0
    parents: tuple[int, ...] = ()
    given_up: tuple[Reason, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedNode:
    """A document, or an archive or mailbox, as a worker found it.

    Parameters
    ----------
    number : int
        Counted from 0 in the order of sending; a parent comes before its members.
    parent : int or None
        Number of the node that it is inside of; None for the file.
    name : str or None
        Name of a member.
    is_container : bool
        Whether it is an archive or a mailbox, which has no text.
    has_members : bool
        Whether it is a document with others inside.
    origin : Origin
        Without its family.
    text : bytes or None
        In UTF-8.
    """

    number: int
    parent: int | None = None
    name: str | None = None
    is_container: bool = False
    has_members: bool = False
    origin: Origin
    text: bytes | None = None

    @property
    def is_whole_file(self) -> bool:
        """Whether no other node comes after it: the file has nothing inside."""
        return self.number == 0 and not self.has_members

    def as_message(self) -> bytes:
        """Return the node as a message."""
        text = self.text
        return as_message(self, b"" if text is None else text, 0 if text is None else len(text) + 1)


def as_message(record: object, text: bytes = b"", n_text: int = 0) -> bytes:
    """Return a record as a message, without values that are the usual."""
    content = _to_json(_told(record)).encode()
    return b"%b%b%b" % (HEAD.pack(len(content), n_text), content, text)


def messages_in(buffer: bytearray) -> Iterator[tuple[bytes, bytes | None]]:
    """Take whole messages off the beginning of a buffer, signs of life aside; an end has neither JSON nor text."""
    at = 0
    try:
        while len(buffer) - at >= HEAD.size:
            n_json, n_text = HEAD.unpack_from(buffer, at)
            if n_json > _MAX_JSON_BYTES or n_text > MAX_TEXT_BYTES + 1:
                raise WorkerFault("the worker announced a message of an impossible length")
            begin, end = at + HEAD.size + n_json, at + HEAD.size + n_json + max(0, n_text - 1)
            if len(buffer) < end:
                return
            content, text = bytes(buffer[at + HEAD.size : begin]), bytes(buffer[begin:end]) if n_text else None
            at = end
            if content or text is None:
                yield content, text
    finally:
        del buffer[:at]


def node_of(content: bytes, text: bytes | None) -> ExtractedNode:
    """Restore a node."""
    return restored(ExtractedNode, content, {} if text is None else {"text": text})


def restored(kind: type[_Record], content: bytes, more: dict[str, bytes] | None = None) -> _Record:
    """Restore a record from the JSON of its message.

    Raises
    ------
    WorkerFault
        A value is not of the type of its field.

    Examples
    --------
    >>> request = ExtractionRequest(name="a.eml", first=2, parents=(0,), given_up=("crashed", "it died"))
    >>> restored(ExtractionRequest, as_message(request)[HEAD.size :]) == request
    True
    """
    try:
        record: _Record = _record(kind, {**json.loads(content), **(more or {})})
        return record
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise WorkerFault(f"the worker sent no message: {error}") from error


def _told(record: Any) -> dict[str, object]:
    told = dict[str, object]()
    for name, usual in _usual_values(record.__class__):
        value = getattr(record, name)
        if value != usual and not isinstance(value, bytes):
            told[name] = _told(value) if isinstance(value, Origin | MailHeaders) else value
    return told


@lru_cache
def _usual_values(kind: Any) -> list[tuple[str, object]]:
    return [(one.name, one.default) for one in fields(kind)]


_types_of = lru_cache(get_type_hints)


def _record(kind: Any, told: dict[str, object]) -> Any:
    types = _types_of(kind)
    return kind(**{name: _checked(types[name], value) for name, value in told.items()})


def _checked(wanted: Any, value: Any) -> Any:
    """Return a value as its field holds it; WorkerFault if its type is another one."""
    if get_origin(wanted) in (Union, UnionType):
        if value is None:
            return None
        wanted = get_args(wanted)[0]
    if wanted is str and type(value) is str:
        value.encode()  # no table takes what is not Unicode
        return value
    if wanted is int and type(value) is int and 0 <= value <= _MAX_NUMBER:
        return value
    if wanted in (bool, bytes) and type(value) is wanted:
        return value
    if wanted is datetime and (moment := datetime.fromisoformat(value)).utcoffset() == timedelta(0):
        return moment
    if is_dataclass(wanted) and type(value) is dict:
        return _record(wanted, value)
    of, arguments = get_origin(wanted), get_args(wanted)
    if of is Literal and value in arguments:
        return value
    if of is dict and type(value) is dict:
        return value
    if of is tuple and type(value) is list and (arguments[-1] is ... or len(value) == len(arguments)):
        kinds = arguments[:1] * len(value) if arguments[-1] is ... else arguments
        return tuple(map(_checked, kinds, value))
    raise WorkerFault("the worker sent a value of another type")


_to_json = json.JSONEncoder(separators=(",", ":"), default=datetime.isoformat).encode
