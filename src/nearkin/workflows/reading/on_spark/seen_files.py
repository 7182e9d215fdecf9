"""Files as machines see them: whether a worker reads the bytes that the driver has.

A file with the size and the modification time of the driver's file is the same file. If only the time differs, the
bytes decide: the task computes the SHA-256 before it reads the file, and the driver compares it with its own before it
uses the results. A checksum of every file would make the driver read the whole input, which the workers share.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.runs.files import read_work_json, write_work_json
from nearkin.stages.documents.digest import file_sha256
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.stages import StageMeter

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
class FileChecksum:
    """SHA-256 of a file as a worker reads it, and the time of the driver's file before the task began.

    Parameters
    ----------
    name, path : str
        The file in messages; its absolute path, which is the same on the driver.
    worker : str
        Name of the worker's machine.
    sha256 : str
    changed_s : int
        Time of the last change of the driver's file; see `Seen`.
    """

    name: str
    path: str
    worker: str
    sha256: str
    changed_s: int


def other_file(name: str, path: str, worker: str, how: str) -> SourceError:
    """Return the error for a file that is not the driver's."""
    return SourceError(
        f"{name} is not the same file on the worker {worker}: {how}. Every worker must see the input as the driver "
        f"does, under the same path ({path}), on NFS for example; and nothing may write to it."
    )


def visible_difference(expected: Seen | None, found: Seen | None) -> str | None:
    """Return how a file differs from the driver's, apart from its time and content; None if it does not.

    Examples
    --------
    >>> visible_difference(Seen(7, 1800000000, True), Seen(7, 1800000001, True)) is None
    True
    >>> visible_difference(Seen(7, 1800000000, True), Seen(8, 1800000000, True))
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
        if own is None or own.changed_s != one.changed_s:
            raise other_file(one.name, one.path, one.worker, "the driver's file changed while it was read")
    own_sha256 = dict(driver.digests(sorted({one.path for one in of_files})))
    for one in of_files:
        if own_sha256[one.path] != one.sha256:
            raise other_file(one.name, one.path, one.worker, "its content differs")


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
