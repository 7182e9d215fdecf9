"""Unchanged control numbers of a load file, and the dialect in which to write records for it."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from nearkin.errors import SourceError
from nearkin.stages.documents.columns import listed_columns
from nearkin.stages.documents.load_files.columns import columns_of, is_control
from nearkin.stages.documents.load_files.damaged_records import control_of_damaged
from nearkin.stages.documents.load_files.dialect import Dialect, decoded, fallback
from nearkin.stages.documents.load_files.reading import dialect_in, stream_encoding
from nearkin.stages.documents.load_files.records import RecordReader
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import ByteStream, StreamFault


@dataclass(slots=True)
class Controls:
    """Control number of each record of a load file; None for an unreadable record of which it is not known.

    Parameters
    ----------
    dialect : Dialect
        With the encoding of the whole file.
    column : str
        Name of their column.
    index : int
    encoding : str
        Encoding of fields that are not UTF-8.
    reader : RecordReader
        Behind the header.
    """

    dialect: Dialect
    column: str
    index: int
    encoding: str
    reader: RecordReader

    def __iter__(self) -> Iterator[str | None]:
        """Yield the control numbers in order; of a damaged file, those before the damage."""
        known: str | None = None
        with suppress(StreamFault):
            for record in islice(self.reader.records(), 1, None):
                if record.problem is not None:
                    yield control_of_damaged(record, self.index, self.encoding, known)
                    continue
                found = decoded(record.fields[self.index], self.encoding)
                known = found if found.strip() else known
                yield found


def controls_of(raw: BinaryIO, source: Source, encoding: str) -> Controls:
    """Return the control numbers of an open load file, which is read twice.

    Raises
    ------
    SourceError
        It is not a load file, or has no control numbers.
    """
    is_legible = _is_utf8(_stream(raw, source, encoding))
    raw.seek(0)
    stream = _stream(raw, source, encoding)
    dialect = dialect_in(stream, source.name)
    if not dialect.has_mark:
        if stream_encoding(encoding) == "utf-8":
            dialect = replace(dialect, encoding="utf-8" if is_legible else fallback(encoding))
        else:
            dialect = replace(dialect, encoding=encoding)
    raw.seek(0)
    header = next(RecordReader(_stream(raw, source, encoding), dialect, source.max_document_bytes).records())
    names = [decoded(value, fallback(encoding)) for value in header.fields]
    column = _control_column(source, names)
    raw.seek(0)
    reader = RecordReader(_stream(raw, source, encoding), dialect, source.max_document_bytes)
    return Controls(dialect, column, names.index(column), fallback(encoding), reader)


def check_control(raw: BinaryIO, source: Source, encoding: str) -> None:
    """Refuse a load file of which no overlay can be made, by its header alone.

    Raises
    ------
    SourceError
        It is not a load file, or has no control numbers; or the ids are not its control numbers.
    """
    dialect = dialect_in(_stream(raw, source, encoding), source.name)
    raw.seek(0)
    header = next(RecordReader(_stream(raw, source, encoding), dialect, source.max_document_bytes).records())
    _control_column(source, [decoded(value, fallback(encoding)) for value in header.fields])


def _control_column(source: Source, names: Sequence[str]) -> str:
    """Return the column on which an overlay is keyed."""
    known = columns_of(names).control
    column = source.id or known
    if column is None or column not in names:
        raise SourceError(
            f"{source.name}: an overlay is keyed on the control number, and no column is known to hold "
            f"it. Name it with --id. The columns are: {listed_columns(names)}."
        )
    if known is not None and not is_control(column):
        raise SourceError(
            f"{source.name}: an overlay is keyed on the control number, which is the column '{known}'; "
            f"--id names '{column}'. Omit --id, or omit --overlay."
        )
    return column


def _stream(raw: BinaryIO, source: Source, encoding: str) -> ByteStream:
    return ByteStream(raw, source.compression, encoding=stream_encoding(encoding))


def _is_utf8(stream: ByteStream) -> bool:
    """Whether all bytes of a stream are UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while piece := stream.read(1 << 20):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except (UnicodeDecodeError, StreamFault):
        return False
    return True
