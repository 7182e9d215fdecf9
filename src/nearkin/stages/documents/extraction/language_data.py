"""Language data of tesseract, which xberg needs for OCR: where it is on this machine, checked before any work."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.util import find_spec

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.stages.documents.digest import file_sha256

FOLDERS = (
    os.path.join(sys.prefix, "share/tessdata"),
    "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tessdata",
    "/usr/local/share/tessdata", "/opt/homebrew/share/tessdata",
)  # fmt: skip
"""Folders of this environment (conda), of Debian 12 and 11, Fedora and Arch, own installations, and macOS."""
_DIGITS = 8
"""Digits of a digest in the name of an extractor: enough to tell releases of language data apart."""
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class LanguageData:
    """Language data on this machine.

    Parameters
    ----------
    languages : str
        As tesseract names them, joined by "+".
    folder : str
        Folder that has the data of all of them.
    """

    languages: str
    folder: str

    @property
    def paths(self) -> list[str]:
        """Paths that a worker may read: the folder, and the files where links lead elsewhere."""
        return [self.folder, *(os.path.realpath(_file_of(one, self.folder)) for one in self.languages.split("+"))]

    @property
    def in_words(self) -> str:
        """The languages, and the beginning of the SHA-256 of the data of each: another release gives other texts."""
        return _in_words(self.languages, self.folder)

    def as_message(self) -> dict[str, str]:
        """Return the fields by name."""
        return asdict(self)


@lru_cache(maxsize=4)  # some megabytes for each language
def _in_words(languages: str, folder: str) -> str:
    digests = [file_sha256(_file_of(one, folder))[:_DIGITS] for one in languages.split("+")]
    return f"{languages} (data {'+'.join(digests)})"


def language_data(languages: str, folders: Sequence[str] = FOLDERS) -> LanguageData:
    """Find the data of languages, all of it in one folder.

    Parameters
    ----------
    languages : str
        Such as "eng" or "eng+deu". The order counts: tesseract prefers the first.
    folders : sequence of str

    Raises
    ------
    ParameterError
        These are no names of languages, or a language has no data here.
    MissingExtraError
        The libraries that read images and PDF are not installed.
    """
    names = languages.split("+") if isinstance(languages, str) else [""]
    if not all(_LANGUAGE.fullmatch(one) for one in names) or len(set(names)) < len(names):
        rule = "languages as tesseract names them, such as eng or eng+deu"
        raise ParameterError.of("ocr", "reading", rule, languages)
    if find_spec("xberg") is None or find_spec("pypdfium2") is None:
        raise MissingExtraError.of("OCR", "documents")
    for folder in folders:
        if all(os.path.isfile(_file_of(one, folder)) for one in names):
            return LanguageData(languages, folder)
    raise ParameterError(_missing(names, folders), named=("ocr",))


def _missing(names: Sequence[str], folders: Sequence[str]) -> str:
    """Return what is missing, where it was looked for, and what to install."""
    lacking = [one for one in names if not any(os.path.isfile(_file_of(one, folder)) for folder in folders)] or names
    files = ", ".join(f"{one}.traineddata" for one in lacking)
    packages = " ".join(f"tesseract-ocr-{one.lower().replace('_', '-')}" for one in lacking)
    return (
        f"'ocr' needs the language data of tesseract: {files} not found in "
        f"{', '.join(folders)}. On Debian and Ubuntu: apt-get install {packages}. "
        "Or put the files into one of these folders."
    )


def _file_of(language: str, folder: str) -> str:
    return os.path.join(folder, f"{language}.traineddata")
