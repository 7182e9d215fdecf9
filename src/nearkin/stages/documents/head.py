"""First bytes of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearkin.errors import SourceError

if TYPE_CHECKING:
    from nearkin.stages.documents.compression import Compression
    from nearkin.stages.documents.foreign import Foreign
    from nearkin.stages.documents.streams import ByteStream

HEAD_BYTES = 1 << 16
_LONG_HEAD_BYTES = 1 << 20
SAMPLE_RECORDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file, decompressed and in UTF-8.

    Parameters
    ----------
    data : bytes
    compression : {"none", "gzip", "zstd", "bzip2", "xz"}
        Determined by the first bytes, regardless of the file's name.
    is_all : bool
        Whether this is the whole file.
    table : {"parquet", "arrow"} or None
        Kind of table, if the file is one.
    kind : Foreign or None
        Kind of file, if it is neither plain text nor a table.
    mark : bytes
        Byte order mark that was removed from the beginning.
    named : str or None
        Encoding other than UTF-8 that the user named, if there is no mark.
    """

    data: bytes
    compression: Compression
    is_all: bool
    table: str | None = None
    kind: Foreign | None = None
    mark: bytes = b""
    named: str | None = None

    @property
    def encoding(self) -> str | None:
        """Encoding of the byte order mark, otherwise the encoding that the user named; None if there is neither."""
        from nearkin.stages.documents.encodings import BYTE_ORDER_MARKS

        return next((encoding for mark, encoding in BYTE_ORDER_MARKS if mark == self.mark), self.named)

    @property
    def fault(self) -> str | None:
        """Kind of file if it cannot be read as text."""
        return None if self.kind is None or self.kind.is_text else self.kind.problem

    @property
    def lines(self) -> list[bytes]:
        """The complete lines; the only line if none is complete."""
        lines = self.data.split(b"\n")
        if not self.is_all and len(lines) > 1:
            lines.pop()
        return [line.rstrip(b"\r") for line in lines]

    @property
    def is_cut_record(self) -> bool:
        """Whether even the first line is incomplete."""
        return not self.is_all and b"\n" not in self.data

    @property
    def first_lines(self) -> list[bytes]:
        """The first lines that are not blank."""
        return [line for line in self.lines if line.strip()][:SAMPLE_RECORDS]


def empty_stdin() -> SourceError:
    """Return the error for an empty pipe."""
    return SourceError("standard input is empty. Check the command before the pipe, or name a file.")


def head_of_stream(stream: ByteStream, compression: Compression = "none", *, is_cut: bool = False) -> Head:
    """Return the beginning of a stream without consuming it, enough for a complete line of reasonable length."""
    n_bytes = HEAD_BYTES
    data = stream.peek(n_bytes)
    if len(data) == n_bytes and b"\n" not in data:
        n_bytes = _LONG_HEAD_BYTES
        data = stream.peek(n_bytes)
    is_all = not is_cut and len(data) < n_bytes
    return Head(data=data, compression=compression, is_all=is_all, mark=stream.byte_order_mark())
