"""Files named by a command's arguments: files, globs, folders, standard input."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import SourceError
from nearkin.paths import STDIN, check_input
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.formats import FORMAT_OF_SUFFIX, is_of_documents, table_begun_by
from nearkin.stages.documents.source import Note
from nearkin.stages.documents.streams import COMPRESSION_OF_SUFFIX, MAGIC_BYTES, ByteStream, Compression, compression_of

_FIRST_BYTES = 1 << 10


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file before its format is known; ``format`` is set if the place where it was found determines it."""

    path: str
    name: str
    format: str | None = None


def identity(path: str) -> str:
    """Return a string that is equal for two names of one file."""
    return path if path == STDIN else os.path.realpath(path)


def find(
    argument: str, file_format: str | None, guesses: list[Note], without: Path | None = None
) -> Iterator[FoundFile]:
    """Return the files named by one argument, without those of the folder ``without`` inside a folder."""
    check_input(argument)
    if argument == STDIN:
        yield FoundFile(STDIN, STDIN)
    elif os.path.isdir(argument):
        yield from _find_in_folder(argument, file_format, guesses, without)
    elif os.path.lexists(argument) or not glob.has_magic(argument):
        yield FoundFile(argument, argument)
    else:
        yield from _find_by_pattern(argument, file_format, guesses, without)


def _find_by_pattern(
    pattern: str, file_format: str | None, guesses: list[Note], without: Path | None
) -> Iterator[FoundFile]:
    """Return the matching files, without those that only accompany tables."""
    from nearkin.stages.documents.folders import (  # a check of one file needs none of these
        left_out,
        said_of_own,
        without_company,
        without_own,
    )

    matches, own = without_own(pattern, sorted(glob.iglob(pattern, recursive=True)))
    if own:
        guesses.append(said_of_own(pattern, own))
    files = [match for match in matches if not os.path.isdir(match)]
    # "corpus/*" matching only folders means their contents; if it matches files too, "**" would list all twice
    if not files:
        for match in matches:
            yield from _find_in_folder(match, file_format, guesses, without)
    if not matches:
        brackets = " If a name contains [, escape it as [[]." if "[" in pattern else ""
        raise SourceError(
            f"{pattern}: no file matches. Check the pattern, and quote it if the shell changes it.{brackets}"
        )
    if not is_of_documents(file_format):
        files, company = without_company(pattern, files, _is_table)
        guesses += left_out(pattern, company)
    for match in files:
        yield FoundFile(match, match)


def _find_in_folder(
    folder: str, file_format: str | None, guesses: list[Note], without: Path | None
) -> Iterator[FoundFile]:
    """Return every file below a folder: tables, or documents."""
    from nearkin.stages.documents.folders import files_of

    found = files_of(folder, file_format, _is_table, without)
    guesses += found.notes
    for path in found.load_files:
        yield FoundFile(path, path, "load-file")
    if found.are_tables:
        for path in found.paths:
            yield FoundFile(path, path)
        return
    for path in found.paths:
        named = file_format or by_suffix(path)[0]
        told = named if named is not None and is_of_documents(named) else "file"
        yield FoundFile(path, Path(os.path.relpath(path, folder)).as_posix(), told)


def _is_table(path: str) -> bool:
    """Whether a file has the suffix of a table; for a shard without a suffix, whether it is one."""
    from nearkin.stages.documents.folders import is_shard
    from nearkin.stages.documents.readers.load_file import is_load_file

    named = by_suffix(path)[0]
    if named == "load-file":
        return is_load_file(path)  # a .dat file may be anything
    if named is not None:
        return not is_of_documents(named)
    if not is_shard(path):
        return False
    try:
        with open(path, "rb", buffering=0) as raw:
            compression = compression_of(raw.read(MAGIC_BYTES))
            raw.seek(0)
            first = ByteStream(raw, compression).read(_FIRST_BYTES)
    except (OSError, StreamFault):
        return False  # reported when it is read
    return table_begun_by(first) is not None or first.lstrip().startswith(b'{"')


def by_suffix(path: str) -> tuple[str | None, Compression]:
    """Return the format and the compression implied by a file's name."""
    stem, suffix = os.path.splitext(path.lower())
    compression = COMPRESSION_OF_SUFFIX.get(suffix, "none")
    if compression != "none":
        suffix = os.path.splitext(stem)[1]
    return FORMAT_OF_SUFFIX.get(suffix), compression
