"""What the user named on the command line, as sources that can be read: files, globs, folders, standard input."""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents.columns import choose_columns
from nearkin.stages.documents.encodings import check_encoding, looks_like_utf16
from nearkin.stages.documents.parquet import sample_of_parquet
from nearkin.stages.documents.sniffing import (
    Head,
    has_header,
    head_of_file,
    head_of_stdin,
    sample_of_head,
    sniff_format,
    unreadable,
)
from nearkin.stages.documents.streams import Compression

Format = Literal["jsonl", "parquet", "csv", "tsv", "lines", "file"]
STDIN = "-"
_FORMAT_OF_SUFFIX: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet", ".pq": "parquet",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
}  # fmt: skip
_COMPRESSION_OF_SUFFIX: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the input, and how to read it.

    Parameters
    ----------
    path : str
        As given, or as found under a folder or by a glob; "-" is standard input.
    name : str
        For messages and for the ids of documents without one: the path, inside a folder of documents the path from
        that folder.
    format : {"jsonl", "parquet", "csv", "tsv", "lines", "file"}
        "lines" is ``ID<TAB>TEXT``; "file" is one document, the whole file.
    compression : {"none", "gzip", "zstd"}
    text, id : str or None
        The columns; None where the format has none, where there is no id, and for a pipe whose first line could not be
        seen: there the reader guesses.
    size_bytes : int
        Of the file as it lies there; 0 for a pipe.
    """

    path: str
    name: str
    format: Format
    compression: Compression
    text: str | None
    id: str | None
    size_bytes: int


@dataclass(frozen=True, slots=True)
class SourceSet:
    """The sources sorted by path, so that their order on the command line does not matter, and what was guessed.

    Parameters
    ----------
    sources : tuple of Source
    guesses : tuple of str
        Sentences to print.
    """

    sources: tuple[Source, ...]
    guesses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A file before its format is known; ``format`` is set where the place it was found in decides it."""

    path: str
    name: str
    format: Format | None = None


def resolve_sources(
    arguments: Sequence[str],
    *,
    file_format: str | None = None,
    text: str | None = None,
    doc_id: str | None = None,
    encoding: str = "utf-8",
    stdin: BinaryIO | None = None,
) -> SourceSet:
    """Find the files that the arguments name, and how each is to be read.

    Parameters
    ----------
    arguments : sequence of str
        Files, globs (``**`` too), folders, and "-" for standard input.
    file_format : {"jsonl", "parquet", "csv", "tsv", "lines", "file"}, optional
        Of every source; by default told from the suffix, else from the content.
    text, doc_id : str, optional
        The columns; by default guessed from their names.
    encoding : str, default "utf-8"
        Of the column names in a CSV or TSV file.
    stdin : binary file, optional
        Standard input; only looked at, nothing is taken from it.

    Raises
    ------
    SourceError
        Nothing is there, it cannot be read, or a column is missing.
    ParameterError
        ``file_format`` is none of the formats.
    """
    if file_format is not None and file_format not in get_args(Format):
        raise ParameterError.of("file_format", "resolve_sources", "one of " + ", ".join(get_args(Format)), file_format)
    encoding = check_encoding(encoding)
    guesses: list[str] = []
    found: dict[str, _Found] = {}
    for argument in arguments:
        for one in _find(argument, file_format, guesses):
            known = found.setdefault(_identity(one.path), one)
            if known is not one:
                guesses.append(f"{max(one.path, known.path)} was named before or is the same file, and is read once")
                found[_identity(one.path)] = min(one, known, key=lambda either: (either.path, either.name))
    if not found:
        raise SourceError("No input was named. Give files, folders, globs, or - for standard input.")
    sources = []
    for one in sorted(found.values(), key=lambda one: (one.path, one.name)):
        forced = one.format or file_format
        source, said = _resolve(one, forced, text, doc_id, encoding, stdin)  # type: ignore[arg-type]
        sources.append(source)
        guesses += said
    return SourceSet(tuple(sources), tuple(dict.fromkeys(guesses)))


def _identity(path: str) -> str:
    """The same for two names of one file."""
    return path if path == STDIN else os.path.realpath(path)


def _find(argument: str, file_format: str | None, guesses: list[str]) -> Iterator[_Found]:
    """The files that one argument names."""
    if argument == STDIN:
        yield _Found(STDIN, STDIN)
    elif os.path.isdir(argument):
        yield from _find_in_folder(argument, file_format, guesses)
    elif os.path.lexists(argument) or not glob.has_magic(argument):
        yield _Found(argument, argument)
    else:
        matches = sorted(glob.iglob(argument, recursive=True))
        files = [match for match in matches if not os.path.isdir(match)]
        # "corpus/*" over folders alone means what is in them; with files beside them "**" would name all twice.
        if not files:
            for match in matches:
                yield from _find_in_folder(match, file_format, guesses)
        if not matches:
            raise SourceError(f"{argument}: no file matches. Check the pattern, and quote it if the shell changes it.")
        for match in files:
            yield _Found(match, match)


def _find_in_folder(folder: str, file_format: str | None, guesses: list[str]) -> Iterator[_Found]:
    """Every file below a folder: a document each, unless all are of structured formats."""
    paths = sorted(_walk(folder))
    if not paths:
        raise SourceError(f"{folder}: the folder holds no files (hidden ones are not read).")
    n_structured = sum(_by_suffix(path)[0] is not None for path in paths)
    if file_format not in (None, "file") or (file_format is None and n_structured == len(paths)):
        for path in paths:
            yield _Found(path, path)
        return
    if n_structured and file_format is None:
        guesses.append(
            f"{folder}: each of its {len(paths)} files is read as one text, although {n_structured} have the suffix of "
            "a table; name those on their own to read them as tables"
        )
    for path in paths:
        yield _Found(path, Path(os.path.relpath(path, folder)).as_posix(), "file")


def _walk(folder: str) -> Iterator[str]:
    """The regular files below a folder. Links to folders are not followed, so no loop of them can hold us up."""

    def refuse(error: OSError) -> None:
        raise SourceError(f"{error.filename}: the folder cannot be read: {error.strerror}.") from error

    for where, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = os.path.join(where, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def _by_suffix(path: str) -> tuple[Format | None, Compression]:
    """The format and the compression that a file's name tells of."""
    stem, suffix = os.path.splitext(path.lower())
    compression = _COMPRESSION_OF_SUFFIX.get(suffix, "none")
    if compression != "none":
        suffix = os.path.splitext(stem)[1]
    return _FORMAT_OF_SUFFIX.get(suffix), compression


def _resolve(
    one: _Found, forced: Format | None, text: str | None, doc_id: str | None, encoding: str, stdin: BinaryIO | None
) -> tuple[Source, tuple[str, ...]]:
    """The source of one file, and what was guessed about it."""
    by_suffix, compression = _by_suffix(one.path)
    if one.path == STDIN:
        head, size_bytes = head_of_stdin(stdin if stdin is not None else sys.stdin.buffer), 0
    else:
        try:
            status = os.stat(one.path)
        except OSError as error:
            raise unreadable(one.name, error) from error
        size_bytes = status.st_size if stat.S_ISREG(status.st_mode) else 0
        if stat.S_ISREG(status.st_mode) and one.format == "file":
            # A folder may hold a million of these: they are not opened before they are read.
            return Source(one.path, one.name, "file", compression, None, None, size_bytes), ()
        if not stat.S_ISREG(status.st_mode):
            return _resolve_pipe(one, forced or by_suffix, compression, text, doc_id), ()
        head = head_of_file(one.path, one.name, encoding)
    guesses: list[str] = []
    file_format: Format | None = forced or by_suffix
    if file_format is None or (file_format == "tsv" and forced is None):
        file_format = _told_by_content(head, by_suffix)
        guesses.append(f"{one.name}: read as {_IN_WORDS[file_format]} (told from its content)")
    if file_format not in ("file", "parquet") and (advice := looks_like_utf16(head.data)) is not None:
        raise SourceError(f"{one.name}: {advice}.")
    if head.data.startswith(b"PAR1") and file_format != "parquet":
        words = _IN_WORDS[file_format]
        raise SourceError(f"{one.name}: this is a Parquet file, not {words}. Read it with --format parquet.")
    if file_format == "jsonl" and head.data.lstrip().startswith(b"["):
        raise SourceError(
            f"{one.name}: this is one JSON array, and the rule is one object a line. "
            "Turn it into JSON Lines, for example with: jq -c '.[]'"
        )
    columns = _columns(one, file_format, head, text, doc_id)
    source = Source(one.path, one.name, file_format, head.compression, columns[0], columns[1], size_bytes)
    return source, (*guesses, *columns[2])


_IN_WORDS: dict[str, str] = {
    "jsonl": "JSON Lines", "parquet": "Parquet", "csv": "CSV", "tsv": "TSV with a header",
    "lines": "lines of ID<TAB>TEXT", "file": "one text document",
}  # fmt: skip


def _told_by_content(head: Head, by_suffix: Format | None) -> Format:
    """The format of a file whose name does not settle it."""
    if by_suffix == "tsv":
        return "tsv" if has_header(head, b"\t") else "lines"
    sniffed = sniff_format(head)
    return sniffed if sniffed is not None else "file"


def _columns(
    one: _Found, file_format: Format, head: Head, text: str | None, doc_id: str | None
) -> tuple[str | None, str | None, tuple[str, ...]]:
    """The columns of a source and the sentences about them."""
    if file_format in ("lines", "file"):
        return None, None, ()
    sample = sample_of_parquet(one.path, one.name) if file_format == "parquet" else sample_of_head(head, file_format)
    if sample is None:  # an empty file, or a pipe that shows nothing yet
        return text, doc_id, ()
    columns = choose_columns(sample, one.name, text=text, doc_id=doc_id)
    if file_format == "parquet" and columns.text not in sample.mean_length:
        strings = ", ".join(sample.mean_length) or "none"
        raise SourceError(f"{one.name}: the column '{columns.text}' holds no strings. Those that do: {strings}.")
    return columns.text, columns.id, columns.guesses


def _resolve_pipe(
    one: _Found, file_format: Format | None, compression: Compression, text: str | None, doc_id: str | None
) -> Source:
    """A named pipe: to look at its first line would be to take it."""
    if file_format is None or file_format == "parquet":
        raise SourceError(f"{one.name}: is a pipe, so its format cannot be told. Name it with --format (not parquet).")
    return Source(one.path, one.name, file_format, compression, text, doc_id, 0)
