"""Lines of a stream as they arrive."""

from __future__ import annotations

import io
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from nearkin.stages.documents.normalisation import AS_IT_CAME
from nearkin.stages.documents.preparing import prepare
from nearkin.stages.documents.readers.jsonl import read_jsonl
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES
from nearkin.stages.documents.streams import ByteStream

MAX_LINES = 64
_READ_BYTES = 1 << 18
_BATCH_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class ArrivedLine:
    """A line of a stream, numbered from 1, without its newline; empty if it is too long."""

    number: int
    data: bytes
    is_too_long: bool = False


def arriving_lines(
    stream: BinaryIO, *, max_lines: int = MAX_LINES, max_line_bytes: int = MAX_DOCUMENT_BYTES
) -> Iterator[list[ArrivedLine]]:
    """Yield the lines that have arrived, in batches of at most ``max_lines`` and about 4 MiB.

    A batch is yielded as soon as one line is complete and no more can be read (``read1``) without waiting, so a program
    that waits for the answer to a line gets it. Of a line that is too long nothing is kept.
    """
    parts, n_held, n_dropped, number = list[bytes](), 0, 0, 0  # of the line whose end has not arrived
    lot, n_bytes = list[ArrivedLine](), 0
    while True:
        piece = stream.read1(_READ_BYTES)  # type: ignore[attr-defined]  # every buffered binary file has it
        *whole, rest = piece.split(b"\n") if piece or not (n_held or n_dropped) else [b"", b""]
        for end in whole:
            parts.append(end)
            number += 1
            is_too_long = n_dropped + n_held + len(end) > max_line_bytes
            data = b"" if is_too_long else b"".join(parts)
            lot.append(ArrivedLine(number, data.removeprefix(BOM_UTF8) if number == 1 else data, is_too_long))
            n_bytes += len(lot[-1].data)
            parts, n_held, n_dropped = [], 0, 0
            if len(lot) == max_lines or n_bytes > _BATCH_BYTES:
                yield lot
                lot, n_bytes = [], 0
        parts.append(rest)
        n_held += len(rest)
        if n_held > max_line_bytes:
            parts, n_held, n_dropped = [], 0, n_dropped + n_held
        if lot and len(piece) < _READ_BYTES:  # nothing more is there
            yield lot
            lot, n_bytes = [], 0
        if not piece:
            return


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """The document of one line, whose text is empty if there is a problem."""

    doc_id: str | None
    text: str
    problem: str | None


def json_documents(lines: Sequence[bytes], *, text: str, doc_id: str) -> Iterator[JsonDocument]:
    """Yield the document of each line, a JSON object with members ``text`` and ``doc_id``; no line is blank."""
    # behind a blank line no line is taken for the byte order mark of a file, which would decode all the others by it
    stream = ByteStream(io.BytesIO(b"\n" + b"\n".join(lines)), "none")
    batches = read_jsonl(stream, text=text, doc_id=doc_id, batch_bytes=_BATCH_BYTES, max_document_bytes=1 << 40)
    for batch in batches:
        prepared = prepare(batch, AS_IT_CAME, source_name="")
        columns = (prepared[name].to_pylist() for name in ("doc_id", "has_id", "text", "problem"))
        for own_id, has_id, own_text, problem in zip(*columns, strict=True):
            yield JsonDocument(own_id if has_id else None, own_text, problem)
