"""Sources as they were at one moment: whether they changed since, and what is read of them again."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from nearkin.manifests.inputs import InputFile
from nearkin.runs.files import printable
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import STDIN, Source
from nearkin.workflows.reading.changed import changed, changed_while_read, check_comes_again
from nearkin.workflows.reading.inputs import StoredSource, file_inputs
from nearkin.workflows.reading.kept_documents import stored_source
from nearkin.workflows.reading.texts import Texts


@dataclass(frozen=True, slots=True)
class SourceSnapshot:
    """A source at one moment: enough to read it again, and to see whether it is the same.

    Parameters
    ----------
    source : Source
        How it was read, and its size.
    changed_ns : int or None
        When it was last changed, in nanoseconds since 1970; None for a pipe, or where there is nothing.
    sha256 : str or None
        Of a collection or the results of a run: tells their documents.
    end_row : int or None
        Of a collection: the number in its store that all of its documents are below.
    state : str or None
        What must stay the same while results of a run are read; it is not stored.
    """

    source: Source
    changed_ns: int | None
    sha256: str | None = None
    end_row: int | None = None
    state: str | None = None

    @classmethod
    def of(cls, source: Source) -> SourceSnapshot:
        """A source as it is now."""
        if isinstance(source, StoredSource):
            stored, name = source.documents, printable(source.name)
            plain = Source(
                path=printable(source.path),
                name=name,
                format=source.format,
                size_bytes=source.size_bytes,
            )
            return cls(plain, None, stored.digest, stored.end_row, stored.state())
        named = replace(source, path=printable(source.path), name=printable(source.name))
        try:
            found = os.stat(source.path)
        except (OSError, ValueError):
            return cls(named, None)
        if source.path == STDIN or not stat.S_ISREG(found.st_mode):
            return cls(named, None)
        return cls(replace(named, size_bytes=found.st_size), found.st_mtime_ns)

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> SourceSnapshot:
        """What `as_stored` gave."""
        return cls(Source(**stored["source"]), stored["changed_ns"], stored.get("sha256"), stored.get("end_row"))

    def as_stored(self) -> dict[str, object]:
        """For JSON; files have no digest here."""
        stored: dict[str, object] = {"source": asdict(self.source), "changed_ns": self.changed_ns}
        return stored if self.sha256 is None else {**stored, "sha256": self.sha256, "end_row": self.end_row}

    def reopened(self) -> Source:
        """The source, to be read again.

        Raises
        ------
        SourceError
            It is not there, is not what it was, or was a pipe.
        """
        if self.sha256 is None:
            path = self.source.path
            check_comes_again(STDIN if self.changed_ns is None else path)
            now = SourceSnapshot.of(self.source)
            if (now.changed_ns, now.source.size_bytes) != (self.changed_ns, self.source.size_bytes):
                raise changed(path, "its size or its time of change is another")
            return self.source
        found = stored_source(InputFile(path=self.source.path, format=self.source.format, end_row=self.end_row))
        if found.documents.digest != self.sha256:
            raise changed(self.source.path)
        return found


Snapshots = tuple[SourceSnapshot, ...]


def snapshots_of(sources: Iterable[Source]) -> Snapshots:
    """The sources as they are now."""
    return tuple(map(SourceSnapshot.of, sources))


def check_unchanged(sources: Iterable[Source], before: Snapshots) -> None:
    """Check that nothing was written to the sources since they were looked at.

    Raises
    ------
    SourceError
        Something was.
    """
    for source, one in zip(sources, before, strict=True):
        if SourceSnapshot.of(source) != one:
            raise changed_while_read(one.source.path)


def texts_again(snapshots: Sequence[SourceSnapshot], encoding: str) -> Texts:
    """What was read, to be read again.

    Raises
    ------
    SourceError
        See `SourceSnapshot.reopened`.
    """
    sources = [one.reopened() for one in snapshots]
    return Texts(sources, file_inputs(sources, encoding=encoding), ReadingRules.of_finished_run())
