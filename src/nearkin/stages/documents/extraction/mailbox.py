"""A mailbox (mbox) of any size: its mails are read one after another, as a stream.

The quoting of both variants is undone, ">From " of mboxo and ">>From " of mboxrd: one ">" is removed. Source: RFC 4155,
and the descriptions of mboxo and mboxrd by R. Long, 1999.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import BinaryIO

from nearkin.stages.documents.extraction import versions
from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.reading import Container, Member, too_big

_PIECE_BYTES = 1 << 16
_SEPARATOR = re.compile(rb"From \S[^\r\n]*\d:\d\d[^\r\n]*\r?\n")
_QUOTED = re.compile(rb">+From ")
_CUT_OFF = "the mailbox ends in the middle of a line: this mail may be cut off"
_BLANK = (b"\n", b"\r\n")


class Mailbox(Container):
    """A mailbox in a file."""

    name = versions.MAILBOX

    def members(self) -> Iterator[Member]:
        """Yield the mails."""
        most = self._given.limits["output_bytes"]
        with self._given.blob.opened() as file:
            for size, data, is_cut in mails_of(file, most):
                if data is None:
                    sentence = too_big(size, most)
                    yield Member(name=None, exception="too big", sentence=sentence)
                elif is_cut:
                    yield Member(name=None, blob=Blob(data), kind="eml", exception="corrupt", sentence=_CUT_OFF)
                else:
                    yield Member(name=None, blob=Blob(data), kind="eml")


def is_single(blob: Blob) -> bool:
    """Whether a mailbox has only one mail: a mail that was saved with the "From " line in front of it."""
    with blob.opened() as file:
        mails = mails_of(file, 0)
        next(mails, None)
        return next(mails, None) is None


def mails_of(file: BinaryIO, max_bytes: int) -> Iterator[tuple[int, bytes | None, bool]]:
    r"""Yield for each mail its size, its bytes (none if more than ``max_bytes``), and whether it may be truncated.

    A mail begins with a line that begins with "From " and contains a time, at the beginning of the file or after a
    blank line. Text before the first such line is a mail of its own; blank lines there are ignored.

    Examples
    --------
    >>> import io
    >>> box = b"From a Mon Jan  1 10:00:00 2024\nA: 1\n\n>From x\n\nFrom b Mon Jan  1 10:00:00 2024\nB: 2\n"
    >>> list(mails_of(io.BytesIO(box), 99))
    [(13, b'A: 1\n\nFrom x\n', False), (5, b'B: 2\n', False)]
    """
    held: list[bytes] = []
    size, blank, is_begun = 0, b"\n", False  # a blank line is only known to belong to a mail when another line follows
    at_start, is_first = True, True  # the first separator needs no blank line before it
    if file.read(len(BOM_UTF8)) != BOM_UTF8:
        file.seek(0)
    while line := file.readline(_PIECE_BYTES):
        if at_start and (blank or is_first) and _SEPARATOR.match(line):
            if is_begun:
                yield size, b"".join(held) if size <= max_bytes else None, False
            held, size, blank, is_begun, is_first = [], 0, b"", True, False
            continue
        if blank and is_begun:
            size += len(blank)
            held.append(blank)
        elif not is_begun and line.strip():
            is_begun = True
        blank = line if at_start and line in _BLANK else b""
        if not blank:
            line = line[1:] if at_start and _QUOTED.match(line) else line
            size += len(line)
            if size <= max_bytes:
                held.append(line)
            else:
                held.clear()
        at_start = line.endswith(b"\n")
    if is_begun:
        yield size, b"".join(held) if size <= max_bytes else None, not at_start
