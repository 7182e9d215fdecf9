"""The first bytes of a file that is opened for them, or of standard input, with what they are recognised as."""

from __future__ import annotations

import errno
import io
import os
import sys
from dataclasses import replace
from typing import BinaryIO

from nearkin.errors import SourceError
from nearkin.paths import why
from nearkin.stages.documents.compression import COMPRESSION_OF_SUFFIX, compression_of
from nearkin.stages.documents.damage import truncated_input
from nearkin.stages.documents.foreign import FIRST_BYTES, foreign
from nearkin.stages.documents.formats.tables import table_begun_by
from nearkin.stages.documents.head import HEAD_BYTES, Head, head_of_stream
from nearkin.stages.documents.source import STDIN
from nearkin.stages.documents.streams import ByteStream, StreamFault


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
            return _recognised(head_of_stream(stream, compression), first, path)
    except OSError as error:
        raise unreadable(name, error) from error
    except StreamFault as fault:
        raise truncated_input(name, fault, 0) from fault


def _recognised(head: Head, first: bytes, path: str) -> Head:
    """The head with what its first bytes tell, as they are and decoded."""
    table = table_begun_by(first)
    if table is not None:
        return replace(head, table=table.name)
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
            data = stdin.peek(HEAD_BYTES)
        elif stdin.seekable():
            place = stdin.tell()
            data = stdin.read(HEAD_BYTES)
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
        return _recognised(head_of_stream(stream, compression, is_cut=True), data, STDIN)
    try:
        seen = ByteStream(io.BytesIO(data), compression).read(HEAD_BYTES)
        decoded = ByteStream(io.BytesIO(data), compression, encoding=encoding).read(HEAD_BYTES)
    except StreamFault:
        return Head(b"", compression, is_all=False)
    return _recognised(Head(decoded, compression, is_all=False), seen, STDIN)


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
