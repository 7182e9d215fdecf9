"""What the user named on the command line, as sources that can be read: files, globs, folders, standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, get_args

from nearkin.errors import ParameterError, SourceError, TruncatedInputError
from nearkin.nouns import agreeing, counted
from nearkin.stages.documents.columns import Sample, choose_columns, likely_text
from nearkin.stages.documents.encodings import check_encoding, looks_like_utf16
from nearkin.stages.documents.finding import STDIN, Found, by_suffix, find, identity
from nearkin.stages.documents.folders import is_mark, left_out
from nearkin.stages.documents.formats import WITHOUT_COLUMNS, Format, StoredFormat
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, ReadingRules
from nearkin.stages.documents.sniffing import (
    TAB,
    Head,
    empty_stdin,
    has_header,
    head_of_file,
    head_of_stdin,
    is_dump,
    n_id_and_text,
    sample_of_head,
    sniff_format,
    standard_input,
    told_delimiter,
    unreadable,
)
from nearkin.stages.documents.streams import Compression
from nearkin.stages.documents.table_files import TABLES, sample_of_file

_AS_OLDER_VERSIONS: Mapping[str, Any] = {"max_document_bytes": 1 << 30, "is_forced": True}
_MANY_ALIKE = 3
__all__ = ["STDIN", "Format", "Source", "SourceSet", "resolve_sources"]


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
    format : {"jsonl", "parquet", "arrow", "csv", "tsv", "lines", "text-lines", "file", "wikipedia", "collection", …}
        "lines" is ``ID<TAB>TEXT``; "text-lines" is a document a line; "file" is one document, the whole file;
        "wikipedia" is a dump of its pages in XML; "collection" and "results" are no files, see
        `workflows.reading.inputs.StoredSource`.
    compression : {"none", "gzip", "zstd", "bzip2", "xz"}
    text, id : str or None
        The columns; None where the format has none, where there is no id, and for a pipe whose first line could not be
        seen: there the reader guesses.
    size_bytes : int
        Of the file as it lies there; 0 for a pipe.
    delimiter : str or None
        Of a CSV file; None where it could not be seen yet: there the reader tells it from the header.
    max_document_bytes : int
        A longer document is unreadable.
    takes_damaged : bool
        What comes before the damage of a file is used; else damage is an error.
    is_forced : bool
        The user named the format "file": text with markup is read as it is.
    """

    path: str
    name: str
    format: Format | StoredFormat
    compression: Compression
    text: str | None
    id: str | None
    size_bytes: int
    delimiter: str | None = None
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    takes_damaged: bool = False
    is_forced: bool = False

    @classmethod
    def stored(cls, fields: Mapping[str, Any]) -> Source:
        """A source as a finished run stored it, to be read again as it was read then.

        What an older version did not store, it did for all: documents up to 1 GiB, damaged files, text with markup.
        """
        return cls(**{**_AS_OLDER_VERSIONS, **fields, "takes_damaged": True})


@dataclass(frozen=True, slots=True)
class SourceSet:
    """The sources in reading order, and what was guessed.

    Parameters
    ----------
    sources : tuple of Source
    guesses : tuple of str
        Sentences to print.
    """

    sources: tuple[Source, ...]
    guesses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the user said about all sources."""

    text: str | None
    doc_id: str | None
    is_optional: bool
    encoding: str
    stdin: BinaryIO | None
    has_columns_later: bool
    rules: ReadingRules
    is_of_files: bool
    """The user named the format "file"."""


def resolve_sources(
    arguments: Sequence[str],
    *,
    file_format: str | None = None,
    text: str | None = None,
    doc_id: str | None = None,
    text_optional: bool = False,
    encoding: str = "utf-8",
    stdin: BinaryIO | None = None,
    in_order: bool = False,
    has_columns_later: bool = False,
    rules: ReadingRules | None = None,
    without: Path | None = None,
) -> SourceSet:
    """Find the files that the arguments name, and how each is to be read.

    Parameters
    ----------
    arguments : sequence of str
        Files, globs (``**`` too), folders, and "-" for standard input.
    file_format : {"jsonl", "parquet", "arrow", "csv", "tsv", "lines", "text-lines", "file", "wikipedia"}, optional
        Of every source; by default told from the suffix, else from the content.
    text, doc_id : str, optional
        The columns; by default guessed from their names.
    text_optional : bool, default False
        Whether a source without a column that was named is read by the column guessed there, which is then said:
        collections that are compared with one another need not have their columns named alike.
    encoding : str, default "utf-8"
        Of the column names, where they are not UTF-8.
    stdin : binary file, optional
        Standard input; only looked at, nothing is taken from it.
    in_order : bool, default False
        Read the arguments in their order, and the files of a folder or a pattern sorted by path. By default all files
        are sorted by path, so that the order of the arguments does not matter.
    has_columns_later : bool, default False
        Look for no columns: the caller chooses them.
    rules : ReadingRules, optional
        Which files are taken although they are damaged, and how long a document may be.
    without : Path, optional
        A folder whose files are no input although it lies in a folder that is.

    Raises
    ------
    SourceError
        Nothing is there, it cannot be read, or a column is missing.
    TruncatedInputError
        A file is damaged from its beginning, and the rules do not take it.
    ParameterError
        ``file_format`` is none of the formats.
    """
    if file_format is not None and file_format not in get_args(Format):
        every = ", ".join(get_args(Format))
        raise ParameterError(f"The format (--format) must be one of {every}. Got {file_format!r} instead.")
    asked = _Asked(
        text, doc_id, text_optional, check_encoding(encoding), stdin, has_columns_later, rules or ReadingRules(),
        file_format == "file",
    )  # fmt: skip
    guesses: list[str] = []
    found: dict[str, Found] = {}
    repeated: list[str] = []
    marks = [one for one in arguments if is_mark(one) and os.path.isfile(one)] if len(arguments) > 1 else []
    if len(marks) < len(arguments):  # a shell names all files of a folder
        arguments = [one for one in arguments if one not in marks]
        guesses += left_out("the arguments", marks)
    for argument in arguments:
        for one in find(argument, file_format, guesses, without):
            known = found.setdefault(identity(one.path), one)
            if known is not one:
                repeated.append(one.path if in_order else max(one.path, known.path))
                if not in_order:
                    found[identity(one.path)] = min(one, known, key=lambda either: (either.path, either.name))
    if repeated:
        others = f" (and {len(repeated) - 1:,} more)" if len(repeated) > 1 else ""
        guesses.append(f"{repeated[0]}{others} was named before or is the same file, and is read once")
    if not found:
        raise SourceError("No input was named. Give files, folders, globs, or - for standard input.")
    sources = []
    said_of: list[tuple[str, tuple[str, ...]]] = []
    ordered = list(found.values()) if in_order else sorted(found.values(), key=lambda one: (one.path, one.name))
    for one in ordered:
        forced = one.format or file_format
        source, said = _resolve(one, forced, asked)  # type: ignore[arg-type]
        sources.append(source)
        said_of.append((one.name, said))
    return SourceSet(tuple(sources), tuple(dict.fromkeys((*guesses, *_gathered(said_of)))))


def _gathered(said_of: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """The sentences about files, by the name of each; one that is the same of many files comes once."""
    names: dict[str, list[str]] = {}
    for name, sentences in said_of:
        for sentence in sentences:
            names.setdefault(sentence.removeprefix(f"{name}: "), []).append(name)
    for name, sentences in said_of:
        for sentence in sentences:
            rest = sentence.removeprefix(f"{name}: ")
            n_more = len(names[rest]) - 1
            if rest == sentence or n_more < _MANY_ALIKE:
                yield sentence
            elif name == names[rest][0]:
                yield f"{name} and {n_more:,} more: {rest}"


def _resolve(one: Found, forced: Format | None, asked: _Asked) -> tuple[Source, tuple[str, ...]]:
    """The source of one file, and what was guessed about it."""
    named, compression = by_suffix(one.path)
    size_bytes = 0
    if one.path != STDIN:
        try:
            status = os.stat(one.path)
        except OSError as error:
            raise unreadable(one.name, error) from error
        if not stat.S_ISREG(status.st_mode):
            _refuse_device(one.name, status.st_mode)
            return _resolve_pipe(one, forced or named, compression, asked), ()
        size_bytes = status.st_size
        if one.format == "file":
            # A folder may hold a million of these: they are not opened before they are read.
            return _source(one, "file", compression, size_bytes, asked, is_forced=asked.is_of_files), ()
    try:
        return _resolve_seen(one, forced, named, size_bytes, asked)
    except TruncatedInputError:
        if not asked.rules.takes_damaged:
            raise
        return _source(one, forced or named or "file", compression, size_bytes, asked), ()


def _resolve_seen(
    one: Found, forced: Format | None, named: Format | None, size_bytes: int, asked: _Asked
) -> tuple[Source, tuple[str, ...]]:
    """The source of a file by its beginning."""
    if one.path == STDIN:
        head = head_of_stdin(standard_input(asked.stdin), asked.encoding)
        if head.is_all and not head.data:
            raise empty_stdin()
    else:
        head = head_of_file(one.path, one.name, asked.encoding)
    _refuse_foreign(one, head, forced)
    guesses: list[str] = []
    file_format: Format | None = forced or named
    if one.path == STDIN and head.compression == "bzip2" and not head.data and forced is None:
        # A block of it is up to 900 kB, and nothing of it is seen before all of it is.
        raise SourceError("-: the format of what bzip2 packed cannot be told from a pipe. Name it with --format.")
    if file_format is None or (file_format == "tsv" and forced is None):
        file_format = _told_by_content(head, named, asked)
        n_lines, n_seen = n_id_and_text(head)
        share = (
            f": {n_lines} of its first {counted(n_seen, 'line')} {agreeing(n_lines, 'is', 'are')} such"
            if file_format == "lines" and 0 < n_lines < n_seen
            else ""
        )
        guesses.append(f"{one.name}: read as {_IN_WORDS[file_format]} (told from its content{share})")
    _check_format(one, file_format, head)
    delimiter = None
    if file_format == "csv" and head.data:
        delimiter = told_delimiter(head, asked.text, asked.doc_id)
        if delimiter != ",":
            guesses.append(f"delimiter: {'tab' if delimiter == TAB else repr(delimiter)} (told from the header)")
    text, doc_id, said = _columns(one, file_format, head, delimiter, asked)
    source = _source(one, file_format, head.compression, size_bytes, asked, is_forced=forced == "file")
    return replace(source, text=text, id=doc_id, delimiter=delimiter), (*guesses, *said)


def _source(
    one: Found,
    file_format: Format,
    compression: Compression,
    size_bytes: int,
    asked: _Asked,
    *,
    is_forced: bool = False,
) -> Source:
    """A source without columns."""
    rules = asked.rules
    return Source(
        one.path, one.name, file_format, compression, None, None, size_bytes, None, rules.max_document_bytes,
        rules.takes_damaged, is_forced,
    )  # fmt: skip


def _refuse_device(name: str, mode: int) -> None:
    """SourceError for what is neither a file nor a pipe: it holds no documents, and may never end."""
    for is_one, what in ((stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a disk"), (stat.S_ISSOCK, "a socket")):
        if is_one(mode):
            raise SourceError(f"{name}: is {what}, not a file of documents. Name a file, or - for standard input.")


def _refuse_foreign(one: Found, head: Head, forced: Format | None) -> None:
    """SourceError for a file that is no plain text and no table."""
    kind = head.kind
    if kind is None or (kind.is_text and (forced is not None or is_dump(head))):
        return
    raise SourceError(f"{one.name}: this is {kind.problem}.")


def _check_format(one: Found, file_format: Format, head: Head) -> None:
    """SourceError where the content is of another format."""
    if file_format != "file" and file_format not in TABLES and (advice := looks_like_utf16(head.data)) is not None:
        raise SourceError(f"{one.name}: {advice}.")
    if head.table is not None and file_format != head.table:
        words = _IN_WORDS[file_format]
        raise SourceError(
            f"{one.name}: this is {TABLES[head.table].in_words}, not {words}. Read it with --format {head.table}."
        )
    if file_format in TABLES and head.compression != "none":
        raise SourceError(
            f"{one.name}: this is {TABLES[file_format].in_words} that is compressed as a whole, by {head.compression}. "
            "Unpack it first."
        )
    if file_format == "jsonl" and head.data.lstrip().startswith(b"["):
        raise SourceError(
            f"{one.name}: this is one JSON array, and the rule is one object a line. "
            "Turn it into JSON Lines, for example with: jq -c '.[]'"
        )


_IN_WORDS: dict[str, str] = {
    "jsonl": "JSON Lines", "parquet": "Parquet", "arrow": "Arrow", "csv": "CSV", "tsv": "TSV with a header",
    "lines": "lines of ID<TAB>TEXT", "text-lines": "a document a line", "file": "one text document",
    "wikipedia": "a dump of Wikipedia",
}  # fmt: skip


def _told_by_content(head: Head, named: Format | None, asked: _Asked) -> Format:
    """The format of a file whose name does not settle it."""
    if named == "tsv":
        first = head.data.partition(b"\n")[0].rstrip(b"\r").removeprefix(b"\xef\xbb\xbf").split(b"\t")
        is_named = asked.text is not None and asked.text.encode() in first
        return "tsv" if is_named or has_header(head, b"\t") else "lines"
    sniffed = sniff_format(head)
    return sniffed if sniffed is not None else "file"


def _columns(
    one: Found, file_format: Format, head: Head, delimiter: str | None, asked: _Asked
) -> tuple[str | None, str | None, tuple[str, ...]]:
    """The columns of a source and the sentences about them."""
    if file_format in WITHOUT_COLUMNS or asked.has_columns_later:
        return None, None, ()
    sample: Sample | None
    if file_format in TABLES:
        sample = None if one.path == STDIN else sample_of_file(file_format, one.path, one.name)
    else:
        sample = sample_of_head(head, file_format, delimiter)
    text, doc_id = asked.text, asked.doc_id
    if sample is None:  # an empty file, or a pipe that shows nothing yet
        return text, doc_id, ()
    if one.path == STDIN and sample.is_partial and text is None and likely_text(sample, doc_id) is None:
        return text, doc_id, ()  # the reader sees more of it
    missing = [name for name in (text, doc_id) if name is not None and name not in sample.names]
    missing = [] if sample.is_partial else missing
    if asked.is_optional:
        text, doc_id = (None if name in missing else name for name in (text, doc_id))
    columns = choose_columns(sample, one.name, text=text, doc_id=doc_id)
    if file_format in TABLES and columns.text not in sample.mean_length:
        strings = ", ".join(sample.mean_length) or "none"
        raise SourceError(f"{one.name}: the column '{columns.text}' holds no strings. Those that do: {strings}.")
    said = [f"{one.name}: there is no column '{name}', so another is looked for" for name in missing]
    return columns.text, columns.id, (*said, *columns.guesses)


def _resolve_pipe(one: Found, file_format: Format | None, compression: Compression, asked: _Asked) -> Source:
    """A named pipe: to look at its first line would be to take it."""
    if file_format is None or file_format == "parquet":
        raise SourceError(f"{one.name}: is a pipe, so its format cannot be told. Name it with --format (not parquet).")
    source = _source(one, file_format, compression, 0, asked, is_forced=file_format == "file")
    return replace(source, text=asked.text, id=asked.doc_id)
