"""Limits of extraction: the maximum cost of one file."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from importlib.util import find_spec
from typing import TypeGuard

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.sizes import SIZE_RULE, parse_size

_MIB = 1 << 20
OPTION = "--extraction-limit"
_FIELDS = {
    "time": ("cpu_s", "wall_s"), "memory": ("memory_bytes",), "size": ("output_bytes",), "total": ("total_bytes",),
    "disk": ("disk_bytes",), "files": ("n_members",), "levels": ("n_levels",), "ratio": ("compression_ratio",),
    "ocr": ("ocr_s",),
}  # fmt: skip
"""Fields of `ExtractionLimits` by the names of the limits on the command line."""
_VALUES = {"time": "SECONDS", "ocr": "SECONDS", "memory": "SIZE", "size": "SIZE", "total": "SIZE", "disk": "SIZE"}
_MAX_S, _MAX_VALUE = 1 << 31, 1 << 50
"""Maximum values that system calls accept: for timers, and for everything else."""
IN_WORDS = (
    "time=60 (seconds), memory=4GiB, size=256MiB, total=16GiB, disk=1GiB, files=1000000, levels=12, ratio=1000, "
    "ocr=1800 (seconds)"
)
"""The defaults, in the syntax of the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """Maximum cost of the extraction of a file; the time limits apply to each document in it separately.

    Parameters
    ----------
    memory_bytes : int
        Address space of a worker process.
    cpu_s, wall_s : int
        Processor time and elapsed time for one document; both start again for each page that is recognised.
    ocr_s : int
        Elapsed time after which no further page of a document is recognised.
    output_bytes : int
        Size of the text of one document, and of one file that is read as a whole: a PDF, an office file or a mail, or
        any file inside an archive or a mail.
    total_bytes : int
        Unpacked size of everything inside one file.
    disk_bytes : int
        Size of the nameless temporary file into which a compressed archive is unpacked.
    n_members : int
        Number of files inside one file, at all levels.
    n_levels : int
        Number of levels of files inside files.
    compression_ratio : int
        Unpacked size of a file inside an archive, divided by its packed size.

    Examples
    --------
    >>> ExtractionLimits().wall_s
    60
    """

    memory_bytes: int = 4096 * _MIB
    cpu_s: int = 60
    wall_s: int = 60
    ocr_s: int = 1800
    output_bytes: int = 256 * _MIB
    total_bytes: int = 16384 * _MIB
    disk_bytes: int = 1024 * _MIB
    n_members: int = 1_000_000
    n_levels: int = 12
    compression_ratio: int = 1000

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not _is_limit(value, one.name):
                raise ParameterError.of(one.name, f"an int from 1 to {_max_of(one.name):,}", value)

    @classmethod
    def of(cls, given: Mapping[str, int | str]) -> ExtractionLimits:
        """Make limits from those that differ from the defaults, by their names on the command line.

        Raises
        ------
        ParameterError
            There is no such limit, or a value breaks its rule.

        Examples
        --------
        >>> ExtractionLimits.of({"size": "1GiB", "time": 300}).given
        {'time': 300, 'size': 1073741824}
        """
        if not isinstance(given, Mapping):
            rule = 'a mapping of names to values, such as {"time": 300}'
            raise ParameterError.of("extraction_limits", rule, given)
        return cls(**{field: value for name, told in given.items() for field, value in _parsed(name, told).items()})

    @property
    def given(self) -> dict[str, int]:
        """The limits that differ from the defaults, by their names on the command line."""
        return {
            name: getattr(self, own[0])
            for name, own in _FIELDS.items()
            if getattr(self, own[0]) != getattr(USUAL_LIMITS, own[0])
        }

    def as_request(self) -> dict[str, int]:
        """Return the limits for the request to a worker."""
        return asdict(self)


def _parsed(name: str, told: int | str) -> dict[str, int]:
    """Return the fields that a limit sets, with their values."""
    if name not in _FIELDS:
        raise ParameterError.of("extraction_limit", f"one of {', '.join(_FIELDS)}", name)
    is_size = _VALUES.get(name) == "SIZE"
    most = _max_of(_FIELDS[name][0])
    rule = f"{SIZE_RULE}, at most {most >> 40:,}TiB" if is_size else f"an int from 1 to {most:,}"
    value: int | str | None = told
    if isinstance(told, str):
        try:
            value = parse_size(told) if is_size else int(told)
        except ValueError:
            value = None
    if not _is_limit(value, _FIELDS[name][0]):
        raise ParameterError.of("extraction_limit", f"{name}={_VALUES.get(name, 'N')}, with {rule}", told)
    return dict.fromkeys(_FIELDS[name], value)


def raised_by(name: str) -> str:
    """Return the end of a sentence: how to raise a limit.

    Examples
    --------
    >>> raised_by("size"), raised_by("ratio")
    ('; raise it with --extraction-limit size=SIZE', '; raise it with --extraction-limit ratio=N')
    """
    return f"; raise it with {OPTION} {name}={_VALUES.get(name, 'N')}"


def _is_limit(value: object, field: str) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _max_of(field)


def _max_of(field: str) -> int:
    return _MAX_S if field in (*_FIELDS["time"], *_FIELDS["ocr"]) else _MAX_VALUE


USUAL_LIMITS = ExtractionLimits()


FOLDERS = (
    os.path.join(sys.prefix, "share/tessdata"),
    "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tessdata",
    "/usr/local/share/tessdata", "/opt/homebrew/share/tessdata",
)  # fmt: skip
"""Folders of this environment (conda), of Debian 12 and 11, Fedora and Arch, of builds from source, and of macOS."""
_DIGITS = 8
"""Number of digits of a digest in the name of an extractor: enough to distinguish releases of language data."""
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class LanguageData:
    """Language data on this machine.

    Parameters
    ----------
    languages : str
        Names of tesseract, joined by "+".
    folder : str
        Folder with the data of all languages.
    """

    languages: str
    folder: str

    @property
    def paths(self) -> list[str]:
        """Paths that a worker may read: the folder, and the target of each link that leads out of it."""
        return [self.folder, *(os.path.realpath(_file_of(one, self.folder)) for one in self.languages.split("+"))]

    @property
    def in_words(self) -> str:
        """The languages, each with the beginning of the SHA-256 of its data: other releases recognise other texts."""
        return _in_words(self.languages, self.folder)

    def as_message(self) -> dict[str, str]:
        """Return the fields by name."""
        return asdict(self)


@lru_cache(maxsize=4)  # some megabytes for each language
def _in_words(languages: str, folder: str) -> str:
    digests = [file_sha256(_file_of(one, folder))[:_DIGITS] for one in languages.split("+")]
    return f"{languages} (data {'+'.join(digests)})"


def language_data(languages: str, folders: Sequence[str] = FOLDERS) -> LanguageData:
    """Find a folder with the data of all the languages.

    Parameters
    ----------
    languages : str
        Such as "eng" or "eng+deu". The order matters: tesseract prefers the first.
    folders : sequence of str

    Raises
    ------
    ParameterError
        A name is not the name of a language, or the data of a language is not installed.
    MissingExtraError
        The libraries that read images and PDF are not installed.
    """
    names = languages.split("+") if isinstance(languages, str) else [""]
    if not all(_LANGUAGE.fullmatch(one) for one in names) or len(set(names)) < len(names):
        rule = "languages as tesseract names them, such as eng or eng+deu"
        raise ParameterError.of("ocr", rule, languages)
    if find_spec("xberg") is None or find_spec("pypdfium2") is None:
        raise MissingExtraError.of("OCR", "documents")
    for folder in folders:
        if all(os.path.isfile(_file_of(one, folder)) for one in names):
            return LanguageData(languages, folder)
    raise ParameterError(f"{_missing(names, folders)}", parameter="ocr")


def _missing(names: Sequence[str], folders: Sequence[str]) -> str:
    """Return the rest of a message: the missing data, the folders that were searched, and what to install."""
    lacking = [one for one in names if not any(os.path.isfile(_file_of(one, folder)) for folder in folders)] or names
    files = ", ".join(f"{one}.traineddata" for one in lacking)
    packages = " ".join(f"tesseract-ocr-{one.lower().replace('_', '-')}" for one in lacking)
    return (
        f"needs the language data of tesseract: {files} not found in "
        f"{', '.join(folders)}. On Debian and Ubuntu: apt-get install {packages}. "
        "Or put the files into one of these folders."
    )


def _file_of(language: str, folder: str) -> str:
    return os.path.join(folder, f"{language}.traineddata")
