"""Messages between Nearkin and its extraction workers, in MessagePack: a length, and a record.

A hostile file may control what a worker sends: every value is compared with the type of its field.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import msgspec

from nearkin.stages.documents.members import Origin
from nearkin.stages.documents.rules import Reason

MAX_TEXT_BYTES = 1 << 30
REQUEST_FILES = 16
"""Files of one request at most."""
_MAX_MESSAGE_BYTES = MAX_TEXT_BYTES + (16 << 20)
_MAX_NUMBER = (1 << 53) - 1
"""Largest number that every table and program takes."""
HEAD = struct.Struct("<I")
"""Size of the record."""
PLACE = struct.Struct("<QQ")
"""What a worker writes into a file that it shares with Nearkin: the files that it has begun, and the number of the
document at which it is."""
_Record = TypeVar("_Record")


class WorkerFault(Exception):
    """A worker wrote something that is no message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRequest:
    """Request to a worker for one file, which comes as an open descriptor; of its name only the suffix counts.

    Parameters
    ----------
    given_up
        Exceptions and sentences of documents that killed a worker, by their numbers.
    """

    name: str
    kind: str | None = None
    encoding: str = "utf-8"
    is_page: bool = False
    charset: str | None = None
    given_up: Mapping[int, tuple[Reason, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedNode:
    """A document, or an archive or mailbox, which has no text, as a worker found it.

    Nodes are numbered from 0 in the order of sending: ``parent`` is such a number, of a node before.
    """

    parent: int | None = None
    name: str | None = None
    is_container: bool = False
    has_members: bool = False
    origin: Origin
    text: bytes | None = None


Answer = list[ExtractedNode | None]
"""Nodes of one file after another; None ends a file."""


def as_message(record: object) -> bytes:
    """Return a record as a message."""
    content = msgspec.msgpack.encode(record)
    return HEAD.pack(len(content)) + content


def received(link: socket.socket, kind: type[_Record], head: bytes = b"") -> _Record:
    """Restore the next record, whose ``head`` may have been received; EOFError if the other process ended."""
    head = head or link.recv(HEAD.size, socket.MSG_WAITALL)
    if len(head) < HEAD.size:
        raise EOFError
    (n_bytes,) = HEAD.unpack(head)
    if n_bytes > _MAX_MESSAGE_BYTES:
        raise WorkerFault("the worker announced a message of an impossible length")
    content, n_received = memoryview(bytearray(n_bytes)), 0
    while n_received < n_bytes:
        if not (n_more := link.recv_into(content[n_received:])):
            raise EOFError
        n_received += n_more
    return restored(kind, content)


def restored(kind: type[_Record], content: bytes | memoryview) -> _Record:
    """Restore a record from its message; WorkerFault if a value is not of the type of its field."""
    try:
        record = msgspec.msgpack.decode(content, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WorkerFault(f"the worker sent no message: {error}") from error
    for node in record if isinstance(record, list) else ():
        if isinstance(node, ExtractedNode):
            _check(node)
    return record


def _check(node: ExtractedNode) -> None:
    origin = node.origin
    for number in (node.parent, origin.size_bytes, origin.n_pages, origin.position):
        if number is not None and not 0 <= number <= _MAX_NUMBER:
            raise WorkerFault("the worker sent a number that is out of range")
    sent_at = None if origin.mail is None else origin.mail.sent_at
    if sent_at is not None and sent_at.utcoffset() != timedelta(0):
        raise WorkerFault("the worker sent a time that is not in UTC")
