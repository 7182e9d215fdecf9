"""Walk through a file: its own text, then the files inside it, in an order that depends only on its bytes."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import IO

from nearkin.nouns import counted
from nearkin.stages.documents.compression import compression_of, unpacked
from nearkin.stages.documents.extraction.blobs import Blob, TooBigError
from nearkin.stages.documents.extraction.kinds import OFFICE, declared_kind, kind_of
from nearkin.stages.documents.extraction.language_data import LanguageData
from nearkin.stages.documents.extraction.limits import raised_by
from nearkin.stages.documents.extraction.mail import is_single
from nearkin.stages.documents.extraction.nodes import MAX_TEXT_BYTES, ExtractedNode, ExtractionRequest
from nearkin.stages.documents.extraction.reading import (
    FREE_BYTES,
    DocumentRead,
    ExtractionError,
    Extractor,
    Given,
    Member,
    bomb,
    is_out_of_memory,
    too_big,
    too_much_memory,
)
from nearkin.stages.documents.faults import Reason, StreamFault
from nearkin.stages.documents.origin import NO_TEXT, Origin

Timed = Callable[[], AbstractContextManager[object]]
"""Start the time limit of one step; when the time is over, the process ends."""
_KEEP_MEMBERS = ("image only", "partial", "empty", "damaged", "time-out")
"""Exceptions of documents whose members can be read nevertheless."""
_MAY_BE_EMPTY = ("text", "eml", "msg")
"""Kinds whose files are documents even without a text: a mail has headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Place of a file: its name, and the file that contains it."""

    name: str
    member: str | None
    parent: int | None
    position: int
    level: int
    lack: ExtractionError | None = None
    """Reason why the file is incomplete, if the file that contains it is damaged."""


class FileWalk:
    """Nodes of one file.

    Parameters
    ----------
    request : ExtractionRequest
    timed : callable
        See `Timed`.
    begin_again : callable, optional
        Function that restarts the time limit of the current step.
    ocr : LanguageData, optional
        Data for the recognition of text in images.
    """

    def __init__(
        self,
        request: ExtractionRequest,
        timed: Timed,
        begin_again: Callable[[], None] = lambda: None,
        ocr: LanguageData | None = None,
    ) -> None:
        self._request = request
        self._limits = request.limits
        self._timed = timed
        self._begin_again = begin_again
        self._ocr = ocr
        self._n_nodes = 0
        self._n_bytes = 0

    def nodes(self, blob: Blob) -> Iterator[ExtractedNode]:
        """Yield the nodes that have not been sent yet."""
        name = self._request.name
        yield from self._of(blob, None, _Place(name=name, member=None, parent=None, position=0, level=0))

    def _of(self, blob: Blob, told: str | None, place: _Place) -> Iterator[ExtractedNode]:
        """Yield the nodes of a file and of everything inside it."""
        number = self._n_nodes
        self._n_nodes += 1
        first = self._request.first
        if number == first and self._request.given_up is not None:
            yield self._given_up(number, blob, place, *self._request.given_up)
            return
        has_members = number in self._request.parents
        if number < first and not has_members:
            return
        with self._timed():
            blob, kind, problem = self._opened(blob, told, place)
        if kind in _LIBRARIES and (kind != "image" or self._ocr is not None):
            _load_library(_LIBRARIES[kind])  # a second, which is not the document's
        with self._timed():
            extractor = None if problem is not None else extractor_of(self._given(blob, kind, place.name))
            node = None
            if number >= first:
                node = self._node(number, blob, kind, extractor, problem, place)
                has_members = node.has_members
        if node is not None:
            yield node
        if extractor is not None and has_members:
            yield from self._inside(number, extractor, place)

    def _given(self, blob: Blob, kind: str, name: str) -> Given:
        return Given(
            blob=blob, kind=kind, name=name, encoding=self._request.encoding, limits=dict(self._limits), ocr=self._ocr,
            begin_again=self._begin_again,
        )  # fmt: skip

    def _given_up(self, number: int, blob: Blob, place: _Place, exception: Reason, sentence: str) -> ExtractedNode:
        """Return the node for a file that killed a worker before."""
        origin = Origin(
            sha256=blob.sha256, size_bytes=blob.size, kind=declared_kind(place.name) or "unknown", extractor="none",
            exception=exception, sentence=sentence, position=place.position or None,
        )  # fmt: skip
        return ExtractedNode(number=number, parent=place.parent, name=place.member, origin=origin)

    def _opened(self, blob: Blob, told: str | None, place: _Place) -> tuple[Blob, str, ExtractionError | None]:
        """Return the decompressed file, its kind, and the reason why it cannot be read, if there is one."""
        try:
            name = place.name
            for _ in range(2):
                if compression_of(blob.head) == "none":
                    break
                blob = unpacked_blob(blob, self._limits)
                name = os.path.splitext(name)[0]
            kind = told or self._kind(blob, name, place)
            if kind == "packed":
                return blob, kind, ExtractionError("unsupported", "compressed more than twice")
        except ExtractionError as error:
            return blob, "packed", error
        return blob, kind, None

    def _kind(self, blob: Blob, name: str, place: _Place) -> str:
        """Return the kind by content; if a plain text replaces the file, the kind that the user named."""
        kind = kind_of(blob, name)
        if kind == "text" and blob.head and place.parent is None and self._request.kind is not None:
            return self._request.kind
        is_mail = kind == "mbox" and declared_kind(name) != "mbox" and is_single(blob)
        return "eml" if is_mail else kind

    def _node(
        self, number: int, blob: Blob, kind: str, extractor: Extractor | None, problem: ExtractionError | None,
        place: _Place,
    ) -> ExtractedNode:  # fmt: skip
        """Return the node of a file, with its text."""
        has_members, text = False, None
        if extractor is None:
            error = problem or ExtractionError("unsupported", f"files of the kind {kind} are not read")
            read = DocumentRead(text=None, extractor="none", exception=error.exception, sentence=error.sentence)
        elif extractor.is_container:
            has_members, read = True, DocumentRead(text=None, extractor=extractor.name)
        else:
            read = self._document(extractor, blob, kind)
            if kind == "text" and read.exception == "unsupported":  # binary data of an unknown kind
                kind = "unsupported"
            has_members = read.exception in (None, *_KEEP_MEMBERS) and _has_members(extractor)
            if place.lack is not None:
                read = read.lacking(place.lack.exception, place.lack.sentence)
            read, text = self._with_text(read, kind, has_members=has_members)
        declared = declared_kind(place.name)
        origin = Origin(
            sha256=blob.sha256, size_bytes=blob.size, kind=kind, declared_kind=declared if declared != kind else None,
            extractor=read.extractor, n_pages=read.n_pages, exception=read.exception, sentence=read.sentence,
            is_partial=read.exception is not None and bool(text and text.strip()), warnings="; ".join(read.warnings),
            position=place.position or None, mail=read.mail,
        )  # fmt: skip
        return ExtractedNode(
            number=number, parent=place.parent, name=place.member,
            is_container=extractor is not None and extractor.is_container, has_members=has_members, origin=origin,
            text=text,
        )  # fmt: skip

    def _document(self, extractor: Extractor, blob: Blob, kind: str) -> DocumentRead:
        """Return the result of an extractor for a file; every error is an exception of this file only."""
        most = self._limits["output_bytes"]
        try:
            return extractor.document()
        except ExtractionError as error:
            exception, sentence = error.exception, error.sentence
        except ModuleNotFoundError as error:
            exception = "unsupported"
            sentence = f"{kind.upper()} needs an extra: pip install 'nearkin[documents]' ({error.name} is missing)"
            return DocumentRead(text=None, extractor="none", exception=exception, sentence=sentence)
        except TooBigError:
            exception, sentence = "too large", too_big(blob.size, most)
        except MemoryError:
            exception = "too large"
            sentence = too_much_memory(self._limits["memory_bytes"])
        except RecursionError:
            exception, sentence = "too large", "it is nested too deeply"
        except Exception as error:  # noqa: BLE001  (a library may raise anything; it costs this document only)
            exception, sentence = _failure(error, self._limits)
        return DocumentRead(text=None, extractor=_name_of(extractor), exception=exception, sentence=sentence)

    def _with_text(self, read: DocumentRead, kind: str, *, has_members: bool) -> tuple[DocumentRead, bytes | None]:
        """Return the result and its text in UTF-8; a text of white space only counts as no text."""
        text = None if read.text is None else read.text.encode("utf-8", "replace")
        most = min(self._limits["output_bytes"], MAX_TEXT_BYTES)
        if text is not None and len(text) > most:
            sentence = too_big(len(text), most)
            read, text = replace(read, exception="too large", sentence=sentence), None
        if text is not None and not has_members and kind not in _MAY_BE_EMPTY and not text.strip():
            read, text = read.lacking("empty", NO_TEXT), None
        return read, text

    def _inside(self, number: int, extractor: Extractor, place: _Place) -> Iterator[ExtractedNode]:
        """Yield the members of a file; if the rest cannot be read, the last member says so."""
        if place.level + 1 > self._limits["n_levels"]:
            sentence = f"more than {self._limits['n_levels']} levels of files in files{raised_by('levels')}"
            yield from self._failed(number, Member(name=None, exception="too large", sentence=sentence), 1)
            return
        members = extractor.members()
        position = 0
        while True:
            position += 1
            try:
                with self._timed():
                    member = next(members, None)
            except Exception as error:  # noqa: BLE001  (a library may raise anything; it costs the rest of this file)
                member = _broken_off(error, self._limits)
                yield from self._failed(number, member, position)
                return
            if member is None:
                return
            if (stop := self._exceeded(member)) is not None:
                yield from self._failed(number, stop, position)
                return
            if member.blob is None:
                yield from self._failed(number, member, position)
                continue
            lack = None if member.exception is None else ExtractionError(member.exception, member.sentence or "")
            inner = _Place(
                name=member.name or "",
                member=member.name,
                parent=number,
                position=position,
                level=place.level + 1,
                lack=lack,
            )
            yield from self._of(member.blob, member.kind, inner)

    def _exceeded(self, member: Member) -> Member | None:
        """Return the message in place of a member that would exceed the limits of the file."""
        self._n_bytes += 0 if member.blob is None else member.blob.size
        if self._n_nodes - 1 >= self._limits["n_members"]:  # the file itself is not in it
            what, by = counted(self._limits["n_members"], "file"), "files"
        elif self._n_bytes > self._limits["total_bytes"]:
            what, by = counted(self._limits["total_bytes"], "byte"), "total"
        else:
            return None
        sentence = f"more than the limit of {what} in one file; the rest was not read{raised_by(by)}"
        return Member(name=None, exception="too large", sentence=sentence)

    def _failed(self, number: int, member: Member, position: int) -> Iterator[ExtractedNode]:
        """Yield the node of a member that cannot be read."""
        own = self._n_nodes
        self._n_nodes += 1
        if own < self._request.first:
            return
        origin = Origin(
            sha256=None, size_bytes=None, kind=declared_kind(member.name or "") or "unknown", extractor="none",
            exception=member.exception, sentence=member.sentence, position=position,
        )  # fmt: skip
        yield ExtractedNode(number=own, parent=number, name=member.name, origin=origin)


def _name_of(extractor: Extractor) -> str:
    """Return the program and its version, if it is installed and can be loaded."""
    try:
        return extractor.name
    except (ImportError, OSError):
        return "none"


def _has_members(extractor: Extractor) -> bool:
    """Whether a document has members that can be listed; an extractor that failed before may fail again."""
    try:
        return extractor.has_members()
    except Exception:  # noqa: BLE001  (the document says why)
        return False


def _failure(error: Exception, limits: Mapping[str, int]) -> tuple[Reason, str]:
    """Return the exception and the sentence for an error of a library."""
    if is_out_of_memory(str(error)):
        return "too large", too_much_memory(limits["memory_bytes"])
    return "crashed", f"the extractor failed: {type(error).__name__}: {error}"[:300]


def _broken_off(error: Exception, limits: Mapping[str, int]) -> Member:
    """Return a member that says why the rest of a file cannot be read."""
    if isinstance(error, ExtractionError):
        return Member(name=None, exception=error.exception, sentence=error.sentence)
    if isinstance(error, TooBigError):
        sentence = f"too big to be extracted: the limit is {counted(limits['output_bytes'], 'byte')}{raised_by('size')}"
        return Member(name=None, exception="too large", sentence=sentence)
    if isinstance(error, MemoryError):
        return Member(name=None, exception="too large", sentence=too_much_memory(limits["memory_bytes"]))
    exception, sentence = _failure(error, limits)
    return Member(name=None, exception=exception, sentence=sentence)


_PIECE_BYTES = 1 << 18
_IN_MEMORY = 64 << 20


def unpacked_blob(blob: Blob, limits: Mapping[str, int]) -> Blob:
    """Return the unpacked bytes: up to 64 MiB in memory, and more in a nameless file.

    Raises
    ------
    ExtractionError
        The bytes are damaged, or there are too many.
    """
    by_ratio, total = max(FREE_BYTES, blob.size * limits["compression_ratio"]), limits["total_bytes"]
    size, most = 0, min(total, by_ratio)
    file: IO[bytes] | None = None
    pieces: list[bytes] = []
    with blob.opened() as raw:
        pull = unpacked(raw.read, compression_of(blob.head))
        try:
            while piece := pull(_PIECE_BYTES):
                size += len(piece)
                if size > most:
                    raise bomb(most, blob.size, "total" if total < by_ratio else "ratio")
                if file is None and size > _IN_MEMORY:
                    file = tempfile.TemporaryFile()  # noqa: SIM115  (the blob outlives this function)
                    file.writelines(pieces)
                    pieces = []
                if file is None:
                    pieces.append(piece)
                else:
                    file.write(piece)
        except StreamFault as fault:
            if isinstance(fault.__cause__, MemoryError):
                raise ExtractionError("too large", too_much_memory(limits["memory_bytes"])) from fault
            raise ExtractionError("damaged", str(fault)) from fault
        except OSError as error:
            raise ExtractionError("too large", _too_big_for_disk(error, limits["disk_bytes"])) from error
    if file is None:
        return Blob(b"".join(pieces))
    file.flush()
    return Blob(descriptor=os.dup(file.fileno()))


def _too_big_for_disk(error: OSError, limit: int) -> str:
    """Return the reason why unpacked bytes could not be written: the limit on the size of files, or a full disk."""
    if error.errno == errno.EFBIG:
        return f"it unpacks to more than the limit of {counted(limit, 'byte')} on the disk{raised_by('disk')}"
    return f"it unpacks to more than fits into the temporary directory: {error.strerror}"


_CLASSES = {
    "text": "plain.PlainText", "html": "html.HtmlPage", "eml": "mail.Mail", "mbox": "mail.Mailbox",
    "msg": "msg.OutlookMessage", "pst": "pst.OutlookMailbox", "zip": "archives.ZipArchive",
    "tar": "archives.TarArchive",
    "pdf": "pdf.Pdf", **dict.fromkeys(OFFICE, "office.OfficeFile"),
}  # fmt: skip
_LIBRARIES = {"pdf": "pypdfium2", "image": "xberg", **dict.fromkeys(OFFICE, "xberg")}


def extractor_of(given: Given) -> Extractor:
    """Return the extractor of a file."""
    if given.kind == "image" and given.ocr is not None:
        return _class_of("ocr.ImageFile")(given, given.ocr)
    return _class_of(_CLASSES.get(given.kind, "plain.Unread"))(given)


@lru_cache  # an import costs as much as a message
def _class_of(name: str) -> Callable[..., Extractor]:
    module, _, of_it = name.partition(".")
    found: Callable[..., Extractor] = getattr(import_module(f"{__package__}.{module}"), of_it)
    return found


@lru_cache
def _load_library(name: str) -> None:
    """Import a library; that it is missing is said by the document that needs it."""
    with suppress(Exception):
        import_module(name)
