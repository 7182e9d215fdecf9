"""What an extractor is given and returns: bytes, documents, and their members."""

from __future__ import annotations

import errno
import hashlib
import io
import lzma
import os
import re
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import BinaryIO

from nearkin.stages.documents.members import MailHeaders
from nearkin.stages.documents.rules import USUAL_LIMITS, ExtractionLimits, LanguageData, Reason, RecordFault

HEAD_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20
CUT_ARCHIVE = "its list of files, at its end, does not list the first of them: it is truncated, or there are several"
ARCHIVE_FAULTS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, ValueError, RuntimeError, EOFError,
    LookupError, struct.error,
)  # fmt: skip
"""Errors of an archive that is damaged."""


class Blob:
    """Bytes, or an open descriptor, with a size, readable as often as needed; with an ``owner`` of the descriptor."""

    def __init__(self, data: bytes | None = None, descriptor: int = -1, owner: object = None) -> None:
        self._data = data
        self._owner = owner
        self._descriptor = descriptor

    @cached_property
    def size(self) -> int:
        """Number of bytes."""
        return os.fstat(self._descriptor).st_size if self._data is None else len(self._data)

    @cached_property
    def head(self) -> bytes:
        """The first `HEAD_BYTES`; a shorter file is held, so that it is read once."""
        if self._data is not None:
            return self._data[:HEAD_BYTES]
        head = os.pread(self._descriptor, min(self.size, HEAD_BYTES) or HEAD_BYTES, 0)
        if len(head) == self.size:
            self._data = head
        return head

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        """The ZIP archive in these bytes; raises one of `ARCHIVE_FAULTS`.

        If one of the last files of a cut archive is an archive itself, `zipfile` takes that one for the whole.
        """
        archive = zipfile.ZipFile(self.opened())
        if self.head.startswith(b"PK\3\4") and all(entry.header_offset > 0 for entry in archive.infolist()):
            raise zipfile.BadZipFile(CUT_ARCHIVE)
        return archive

    def opened(self) -> BinaryIO:
        """Return a seekable file at the beginning of the bytes; of a descriptor, one reader at a time."""
        if self._data is not None:
            return io.BytesIO(self._data)
        file = open(self._descriptor, "rb", _PIECE_BYTES, closefd=False)  # noqa: SIM115  (the reader closes it)
        file.seek(0)
        return file

    def held(self) -> bytes:
        """Return all bytes."""
        if self._data is None:
            self._data = b"".join(self._pieces())
        return self._data

    @cached_property
    def sha256(self) -> str:
        """Digest of the bytes, in hexadecimal."""
        digest = hashlib.sha256()
        for piece in self._pieces() if self._data is None else [self._data]:
            digest.update(piece)
        return digest.hexdigest()

    def _pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the descriptor without moving the reader's place."""
        at = 0
        while piece := os.pread(self._descriptor, _PIECE_BYTES, at):
            yield piece
            at += len(piece)


FREE_BYTES = 1 << 20
"""Unpacked size that is never treated as a bomb, whatever the ratio."""


_IN_MEMORY = 64 << 20


def gathered(read: Callable[[int], bytes], n_packed: int, limits: ExtractionLimits) -> Blob:
    """Unpack into memory up to 64 MiB, and more into a nameless file. Raises RecordFault if it is too much."""
    size, by_ratio = 0, max(FREE_BYTES, n_packed * limits.ratio)
    room = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  (the blob outlives this function)
    try:
        while piece := read(_PIECE_BYTES):
            size += len(piece)
            if size > min(by_ratio, limits.total):
                raise limits.exceeded("total" if limits.total < by_ratio else "ratio")
            room.write(piece)
        if size <= _IN_MEMORY:
            room.seek(0)
            return Blob(room.read())
        room.flush()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise RecordFault("too large", "it unpacks to more than fits into the temporary directory") from error
        if error.errno != errno.EFBIG:
            raise
        raise limits.exceeded("disk") from error
    return Blob(descriptor=room.fileno(), owner=room)


_OUT_OF_MEMORY = (
    "memory allocation", "memoryerror", "out of memory", "cannot allocate memory", "bad_alloc", "failed to map segment",
)  # fmt: skip
"""Words in error messages of libraries, and of the system that loads them."""


def is_out_of_memory(message: str) -> bool:
    """Whether the words of an error or a process say that there was too little memory.

    Examples
    --------
    >>> is_out_of_memory("xberg.so: failed to map segment from shared object"), is_out_of_memory("no such file")
    (True, False)
    """
    return any(sign in message.lower() for sign in _OUT_OF_MEMORY)


def fault_of(error: Exception, limits: ExtractionLimits) -> RecordFault:
    """Return what any error of a library means for its document."""
    if isinstance(error, RecordFault):
        return error
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError) or is_out_of_memory(str(error)):
        return limits.exceeded("memory")
    if isinstance(error, ModuleNotFoundError):
        extra = "pst" if error.name == "pypff" else "documents"
        return RecordFault(
            "unsupported", f"it needs an extra: pip install 'nearkin[{extra}]' ({error.name} is missing)"
        )
    if isinstance(error, NotImplementedError):
        return RecordFault("unsupported", f"it cannot be unpacked: {error}")
    if isinstance(error, RecursionError):
        return RecordFault("too large", "it is nested too deeply")
    why = (str(error) or type(error).__name__).splitlines()[0][:300]
    return RecordFault("damaged", f"it cannot be read: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file inside another one, with the kind that its archive or mail states and why it is incomplete."""

    name: str | None
    blob: Blob | None = None
    kind: str | None = None
    fault: RecordFault | None = None

    @classmethod
    def of(
        cls, name: str | None, read: Callable[[], Blob], limits: ExtractionLimits, kind: str | None = None
    ) -> Member:
        """Return a member with the bytes that a function reads, or why it cannot."""
        try:
            return cls(name=name, blob=read(), kind=kind)
        except Exception as error:  # noqa: BLE001  (a library may raise anything; it costs this member only)
            return cls(name=name, fault=fault_of(error, limits))


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRead:
    """Text of a document, or the fault for which it has none or is partial.

    ``extractor`` is None for the usual one of the kind. ``members`` lists the files inside; RecordFault says that
    the rest cannot be read.
    """

    text: str | None = None
    extractor: str | None = None
    n_pages: int | None = None
    fault: RecordFault | None = None
    warnings: tuple[str, ...] = ()
    mail: MailHeaders | None = None
    members: Callable[[], Iterator[Member]] | None = None

    @property
    def reason(self) -> Reason | None:
        """Reason of the fault."""
        return None if self.fault is None else self.fault.reason

    def lacking(self, reason: Reason, sentence: str) -> DocumentRead:
        """Return a copy with a fault, unless it already has one."""
        return self if self.fault is not None else replace(self, fault=RecordFault(reason, sentence))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Input of an extractor."""

    blob: Blob
    kind: str
    name: str = ""
    encoding: str = "utf-8"
    charset: str | None = None
    limits: ExtractionLimits = USUAL_LIMITS
    ocr: LanguageData | None = None
    begin_again: Callable[[], None] = lambda: None

    @property
    def data(self) -> bytes:
        """All bytes of the file. Raises RecordFault if there are too many."""
        if self.blob.size > self.limits.size:
            raise self.limits.exceeded("size")
        return self.blob.held()


def tick(is_ticked: bool) -> str:
    """Return the sign of a box in a form."""
    return "☒" if is_ticked else "☐"


_DRIVE = re.compile(r"^(?:[A-Za-z]:(?=[\\/]))+")
_MAX_CHARACTERS = 1000
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")


def safe_name(name: str) -> str:
    """Return a relative name with slashes, without "..", drives and control characters."""
    shown = "".join(
        character if unicodedata.category(character) not in _CONTROLS else _escaped(character) for character in name
    )
    parts = [part for part in shown.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    while parts and _DRIVE.match(f"{parts[0]}/"):
        del parts[0]
    return "/".join(parts)[:_MAX_CHARACTERS].rstrip("/")


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
