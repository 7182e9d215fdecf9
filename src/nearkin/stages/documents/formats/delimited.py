"""CSV and TSV with a header."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

from nearkin.stages.documents.formats.format import StreamFormat
from nearkin.stages.documents.head import SAMPLE_RECORDS, Head, head_of_stream
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.record_runs import Scanner
    from nearkin.stages.documents.streams import ByteStream
    from nearkin.stages.documents.table_columns import RowMask

TAB = "\t"


class DelimitedFormat(StreamFormat):
    """Records of fields under a header."""

    has_columns = True

    @abstractmethod
    def scanner(self, delimiter: str | None) -> Scanner:
        """How records are told apart."""

    def records(self, head: Head, delimiter: str | None) -> Sequence[dict[str, object]]:
        """The header, each column with an empty value, and the first records under it."""
        rows = (row for row in _rows(head, self.scanner(delimiter or self.delimiter(head))) if row)
        names = next(rows, None)
        if names is None:
            return []
        records: list[dict[str, object]] = [dict.fromkeys(names, "")]
        records += [dict(zip(names, row)) for row in rows if len(row) == len(names)]
        return records

    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """See `StreamFormat`."""
        from nearkin.stages.documents.delimited import read_delimited

        return read_delimited(stream, self.scanner(opened.source.delimiter), opened)

    def copy_stream(self, source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy the header and the kept records."""
        from nearkin.stages.documents.kept_parts import copy_records

        delimiter = source.delimiter or self.delimiter(head_of_stream(stream), source.text, source.id)
        copy_records(is_kept, stream, sink, self.scanner(delimiter), source.name, source.max_document_bytes)


class Csv(DelimitedFormat):
    """Commas, or another sign that the header is full of; quotes by RFC 4180."""

    name = "csv"
    listed = "CSV"
    in_words = "CSV"
    suffixes = (".csv",)
    kept_suffix = ".csv"

    def scanner(self, delimiter: str | None) -> Scanner:
        """See `DelimitedFormat`."""
        from nearkin.stages.documents.record_runs import Scanner

        return Scanner((delimiter or ",").encode(), is_lenient=False)

    def delimiter(self, head: Head, *named: str | None) -> str:
        r"""A comma, unless the header has none and falls apart at another sign.

        As the records do then too, most of them: one column of texts may have a semicolon in its name.

        Examples
        --------
        >>> Csv().delimiter(Head(b"id;text\n1;It was\n", "none", is_all=True))
        ';'
        """
        from nearkin.stages.documents.columns import KNOWN_NAMES

        header = next(_rows(head, self.scanner(",")), [])
        wanted = {name for name in named if name is not None}
        if len(header) > 1 or (wanted and wanted <= set(header)):
            return ","
        best, most = ",", 1
        for delimiter in (";", TAB, "|"):
            names, *records = [*_rows(head, self.scanner(delimiter))] or [[]]
            n_alike = sum(len(record) == len(names) for record in records)
            is_known = not {name.strip().casefold() for name in names}.isdisjoint(KNOWN_NAMES)
            is_told = 2 * n_alike > len(records) if records else is_known
            if (is_told or (wanted and wanted <= set(names))) and len(names) > most:
                best, most = delimiter, len(names)
        return best


class Tsv(DelimitedFormat):
    """Tabs; what breaks the rule for quotes is taken as it stands."""

    name = "tsv"
    listed = "TSV"
    in_words = "TSV with a header"
    suffixes = (".tsv", ".tab")
    kept_suffix = ".tsv"
    is_settled = False

    def scanner(self, delimiter: str | None) -> Scanner:
        """See `DelimitedFormat`."""
        from nearkin.stages.documents.record_runs import Scanner

        return Scanner(TAB.encode(), is_lenient=True)

    def settled(self, head: Head, text: str | None) -> str:
        """Whether there is a header; else these are lines of an id and a text."""
        first = head.data.partition(b"\n")[0].rstrip(b"\r").removeprefix(b"\xef\xbb\xbf").split(b"\t")
        is_named = text is not None and text.encode() in first
        return self.name if is_named or _has_header(head, b"\t") else "lines"


def _has_header(head: Head, delimiter: bytes) -> bool:
    """Whether the first line names columns that are known as texts or ids."""
    from nearkin.stages.documents.columns import KNOWN_NAMES

    names = head.lines[0].decode("utf-8", "replace").split(delimiter.decode())
    return not {name.strip().strip('"').casefold() for name in names}.isdisjoint(KNOWN_NAMES)


def _rows(head: Head, scanner: Scanner) -> Iterator[list[str]]:
    """The fields of the header and of the first records; none where they cannot be told apart."""
    n_rows = place = 0
    while place < len(head.data) and n_rows <= SAMPLE_RECORDS:
        scanned = scanner.scan(head.data, place)
        if scanned.is_open and not head.is_all and n_rows:
            return
        place = scanned.end
        row = [value.decode("utf-8", "replace") for value in scanned.fields]
        if row != [""]:
            yield row
            n_rows += 1
