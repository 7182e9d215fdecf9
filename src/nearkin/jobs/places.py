"""Output of a job: the place that was requested, else a temporary one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import pyarrow as pa

from nearkin.errors import ParameterError, RunError
from nearkin.formats import parquet
from nearkin.paths import path_of
from nearkin.runs.progress import Progress, Silent, Unit
from nearkin.runs.result_file import check_free
from nearkin.runs.run import RESUME_HINT, read_results
from nearkin.tabular import Tabular, table_names

Where = str | os.PathLike[str]


@contextlib.contextmanager
def directory_for(out: Where | None, owner: str) -> Iterator[Path]:
    """Yield the directory of a run; without ``out`` a temporary one."""
    if out is not None:
        yield path_of(out, "out")
        return
    with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
        try:
            yield Path(folder) / owner
        except BaseException as error:  # its work is removed with it: nothing can be resumed
            if RESUME_HINT in getattr(error, "__notes__", []):
                error.__notes__.remove(RESUME_HINT)
            raise


@contextlib.contextmanager
def file_for(out: Where | None, owner: str, *, overwrite: bool, inputs: Sequence[str | Path] = ()) -> Iterator[Path]:
    """Yield the file of a result, which `check_free` accepts; without ``out`` a temporary one."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
            yield Path(folder) / f"{owner}.parquet"
        return
    path = path_of(out, "out")
    check_free(path, overwrite=overwrite, inputs=inputs)
    yield path


def table_in(directory: Path, name: str) -> pa.Table:
    """Read a table of a run."""
    path = directory / f"{name}.parquet"
    try:
        return parquet.read_table(path)
    except parquet.UNREADABLE as error:
        raise RunError(f"{path}: {parquet.why_unreadable(path, error)}.") from error


def manifest_in(directory: Path, commands: tuple[str, ...]) -> Mapping[str, Any]:
    """Read the manifest of a finished run of one of some commands, and check the tables."""
    stored = read_results(directory)
    if stored.get("command") not in commands:
        raise RunError(f"{directory} holds no results of nearkin {' or '.join(commands)}.")
    return stored


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TablesOfRun(Tabular):
    """Tables and manifest of a finished run of one of some ``commands``; ``files`` names those with other names."""

    commands: ClassVar[tuple[str, ...]]
    files: ClassVar[Mapping[str, str]] = MappingProxyType({})
    manifest: Mapping[str, Any]
    out: Path | None

    @classmethod
    def open(cls, directory: Where) -> Self:
        """Read the results of a run, without their input.

        Raises
        ------
        RunError
            The directory holds no such results, or they are damaged.
        """
        place = path_of(directory, "directory")
        return cls.read(place, manifest_in(place, cls.commands), place)

    @classmethod
    def read(cls, directory: Path, manifest: Mapping[str, Any], out: Path | None, **more: Any) -> Self:
        """Read the tables of a run."""
        tables: Mapping[str, Any] = {name: table_in(directory, cls.files.get(name, name)) for name in table_names(cls)}
        return cls(manifest=manifest, out=out, **{**tables, **more})


Listener = Progress | Callable[[str], object]


class Messages(Silent):
    """Progress that passes the name of each stage and every message to a function."""

    def __init__(self, receive: Callable[[str], object]) -> None:
        self._receive = receive

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Pass on the name of a stage."""
        self._receive(stage)

    def say(self, message: str) -> None:
        """Pass on a message."""
        self._receive(message)


def progress_of(given: Listener | None) -> Progress:
    """Return what a job reports to.

    Examples
    --------
    >>> heard = []
    >>> progress_of(heard.append).say("4 documents")
    >>> heard
    ['4 documents']
    """
    if given is None:
        return Silent()
    if callable(given):
        return Messages(given)
    if all(callable(getattr(given, name, None)) for name in ("start", "advance", "finish", "say")):
        return given
    raise ParameterError.of("progress", "a function such as print, or None", given)
