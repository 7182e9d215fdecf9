"""First bytes of a file or of standard input, and the format that they indicate."""

from __future__ import annotations

import errno
import io
import os
import sys
from dataclasses import replace
from typing import BinaryIO

from nearkin.errors import SourceError
from nearkin.paths import STDIN, why
from nearkin.stages.documents.compression import COMPRESSION_OF_SUFFIX, compression_of
from nearkin.stages.documents.encodings import is_utf8
from nearkin.stages.documents.faults import truncated_input
from nearkin.stages.documents.foreign import FIRST_BYTES, foreign
from nearkin.stages.documents.formats.tables import table_begun_by
from nearkin.stages.documents.head import HEAD_BYTES, Head, head_of_stream
from nearkin.stages.documents.streams import ByteStream, StreamFault


def head_of_file(path: str, name: str, encoding: str) -> Head:
    """Return the beginning of a file.

    Raises
    ------
    SourceError
        The file cannot be opened.
    TruncatedInputError
        The file cannot be decompressed.
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
            # decoding may fail with a wrong encoding; names and braces are ASCII in most encodings
            stream = ByteStream(raw, compression, encoding=encoding)
            head = head_of_stream(stream, compression)
            if not head.mark and not is_utf8(encoding):
                head = replace(head, named=encoding)
            return _recognised(head, first, path)
    except OSError as error:
        raise unreadable(name, error) from error
    except StreamFault as fault:
        raise truncated_input(name, fault, 0) from fault


def _recognised(head: Head, first: bytes, path: str) -> Head:
    """Return the head with the result of recognition, by original and by decoded bytes."""
    table = table_begun_by(first)
    if table is not None:
        return replace(head, table=table.name)
    return replace(head, kind=foreign(first, path) or foreign(head.data, path))


def standard_input(given: BinaryIO | None) -> BinaryIO:
    """Return the given standard input, or that of the process; SourceError if it is closed."""
    if given is not None:
        return given
    if sys.stdin is None:  # it was closed before Python started
        raise SourceError("standard input is closed. Check how the command was started, or name a file.")
    return sys.stdin.buffer


def head_of_stdin(stdin: BinaryIO, encoding: str = "utf-8") -> Head:
    """Return the visible beginning of standard input without consuming it; SourceError if it is unreadable."""
    try:
        if isinstance(stdin, io.BufferedReader):
            data = stdin.peek(HEAD_BYTES)
        elif stdin.seekable():
            place = stdin.tell()
            data = stdin.read(HEAD_BYTES)
            stdin.seek(place)
        else:
            return Head(data=b"", compression="none", is_all=False)
    except OSError as error:  # open for writing only
        raise SourceError(
            f"Cannot read standard input: {why(error)}. Check how the command was started, or name a file."
        ) from error
    if not data:
        return Head(data=b"", compression="none", is_all=True)
    compression = compression_of(data)
    if compression == "none":
        # less may be visible than was written to a pipe, so it is never known to be complete
        stream = ByteStream(io.BytesIO(data), compression, encoding=encoding)
        return _recognised(head_of_stream(stream, compression, is_cut=True), data, STDIN)
    try:
        seen = ByteStream(io.BytesIO(data), compression).read(HEAD_BYTES)
        decoded = ByteStream(io.BytesIO(data), compression, encoding=encoding).read(HEAD_BYTES)
    except StreamFault:
        return Head(data=b"", compression=compression, is_all=False)
    return _recognised(Head(data=decoded, compression=compression, is_all=False), seen, STDIN)


def unreadable(name: str, error: OSError) -> SourceError:
    """Return the error for a file that cannot be opened, with advice."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return SourceError(f"Cannot open {name}: {why(error)}.")
    if error.errno == errno.ESPIPE:
        return SourceError(f"{name} is a pipe, and this input is read twice. Save it to a file first.")
    advice = {
        FileNotFoundError: "Check the path.",
        PermissionError: "Give yourself permission to read it, or omit it.",
        IsADirectoryError: "Name the folder on its own, or the files in it.",
    }.get(type(error), "Check the file, or omit it.")
    return SourceError(f"Cannot open {name}: {error.strerror or error}. {advice}")
