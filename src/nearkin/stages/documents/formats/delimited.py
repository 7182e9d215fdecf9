"""CSV and TSV with a header."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

from nearkin.paths import STDIN
from nearkin.stages.documents.formats.format import CopiedStream
from nearkin.stages.documents.head import SAMPLE_RECORDS, Head, head_of_stream
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.column_samples import ColumnSample
    from nearkin.stages.documents.columns import Columns
    from nearkin.stages.documents.record_runs import Scanner
    from nearkin.stages.documents.streams import ByteStream
    from nearkin.stages.documents.table_columns import RowMask

TAB = "\t"


class DelimitedFormat(CopiedStream):
    """Records of fields under a header."""

    has_columns = True

    @abstractmethod
    def scanner(self, delimiter: str | None) -> Scanner:
        """Return the scanner that separates records."""

    def rows(self, head: Head, delimiter: str | None) -> list[list[str]]:
        """Return the fields of the header and of the first records; empty if they cannot be separated."""
        return [*_rows(head, self.scanner(delimiter))]

    def header(self, head: Head, delimiter: str | None) -> Sequence[str]:
        """Return the fields of the first line."""
        return next(_rows(head, self.scanner(delimiter or self.delimiter(head))), [])

    def records(self, head: Head, delimiter: str | None) -> Sequence[dict[str, object]]:
        """Return the header, each column with an empty value, and the first records."""
        rows = (row for row in _rows(head, self.scanner(delimiter or self.delimiter(head))) if row)
        names = next(rows, None)
        if names is None:
            return []
        records: list[dict[str, object]] = [dict.fromkeys(names, "")]
        records += [dict(zip(names, row)) for row in rows if len(row) == len(names)]
        return records

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the named columns, or guess them if the first line can be a header."""
        from nearkin.stages.documents.columns import check_header

        if text is None:
            check_header(sample.names, "Standard input" if label == STDIN else label)
        return super().choose_columns(sample, label, text=text, doc_id=doc_id)

    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `CopiedStream`."""
        from nearkin.stages.documents.delimited import read_delimited

        return read_delimited(stream, self.scanner(opened.source.delimiter), opened)

    def copy_stream(self, source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy the header and the kept records."""
        from nearkin.stages.documents.packing import copy_records

        delimiter = source.delimiter or self.delimiter(head_of_stream(stream), source.text, source.id)
        copy_records(is_kept, stream, sink, self.scanner(delimiter), source.name, source.max_document_bytes)


class Csv(DelimitedFormat):
    """Comma-separated, or by another character that dominates the header; quotes by RFC 4180."""

    name = "csv"
    listed = "CSV"
    in_words = "CSV"
    suffixes = (".csv",)

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format, or that of load files for the columns of one."""
        from nearkin.stages.documents.formats.load_file import NAME
        from nearkin.stages.documents.load_files.columns import is_for_review
        from nearkin.stages.documents.load_files.records import names_in

        return NAME if is_for_review(names_in(head.data)) else self.name

    def scanner(self, delimiter: str | None) -> Scanner:
        """Return the scanner; see `DelimitedFormat`."""
        from nearkin.stages.documents.record_runs import Scanner

        return Scanner((delimiter or ",").encode(), is_lenient=False)

    def delimiter(self, head: Head, *named: str | None) -> str:
        r"""Return a comma, unless the header has none and another character separates it.

        Most records must be separated by it too: a single text column may have a semicolon in its name.

        Examples
        --------
        >>> Csv().delimiter(Head(data=b"id;text\n1;It was\n", compression="none", is_all=True))
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
    """Tab-separated; fields that break the rule for quotes are taken literally."""

    name = "tsv"
    listed = "TSV"
    in_words = "TSV with a header"
    suffixes = (".tsv", ".tab")
    is_settled = False

    def scanner(self, delimiter: str | None) -> Scanner:
        """Return the scanner; see `DelimitedFormat`."""
        from nearkin.stages.documents.record_runs import Scanner

        return Scanner(TAB.encode(), is_lenient=True)

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format if there is a header; otherwise the lines are ids and texts."""
        first = head.data.partition(b"\n")[0].rstrip(b"\r").removeprefix(b"\xef\xbb\xbf").split(b"\t")
        is_named = text is not None and text.encode() in first
        return self.name if is_named or has_header(head, b"\t") else "lines"


def has_header(head: Head, delimiter: bytes) -> bool:
    """Whether the first line contains known names of text or id columns."""
    from nearkin.stages.documents.columns import KNOWN_NAMES

    names = head.lines[0].decode("utf-8", "replace").split(delimiter.decode())
    return not {name.strip().strip('"').casefold() for name in names}.isdisjoint(KNOWN_NAMES)


def _rows(head: Head, scanner: Scanner) -> Iterator[list[str]]:
    """Yield the fields of the header and of the first records; none if they cannot be separated."""
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
