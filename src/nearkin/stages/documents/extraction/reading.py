"""Results of extractors: the document that was read, and the members inside it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from nearkin.nouns import agreeing, counted
from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.language_data import LanguageData
from nearkin.stages.documents.extraction.limits import raised_by
from nearkin.stages.documents.faults import Reason
from nearkin.stages.documents.origin import MailHeaders

FREE_BYTES = 1 << 20
"""Unpacked size that is never treated as a bomb, whatever the ratio."""


def too_big(n_bytes: int, limit: int) -> str:
    """Return the sentence that a document is too big.

    Examples
    --------
    >>> too_big(2000, 1000)
    'too big to be extracted: 2,000 bytes, the limit is 1,000; raise it with --extraction-limit size=SIZE'
    """
    return f"too big to be extracted: {counted(n_bytes, 'byte')}, the limit is {limit:,}{raised_by('size')}"


def bomb(limit: int, n_packed: int, by: str = "ratio") -> ExtractionError:
    """Return the error for data whose unpacked size is too large; ``by`` names the limit."""
    packed = f"{counted(n_packed, 'packed byte')} {agreeing(n_packed, 'unpacks', 'unpack')}"
    sentence = f"{packed} to more than the limit of {counted(limit, 'byte')}{raised_by(by)}"
    return ExtractionError("too large", sentence)


_OUT_OF_MEMORY = (
    "memory allocation", "memoryerror", "out of memory", "cannot allocate memory", "bad_alloc", "failed to map segment",
)  # fmt: skip
"""Words in error messages of libraries, and of the system that loads them."""


def is_out_of_memory(message: str) -> bool:
    """Whether an error message, or the last words of a process, say that there was too little memory.

    Examples
    --------
    >>> is_out_of_memory("xberg.so: failed to map segment from shared object"), is_out_of_memory("no such file")
    (True, False)
    """
    return any(one in message.lower() for one in _OUT_OF_MEMORY)


def too_much_memory(limit: int) -> str:
    """Return the sentence that a document needs too much memory."""
    return f"it needs more memory than the limit of {counted(limit, 'byte')}{raised_by('memory')}"


class ExtractionError(Exception):
    """A document cannot be read, or its rest cannot be read.

    Parameters
    ----------
    exception : str
        One of `faults.REASONS`.
    sentence : str
        Why.
    """

    def __init__(self, exception: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.exception: Reason = exception
        self.sentence = sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRead:
    """Text of a document, or the reason why it has none.

    Parameters
    ----------
    text : str or None
    extractor : str
        Program and version.
    n_pages : int or None
    exception, sentence : str or None
        See `origin.Origin`. If there is a text, they say why it is partial.
    warnings : tuple of str
    mail : MailHeaders or None
    """

    text: str | None
    extractor: str
    n_pages: int | None = None
    exception: Reason | None = None
    sentence: str | None = None
    warnings: tuple[str, ...] = ()
    mail: MailHeaders | None = None

    def lacking(self, exception: Reason, sentence: str) -> DocumentRead:
        """Return a copy with an exception, unless it already has one."""
        return self if self.exception is not None else replace(self, exception=exception, sentence=sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file inside another one.

    Parameters
    ----------
    name : str or None
    blob : Blob or None
        None if it cannot be read.
    kind : str or None
        Kind of the file, if the archive or mail that contains it states the kind.
    exception, sentence : str or None
        Reason why the file cannot be read or, if there is a blob, why it is incomplete.
    """

    name: str | None
    blob: Blob | None = None
    kind: str | None = None
    exception: Reason | None = None
    sentence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Input of an extractor.

    Parameters
    ----------
    blob : Blob
    kind : str
    name : str
        Name of the file; only its suffix matters.
    encoding : str
        Encoding of plain text that is not UTF-8.
    limits : dict
        See `ExtractionLimits`.
    ocr : LanguageData or None
        Data for the recognition of text in images; None if it is not to be recognised.
    begin_again : callable
        Function that restarts the time limits of the document; called for each page that is recognised.
    """

    blob: Blob
    kind: str
    name: str = ""
    encoding: str = "utf-8"
    limits: dict[str, int] = field(default_factory=dict)
    ocr: LanguageData | None = None
    begin_again: Callable[[], None] = lambda: None


class Extractor(Protocol):
    """Reader of one file of one kind.

    Attributes
    ----------
    name : str
        Program and version.
    is_container : bool
        Whether it is an archive or a mailbox, without a text of its own.
    """

    @property
    def name(self) -> str:
        """See the attribute."""

    @property
    def is_container(self) -> bool:
        """See the attribute."""

    def document(self) -> DocumentRead:
        """Return the text of the document itself. Raises ExtractionError if there is none."""

    def has_members(self) -> bool:
        """Whether the document contains other files."""

    def members(self) -> Iterator[Member]:
        """Yield the files inside. Raises ExtractionError if the rest cannot be read."""


class Single:
    """A document without files inside."""

    is_container = False

    def has_members(self) -> bool:
        """Return False."""
        return False

    def members(self) -> Iterator[Member]:
        """Yield nothing."""
        return iter(())


class Container:
    """A file without a text of its own: an archive or a mailbox."""

    is_container = True

    def __init__(self, given: Given) -> None:
        self._given = given

    def document(self) -> DocumentRead:
        """Raise ExtractionError."""
        raise ExtractionError("unsupported", "it has no text of its own, only files inside")

    def has_members(self) -> bool:
        """Return True."""
        return True


_DRIVE = re.compile(r"^(?:[A-Za-z]:(?=[\\/]))+")
_MAX_CHARACTERS = 1000
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")


def safe_name(name: str) -> str:
    r"""Return a relative name with slashes, without "..", drives and control characters.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("C:\\Users\\a.doc"), safe_name("/a//b/./c"), safe_name("a\nb")
    ('etc/passwd', 'Users/a.doc', 'a/b/c', 'a%0Ab')
    >>> safe_name(r"\\server\share\x.doc"), safe_name("..")
    ('server/share/x.doc', '')
    """
    shown = "".join(one if unicodedata.category(one) not in _CONTROLS else _escaped(one) for one in name)
    parts = [part for part in shown.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    while parts and _DRIVE.match(f"{parts[0]}/"):
        del parts[0]
    return "/".join(parts)[:_MAX_CHARACTERS].rstrip("/")


def _escaped(one: str) -> str:
    return "".join(f"%{byte:02X}" for byte in one.encode("utf-8", "surrogatepass"))
