"""Which files a run reads, and whether they stay what they were while it does."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from nearkin._version import __version__
from nearkin.engines.local import map_ordered
from nearkin.errors import OutputExistsError, ParameterError, SourceError
from nearkin.nouns import counted
from nearkin.runs.files import printable
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import STDIN, Source, SourceSet
from nearkin.workflows.dedup.inputs import StoredSource
from nearkin.workflows.dedup.manifest import InputFile
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.standard_input import is_pipe
from nearkin.workflows.resources import Resources
from nearkin.workflows.stored.resolving import check_inputs, resolve_inputs

_MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Files:
    """What is read, and how.

    Parameters
    ----------
    inputs : sequence of str
        Files, folders, globs, "-" for standard input; collections, results of runs.
    against : sequence of str
        The same of the other collection: what of ``inputs`` is already in it.
    file_format, text, doc_id : str or None
        The format and the columns, where they are not to be guessed.
    encoding : str
        Of text files, lines, CSV and TSV.
    stdin : binary file or None
        Instead of the process's own standard input.
    rules : ReadingRules
        What happens to documents and files that cannot be read.
    """

    inputs: Sequence[str]
    against: Sequence[str] = ()
    file_format: str | None = None
    text: str | None = None
    doc_id: str | None = None
    encoding: str = "utf-8"
    stdin: BinaryIO | None = field(default=None, compare=False)
    rules: ReadingRules = field(default_factory=ReadingRules)

    def reading(self) -> dict[str, object]:
        """How the files were read, for the manifest: what reading them again depends on, and what was put up with."""
        return {"format": self.file_format, **asdict(self.rules)}


@dataclass(frozen=True, slots=True)
class Sourced:
    """The files of a run, found.

    Parameters
    ----------
    files : Files
        As they were asked for.
    found, others : SourceSet
        Of the input, of the other collection.
    state : mapping
        Of the files of many documents: when they were changed, and how large they were before they were read.
    """

    files: Files
    found: SourceSet
    others: SourceSet
    state: Mapping[str, object]

    @classmethod
    def of(
        cls, files: Files, out: Path, options: DedupOptions, progress: Progress, *, twice: str | None = None
    ) -> Sourced:
        """What is to be read, once it is seen that it can be; ``twice`` names what reads it a second time, if any."""
        found = _resolve(files, files.inputs, out, progress, in_order=options.keep.rule == "first")
        others = _resolve(files, files.against, out, progress, is_against=True) if files.against else SourceSet((), ())
        check_inputs(found.sources, keep_column=options.keep.column, encoding=files.encoding, stdin=files.stdin)
        check_inputs(others.sources, encoding=files.encoding, stdin=files.stdin)
        if sum(source.path == STDIN for source in found.sources + others.sources) > 1:
            raise ParameterError("Standard input ('-') can be read once only. Got it twice.")
        if twice and (pipes := [s.path for s in found.sources if s.path != STDIN and is_pipe(s)]):
            raise ParameterError(
                f"{twice} reads its input twice, and {pipes[0]} is a pipe. Save it to a file, or use '-'."
            )
        return cls(files, found, others, _state(found, others))

    def identity(self, command: str, options: DedupOptions) -> dict[str, object]:
        """All that decides the result: what a resumed run must share with the one it goes on with."""
        return {
            "nearkin": __version__,
            "command": command,
            "parameters": options.in_words(),
            "encoding": self.files.encoding,
            "max_document_bytes": self.files.rules.max_document_bytes,
            "inputs": _listed(self.found.sources),
            "against": _listed(self.others.sources),
        }

    def check_unchanged(self) -> None:
        """Documents are found again by their lines: a file that changed would give another's.

        Raises
        ------
        SourceError
            A file is not what it was when the run began.
        """
        if _state(self.found, self.others) != self.state:
            raise SourceError(
                "A file of the input changed while it was read. Run again when nothing writes to it, or on a copy."
            )


def _resolve(
    files: Files,
    arguments: Sequence[str],
    out: Path,
    progress: Progress,
    *,
    is_against: bool = False,
    in_order: bool = False,
) -> SourceSet:
    """The sources, without those that lie in the output directory: a run replaces what is there.

    The columns are named for the input; the other collection may have them under other names. Where the first document
    survives, the order of the arguments says which is first.
    """
    found = resolve_inputs(
        arguments,
        file_format=files.file_format,
        text=files.text,
        doc_id=files.doc_id,
        text_optional=is_against,
        encoding=files.encoding,
        stdin=files.stdin,
        in_order=in_order,
        rules=files.rules,
        without=out,
        progress=progress,
    )
    for guess in found.guesses:
        progress.say(guess)
    place = out.resolve()
    on_disk = [s.path for s in found.sources if s.path != STDIN and "://" not in s.path]
    inside = {path for path in on_disk if Path(path).resolve().is_relative_to(place)}
    if named := sorted(inside & set(arguments)):
        raise OutputExistsError(f"{named[0]} lies in {out}, whose files the run replaces. Choose another --out.")
    if inside:
        progress.say(f"omitted {counted(len(inside), 'file')} in {out}: results of an earlier run")
    return replace(found, sources=tuple(s for s in found.sources if s.path not in inside))


def check_for_cluster(sourced: Sourced) -> None:
    """That the input can be read by other machines, and a second time where one of them was lost.

    Raises
    ------
    ParameterError
        Standard input, or a pipe.
    """
    for source in (*sourced.found.sources, *sourced.others.sources):
        check_can_be_shared(source)
        if source.path == STDIN or is_pipe(source):
            name = "standard input" if source.path == STDIN else source.path
            raise ParameterError(
                f"With --engine spark every worker reads the input, and {name} is a pipe of this machine. Save it to a "
                "file on a disk that all of them see."
            )


def check_can_be_shared(source: Source) -> None:
    """Refuse what only this machine reads.

    Raises
    ------
    ParameterError
        A collection, or the results of a run.
    """
    if isinstance(source, StoredSource):
        what = "is a collection" if source.format == "collection" else "holds the results of a run"
        raise ParameterError(
            f"With --engine spark every worker reads the input, and {source.name} {what}, which only one machine "
            "reads. Name files instead: nearkin dedup with --write-kept writes some."
        )


def _state(found: SourceSet, others: SourceSet) -> dict[str, object]:
    """Of the files of many documents: when they were changed, and how large they are."""
    return _listed([source for source in (*found.sources, *others.sources) if source.format != "file"])


def _listed(sources: Sequence[Source]) -> dict[str, object]:
    """The files, each with its state while they are few, so that a changed one can be named.

    How all are read, how large they are and when they were changed is told as one digest.
    """
    told = hashlib.sha256()
    files = {}
    for source in sources:
        if isinstance(source, StoredSource):
            told.update(repr((source.path, source.format, source.documents.state())).encode())
            continue
        changed = (0, 0)
        with contextlib.suppress(OSError):
            found = os.stat(source.path)
            changed = (0, 0) if is_pipe(source) else (found.st_mtime_ns, found.st_size)
        read_as = (source.format, source.text, source.id, source.delimiter)
        told.update(repr((source.path, read_as, changed)).encode())
        if len(sources) <= _MOST_NAMED:
            moment = datetime.fromtimestamp(changed[0] / 1e9, UTC).isoformat(sep=" ", timespec="microseconds")
            files[printable(source.path)] = f"{counted(changed[1], 'byte')}, changed {moment}"
    return {"n_files": len(sources), "files": files, "state": told.hexdigest()[:16]}


def describe(sources: Sequence[Source], resources: Resources, meter: Meter) -> list[InputFile]:
    """The sources with the digests of their bytes."""
    if not sources:
        return []
    with meter.stage("digest inputs", sum(source.size_bytes for source in sources), "bytes") as progress:

        def digest(source: Source) -> str | None:
            if isinstance(source, StoredSource):
                return source.documents.digest
            try:
                return None if is_pipe(source) else file_sha256(source.path)
            except (OSError, SourceError):
                return None  # it was told as a problem when it was read

        digests = []
        for source, value in zip(sources, map_ordered(digest, sources, threads=resources.n_threads), strict=True):
            digests.append(value)
            progress.advance(source.size_bytes)
    return [
        InputFile(printable(s.path), s.size_bytes, value, s.format, s.text, s.id, printable(s.name), _end_row(s))
        for s, value in zip(sources, digests, strict=True)
    ]


def _end_row(source: Source) -> int | None:
    return source.documents.end_row if isinstance(source, StoredSource) else None
