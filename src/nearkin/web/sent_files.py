"""Files that a browser or a script sent: they are read once; texts from forms stay in memory until the user decides."""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents.members import SENT, printable_id
from nearkin.workflows.reading.one_text import OneDocument, read_one_document

_MAX_KEPT, _MAX_CHARACTERS = 16, 64 << 20
_MAX_NAME = 200
_SUFFIX = re.compile(r"(\.[a-z0-9]{1,8}){1,2}\Z")


def source_of_sent(name: str | None, otherwise: str) -> str:
    """Return the source to store for a sent document: never a path of this machine, whatever its name is.

    Sources that are paths of files are read again, such as load files for an overlay.

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
        """Return the document in the file, by the readers of all commands and their limits.

        Of its name only a suffix is used, so that a name never leads out of the temporary folder.

        Parameters
        ----------
        encoding : str
            Encoding of a file of text that is not valid UTF-8.
        shown : str, optional
            Name of the file in messages; by default `shown_name`.

        Raises
        ------
        SourceError
            It is not one readable document.
        """
        suffix = _SUFFIX.search(self.name.lower())
        with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
            path = Path(folder, f"file{suffix[0] if suffix else ''}")
            with path.open("wb") as file:
                shutil.copyfileobj(self.content, file)
            try:
                document = read_one_document(path, encoding, with_inside=True)
                inside = [(shown or self.shown_name) + one.removeprefix(str(path)) for one in document.inside]
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


class SentTexts:
    """The latest sent texts, by keys that cannot be guessed; older ones are forgotten."""

    def __init__(self) -> None:
        self._lock, self._kept = threading.Lock(), OrderedDict[str, SentText]()

    def keep(self, one: SentText) -> str:
        """Keep a text and return its key."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._kept[key] = one
            while len(self._kept) > 1 and (
                len(self._kept) > _MAX_KEPT or sum(len(kept.text) for kept in self._kept.values()) > _MAX_CHARACTERS
            ):
                self._kept.popitem(last=False)
        return key

    def get(self, key: str) -> SentText:
        """Return a text.

        Raises
        ------
        ParameterError
            It was decided about, or is forgotten.
        """
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            raise ParameterError("The service does not hold this file any more. Choose the file again.")
        return found

    def forget(self, key: str) -> None:
        """Forget a text."""
        with self._lock:
            self._kept.pop(key, None)
