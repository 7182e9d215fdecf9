"""The first bytes of a file, and what they say about its format and its columns."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Literal

from nearkin.errors import SourceError
from nearkin.paths import why
from nearkin.stages.documents.columns import KNOWN_NAMES, Sample, sample_of_records
from nearkin.stages.documents.compression import COMPRESSION_OF_SUFFIX, compression_of
from nearkin.stages.documents.damage import truncated_input
from nearkin.stages.documents.finding import STDIN
from nearkin.stages.documents.foreign import FIRST_BYTES, Foreign, foreign
from nearkin.stages.documents.record_runs import Scanner, scanner_of
from nearkin.stages.documents.streams import ByteStream, Compression, StreamFault
from nearkin.stages.documents.table_files import TableFormat, readable_as

TAB = "\t"
_HEAD_BYTES = 1 << 16
_LONG_HEAD_BYTES = 1 << 20
_SAMPLE_RECORDS = 20
_LONGEST_ID = 512
_ROOT_OF_DUMP = re.compile(rb"<mediawiki[\s>]")


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, unpacked and in UTF-8.

    Parameters
    ----------
    data : bytes
    compression : {"none", "gzip", "zstd", "bzip2", "xz"}
        As the first bytes say, whatever the name of the file says.
    is_all : bool
        Whether this is the whole file.
    table : {"parquet", "arrow"} or None
        The kind of table that this is.
    kind : Foreign or None
        What this is, if it is no plain text and no table.
    """

    data: bytes
    compression: Compression
    is_all: bool
    table: TableFormat | None = None
    kind: Foreign | None = None

    @property
    def fault(self) -> str | None:
        """What this is, if nothing of it can be read as text."""
        return None if self.kind is None or self.kind.is_text else self.kind.problem

    @property
    def lines(self) -> list[bytes]:
        """The whole lines; the only line, where not even one is whole."""
        lines = self.data.split(b"\n")
        if not self.is_all and len(lines) > 1:
            lines.pop()
        return [line.rstrip(b"\r") for line in lines]

    @property
    def is_cut_record(self) -> bool:
        """Whether not even the first line is whole."""
        return not self.is_all and b"\n" not in self.data


def head_of_file(path: str, name: str, encoding: str) -> Head:
    """The beginning of a file.

    Raises
    ------
    SourceError
        It cannot be opened.
    TruncatedInputError
        It cannot be unpacked.
    """
    try:
        with open(path, "rb", buffering=0) as raw:
            first = raw.read(FIRST_BYTES)
            raw.seek(0)
            compression = compression_of(first)
            if not first and os.path.splitext(path.lower())[1] in COMPRESSION_OF_SUFFIX:
                raise truncated_input(name, "the file is empty, not even an empty compressed stream", 0)
            if compression != "none":
                first = ByteStream(raw, compression).read(FIRST_BYTES)
                raw.seek(0)
            # Decoding may fail for a wrong encoding; names and braces are ASCII in most of them.
            stream = ByteStream(raw, compression, encoding=encoding)
            return _recognised(_head_of_stream(stream, compression), first, path)
    except OSError as error:
        raise unreadable(name, error) from error
    except StreamFault as fault:
        raise truncated_input(name, fault, 0) from fault


def _recognised(head: Head, first: bytes, path: str) -> Head:
    """The head with what its first bytes tell, as they are and decoded."""
    table = readable_as(first)
    if table is not None:
        return replace(head, table=table.format)
    return replace(head, kind=foreign(first, path) or foreign(head.data, path))


def standard_input(given: BinaryIO | None) -> BinaryIO:
    """The file given as standard input, or that of the process; SourceError where that is closed."""
    if given is not None:
        return given
    if sys.stdin is None:  # how Python says that it was closed before the start
        raise SourceError("standard input is closed. Check how the command was started, or name a file.")
    return sys.stdin.buffer


def head_of_stdin(stdin: BinaryIO, encoding: str = "utf-8") -> Head:
    """What standard input shows without anything being taken from it; SourceError where it cannot be read."""
    try:
        if isinstance(stdin, io.BufferedReader):
            data = stdin.peek(_HEAD_BYTES)
        elif stdin.seekable():
            place = stdin.tell()
            data = stdin.read(_HEAD_BYTES)
            stdin.seek(place)
        else:
            return Head(b"", "none", is_all=False)
    except OSError as error:  # opened for writing alone
        raise SourceError(
            f"standard input cannot be read: {why(error)}. Check how the command was started, or name a file."
        ) from error
    if not data:
        return Head(b"", "none", is_all=True)
    compression = compression_of(data)
    if compression == "none":
        # What is seen of a pipe may be less than all that was written to it, so it is never known to be the whole.
        stream = ByteStream(io.BytesIO(data), compression, encoding=encoding)
        return _recognised(_head_of_stream(stream, compression, is_cut=True), data, STDIN)
    try:
        seen = ByteStream(io.BytesIO(data), compression).read(_HEAD_BYTES)
        decoded = ByteStream(io.BytesIO(data), compression, encoding=encoding).read(_HEAD_BYTES)
    except StreamFault:
        return Head(b"", compression, is_all=False)
    return _recognised(Head(decoded, compression, is_all=False), seen, STDIN)


def empty_stdin() -> SourceError:
    """The error of a pipe through which nothing came."""
    return SourceError("standard input is empty. Check the command before the pipe, or name a file.")


def unreadable(name: str, error: OSError) -> SourceError:
    """The error of a file that cannot be opened, with what to do."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return SourceError(f"{name}: cannot be opened: {why(error)}.")
    advice = {
        FileNotFoundError: "Check the path.",
        PermissionError: "Give yourself permission to read it, or leave it out.",
        IsADirectoryError: "Name the folder on its own, or the files in it.",
    }.get(type(error), "Check the file, or leave it out.")
    return SourceError(f"{name}: cannot be opened: {error.strerror or error}. {advice}")


def _head_of_stream(stream: ByteStream, compression: Compression, *, is_cut: bool = False) -> Head:
    """Enough to see a whole line, within reason; nothing is taken from the stream."""
    n_bytes = _HEAD_BYTES
    data = stream.peek(n_bytes)
    if len(data) == n_bytes and b"\n" not in data:
        n_bytes = _LONG_HEAD_BYTES
        data = stream.peek(n_bytes)
    return Head(data, compression, is_all=not is_cut and len(data) < n_bytes)


def head_of_stream(stream: ByteStream) -> Head:
    """The beginning of what is about to be read, without taking it."""
    return _head_of_stream(stream, "none")


def sniff_format(head: Head) -> Literal["parquet", "arrow", "jsonl", "lines", "wikipedia"] | None:
    """The format where the content says so, None where it is a text like any other."""
    if head.table is not None:
        return head.table
    if is_dump(head):
        return "wikipedia"
    lines = _first_lines(head)
    if not lines:
        return None
    if lines[0].lstrip().startswith(b"{"):
        return "jsonl"
    n_lines, n_seen = n_id_and_text(head)
    return "lines" if n_lines >= 2 and 3 * n_lines >= 2 * n_seen else None


def is_dump(head: Head) -> bool:
    """Whether this is how MediaWiki begins an export of its pages.

    Examples
    --------
    >>> is_dump(Head(b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">', "none", is_all=False))
    True
    >>> is_dump(Head(b"The element <mediawiki> is the outermost.", "none", is_all=True))
    False
    """
    return head.data.lstrip().startswith((b"<mediawiki", b"<?xml", b"<!")) and bool(_ROOT_OF_DUMP.search(head.data))


def _first_lines(head: Head) -> list[bytes]:
    """The first lines that are not blank."""
    return [line for line in head.lines if line.strip()][:_SAMPLE_RECORDS]


def has_header(head: Head, delimiter: bytes) -> bool:
    """Whether the first line names columns that are known as texts or ids."""
    names = head.lines[0].decode("utf-8", "replace").split(delimiter.decode())
    return not {name.strip().strip('"').casefold() for name in names}.isdisjoint(KNOWN_NAMES)


def n_id_and_text(head: Head) -> tuple[int, int]:
    """How many of the first lines are ``ID<TAB>TEXT``, and of how many; none where the ids are not all different."""
    lines = _first_lines(head)
    ids = [line.partition(b"\t")[0] for line in lines if b"\t" in line]
    if len(set(ids)) < len(ids) or not all(0 < len(one) <= _LONGEST_ID and not re.search(rb"\s", one) for one in ids):
        return 0, len(lines)
    return len(ids), len(lines)


def told_delimiter(head: Head, *named: str | None) -> str:
    r"""The delimiter of a CSV file: a comma, unless the header has none and falls apart at another sign.

    As the records do then too, most of them: one column of texts may have a semicolon in its name.

    Examples
    --------
    >>> told_delimiter(Head(b"id;text\n1;It was\n", "none", is_all=True))
    ';'
    """
    header = next(_rows(head, scanner_of("csv", ",")), [])
    wanted = {name for name in named if name is not None}
    if len(header) > 1 or (wanted and wanted <= set(header)):
        return ","
    best, most = ",", 1
    for delimiter in (";", TAB, "|"):
        names, *records = [*_rows(head, scanner_of("csv", delimiter))] or [[]]
        n_alike = sum(len(record) == len(names) for record in records)
        is_known = not {name.strip().casefold() for name in names}.isdisjoint(KNOWN_NAMES)
        is_told = 2 * n_alike > len(records) if records else is_known
        if (is_told or (wanted and wanted <= set(names))) and len(names) > most:
            best, most = delimiter, len(names)
    return best


def records_of_head(head: Head, file_format: str, delimiter: str | None = None) -> list[dict[str, object]]:
    """The first records; of a CSV file the first is the header, each column with an empty value."""
    if file_format == "jsonl":
        return list(_first_objects(head))
    if file_format in ("csv", "tsv"):
        return _first_rows(head, scanner_of(file_format, delimiter or told_delimiter(head)))
    return []


def sample_of_head(head: Head, file_format: str, delimiter: str | None = None) -> Sample | None:
    """The columns of the first records; None where the format has none or nothing is to be seen."""
    records = records_of_head(head, file_format, delimiter)
    is_partial = file_format == "jsonl" and head.is_cut_record
    return sample_of_records(records, is_partial=is_partial) if records else None


def _first_objects(head: Head) -> Iterator[dict[str, object]]:
    """The objects in the first lines, of a line cut short what can be seen."""
    n_found = 0
    for line in head.lines:
        if not line.strip():
            continue
        characters = line.decode("utf-8", "replace")
        try:
            record = json.loads(characters)
        except (ValueError, RecursionError):
            record = dict(_first_members(characters)) if not n_found else None
        if isinstance(record, dict) and record:
            yield record
            n_found += 1
        if n_found == _SAMPLE_RECORDS:
            return


def _first_members(characters: str) -> Iterator[tuple[str, object]]:
    """The members of an object up to where its line is cut.

    >>> list(_first_members('{"id": 7, "text": "It was a'))
    [('id', 7), ('text', 'It was a')]
    """
    decoder = json.JSONDecoder()
    place = 0
    while opening := re.compile(r'\s*[{,]\s*(?=")').match(characters, place):
        try:
            key, place = decoder.raw_decode(characters, opening.end())
            colon = re.compile(r"\s*:\s*").match(characters, place)
            if colon is None:
                return
        except (ValueError, RecursionError):
            return
        try:
            value, place = decoder.raw_decode(characters, colon.end())
        except (ValueError, RecursionError):
            if characters.startswith('"', colon.end()):
                yield key, characters[colon.end() + 1 :]
            return
        yield key, value


def _first_rows(head: Head, scanner: Scanner) -> list[dict[str, object]]:
    """The header and the first records under it."""
    rows = (row for row in _rows(head, scanner) if row)
    names = next(rows, None)
    if names is None:
        return []
    records: list[dict[str, object]] = [dict.fromkeys(names, "")]
    records += [dict(zip(names, row)) for row in rows if len(row) == len(names)]
    return records


def _rows(head: Head, scanner: Scanner) -> Iterator[list[str]]:
    """The fields of the header and of the first records; none where they cannot be told apart."""
    n_rows = place = 0
    while place < len(head.data) and n_rows <= _SAMPLE_RECORDS:
        scanned = scanner.scan(head.data, place)
        if scanned.is_open and not head.is_all and n_rows:
            return
        place = scanned.end
        row = [value.decode("utf-8", "replace") for value in scanned.fields]
        if row != [""]:
            yield row
            n_rows += 1
