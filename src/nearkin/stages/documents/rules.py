"""Rules of reading: the reasons why a document has no text, one closed list; limits; what follows of bad documents.

A problem is written as one string, the reason and a sentence of the reader: ``not text: a PDF file``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Literal, get_args

from nearkin.errors import (
    DocumentError,
    MissingExtraError,
    ParameterError,
    SourceError,
    TruncatedInputError,
    is_among,
    is_int,
    is_number,
)
from nearkin.nouns import counted
from nearkin.paths import path_of

Reason = Literal[
    "empty", "too large", "not text", "wrong encoding", "damaged", "truncated", "encrypted", "unsupported",
    "image only", "technical", "partial", "time-out", "crashed", "id repeated", "no such column",
]  # fmt: skip
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Every reason. "truncated" is the missing rest of a file that has several documents."""


def problem_of(reason: Reason, sentence: str) -> str:
    """Return a problem as one string."""
    return f"{reason}: {sentence}"


def reason_of(problem: str) -> Reason:
    """Return the reason of a problem; one that names none is "damaged".

    Examples
    --------
    >>> reason_of("not text: a PDF file; extract its text first"), sentence_of("not text: a PDF file")
    ('not text', 'a PDF file')
    """
    begin = problem.partition(": ")[0]
    return next((reason for reason in REASONS if reason == begin), "damaged")


def sentence_of(problem: str) -> str:
    """Return the sentence of a problem, without its reason."""
    reason, mark, sentence = problem.partition(": ")
    return sentence if mark and reason in REASONS else problem


def is_beside(problem: str | None, *, with_ocr: bool) -> bool:
    """Whether a document without a text does not count as unreadable: a technical attachment, or an image without OCR.

    Examples
    --------
    >>> is_beside("image only: a PNG image", with_ocr=False), is_beside("image only: a PNG image", with_ocr=True)
    (True, False)
    """
    reason = None if problem is None else reason_of(problem)
    return reason == "technical" or (reason == "image only" and not with_ocr)


class RecordFault(Exception):
    """A record or document that cannot be read; those around it can."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(problem_of(reason, sentence))
        self.reason: Reason = reason
        self.sentence = sentence


class StreamFault(Exception):
    """The rest of a file cannot be read; its reader sets the ``line`` or row at which reading ended."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def truncated_input(name: str, fault: StreamFault | str, n_documents: int = 0) -> TruncatedInputError:
    """Return the error for a damaged file."""
    after = f", after {counted(n_documents, 'document')}" if n_documents else ""
    return TruncatedInputError(
        f"{name}: {fault}{after}. Get the file again, or add --on-error skip to use what comes before the damage."
    )


def is_rest_missing(problem: str | None) -> bool:
    """Whether a problem stands for the missing rest of a file.

    Examples
    --------
    >>> is_rest_missing("truncated: the gzip stream is truncated"), is_rest_missing("empty: the text is null")
    (True, False)
    """
    return problem is not None and reason_of(problem) == "truncated"


MAX_SIZE_OPTION = "--max-document-size"
"""Name of the maximum size of a document in problems, which are stored."""
SIZE_RULE = "a size such as 2GiB or 500MB"
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?(b?)\s*", re.IGNORECASE | re.ASCII)


def parse_size(text: str, parameter: str = "memory") -> int:
    """Parse a size such as ``2GiB``, ``500MB`` or ``1073741824`` into bytes; ParameterError for anything else."""
    occurrence = _SIZE.fullmatch(text)
    if not occurrence:
        raise ParameterError.of(parameter, SIZE_RULE, text)
    size = float(occurrence[1]) * _unit_of(occurrence)
    if size >= 2**63:
        raise ParameterError.of(parameter, "a size below 8 EiB", text)
    return int(size)


def _unit_of(occurrence: re.Match[str]) -> int:
    base: int = 1024 if occurrence[3] else 1000
    power: int = " kmgt".index(occurrence[2].lower()) if occurrence[2] else 0
    return int(base**power)


_MIB = 1 << 20
OPTION = "--extraction-limit"
_VALUES = {
    "time": "SECONDS", "memory": "SIZE", "size": "SIZE", "total": "SIZE", "disk": "SIZE", "files": "N", "levels": "N",
    "ratio": "N", "ocr": "SECONDS",
}  # fmt: skip
_UNITS = {"SECONDS": " seconds", "SIZE": " bytes", "N": ""}
_MAX_S, _MAX_VALUE = 1 << 21, 1 << 50
"""Maximum values that system calls accept: for timers, and for everything else."""
IN_WORDS = (
    "time=60 (seconds), memory=4GiB, size=256MiB, total=16GiB, disk=1GiB, files=1000000, levels=12, ratio=1000, "
    "ocr=1800 (seconds)"
)
"""The defaults, in the syntax of the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """Maximum cost of the extraction of a file, by the names on the command line; sizes are in bytes, times in seconds.

    ``time`` is for each document or recognised page; ``size`` for the text of a document
    and for a file that is read as a whole; ``total`` for everything inside one file; ``disk`` for an unpacked archive;
    ``ratio`` is unpacked to packed size.
    """

    time: int = 60
    memory: int = 4096 * _MIB
    size: int = 256 * _MIB
    total: int = 16384 * _MIB
    disk: int = 1024 * _MIB
    files: int = 1_000_000
    levels: int = 12
    ratio: int = 1000
    ocr: int = 1800

    def __post_init__(self) -> None:
        for name, kind in _VALUES.items():
            value, most = getattr(self, name), _MAX_S if kind == "SECONDS" else _MAX_VALUE
            if not is_int(value) or not 1 <= value <= most:
                rule = f"{SIZE_RULE}, at most {most >> 40:,}TiB" if kind == "SIZE" else f"an int from 1 to {most:,}"
                raise ParameterError.of("extraction_limit", f"{name}={kind}, with {rule}", value)

    @classmethod
    def of(cls, given: Mapping[str, int | str]) -> ExtractionLimits:
        """Make limits from those that differ from the defaults; ParameterError if there is no such limit.

        Examples
        --------
        >>> ExtractionLimits.of({"size": "1GiB", "time": 300}).given
        {'time': 300, 'size': 1073741824}
        """
        if not isinstance(given, Mapping):
            rule = 'a mapping of names to values, such as {"time": 300}'
            raise ParameterError.of("extraction_limits", rule, given)
        for name in given:
            if name not in _VALUES:
                raise ParameterError.of("extraction_limit", f"one of {', '.join(_VALUES)}", name)
        parsed = dict(given)
        for name, value in given.items():
            with suppress(ValueError):  # else `__post_init__` says what is wrong
                if isinstance(value, str):
                    parsed[name] = parse_size(value) if _VALUES[name] == "SIZE" else int(value)
        return cls(**parsed)  # type: ignore[arg-type]  # it checks

    def exceeded(self, name: str) -> RecordFault:
        """Return the fault of what goes beyond a limit.

        Examples
        --------
        >>> str(ExtractionLimits().exceeded("time"))
        'time-out: more than the limit of time, 60 seconds; raise it with --extraction-limit time=SECONDS'
        """
        kind = _VALUES[name]
        limit = f"the limit of {name}, {getattr(self, name):,}{_UNITS[kind]}"
        sentence = f"more than {limit}; raise it with {OPTION} {name}={kind}"
        return RecordFault("time-out" if kind == "SECONDS" else "too large", sentence)

    @property
    def given(self) -> dict[str, int]:
        """The limits that differ from the defaults."""
        usual = asdict(USUAL_LIMITS)
        return {name: value for name, value in asdict(self).items() if value != usual[name]}


USUAL_LIMITS = ExtractionLimits()


OnError = Literal["skip-documents", "skip", "stop"]
MAX_UNREADABLE = 0.5
MAX_DOCUMENT_BYTES = 64 << 20
_SHARE_RULE = "a percentage such as 1%, or a number from 0 to 1"
STOPPED = "The run stops at bad documents because of --on-error stop."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRules:
    """Treatment of unreadable documents and files.

    Parameters
    ----------
    on_error : {"skip-documents", "skip", "stop"}
        "skip-documents" leaves a bad document out and lists it; a damaged file ends the run. "skip" also uses what
        comes before the damage of a file. "stop" ends the run at the first bad document.
    max_document_bytes
        Maximum size of a document: of its line or record, as UTF-8, or of the text in a table.
    """

    on_error: OnError = "skip-documents"
    max_unreadable: float = MAX_UNREADABLE
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    text_root: str | None = None
    limits: ExtractionLimits = USUAL_LIMITS
    ocr: str | None = None

    def __post_init__(self) -> None:
        if not is_among(self.on_error, get_args(OnError)):
            raise ParameterError.of("on_error", "skip-documents, skip or stop", self.on_error)
        if not isinstance(self.max_unreadable, int | float) or not 0 <= self.max_unreadable <= 1:
            raise ParameterError.of("max_unreadable", _SHARE_RULE, self.max_unreadable)
        if not is_int(self.max_document_bytes) or self.max_document_bytes < 1:
            raise ParameterError.of("max_document_size", SIZE_RULE, self.max_document_bytes)

    @classmethod
    def of(
        cls,
        on_error: str = "skip-documents",
        max_unreadable: str | float = MAX_UNREADABLE,
        max_document_size: str | int = MAX_DOCUMENT_BYTES,
        text_root: str | os.PathLike[str] | None = None,
        extraction_limits: Mapping[str, int | str] | None = None,
        ocr: str | None = None,
    ) -> ReadingRules:
        """Make rules from options in the user's syntax; for ``extraction_limits`` see `ExtractionLimits.of`."""
        size = max_document_size
        if isinstance(size, str):
            size = parse_size(size, "max_document_size")
        root = None if text_root is None else str(path_of(text_root, "text_root"))
        if root is not None and not os.path.isdir(root):
            raise ParameterError.of("text_root", "a folder", root)
        if ocr is not None:
            language_data(ocr)
        return cls(
            on_error=on_error,  # type: ignore[arg-type]  # it checks this
            max_unreadable=parse_share(max_unreadable),
            max_document_bytes=size,
            text_root=root,
            limits=ExtractionLimits.of({} if extraction_limits is None else extraction_limits),
            ocr=ocr,
        )

    @property
    def takes_damaged(self) -> bool:
        """Whether documents before the damage of a file are used."""
        return self.on_error == "skip"

    def check_readable(
        self, n_unreadable: int, n_documents: int, first: str, *, n_beside: int = 0, of: str = ""
    ) -> None:
        """Raise SourceError if all documents are unreadable, DocumentError if more than `max_unreadable` are.

        ``n_beside`` of them count neither as unreadable nor as documents; see `is_beside`.
        """
        if not n_unreadable:
            return
        prefix = f"{of}: " if of else ""
        if n_unreadable == n_documents:
            raise SourceError(f"{prefix}No document of {n_documents:,} is readable. The first: {first}.")
        n_unreadable, n_documents = n_unreadable - n_beside, n_documents - n_beside
        share = n_unreadable / max(n_documents, 1)
        if share > self.max_unreadable + 1e-12:  # 29 of 100 must count as 29%, despite rounding errors
            raise DocumentError(
                f"{prefix}Unreadable: {n_unreadable:,} of {counted(n_documents, 'document')}, {100 * share:.4g}%, more "
                f"than the {100 * self.max_unreadable:.4g}% of --max-unreadable. The first: {first}."
            )


def parse_share(given: str | float) -> float:
    """Parse a percentage such as ``1%``, or a number from 0 to 1; ParameterError for anything else."""
    share = -1.0
    if isinstance(given, str):
        if occurrence := re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", given, re.ASCII):
            share = float(occurrence[1]) / (100 if occurrence[2] else 1)
    elif is_number(given):
        share = float(given)
    if not 0 <= share <= 1:
        raise ParameterError.of("max_unreadable", _SHARE_RULE, given)
    return share


def too_long(n_bytes: int | None, max_document_bytes: int) -> RecordFault:
    """Return the fault of a document that exceeds the maximum size; None: its size is unknown."""
    size = "" if n_bytes is None else f"{counted(n_bytes, 'byte')}; "
    return RecordFault("too large", f"longer than {MAX_SIZE_OPTION} ({size}the maximum is {max_document_bytes:,})")


@dataclass(frozen=True, slots=True)
class LanguageData:
    """Folder with language data of tesseract for ``languages``, joined by "+"."""

    languages: str
    folder: str

    @property
    def files(self) -> list[str]:
        """A file for each language."""
        return [os.path.join(self.folder, f"{language}.traineddata") for language in self.languages.split("+")]

    @property
    def paths(self) -> list[str]:
        """Paths that a worker may read: the folder, and targets of links that lead out of it."""
        return [self.folder, *map(os.path.realpath, self.files)]


FOLDERS = (
    os.path.join(sys.prefix, "share/tessdata"),
    "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tessdata",
    "/usr/local/share/tessdata", "/opt/homebrew/share/tessdata",
)  # fmt: skip
"""Folders of this environment (conda), of Debian 12 and 11, Fedora and Arch, of builds from source, and of macOS."""
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def language_data(languages: str) -> LanguageData:
    """Find a folder with the data of all the languages, such as "eng+deu": tesseract prefers the first."""
    names = languages.split("+") if isinstance(languages, str) else [""]
    if not all(_LANGUAGE.fullmatch(language) for language in names) or len(set(names)) < len(names):
        rule = "languages as tesseract names them, such as eng or eng+deu"
        raise ParameterError.of("ocr", rule, languages)
    if find_spec("xberg") is None or find_spec("pypdfium2") is None:
        raise MissingExtraError.of("OCR", "documents")
    for folder in FOLDERS:
        data = LanguageData(languages, folder)
        if all(map(os.path.isfile, data.files)):
            return data
    files = ", ".join(f"{name}.traineddata" for name in names)
    packages = " ".join(f"tesseract-ocr-{name.lower().replace('_', '-')}" for name in names)
    raise MissingExtraError(
        f"ocr needs the language data of tesseract: {files} not found in {', '.join(FOLDERS)}. Put the files into "
        f"one of these folders; on Debian and Ubuntu: apt-get install {packages}."
    )
