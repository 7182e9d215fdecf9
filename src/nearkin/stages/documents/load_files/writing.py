"""Records in the dialect of a load file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from nearkin.errors import OutputError
from nearkin.stages.documents.encodings import BYTE_ORDER_MARKS
from nearkin.stages.documents.load_files.dialect import Dialect
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
