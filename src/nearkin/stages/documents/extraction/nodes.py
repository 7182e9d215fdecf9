"""Messages between Nearkin and its extraction workers: JSON, texts after it as bytes. Nothing is unpickled."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, BinaryIO

from nearkin.stages.documents.origin import EXCEPTIONS, ExceptionKind, MailHeaders

MAX_TEXT_BYTES = 1 << 30
MAX_LINE_BYTES = 16 << 20
"""Longest message without its text; a longer one is a fault of the worker."""

MAX_FILES = 16
"""Files in one message, each with a descriptor."""


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
    parents : set of int
        Those before it that have members. Of the others nothing is read again: a document that was refused, or that
        killed a worker, may show members to another look, and then all numbers behind it would be different.
    given_up : dict of int to str
        Nodes that killed a worker, with the sentence to send in their place.
    """

    name: str
    kind: str | None = None
    encoding: str = "utf-8"
    limits: Mapping[str, int]
    first: int = 0
    parents: Set[int] = frozenset()
    given_up: Mapping[int, tuple[ExceptionKind, str]]


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
    position : int
        Among the members of its parent, counted from 1; 0 for the file.
    is_container : bool
        Whether it is an archive or a mailbox, which has no text.
    has_members : bool
        Whether it is a document with others inside.
    text : bytes or None
        In UTF-8.
    sha256, size_bytes, kind, declared_kind, extractor, n_pages, exception, sentence, is_partial, warnings, mail
        See `Origin`.
    """

    number: int
    parent: int | None
    name: str | None
    position: int
    is_container: bool = False
    has_members: bool = False
    text: bytes | None = None
    sha256: str | None = None
    size_bytes: int | None = None
    kind: str = "unknown"
    declared_kind: str | None = None
    extractor: str = ""
    n_pages: int | None = None
    exception: ExceptionKind | None = None
    sentence: str | None = None
    is_partial: bool = False
    warnings: tuple[str, ...] = ()
    mail: MailHeaders | None = None

    @property
    def is_whole_file(self) -> bool:
        """Whether no other node comes after it, nor a message at the end: the file has nothing inside."""
        return self.number == 0 and not self.has_members

    def as_message(self) -> bytes:
        """Return the node as a line of JSON, without values that are the usual, and its text behind it."""
        told: dict[str, object] = {
            name: value for name, usual, value in zip(_NODE_FIELDS, _NODE_USUAL, _node_values(self)) if value != usual
        }
        if self.text is not None:
            told["n_text"] = len(self.text)
        if self.mail is not None:
            values = zip(_MAIL_FIELDS, _MAIL_USUAL, _mail_values(self.mail))
            mail = {name: value for name, usual, value in values if value != usual}
            if self.mail.sent_at is not None:
                mail["sent_at"] = self.mail.sent_at.isoformat()
            told["mail"] = mail
        return b"%b\n%b" % (_to_json(told).encode(), self.text or b"")

    @classmethod
    def read_from(cls, stream: BinaryIO) -> ExtractedNode | None:
        """Return the next node; None at the end of a file's nodes.

        Raises
        ------
        WorkerFault
            What comes is no message.
        EOFError
            The worker ended.
        """
        while (line := stream.readline(MAX_LINE_BYTES)) == ALIVE:
            pass
        if not line:
            raise EOFError
        try:
            if line == END:
                return None
            told = _from_json(line.decode())
            if (n_text := told.pop("n_text", None)) is not None:
                if type(n_text) is not int or not 0 <= n_text <= MAX_TEXT_BYTES:
                    raise WorkerFault("the worker announced a text of an impossible length")
                told["text"] = _exactly(stream, n_text)
            return _checked(cls, told)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise WorkerFault(f"the worker sent no message: {error}") from error


@dataclass(slots=True)
class NodeOrder:
    """Order of the nodes of one file, which may come from several workers.

    Parameters
    ----------
    n_nodes : int
        Nodes that have come.
    parents : set of int
        Those that may have members.
    """

    n_nodes: int = 0
    parents: set[int] = field(default_factory=set)

    def add(self, node: ExtractedNode) -> None:
        """Add the next node; `WorkerFault` if it cannot be the next one, or not be inside of its parent."""
        number, parent = node.number, node.parent
        is_in_place = parent is None if number == 0 else parent in self.parents
        if number != self.n_nodes or not is_in_place:
            raise WorkerFault("the worker sent a document out of its place")
        self.n_nodes += 1
        if node.has_members or number == 0:
            self.parents.add(number)


_REQUEST_FIELDS = tuple(one.name for one in fields(ExtractionRequest) if one.name not in ("limits", "parents"))
_OF_FILE = {"number": 0, "parent": None, "name": None, "position": 0}
"""Usual values of fields that have no default: those of a file."""
_NODE_FIELDS = tuple(one.name for one in fields(ExtractedNode) if one.name not in ("text", "mail"))
_NODE_USUAL = tuple(_OF_FILE.get(one.name, one.default) for one in fields(ExtractedNode) if one.name in _NODE_FIELDS)
_node_values = attrgetter(*_NODE_FIELDS)
_MAIL_FIELDS = tuple(one.name for one in fields(MailHeaders) if one.name != "sent_at")
_MAIL_USUAL = tuple(one.default for one in fields(MailHeaders) if one.name != "sent_at")
_mail_values = attrgetter(*_MAIL_FIELDS)
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("number", "position", "size_bytes", "n_pages"), (int,)),
    "parent": (int, type(None)),
    "name": (str, type(None)),
    **dict.fromkeys(("sha256", "kind", "declared_kind", "extractor", "exception", "sentence"), (str,)),
    **dict.fromkeys(("is_container", "has_members", "is_partial"), (bool,)),
    "text": (bytes,),
    "warnings": (list,),
    "mail": (dict,),
}
"""Types of the values in a message; what is usual is not in it."""
_TYPES_OF_MAIL: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("message_id", "subject", "sent_at", "sender", "to", "cc"), (str,)),
    **dict.fromkeys(("in_reply_to", "references"), (list,)),
}
_to_json = json.JSONEncoder(separators=(",", ":")).encode
_from_json = json.JSONDecoder().decode
_MAX_NUMBER = (1 << 53) - 1
"""Largest number that every table and program takes."""
END = b'{"end": true}\n'
ALIVE = b'{"alive": true}\n'
"""Sign of life of a worker that has no node to send yet."""


LENGTH_BYTES = 4
"""Bytes before a message of requests that say how long it is."""


def as_message(requests: Sequence[ExtractionRequest]) -> bytes:
    """Return requests with the same limits as one message."""
    told = [[sorted(one.parents), *(getattr(one, name) for name in _REQUEST_FIELDS)] for one in requests]
    message = _to_json({"limits": requests[0].limits, "files": told}).encode()
    return len(message).to_bytes(LENGTH_BYTES) + message


def requests_of(message: bytes) -> list[ExtractionRequest]:
    """Restore the requests of a message, which comes without its length.

    Examples
    --------
    >>> asked = ExtractionRequest(name="a.eml", limits={}, first=2, parents={0}, given_up={2: ("crashed", "it died")})
    >>> requests_of(as_message([asked])[LENGTH_BYTES:]) == [asked]
    True
    """
    told = json.loads(message)
    found = []
    for parents, *values in told["files"]:
        fields_of = dict(zip(_REQUEST_FIELDS, values, strict=True))
        given_up = {int(number): tuple(one) for number, one in fields_of.pop("given_up").items()}
        found.append(ExtractionRequest(**fields_of, parents={*parents}, given_up=given_up, limits=told["limits"]))
    return found


def _checked(cls: type[ExtractedNode], told: MutableMapping[str, Any]) -> ExtractedNode:
    """Make a node of what a worker sent, which may be under the control of a hostile file."""
    _refuse_other_types(told, _TYPES)
    if (mail := told.get("mail")) is not None:
        _refuse_other_types(mail, _TYPES_OF_MAIL)
        for name in ("in_reply_to", "references"):
            if name in mail:
                mail[name] = _texts(mail[name])
        if "sent_at" in mail:
            mail["sent_at"] = _utc(mail["sent_at"])
        told["mail"] = MailHeaders(**mail)
    if "warnings" in told:
        told["warnings"] = _texts(told["warnings"])
    if "extractor" not in told:
        raise WorkerFault("a value is missing")
    node = cls(**{**_OF_FILE, **told})
    if node.exception is not None and node.exception not in EXCEPTIONS:
        raise WorkerFault("a value is out of range")
    for number in (node.number, node.parent, node.position, node.size_bytes, node.n_pages):
        if number is not None and not 0 <= number <= _MAX_NUMBER:
            raise WorkerFault("a value is out of range")
    return node


def _texts(told: list[object]) -> tuple[str, ...]:
    """Return the texts of a list; UnicodeEncodeError if one is not Unicode."""
    found = tuple(map(str, told))
    "".join(found).encode()
    return found


def _utc(told: str) -> datetime:
    """Return a time in UTC; with another offset it may be in no year."""
    moment = datetime.fromisoformat(told)
    if moment.utcoffset() != timedelta(0):
        raise WorkerFault("a value is out of range")
    return moment


def _refuse_other_types(told: Mapping[str, object], types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse values of other types, and texts that are not Unicode: no table takes those; ids escape them in names."""
    for name, value in told.items():
        if type(value) not in types.get(name, ()):
            raise WorkerFault("a value is of another type")
        if type(value) is str and not value.isascii() and name != "name":
            value.encode()


def _exactly(stream: BinaryIO, n_bytes: int) -> bytes:
    data = stream.read(n_bytes)
    if len(data) < n_bytes:
        raise EOFError
    return data
