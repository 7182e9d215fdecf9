"""Records in the dialect of a load file: copies of kept ones, and rows by control number."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, BinaryIO

import numpy as np

from nearkin.errors import OutputError, SourceError
from nearkin.stages.documents.columns import listed_columns
from nearkin.stages.documents.encodings import BYTE_ORDER_MARKS
from nearkin.stages.documents.load_files.columns import columns_of, is_control
from nearkin.stages.documents.load_files.dialect import Dialect, decoded, fallback
from nearkin.stages.documents.load_files.reading import dialect_in, stream_encoding
from nearkin.stages.documents.load_files.records import RecordReader, control_of_damaged
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import ByteStream, StreamFault
from nearkin.stages.documents.table_columns import RowMask
from nearkin.wording import reveal


class LoadFileWriter:
    r"""Writer of records.

    Parameters
    ----------
    sink : binary file
    dialect : Dialect

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> LoadFileWriter(file, Dialect(encoding="cp1252")).write(["A-1", "Yes"])
    >>> file.getvalue()
    b'\xfeA-1\xfe\x14\xfeYes\xfe\r\n'
    """

    def __init__(self, sink: IO[bytes], dialect: Dialect) -> None:
        self._sink = sink
        self._dialect = dialect
        if dialect.has_mark:
            sink.write(next(mark for mark, encoding in BYTE_ORDER_MARKS if encoding == dialect.encoding))

    def write(self, values: Sequence[str]) -> None:
        """Write a record.

        Raises
        ------
        OutputError
            A value cannot be written: without a qualifier it has the separator or a line end, or the encoding lacks one
            of its characters.
        """
        record = self._dialect.separator.join(map(self._field, values)) + self._dialect.line_end
        try:
            self._sink.write(record.encode(self._dialect.encoding))
        except UnicodeEncodeError as error:
            missing = reveal(record[error.start : error.end])
            raise OutputError(
                f"Cannot write the overlay of {reveal(values[0])!r}: {missing!r} is not "
                f"in {self._dialect.encoding}, the encoding of the load file. Convert the load file to UTF-8."
            ) from error

    def _field(self, value: str) -> str:
        dialect, quote = self._dialect, self._dialect.qualifier
        needs_it = any(one in value for one in (dialect.separator, "\r", "\n", *([quote] if quote else [])))
        if not quote and needs_it:
            raise OutputError(
                f"Cannot write the overlay of {reveal(value)!r}: it has the separator or a line end, and the load file "
                "has no qualifier."
            )
        if not quote or not (dialect.quotes_all or needs_it):
            return value
        return f"{quote}{value.replace(quote, quote + quote)}{quote}"


_RECORDS_AT_ONCE = 4_096


def copy_load_file(source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
    """Write the header and the kept records."""
    reader = RecordReader(stream, dialect_in(stream, source.name), source.max_document_bytes)
    records = reader.records()
    header = next(records, None)
    if header is not None:
        sink.write(stream.as_it_was(header.raw))
    while some := list(islice(records, _RECORDS_AT_ONCE)):
        kept = is_kept(np.array([one.line for one in some], np.int64))
        sink.write(stream.as_it_was(b"".join(one.raw for one, is_one in zip(some, kept, strict=True) if is_one)))


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
