"""Files that a browser or a script sent: they are read once; texts from forms stay in memory until the user decides."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from nearkin.collection.listing.exceptions import StoredException
from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents.members import SENT, UNKNOWN_FILE, KnownFile, printable_id
from nearkin.tabular import AnswerRecord
from nearkin.workflows.reading.request import OneDocument, read_one_document

_MAX_NAME = 200
Key = TypeVar("Key")
Sent = TypeVar("Sent")
ENCODINGS: Mapping[str, str] = {
    "cp1252": "Western Europe, Windows",
    "iso-8859-15": "Western Europe, ISO",
    "cp1250": "Central Europe, Windows",
    "iso-8859-2": "Central Europe, ISO",
    "cp1251": "Cyrillic, Windows",
    "koi8-r": "Cyrillic, KOI8-R",
    "cp1253": "Greek",
    "cp1254": "Turkish",
    "cp1255": "Hebrew",
    "cp1256": "Arabic",
    "cp437": "DOS",
    "cp850": "DOS, Western Europe",
    "mac-roman": "Macintosh",
    "shift_jis": "Japanese, Shift JIS",
    "euc-jp": "Japanese, EUC",
    "gb18030": "Chinese, simplified",
    "big5": "Chinese, traditional",
    "euc-kr": "Korean",
    "utf-16": "UTF-16",
    "utf-8": "UTF-8",
}
"""Encodings that the page offers, with their usual texts."""
_SUFFIX = re.compile(r"(\.[a-z0-9]{1,8}){1,2}\Z")


def source_of_sent(name: str | None, otherwise: str) -> str:
    """Return the source to store for a sent document: never a path of this machine, whatever its name is.

    Examples
    --------
    >>> source_of_sent("/etc/production.csv", "api"), source_of_sent(None, "api")
    ('sent: production.csv', 'api')
    """
    return SENT + _last_part(name) if name else otherwise


def _last_part(name: str) -> str:
    """Return the last part of the name of a sent file, as it may be shown."""
    last = re.split(r"[/\\]", name)[-1].strip()
    return printable_id(last)[-_MAX_NAME:] or "file"


@dataclass(frozen=True, slots=True)
class SentFile:
    """File of a request: the name that the sender gave it, and its bytes."""

    name: str
    content: BinaryIO

    def document(self, encoding: str = "utf-8", *, shown: str | None = None) -> OneDocument:
        """Return the document in the file, by the readers of all commands and their limits."""
        suffix = _SUFFIX.search(self.name.lower())
        with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
            path = Path(folder, f"file{suffix[0] if suffix else ''}")
            with path.open("wb") as file:
                shutil.copyfileobj(self.content, file)
            try:
                document = read_one_document(path, encoding, with_inside=True)
                inside = [(shown or self.shown_name) + place.removeprefix(str(path)) for place in document.inside]
                return replace(document, inside=tuple(inside))
            except SourceError as error:
                raise SourceError(error.message.replace(str(path), shown or self.shown_name)) from None

    @property
    def shown_name(self) -> str:
        """The last part of the name."""
        return _last_part(self.name)


@dataclass(frozen=True, slots=True)
class SentText:
    """Document of a sent file, with the file's name."""

    name: str
    document: OneDocument

    @property
    def text(self) -> str:
        """Text of the document."""
        return self.document.text


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReadAgain(AnswerRecord):
    """File that was sent again.

    Parameters
    ----------
    problem
        Why it cannot be stored; empty if it can.
    """

    hidden = ("exception", "text", "file")
    computed = ("doc_id=exception.doc_id", "n_characters")

    name: str
    exception: StoredException | None = None
    text: str = ""
    file: KnownFile = UNKNOWN_FILE
    problem: str = ""

    @property
    def n_characters(self) -> int:
        """Length of the text."""
        return len(self.text)


@dataclass(frozen=True, slots=True)
class SentAgain:
    """Files as they were sent, the encoding with which to read them, and the texts; None before the job has ended."""

    files: tuple[tuple[str, bytes], ...]
    encoding: str
    read: tuple[FileReadAgain, ...] | None = None

    @property
    def n_bytes(self) -> int:
        """Size of the files."""
        return sum(len(content) for _, content in self.files)

    @property
    def readable(self) -> list[FileReadAgain]:
        """Files that can be stored."""
        return [file for file in self.read or () if not file.problem]


class LatestOfSent(Generic[Key, Sent]):
    """The latest of what was sent, by key, in memory; older ones are forgotten.

    Parameters
    ----------
    max_size
        Maximum of the sum of their sizes; the last one is kept in any case.
    """

    def __init__(self, max_kept: int, max_size: int, size_of: Callable[[Sent], int]) -> None:
        self._max_kept, self._max_size, self._size_of = max_kept, max_size, size_of
        self._lock, self._kept = threading.Lock(), OrderedDict[Key, Sent]()

    def keep(self, key: Key, sent: Sent) -> None:
        """Keep something under a key."""
        with self._lock:
            self._kept[key] = sent
            while len(self._kept) > 1 and (
                len(self._kept) > self._max_kept or sum(map(self._size_of, self._kept.values())) > self._max_size
            ):
                self._kept.popitem(last=False)

    def find(self, key: Key) -> Sent | None:
        """Return what has a key; None if it was forgotten."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def get(self, key: Key) -> Sent:
        """Return what has a key."""
        if (sent := self.find(key)) is None:
            raise ParameterError("The service does not hold these files any more. Choose them again.")
        return sent

    def forget(self, key: Key) -> None:
        """Forget what has a key."""
        with self._lock:
            self._kept.pop(key, None)
