"""First bytes of a file."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO, cast

from nearkin.errors import SourceError
from nearkin.paths import STDIN, why
from nearkin.stages.documents.faults import StreamFault, truncated_input
from nearkin.stages.documents.foreign import FIRST_BYTES, Foreign, foreign
from nearkin.stages.documents.formats import FORMATS, table_begun_by
from nearkin.stages.documents.streams import (
    COMPRESSION_OF_SUFFIX,
    ByteStream,
    Compression,
    Progress,
    compression_of,
    unreported,
)

HEAD_BYTES = 1 << 16
_LONGEST_HEAD_BYTES = 1 << 26
SAMPLE_RECORDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file, decompressed and in UTF-8, with its kind if that is foreign.

    ``compression`` is by the first bytes, whatever the file's name.
    """

    data: bytes
    compression: Compression
    is_all: bool
    table: str | None = None
    kind: Foreign | None = None

    @property
    def lines(self) -> list[bytes]:
        """The complete lines; the only line if none is complete."""
        lines = self.data.split(b"\n")
        if not self.is_all and len(lines) > 1:
            lines.pop()
        return [line.rstrip(b"\r") for line in lines]

    @property
    def first_lines(self) -> list[bytes]:
        """The first lines that are not blank."""
        return [line for line in self.lines if line.strip()][:SAMPLE_RECORDS]


def empty_stdin() -> SourceError:
    """Return the error for an empty pipe."""
    return SourceError("standard input is empty. Check the command before the pipe, or name a file.")


def head_of_stream(stream: ByteStream, compression: Compression = "none", *, is_cut: bool = False) -> Head:
    """Return the beginning of a stream without consuming it, with a complete line unless very long."""
    n_bytes = HEAD_BYTES
    while len(data := stream.peek(n_bytes)) == n_bytes < _LONGEST_HEAD_BYTES and b"\n" not in data:
        n_bytes <<= 5
    is_all = not is_cut and len(data) < n_bytes
    return Head(data=data, compression=compression, is_all=is_all)


def head_of_file(path: str, name: str, encoding: str) -> Head:
    """Return the beginning of a file; SourceError if it cannot be opened, TruncatedInputError if not decompressed."""
    if path == STDIN:
        return head_of_stdin(encoding)
    try:
        with open(path, "rb", buffering=0) as raw:
            if os.path.splitext(path.lower())[1] in COMPRESSION_OF_SUFFIX and not raw.read(1):
                raise truncated_input(name, "the file is empty, not even an empty compressed stream", 0)
            return _head_of(cast(BinaryIO, raw), path, encoding)
    except OSError as error:
        raise unreadable(name, error) from error
    except StreamFault as fault:
        raise truncated_input(name, fault, 0) from fault


def _head_of(raw: BinaryIO, path: str, encoding: str, *, is_cut: bool = False) -> Head:
    raw.seek(0)
    first = raw.read(FIRST_BYTES)
    raw.seek(0)
    compression = compression_of(first)
    if compression != "none":
        first = ByteStream(raw, compression).read(FIRST_BYTES)
        raw.seek(0)
    # decoding may fail with a wrong encoding; names and braces are ASCII in most encodings
    head = head_of_stream(ByteStream(raw, compression, encoding=encoding), compression, is_cut=is_cut)
    table = table_begun_by(first)
    if table is not None:
        return replace(head, table=table.name)
    return replace(head, kind=foreign(first, path) or foreign(head.data, path))


@contextmanager
def opened_text(path: str, encoding: str = "utf-8", progress: Progress = unreported) -> Iterator[ByteStream]:
    """Open the decompressed characters of a file; SourceError if it cannot be opened, or is no text."""
    if os.path.isdir(path):
        raise SourceError(f"{path} is a folder. Name a file.")
    head = head_of_file(path, path, encoding)
    if head.kind is not None and not head.kind.is_text:
        raise SourceError(f"{path}: this is {head.kind.problem}.")
    try:
        opened: BinaryIO = open(path, "rb", buffering=0)  # noqa: SIM115  only the opening is to be refused here
    except OSError as error:
        raise unreadable(path, error) from error
    with opened as raw:
        yield ByteStream(raw, head.compression, encoding=encoding, progress=progress)


def standard_input() -> BinaryIO:
    """Return standard input; SourceError if it is closed."""
    if sys.stdin is None:  # it was closed before Python started
        raise SourceError("standard input is closed. Check how the command was started, or name a file.")
    return sys.stdin.buffer


def head_of_stdin(encoding: str = "utf-8") -> Head:
    """Return the visible beginning of standard input without consuming it; SourceError if it is unreadable."""
    try:
        data = cast(io.BufferedReader, standard_input()).peek(HEAD_BYTES)
    except OSError as error:  # open for writing only
        raise SourceError(
            f"Cannot read standard input: {why(error)}. Check how the command was started, or name a file."
        ) from error
    if not data:
        raise empty_stdin()
    try:  # less may be visible than was written to a pipe, so it is never known to be complete
        return _head_of(io.BytesIO(data), STDIN, encoding, is_cut=True)
    except StreamFault:
        return Head(data=b"", compression=compression_of(data), is_all=False)


def sniffed(head: Head) -> str | None:
    """Return the format that this beginning indicates, unmistakable ones first; None for plain text."""
    if head.table is not None:
        return head.table
    tried = sorted(FORMATS.values(), key=lambda kind: not kind.is_unmistakable)
    return next((kind.name for kind in tried if not kind.magic and kind.reader.begins(head)), None)


def unreadable(name: str, error: OSError) -> SourceError:
    """Return the error for a file that cannot be opened."""
    if error.errno == errno.ESPIPE:
        return SourceError(f"{name} is a pipe, and this input is read twice. Save it to a file first.")
    return SourceError(f"Cannot open {name}: {why(error)}.")
