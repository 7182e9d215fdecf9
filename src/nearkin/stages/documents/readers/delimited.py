"""CSV and TSV with a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO

import pyarrow as pa
import pyarrow.csv

from nearkin.errors import SourceError
from nearkin.paths import STDIN
from nearkin.stages.documents.columns import (
    KNOWN_NAMES,
    Columns,
    ColumnSample,
    check_header,
    check_unique,
    choose_columns,
    missing_column,
    sample_of_records,
)
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.reader import SAMPLE_RECORDS, Head, RowMask, StreamReader, head_of_stream
from nearkin.stages.documents.readers.lines import (
    FieldSplitter,
    Records,
    ScannedRecord,
    legible,
    line_end_in,
    other_number,
    read_records,
    write_kept,
)
from nearkin.stages.documents.rows import IdType, Row, RowList, documents_batch, ids_of_text, problem_batch
from nearkin.stages.documents.rules import RecordFault
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.values import KeepColumn, joined_columns, joined_fields, text_names

TAB = "\t"
_COPIED_BYTES = 8 << 20
_BOM = b"\xef\xbb\xbf"


class DelimitedReader(StreamReader):
    """Records of fields under a header."""

    def splitter(self, delimiter: str | None) -> FieldSplitter:
        """Return the splitter that separates records."""
        raise NotImplementedError

    def delimiter(self, head: Head, *named: str | None) -> str | None:
        """Return the column separator if it varies between files; ``named`` are the named columns."""
        return None

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns of the header, and of the first records."""
        delimiter = source.delimiter or self.delimiter(head, source.text, source.id)
        rows = [row for row in _rows(head, self.splitter(delimiter)) if row]
        if not rows:
            return None
        names = rows[0]
        records: list[dict[str, object]] = [dict.fromkeys(names, "")]
        records += [dict(zip(names, row)) for row in rows[1:] if len(row) == len(names)]
        return sample_of_records(records, header=names, delimiter=delimiter)

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the named columns, or guess them if the first line can be a header."""
        if text is None:
            check_header(sample.names, "Standard input" if label == STDIN else label)
        return choose_columns(sample, label, text=text, doc_id=doc_id)

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each block of records; SourceError without a header or a column."""
        source, splitter = opened.source, self.splitter(opened.source.delimiter)
        layout: FieldLayout | None = None
        ids, has_lines = IdType(), bool(stream.peek(1))
        for block in read_records(stream, splitter, opened.batch_bytes, source.max_document_bytes):
            records = block
            if layout is None:
                header, records = _split_header(block, splitter, source.name)
                layout = FieldLayout.of(header, opened, "text")
            if records.fault is not None:
                yield problem_batch(ids, int(records.lines[0]), records.fault)
            elif len(records):
                yield _read(records, layout, splitter, opened.keep, ids)
        if layout is None and has_lines:
            raise SourceError(f"{source.name} has no header: all lines are blank.")

    def copy_stream(self, opened: OpenedSource, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy the header and the kept records."""
        source, added = opened.source, opened.added
        splitter = self.splitter(source.delimiter or self.delimiter(head_of_stream(stream), source.text, source.id))
        edit = None if added is None else partial(added.delimited, delimiter=splitter.delimiter.encode())
        is_first = True
        for block in read_records(stream, splitter, _COPIED_BYTES, source.max_document_bytes):
            records = block
            if is_first:
                _, records = _split_header(block, splitter, source.name)
                header = bytes(block.data[block.starts[0] : block.ends[0]])
                sink.write(stream.as_it_was(header if edit is None else edit(header, None)))
                is_first = False
            write_kept(records, is_kept, stream, sink, edit)


class Csv(DelimitedReader):
    """Comma-separated, or by another character of the header; quotes by RFC 4180."""

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format, or that of load files for the columns of one."""
        return "load-file" if _is_load_file(head) else "csv"

    def splitter(self, delimiter: str | None) -> FieldSplitter:
        """Return the splitter; see `DelimitedReader`."""
        return FieldSplitter(delimiter or ",")

    def delimiter(self, head: Head, *named: str | None) -> str:
        r"""Return a comma, unless another character separates the header and most records.

        Examples
        --------
        >>> Csv().delimiter(Head(data=b"id;text\n1;It was\n", compression="none", is_all=True))
        ';'
        """
        header = next(_rows(head, self.splitter(",")), [])
        if len(header) > 1 or _are_columns(named, header):
            return ","
        best, most = ",", 1
        for delimiter in (";", TAB, "|"):
            names, *records = [*_rows(head, self.splitter(delimiter))] or [[]]
            n_alike = sum(len(record) == len(names) for record in records)
            is_known = not {name.strip().casefold() for name in names}.isdisjoint(KNOWN_NAMES)
            is_told = 2 * n_alike > len(records) if records else is_known
            if (is_told or _are_columns(named, names)) and len(names) > most:
                best, most = delimiter, len(names)
        return best


class _TsvSplitter(FieldSplitter):
    def fault_in(self, fields: list[str], n_lines: int) -> RecordFault | None:
        is_mixed = n_lines > 1 and any(self.delimiter in value for value in fields)
        return RecordFault("damaged", "a field in quotes has tabs and line ends") if is_mixed else None

    def mended(self, line: str) -> list[str]:
        return line.split(self.delimiter)

    def end_in(self, piece: bytes, held: memoryview | None) -> tuple[int, int]:
        return line_end_in(piece)


class Tsv(DelimitedReader):
    """Tab-separated; a line that breaks the rule for quotes is taken literally."""

    def splitter(self, delimiter: str | None) -> FieldSplitter:
        """Return the splitter; see `DelimitedReader`."""
        return _TsvSplitter(TAB)

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format, or that of load files; without a header, the lines are ids and texts."""
        if _is_load_file(head):
            return "load-file"
        first = head.data.partition(b"\n")[0].rstrip(b"\r").removeprefix(b"\xef\xbb\xbf").split(b"\t")
        is_named = text is not None and _are_columns((text,), [name.decode("utf-8", "replace") for name in first])
        return "tsv" if is_named or has_header(head, b"\t") else "lines"


def _is_load_file(head: Head) -> bool:
    return bool(FORMATS["load-file"].reader.is_for_review(head))


def _are_columns(named: Sequence[str | None], names: Sequence[str]) -> bool:
    parts = [part for name in named if name is not None for part in text_names(name, names)]
    return bool(parts) and set(parts) <= set(names)


def has_header(head: Head, delimiter: bytes) -> bool:
    """Whether the first line contains known names of text or id columns."""
    names = head.lines[0].decode("utf-8", "replace").split(delimiter.decode())
    return not {name.strip().strip('"').casefold() for name in names}.isdisjoint(KNOWN_NAMES)


def _rows(head: Head, splitter: FieldSplitter) -> Iterator[list[str]]:
    rows = (record.fields for record in splitter.scan(head.data, is_all=head.is_all))
    return islice((legible(row) for row in rows if row), SAMPLE_RECORDS + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldLayout:
    """Places of the wanted columns among the fields of a record."""

    n_columns: int
    text: Sequence[int]
    doc_id: int | None
    keep: int | None
    carry: list[int | None]

    @classmethod
    def of(cls, header: list[str], opened: OpenedSource, text: str) -> FieldLayout:
        """Find the columns, ``text`` if none is named; SourceError if one is missing or not unique."""
        source, keep = opened.source, opened.keep

        def index(parameter: str, column: str) -> int:
            if column not in header:
                raise missing_column(source.name, parameter, column, header)
            check_unique(source.name, {parameter: column}, header)
            return header.index(column)

        return cls(
            n_columns=len(header),
            text=[index("text", name) for name in text_names(source.text or text, header)],
            doc_id=None if source.id is None else index("id", source.id),
            keep=None if keep is None else index("keep", keep.name),
            carry=[header.index(column) if column in header else None for column in opened.carry],
        )

    def row(
        self,
        line: int,
        fields: Sequence[bytes],
        text: bytes | None,
        problem: RecordFault | None = None,
        parent: str | None = None,
    ) -> Row:
        """Return the row of a record."""
        doc_id, keep = (None if index is None else fields[index] for index in (self.doc_id, self.keep))
        carried = [None if index is None else fields[index] or None for index in self.carry]
        return Row(line, doc_id or None, text, problem, keep, parent, carried=carried)


def _split_header(records: Records, splitter: FieldSplitter, name: str) -> tuple[list[str], Records]:
    fault = records.fault
    if fault is None:
        header = _scanned(records.at(slice(1)), splitter)[0]
        if header.fault is None:
            return legible(header.fields), records.at(slice(1, None))
        fault = header.fault
    raise SourceError(f"{name}: cannot read the header in line {records.lines[0]}: {fault}.")


def _scanned(records: Records, splitter: FieldSplitter) -> Sequence[ScannedRecord]:
    if records.scanned is not None:
        return records.scanned
    data = bytes(records.data[records.starts[0] : records.ends[-1]])
    return [record for record in splitter.scan(data, is_all=True) if record.fields or record.fault]


def _read(
    records: Records, layout: FieldLayout, splitter: FieldSplitter, keep: KeepColumn | None, ids: IdType
) -> pa.RecordBatch:
    table = _arrow_table(records, layout, splitter.delimiter) if records.scanned is None else None
    if table is None:
        return _one_by_one(_scanned(records, splitter), records.lines.tolist(), layout, keep, ids)

    def column(index: int) -> pa.Array:
        return pa.concat_arrays(table.column(str(index)).chunks)

    return documents_batch(
        ids,
        doc_id=None if layout.doc_id is None else ids_of_text(column(layout.doc_id)),
        text=joined_columns([column(index) for index in layout.text]).cast(pa.large_binary()).fill_null(b""),
        line=records.lines,
        keep_value=None if keep is None or layout.keep is None else keep.numbers(column(layout.keep), is_text=True),
        carried=[pa.nulls(len(records)) if index is None else ids_of_text(column(index)) for index in layout.carry],
    )


def _arrow_table(records: Records, layout: FieldLayout, delimiter: str) -> pa.Table | None:
    start, end = int(records.starts[0]), int(records.ends[-1])
    if bytes(records.data[start : start + len(_BOM)]) == _BOM:  # Arrow would remove it even in the middle of the file
        return None
    buffer = pa.py_buffer(records.data)[start:end]
    names = [str(index) for index in range(layout.n_columns)]
    wanted = [str(index) for index in (*layout.text, layout.doc_id, layout.keep, *layout.carry) if index is not None]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(buffer),
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=buffer.size + 64, column_names=names),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=True),
            convert_options=pa.csv.ConvertOptions(
                check_utf8=False,
                include_columns=list(dict.fromkeys(wanted)),
                column_types=dict.fromkeys(wanted, pa.binary()),
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):  # the latter if the message quotes invalid UTF-8
        return None
    return table if len(table) == len(records) else None


def _one_by_one(
    records: Sequence[ScannedRecord], lines: list[int], layout: FieldLayout, keep: KeepColumn | None, ids: IdType
) -> pa.RecordBatch:
    rows = RowList(keep=keep, are_characters=True, ids=ids)
    for record, line in zip(records, lines, strict=True):
        n_fields, fault = len(record.fields), record.fault
        if fault is None and n_fields != layout.n_columns:
            fault = other_number(n_fields, layout.n_columns)
        if fault is not None:
            rows.add(Row(line, problem=fault))
            continue
        fields = [value.encode("utf-8", "surrogateescape") for value in record.fields]
        rows.add(layout.row(line, fields, joined_fields([fields[index] for index in layout.text])))
    return rows.batch()
