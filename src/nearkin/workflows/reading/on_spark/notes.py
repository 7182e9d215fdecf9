"""Messages, exceptions and checksums of tasks: they are sent with the blocks, and the driver takes them in order."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.engines.local import map_ordered
from nearkin.engines.spark.layout import Block
from nearkin.errors import SourceError
from nearkin.runs.files import read_work_json, write_work_json
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.sources import Source
from nearkin.wording import restored
from nearkin.workflows.reading.exceptions import ExceptionRow
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.blocks import Blocks
    from nearkin.engines.spark.stages import StageMeter, Stages


_DIGESTS = "digests"
"""Name in the record of `DriverFiles`."""


@dataclass(frozen=True, slots=True)
class Seen:
    """File as a machine sees it.

    Parameters
    ----------
    size_bytes : int
    changed_s : int
        Time of the last change, in whole seconds since 1970, because some file systems store no fractions.
    is_readable : bool
    noted_ns : int or None
        Time at which the system last noted a change of the file or of its attributes, in nanoseconds since 1970. It
        changes even if a program sets the time of modification back. None if it is not known.
    """

    size_bytes: int
    changed_s: int
    is_readable: bool
    noted_ns: int | None

    @classmethod
    def of(cls, path: str) -> Seen | None:
        """Return None if there is no such file."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        is_readable = os.access(path, os.R_OK)
        return cls(found.st_size, found.st_mtime_ns // 10**9, is_readable, found.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class FileChecksum:
    """SHA-256 of a file as a worker reads it, and the times of the driver's file before the task began.

    Parameters
    ----------
    name, path : str
        The file in messages; its absolute path, which is the same on the driver.
    worker : str
        Name of the worker's machine.
    sha256 : str
    noted_ns : int or None
        Time at which the driver's system last noted a change; see `Seen`.
    """

    name: str
    path: str
    worker: str
    sha256: str
    noted_ns: int | None


def other_file(name: str, path: str, worker: str | None, how: str) -> SourceError:
    """Return the error for a file that is not the driver's, on a worker that may not be known."""
    where = "on every worker" if worker is None else f"on the worker {worker}"
    return SourceError(
        f"{name} is not the same file {where}: {how}. Every worker must see the input as the driver "
        f"does, under the same path ({path}), on NFS for example; and nothing may write to it."
    )


def visible_difference(expected: Seen | None, found: Seen | None) -> str | None:
    """Return how a file differs from the driver's, apart from its times and content; None if it does not.

    Examples
    --------
    >>> visible_difference(Seen(7, 1800000000, True, 5), Seen(7, 1800000001, True, 6)) is None
    True
    >>> visible_difference(Seen(7, 1800000000, True, 5), Seen(8, 1800000000, True, 5))
    'its size differs'
    """
    if expected is None or found is None:
        return None if expected is found else "it does not exist" if found is None else "the driver does not see it"
    if expected.is_readable != found.is_readable:
        return "permission denied" if expected.is_readable else "the driver may not read it"
    return None if expected.size_bytes == found.size_bytes else "its size differs"


def refuse_other_content(checksums: Iterable[FileChecksum], driver: DriverFiles) -> None:
    """Compare checksums of workers with the files of this machine, which is the driver.

    Raises
    ------
    SourceError
        A worker read other bytes, or the file of this machine changed since the task was made.
    """
    of_files = sorted(set(checksums), key=lambda one: (one.path, one.worker))
    for one in of_files:
        own = Seen.of(one.path)
        if own is None or own.noted_ns != one.noted_ns:
            raise other_file(one.name, one.path, one.worker, "the driver's file changed while it was read")
    own_sha256 = dict(driver.digests(sorted({one.path for one in of_files})))
    for one in of_files:
        if own_sha256[one.path] != one.sha256:
            raise other_file(one.name, one.path, one.worker, "its content differs")


@dataclass(frozen=True, slots=True)
class WatchedFiles:
    """Files as this machine, a worker, saw them before it read them.

    Parameters
    ----------
    sources : tuple of Source
    seen : tuple of Seen or None
    worker : str
        Name of this machine.
    """

    sources: tuple[Source, ...]
    seen: tuple[Seen | None, ...]
    worker: str

    def check(self, numbers: Iterable[int]) -> None:
        """Check that some of the files, by their numbers, have not changed; each is opened first, see `fetch_times`.

        Raises
        ------
        SourceError
        """
        for number in numbers:
            source = self.sources[number]
            fetch_times(source.path)
            if Seen.of(source.path) != self.seen[number]:
                raise other_file(source.name, source.path, self.worker, "it changed while it was read")

    def check_all(self) -> None:
        """Check all files; see `check`."""
        self.check(range(len(self.sources)))


def fetch_times(path: str) -> None:
    """Open a file: on NFS, its present size and times are then those of the server, not earlier ones."""
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))


@dataclass(frozen=True, slots=True)
class DriverFiles:
    """Files of the driver that workers have with other times; each version is read once in a run, resumed or not.

    Parameters
    ----------
    record : Path
        File of the run for the digests: later stages read the same input.
    meter : StageMeter
    """

    record: Path
    meter: StageMeter

    def digests(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the SHA-256 of some files by path; threads read those whose present version was not read before.

        Raises
        ------
        SourceError
            A file cannot be read.
        RunError
            The record is damaged.
        """
        known = read_work_json(self.record, (_DIGESTS,))[_DIGESTS] if self.record.exists() else {}
        versions = {path: _version(path) for path in paths}  # before the bytes are read, which may change meanwhile
        unknown = [path for path, version in versions.items() if known.get(path, [None])[0] != version]
        if unknown:
            total = sum(versions[path][0] for path in unknown)
            with self.meter.stage("compare inputs", total, "bytes") as progress:
                found = map_ordered(file_sha256, unknown, threads=Resources().n_threads)
                for path, sha256 in zip(unknown, found, strict=True):
                    known[path] = [versions[path], sha256]
                    progress.advance(versions[path][0])
            write_work_json(self.record, {_DIGESTS: known})
        return {path: known[path][1] for path in paths}


def _version(path: str) -> list[int]:
    """Return the size and times of a file; programs can set the time of its content, but not the last."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {error.strerror or error}.") from error
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns]


_STREAM = "notes"
_EXCEPTIONS = "exceptions"
_CHECKSUMS = "checksums"
_CHECKED = "checked-files.json"
_ROWS_A_BLOCK = 500
Comparison = Callable[[Sequence[Block], DriverFiles], None]
"""Compares blocks with the files of the driver, and raises SourceError if they differ."""


class Notes(Silent):
    """Progress that stores messages, and checksums of files that the driver compares with its own.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.say("3 pages were left out")
    >>> [block.data for block in notes.blocks(7, target=0)]
    [b'[7, ["3 pages were left out"]]']
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self.checksums: list[FileChecksum] = []

    def say(self, message: str) -> None:
        """Store a message."""
        self.said.append(message)

    def blocks(self, number: int, *, target: int) -> Iterator[Block]:
        """Yield the messages about the input of a number, if any, and the checksums."""
        if self.said:
            yield Block(_STREAM, target, json.dumps([number, self.said]).encode())
        for first in range(0, len(self.checksums), _ROWS_A_BLOCK):
            rows = [asdict(one) for one in self.checksums[first : first + _ROWS_A_BLOCK]]
            yield Block(_CHECKSUMS, target, json.dumps(rows).encode())


def passed_on(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the notes among some blocks."""
    yield from (block for block in blocks if block.stream in (_STREAM, _CHECKSUMS))


def take_notes(
    blocks: Sequence[Block], driver: DriverFiles, progress: Progress, also_compare: Comparison | None = None
) -> None:
    """Compare the checksums among some blocks with the files of the driver, and show the messages.

    Parameters
    ----------
    blocks : sequence of Block
    driver : DriverFiles
    progress : Progress
    also_compare : function, optional
        Compares what else the blocks say about files, before a message is shown.

    Raises
    ------
    SourceError
        A task read a file that is not the same here: its results must not be used.
    """
    of_files = [json.loads(bytes(block.data)) for block in blocks if block.stream == _CHECKSUMS]
    refuse_other_content((FileChecksum(**row) for rows in of_files for row in rows), driver)
    if also_compare is not None:
        also_compare(blocks, driver)
    for _, said in sorted(json.loads(bytes(block.data)) for block in blocks if block.stream == _STREAM):
        for message in said:
            progress.say(restored(message))


def read_by_tasks(
    stages: Stages,
    name: str,
    make: Callable[[], Blocks],
    progress: Progress,
    also_compare: Comparison | None = None,
) -> list[Block]:
    """Return the blocks of a stage whose tasks read the input, after `take_notes`; a refused stage is not kept.

    Raises
    ------
    SourceError
        See `take_notes`.
    """
    found = stages.kept(name, make).collected()
    try:
        take_notes(found, DriverFiles(stages.folder / _CHECKED, stages.meter), progress, also_compare)
    except SourceError:
        stages.forget(name)
        raise
    return found


def exception_blocks(texts: Texts, number: int) -> Iterator[Block]:
    """Yield the exceptions in the input of a number, for the target of the same number."""
    found = texts.exceptions
    for first in range(0, len(found), _ROWS_A_BLOCK):
        rows = [asdict(one) for one in found[first : first + _ROWS_A_BLOCK]]
        yield Block(_EXCEPTIONS, number, json.dumps([first, rows]).encode())


def take_exceptions(blocks: Sequence[Block], inputs: Sequence[Input], texts: Texts) -> None:
    """Note the exceptions among some blocks as those of all texts.

    Parameters
    ----------
    blocks : sequence of Block
    inputs : sequence of Input
        Input of each task.
    texts : Texts
        The sources of all inputs.
    """
    first_sources = [0, *accumulate(len(one.names) for one in inputs)]
    told = [(block.target, *json.loads(bytes(block.data))) for block in blocks if block.stream == _EXCEPTIONS]
    for place, (target, _, rows) in enumerate(sorted(told, key=lambda one: one[:2])):
        found = [ExceptionRow(**one) for one in rows]
        texts.take_exceptions(place, [replace(one, source=one.source + first_sources[target]) for one in found])
