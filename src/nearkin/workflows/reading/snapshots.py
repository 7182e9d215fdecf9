"""State of sources at one time, to detect changes and to read them again."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nearkin.manifests.stored import InputFile
from nearkin.paths import STDIN, on_disk, printable, shown_path
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.formats.load_file import LoadFile
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource, file_inputs
from nearkin.workflows.reading.kept_documents import stored_source
from nearkin.workflows.reading.memory_documents import IN_MEMORY, NONE_GIVEN, GivenAgain
from nearkin.workflows.reading.rereading import changed, changed_documents, changed_while_read, check_comes_again
from nearkin.workflows.reading.texts import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSnapshot:
    """Source at one time, with the data to read it again and to detect changes.

    Parameters
    ----------
    source : Source
        How it was read, and its size.
    changed_ns : int or None
        Time of the last change, in nanoseconds since 1970, that of a load file or of a text that it names; None for a
        pipe, or if there is no file.
    sha256 : str or None
        Identifies the documents of a collection or of the results of a run.
    end_row : int or None
        Upper limit of the numbers of a collection's documents in its store.
    state : str or None
        State that must not change while results of a run are read; it is not stored.
    """

    source: Source
    changed_ns: int | None
    sha256: str | None = None
    end_row: int | None = None
    state: str | None = None

    @classmethod
    def of(cls, source: Source) -> SourceSnapshot:
        """Record a source as it is now."""
        if isinstance(source, StoredSource) and source.format == IN_MEMORY:
            state = source.documents.state()
            return cls(source=source, changed_ns=None, sha256=source.documents.digest, state=state)
        if isinstance(source, StoredSource):
            stored = source.documents
            return cls(
                source=_plain(source), changed_ns=None, sha256=stored.digest, end_row=stored.end_row,
                state=stored.state(),
            )  # fmt: skip
        named = replace(source, path=shown_path(source.path), name=printable(source.name))
        try:
            found = os.stat(source.path)
        except (OSError, ValueError):
            return cls(source=named, changed_ns=None)
        if source.path == STDIN or not stat.S_ISREG(found.st_mode):
            return cls(source=named, changed_ns=None)
        form = FORMATS.get(source.format)
        named = replace(named, size_bytes=found.st_size)
        of_texts = form.latest_change(source) if isinstance(form, LoadFile) else 0
        return cls(source=named, changed_ns=max(found.st_mtime_ns, of_texts))

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> SourceSnapshot:
        """Read the result of `as_stored`."""
        source, changed_ns = Source.of_stored(stored["source"]), stored["changed_ns"]
        return cls(source=source, changed_ns=changed_ns, sha256=stored.get("sha256"), end_row=stored.get("end_row"))

    def as_stored(self) -> dict[str, object]:
        """Return the fields as JSON types; files have no digest here."""
        source = _plain(self.source) if isinstance(self.source, StoredSource) else self.source
        stored: dict[str, object] = {"source": source.as_stored(), "changed_ns": self.changed_ns}
        return stored if self.sha256 is None else {**stored, "sha256": self.sha256, "end_row": self.end_row}

    def reopened(self, in_memory: GivenAgain = NONE_GIVEN) -> Source:
        """Return the source for a second reading; ``in_memory`` as for `stored_source`.

        Raises
        ------
        SourceError
            It is missing, has changed, or was a pipe.
        """
        if isinstance(self.source, StoredSource):  # in the memory of this process
            return self.source
        if self.sha256 is None:
            path = self.source.path
            source = replace(self.source, path=on_disk(path))
            check_comes_again(STDIN if self.changed_ns is None else source.path)
            now = SourceSnapshot.of(source)
            if (now.changed_ns, now.source.size_bytes) != (self.changed_ns, self.source.size_bytes):
                raise changed(path, "its size or modification time differs")
            return source
        entry = InputFile(path=self.source.path, format=self.source.format, end_row=self.end_row)
        found = stored_source(entry, in_memory)
        if found.documents.digest != self.sha256:
            raise changed_documents() if self.source.format == IN_MEMORY else changed(self.source.path)
        return found


Snapshots = tuple[SourceSnapshot, ...]


def _plain(source: StoredSource) -> Source:
    """Return a source without its documents, as it is stored."""
    return Source(
        path=printable(source.path),
        name=printable(source.name),
        format=source.format,
        text=source.text,
        id=source.id,
        size_bytes=source.size_bytes,
    )


def snapshots_of(sources: Iterable[Source]) -> Snapshots:
    """Record the sources as they are now."""
    return tuple(map(SourceSnapshot.of, sources))


def check_unchanged(sources: Iterable[Source], before: Snapshots) -> None:
    """Check that nothing was written to the sources since they were recorded.

    Raises
    ------
    SourceError
        A source changed.
    """
    for source, one in zip(sources, before, strict=True):
        if SourceSnapshot.of(source) != one:
            raise changed_while_read(one.source.path)


def texts_again(snapshots: Sequence[SourceSnapshot], encoding: str, in_memory: GivenAgain = NONE_GIVEN) -> Texts:
    """Return the texts for a second reading; ``in_memory`` as for `stored_source`.

    Raises
    ------
    SourceError
        See `SourceSnapshot.reopened`.
    """
    sources = [one.reopened(in_memory) for one in snapshots]
    return Texts(sources, file_inputs(sources, encoding=encoding), ReadingRules.of_finished_run())
