"""Input of one task, checked to be the files that the driver found."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import metadata

from nearkin.errors import SourceError
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.formats.extracted import Extracted
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import FileInput, LooseFilesInput
from nearkin.workflows.reading.on_spark.notes import Notes
from nearkin.workflows.reading.on_spark.seen_files import FileChecksum, Seen, other_file, visible_difference

Files = FileInput | LooseFilesInput
_LIBRARIES = ("xberg", "pypdfium2", "pypdf", "charset-normalizer", "libpff-python")


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

    def versions(self, notes: Notes) -> list[dict[str, object]]:
        """Return the version of each file that is read, after `reading` noted the checksums.

        It is that of the driver, and the SHA-256 if the file has another time here.
        """
        sha256 = {one.path: one.sha256 for one in notes.checksums}
        return [
            {"driver": None if seen is None else asdict(seen), "sha256": sha256.get(source.path)}
            for source, seen in zip(self.sources, self.seen, strict=True)
        ]

    @contextlib.contextmanager
    def reading(self, notes: Notes, if_changed: Callable[[], object] = lambda: None) -> Iterator[Files]:
        """Lend the input for reading on this machine; files with another modification time are noted with checksums.

        Parameters
        ----------
        notes : Notes
        if_changed : callable
            Removes what was read, if a file changed meanwhile.

        Raises
        ------
        SourceError
            A file differs from the driver's, or changed while it was read. Without this check a missing folder would
            look like a folder of unreadable documents. Or the libraries that extract texts differ: the texts would,
            too.
        """
        worker = socket.gethostname()
        if self.extractors and (own := installed_extractors()) != self.extractors:
            raise SourceError(
                f"{self.sources[0].name}: the worker {worker} extracts texts with "
                f"{', '.join(own) or 'nothing'}, the driver with {', '.join(self.extractors)}. Install "
                "nearkin[documents] in the same versions on every machine."
            )
        here = [Seen.of(source.path) for source in self.sources]
        for source, expected, found in zip(self.sources, self.seen, here, strict=True):
            if (how := visible_difference(expected, found)) is not None:
                raise other_file(source.name, source.path, worker, how)
            if expected is not None and found != expected and expected.is_readable:
                sha256 = file_sha256(source.path)
                notes.checksums.append(FileChecksum(source.name, source.path, worker, sha256, expected.changed_s))
        yield self.one
        for source, before in zip(self.sources, here, strict=True):  # lines of a file that changed are of others
            if Seen.of(source.path) != before:
                if_changed()
                raise other_file(source.name, source.path, worker, "it changed while it was read")


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
