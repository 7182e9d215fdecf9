"""The files that the arguments of a command name: files, globs, folders, standard input."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nearkin.errors import SourceError
from nearkin.nouns import counted
from nearkin.paths import check_input
from nearkin.stages.documents.own_results import is_own, left_out, without_own
from nearkin.stages.documents.streams import Compression

Format = Literal["jsonl", "parquet", "csv", "tsv", "lines", "file", "wikipedia"]
StoredFormat = Literal["collection", "results"]
"""What Nearkin itself stores documents in: a collection, or the directory of a finished run."""
WITHOUT_COLUMNS = ("lines", "file", "wikipedia")
"""Formats whose texts and ids have their places."""
STDIN = "-"
_FORMAT_OF_SUFFIX: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet", ".pq": "parquet",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
}  # fmt: skip
_COMPRESSION_OF_SUFFIX: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bzip2"}


@dataclass(frozen=True, slots=True)
class Found:
    """A file before its format is known; ``format`` is set where the place it was found in decides it."""

    path: str
    name: str
    format: Format | None = None


def identity(path: str) -> str:
    """The same for two names of one file."""
    return path if path == STDIN else os.path.realpath(path)


def find(argument: str, file_format: str | None, guesses: list[str]) -> Iterator[Found]:
    """The files that one argument names."""
    check_input(argument)
    if argument == STDIN:
        yield Found(STDIN, STDIN)
    elif os.path.isdir(argument):
        yield from _find_in_folder(argument, file_format, guesses)
    elif os.path.lexists(argument) or not glob.has_magic(argument):
        yield Found(argument, argument)
    else:
        matches, own = without_own(argument, sorted(glob.iglob(argument, recursive=True)))
        if own:
            guesses.append(left_out(argument, own))
        files = [match for match in matches if not os.path.isdir(match)]
        # "corpus/*" over folders alone means what is in them; with files beside them "**" would name all twice.
        if not files:
            for match in matches:
                yield from _find_in_folder(match, file_format, guesses)
        if not matches:
            brackets = " Where a name holds [, escape it as [[]." if "[" in argument else ""
            raise SourceError(
                f"{argument}: no file matches. Check the pattern, and quote it if the shell changes it.{brackets}"
            )
        for match in files:
            yield Found(match, match)


def _find_in_folder(folder: str, file_format: str | None, guesses: list[str]) -> Iterator[Found]:
    """Every file below a folder: a document each, unless all are of structured formats."""
    inside = _walk(folder)
    paths = inside.paths
    if inside.own:
        guesses.append(left_out(folder, inside.own))
    if not paths:
        but = ", and results of Nearkin in it are not read" if inside.own else ""
        raise SourceError(f"{folder}: the folder holds no files (hidden ones are not read{but}).")
    if inside.n_hidden:
        guesses.append(
            f"{folder}: hidden files and folders are not read ({inside.n_hidden:,} whose names begin with a dot)"
        )
    n_structured = sum(by_suffix(path)[0] is not None for path in paths)
    if file_format not in (None, "file") or (file_format is None and n_structured == len(paths)):
        for path in paths:
            yield Found(path, path)
        return
    if n_structured and file_format is None:
        guesses.append(
            f"{folder}: each of its {counted(len(paths), 'file')} is read as one text, although {n_structured} have "
            "the suffix of a table; name those on their own to read them as tables"
        )
    for path in paths:
        yield Found(path, Path(os.path.relpath(path, folder)).as_posix(), "file")


@dataclass(frozen=True, slots=True)
class _Inside:
    """The regular files below a folder, sorted; hidden files and folders, counted, and folders of results left out."""

    paths: list[str]
    n_hidden: int
    own: list[str]


def _walk(folder: str) -> _Inside:
    """What is below a folder. Links to folders are not followed, so no loop of them can hold us up."""

    def refuse(error: OSError) -> None:
        raise SourceError(f"{error.filename}: the folder cannot be read: {error.strerror}.") from error

    paths: list[str] = []
    own: list[str] = []
    n_hidden = 0
    for where, folders, files in os.walk(folder, onerror=refuse):
        n_hidden += sum(name.startswith(".") for name in (*folders, *files))
        folders[:] = [name for name in folders if not name.startswith(".")]
        own += [path for name in folders if is_own(path := os.path.join(where, name))]
        folders[:] = [name for name in folders if os.path.join(where, name) not in own]
        for name in files:
            path = os.path.join(where, name)
            if not name.startswith(".") and os.path.isfile(path):
                paths.append(path)
    return _Inside(sorted(paths), n_hidden, own)


def by_suffix(path: str) -> tuple[Format | None, Compression]:
    """The format and the compression that a file's name tells of."""
    stem, suffix = os.path.splitext(path.lower())
    compression = _COMPRESSION_OF_SUFFIX.get(suffix, "none")
    if compression != "none":
        suffix = os.path.splitext(stem)[1]
    return _FORMAT_OF_SUFFIX.get(suffix), compression
