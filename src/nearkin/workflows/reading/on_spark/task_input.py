"""Input of one task, checked to be the files that the driver found."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from dataclasses import dataclass, replace
from importlib import metadata

from nearkin.errors import SourceError
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.formats.extracted import Extracted
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import FileInput, LooseFilesInput

Files = FileInput | LooseFilesInput
_LIBRARIES = ("xberg", "pypdfium2", "pypdf", "charset-normalizer", "libpff-python")


@dataclass(frozen=True, slots=True)
class Seen:
    """File as a machine sees it.

    Parameters
    ----------
    size_bytes : int
    changed_s : int
        Time of the last change, in whole seconds since 1970, because some file systems store no fractions.
    is_readable : bool
    """

    size_bytes: int
    changed_s: int
    is_readable: bool

    @classmethod
    def of(cls, path: str) -> Seen | None:
        """Return None if there is no such file."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return cls(found.st_size, found.st_mtime_ns // 10**9, os.access(path, os.R_OK))


@dataclass(frozen=True, slots=True)
class TaskInput:
    """Input with its files as the driver saw them.

    Parameters
    ----------
    one : Files
        Its paths are absolute, because a task runs in another directory.
    seen : tuple of Seen or None
        Facts about each of its files.
    extractors : tuple of str
        Libraries of the driver that extract texts, with their versions; none if no file is a document.
    """

    one: Files
    seen: tuple[Seen | None, ...]
    extractors: tuple[str, ...] = ()

    @classmethod
    def of(cls, one: Files) -> TaskInput:
        """Record an input as this machine sees it."""
        if isinstance(one, LooseFilesInput):
            one = replace(one, sources=tuple(map(_absolute, one.sources)), n_workers=1)  # a task has one processor
        else:
            one = replace(one, source=_absolute(one.source))
        is_extracted = any(isinstance(FORMATS[source.format], Extracted) for source in _sources(one))
        seen = tuple(Seen.of(source.path) for source in _sources(one))
        return cls(one, seen, installed_extractors() if is_extracted else ())

    @property
    def sources(self) -> tuple[Source, ...]:
        """Sources of the input."""
        return _sources(self.one)

    def checked(self) -> Files:
        """Return the input for reading on this machine.

        Raises
        ------
        SourceError
            A file differs from the driver's. Without this check a missing folder would look like a folder of
            unreadable documents. Or the libraries that extract texts differ: the texts would, too.
        """
        if self.extractors and (own := installed_extractors()) != self.extractors:
            raise SourceError(
                f"{self.sources[0].name}: the worker {socket.gethostname()} extracts texts with "
                f"{', '.join(own) or 'nothing'}, the driver with {', '.join(self.extractors)}. Install "
                "nearkin[documents] in the same versions on every machine."
            )
        for source, expected in zip(self.sources, self.seen, strict=True):
            found = Seen.of(source.path)
            if found != expected:
                raise SourceError(
                    f"{source.name} is not the same file on the worker {socket.gethostname()}: {_unlike(found)}. "
                    f"Every worker must see the input as the driver does, under the same path ({source.path}), on NFS "
                    "for example; and nothing may write to it."
                )
        return self.one


def installed_extractors() -> tuple[str, ...]:
    """Return the installed libraries of the extra ``documents``, with their versions."""
    found = []
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return tuple(found)


def _sources(one: Files) -> tuple[Source, ...]:
    return one.sources if isinstance(one, LooseFilesInput) else (one.source,)


def _absolute(source: Source) -> Source:
    return replace(source, path=os.path.abspath(source.path))


def _unlike(found: Seen | None) -> str:
    if found is None:
        return "it does not exist"
    return "its size or modification time differs" if found.is_readable else "permission denied"
