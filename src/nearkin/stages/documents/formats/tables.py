"""Tables in files that name their columns and types: Parquet and Arrow. Other code treats them alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO, TYPE_CHECKING, BinaryIO, ClassVar

from nearkin.stages.documents.foreign import ARROW_FILE, ARROW_STREAM, PARQUET
from nearkin.stages.documents.formats.format import Format
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.column_samples import ColumnSample
    from nearkin.stages.documents.head import Head
    from nearkin.stages.documents.streams import Progress
    from nearkin.stages.documents.table_columns import RowMask, TableFile


class TableFormat(Format):
    """A format of tables.

    Attributes
    ----------
    magic : tuple of bytes
        Possible first bytes of a file.
    """

    magic: ClassVar[tuple[bytes, ...]]
    has_columns = True
    has_types = True
    is_unmistakable = True

    @abstractmethod
    def opened(self, raw: BinaryIO, name: str) -> AbstractContextManager[TableFile]:
        """Open a file as a table for a block; ``name`` is for messages.

        Raises
        ------
        SourceError
            The file is not in this format.
        StreamFault
            The file is in this format, but truncated or damaged.
        """

    @contextmanager
    def at(self, path: str, name: str) -> Iterator[TableFile]:
        """Open a file on a disk as a table.

        Raises
        ------
        SourceError
            The file is not in this format.
        TruncatedInputError
            The file is too damaged to open.
        """
        from nearkin.stages.documents.faults import truncated_input
        from nearkin.stages.documents.streams import StreamFault

        with open(path, "rb", buffering=0) as raw:
            try:
                with self.opened(raw, name) as table:
                    yield table
            except StreamFault as fault:
                raise truncated_input(name, fault, 0) from fault

    def sample_of_file(self, path: str, name: str) -> ColumnSample:
        """Return the columns of the first rows; damage inside the file is left to later readers. Errors as for `at`."""
        from nearkin.stages.documents.column_samples import sample_of_table
        from nearkin.stages.documents.streams import StreamFault
        from nearkin.stages.documents.table_columns import SAMPLE_ROWS

        with self.at(path, name) as table:
            try:
                rows = table.first_rows(SAMPLE_ROWS)
            except StreamFault:
                rows = table.schema.empty_table()
            return sample_of_table(rows)

    def is_begun_by(self, head: Head) -> bool:
        """Whether the first bytes, as stored, are those of a table."""
        return head.table == self.name

    def problem(self, head: Head) -> str | None:
        """Return a problem if the file is compressed as a whole, since it is read at many places."""
        if head.compression == "none":
            return None
        return f"this is {self.a_file} that is compressed as a whole with {head.compression}. Decompress it first."

    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of rows."""
        from nearkin.stages.documents.table_columns import read_table_file

        with self.opened(opened.raw, opened.source.name) as table:
            yield from read_table_file(table, opened)


class Parquet(TableFormat):
    """Parquet files."""

    name = "parquet"
    listed = "Parquet"
    in_words = "Parquet"
    a_file = "a Parquet file"
    suffixes = (".parquet", ".pq")
    magic = (PARQUET,)

    def opened(self, raw: BinaryIO, name: str) -> AbstractContextManager[TableFile]:
        """Open a file; see `TableFormat`."""
        from nearkin.stages.documents.parquet import ParquetTable

        return ParquetTable.opened(raw, name)

    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """Copy kept rows with all columns; see `Copied`."""
        from nearkin.stages.documents.parquet import ParquetTable

        with ParquetTable.opened(raw, source.name) as table:
            table.copy_rows(is_kept, file)
        progress(source.size_bytes)


class Arrow(TableFormat):
    """Arrow IPC: files, including Feather version 2, and streams."""

    name = "arrow"
    listed = "Arrow"
    in_words = "Arrow"
    a_file = "an Arrow file"
    suffixes = (".arrow", ".feather", ".ipc")
    magic = (ARROW_FILE, ARROW_STREAM)

    def opened(self, raw: BinaryIO, name: str) -> AbstractContextManager[TableFile]:
        """Open a file; see `TableFormat`."""
        from nearkin.stages.documents.arrow_ipc import ArrowTable

        return ArrowTable.opened(raw, name)


TABLES: dict[str, TableFormat] = {table.name: table for table in (Parquet(), Arrow())}


def table_begun_by(data: bytes) -> TableFormat | None:
    """Return the format of a table that begins with these bytes.

    Examples
    --------
    >>> table_begun_by(b"PAR1...").a_file
    'a Parquet file'
    """
    return next((table for table in TABLES.values() if data.startswith(table.magic)), None)
