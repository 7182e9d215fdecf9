"""Language data of tesseract, which xberg needs for OCR: found on this machine and checked before any work begins."""

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
