"""Files without a readable text, sent again and read with another encoding: shown first, stored only on request."""

from __future__ import annotations

import io
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nearkin.collection.collection import Collection
from nearkin.collection.listing.exceptions import StoredException
from nearkin.collection.loads.adding import add_incoming
from nearkin.collection.loads.incoming import incoming_of
from nearkin.errors import NearkinError, ParameterError
from nearkin.nouns import counted
from nearkin.runs.progress import Progress
from nearkin.stages.documents.origin import UNKNOWN_FILE, KnownFile
from nearkin.stages.documents.rules import ReadingRules
from nearkin.web.sent_files import SentFile, source_of_sent

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
MAX_FILES = 500
_MAX_KEPT, _MAX_BYTES = 8, 128 << 20
_LABELLED = re.compile(r"(.+) \(((?:.*[/\\])?\1):\d+\)", re.DOTALL)
"""Label of a file that shares its name, with its path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReadAgain:
    """File that was sent again.

    Parameters
    ----------
    name : str
    exception : StoredException or None
        The exception that has its name.
    text : str
        Empty if there is none.
    file : KnownFile
    problem : str
        Why it cannot be stored; empty if it can.
    """

    name: str
    exception: StoredException | None = None
    text: str = ""
    file: KnownFile = UNKNOWN_FILE
    problem: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types, with the length of the text instead of it."""
        doc_id = None if self.exception is None else self.exception.doc_id
        return {"name": self.name, "doc_id": doc_id, "n_characters": len(self.text), "problem": self.problem}


@dataclass(frozen=True, slots=True)
class SentAgain:
    """Files as they were sent, the encoding with which to read them, and the texts; None before the job has ended."""

    files: tuple[tuple[str, bytes], ...]
    encoding: str
    read: tuple[FileReadAgain, ...] | None = None

    @property
    def readable(self) -> list[FileReadAgain]:
        """Files that can be stored."""
        return [one for one in self.read or () if not one.problem]


class FilesSentAgain:
    """The latest files that were sent again, by the numbers of the jobs that read them; older ones are forgotten."""

    def __init__(self) -> None:
        self._lock, self._kept = threading.Lock(), OrderedDict[int, SentAgain]()

    def keep(self, job: int, sent: SentAgain) -> None:
        """Keep files, or their texts."""
        with self._lock:
            self._kept[job] = sent
            while len(self._kept) > 1 and (
                len(self._kept) > _MAX_KEPT
                or sum(len(content) for one in self._kept.values() for _, content in one.files) > _MAX_BYTES
            ):
                self._kept.popitem(last=False)

    def get(self, job: int) -> SentAgain:
        """Return the files of a job.

        Raises
        ------
        ParameterError
            They were stored, or are forgotten.
        """
        with self._lock:
            found = self._kept.get(job)
        if found is None:
            raise ParameterError("The service does not hold these files any more. Choose them again.")
        return found

    def forget(self, job: int) -> None:
        """Forget the files of a job."""
        with self._lock:
            self._kept.pop(job, None)


def read_again(collection: Collection, sent: SentAgain, progress: Progress) -> SentAgain:
    """Read files with their encoding; find the exception of each by its name."""
    by_name = dict[str, list[StoredException]]()
    for one in collection.exceptions(which="no text").exceptions:
        for name in _names_of(one.doc_id):
            by_name.setdefault(name, []).append(one)
    found = list[FileReadAgain]()
    progress.start("read", len(sent.files), "documents")
    for name, content in sent.files:
        found.append(_read(SentFile(name, io.BytesIO(content)), sent.encoding, by_name))
        progress.advance(1)
    progress.finish()
    return replace(sent, read=tuple(found))


def _names_of(doc_id: str) -> set[str]:
    """Return the names that the file of an exception may be sent under.

    Examples
    --------
    >>> sorted(_names_of("deep/1.txt")), sorted(_names_of("1.txt (b/1.txt:1)"))
    (['1.txt', 'deep/1.txt'], ['1.txt', '1.txt (b/1.txt:1)', 'b/1.txt'])
    """
    labelled = _LABELLED.fullmatch(doc_id)
    names = (doc_id,) if labelled is None else labelled.groups()
    return {doc_id, *names, *(name.replace("\\", "/").rpartition("/")[2] for name in names)}


def _read(file: SentFile, encoding: str, by_name: Mapping[str, Sequence[StoredException]]) -> FileReadAgain:
    named = by_name.get(file.name) or by_name.get(file.shown_name, ())
    if len(named) != 1:
        problem = f"{counted(len(named), 'exception')} have this name" if named else "no exception has this name"
        return FileReadAgain(name=file.shown_name, problem=problem)
    try:
        document = file.document(encoding)
    except NearkinError as error:
        return FileReadAgain(name=file.shown_name, exception=named[0], problem=str(error))
    return FileReadAgain(
        name=file.shown_name,
        exception=named[0],
        text=document.text,
        file=document.file_under(named[0].doc_id),
        problem="" if document.text.strip() else "no text was found in it",
    )


def store_read_again(collection: Collection, sent: SentAgain, progress: Progress, *, by: str) -> str:
    """Store the texts under the ids and in the waves of their exceptions; count them in words.

    A document that was stored since is left as it is.
    """
    by_wave, n_stored = dict[str, dict[str, FileReadAgain]](), 0
    for file in sent.readable:
        if file.exception is not None and not collection.has_document(file.exception.doc_id):
            by_wave.setdefault(file.exception.wave, {})[file.exception.doc_id] = file
    progress.start("store", sum(map(len, by_wave.values())), "documents")
    for wave, files in by_wave.items():
        incoming = [
            incoming_of([doc_id], [file.text], [1], source_of_sent(file.name, "api"), file.file)
            for doc_id, file in files.items()
        ]
        rules = ReadingRules.of("skip-documents", 1.0)
        add_incoming(collection.opened, incoming, wave=wave, threads=1, rules=rules, by=by)
        n_stored += len(files)
        progress.advance(len(files))
    progress.finish()
    return f"{counted(n_stored, 'document')} stored"
