"""CSV and TSV with a header.

Records are located first (see :mod:`.record_runs`), then Arrow splits a run of them into fields; if it refuses a run,
the run is halved until the refused records are nearly alone and can be split one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import IO

import pyarrow as pa
import pyarrow.csv

from nearkin.errors import SourceError
from nearkin.nouns import counted
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
from nearkin.stages.documents.head import SAMPLE_RECORDS, Head, head_of_stream
from nearkin.stages.documents.keeping import KeepColumn
from nearkin.stages.documents.reader import RowMask, StreamReader
from nearkin.stages.documents.readers.lines import write_kept_parts
from nearkin.stages.documents.readers.record_runs import Run, Scanned, Scanner, read_runs
from nearkin.stages.documents.rows import IdType, RowList, RowPiece, integers_or_strings, named, one_batch
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream

TAB = "\t"
_SLOW_RECORDS = 8
_COPIED_BYTES = 8 << 20
_BOM = b"\xef\xbb\xbf"


class DelimitedReader(StreamReader):
    """Records of fields under a header."""

    def scanner(self, delimiter: str | None) -> Scanner:
        """Return the scanner that separates records."""
        raise NotImplementedError

    def delimiter(self, head: Head, *named: str | None) -> str | None:
        """Return the column separator if it varies between files; ``named`` are the named columns."""
        return None

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns of the header, each with an empty value, and of the first records."""
        delimiter = source.delimiter or self.delimiter(head, source.text, source.id)
        rows = [row for row in _rows(head, self.scanner(delimiter)) if row]
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
        """Yield batches of documents, one for each block of records.

        Raises
        ------
        SourceError
            There is no header, or it is unreadable or lacks a column.
        """
        source, scanner = opened.source, self.scanner(opened.source.delimiter)
        layout: _Layout | None = None
        ids, is_blank = IdType(), False
        for block in read_runs(stream, scanner, opened.batch_bytes, source.max_document_bytes):
            runs = [run for run in block if len(run)]
            if not runs:
                is_blank = True
                continue
            if layout is None:
                header, runs = _split_header(runs, scanner, source.name)
                layout = _Layout.of(header, scanner, opened)
            pieces = [piece for run in runs if len(run) for piece in _read_run(run, layout)]
            if pieces:
                yield one_batch(_with_settled_ids(pieces), ids)
        if layout is None and is_blank:
            raise SourceError(f"{source.name} has no header: all lines are blank.")

    def copy_stream(self, opened: OpenedSource, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy the header and the kept records."""
        source, added = opened.source, opened.added
        scanner = self.scanner(source.delimiter or self.delimiter(head_of_stream(stream), source.text, source.id))
        edit = None if added is None else partial(added.delimited, delimiter=scanner.delimiter)
        is_first = True
        for block in read_runs(stream, scanner, _COPIED_BYTES, source.max_document_bytes):
            runs = [run for run in block if len(run)]
            if runs and is_first:
                header = runs[0].data[: int(runs[0].ends[0])]
                sink.write(stream.as_it_was(header if edit is None else edit(header, None)))
                _, runs = _split_header(runs, scanner, source.name)
                is_first = False
            for run in runs:
                data, lines = memoryview(run.data), run.lines
                write_kept_parts(data, run.starts, run.ends, lines, is_kept(lines), stream, sink, edit)


class Csv(DelimitedReader):
    """Comma-separated, or by another character that dominates the header; quotes by RFC 4180."""

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format, or that of load files for the columns of one."""
        from nearkin.stages.documents.readers.load_records import is_for_review, names_in

        return "load-file" if is_for_review(names_in(head.data)) else "csv"

    def scanner(self, delimiter: str | None) -> Scanner:
        """Return the scanner; see `DelimitedReader`."""
        return Scanner((delimiter or ",").encode(), is_lenient=False)

    def delimiter(self, head: Head, *named: str | None) -> str:
        r"""Return a comma, unless the header has none and another character separates it.

        Most records must be separated by it too: a single text column may have a semicolon in its name.

        Examples
        --------
        >>> Csv().delimiter(Head(data=b"id;text\n1;It was\n", compression="none", is_all=True))
        ';'
        """
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


class Tsv(DelimitedReader):
    """Tab-separated; fields that break the rule for quotes are taken literally."""

    def scanner(self, delimiter: str | None) -> Scanner:
        """Return the scanner; see `DelimitedReader`."""
        return Scanner(TAB.encode(), is_lenient=True)

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format if there is a header; otherwise the lines are ids and texts."""
        first = head.data.partition(b"\n")[0].rstrip(b"\r").removeprefix(b"\xef\xbb\xbf").split(b"\t")
        is_named = text is not None and text.encode() in first
        return "tsv" if is_named or has_header(head, b"\t") else "lines"


def has_header(head: Head, delimiter: bytes) -> bool:
    """Whether the first line contains known names of text or id columns."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Number of columns, and the wanted ones."""

    n_columns: int
    delimiter: bytes
    text: int
    doc_id: int | None
    keep: int | None
    keeper: KeepColumn
    carry: list[int | None]

    @classmethod
    def of(cls, header: list[str], scanner: Scanner, opened: OpenedSource) -> _Layout:
        source, keep = opened.source, opened.keep

        def index(parameter: str, column: str) -> int:
            if column not in header:
                raise missing_column(source.name, parameter, column, header)
            check_unique(source.name, {parameter: column}, header)
            return header.index(column)

        return cls(
            n_columns=len(header),
            delimiter=scanner.delimiter,
            text=index("text", "text" if source.text is None else source.text),
            doc_id=None if source.id is None else index("id", source.id),
            keep=None if keep is None else index("keep", keep.name),
            keeper=keep or KeepColumn(""),
            carry=[header.index(column) if column in header else None for column in opened.carry],
        )


def _split_header(runs: list[Run], scanner: Scanner, name: str) -> tuple[list[str], list[Run]]:
    """Return the names of the columns, and the runs without the header."""
    first = runs[0]
    taken = first.scanned[0] if first.scanned is not None else scanner.scan(first.data, int(first.starts[0]))
    if taken.problem is not None:
        raise SourceError(f"{name}: cannot read the header in line {first.lines[0]}: {taken.problem}.")
    rest = first.part(1, len(first))
    return [value.decode("utf-8", "replace") for value in taken.fields], [rest, *runs[1:]]


def _read_run(run: Run, layout: _Layout) -> Iterator[RowPiece]:
    """Yield the records of a run as pieces in order, with unchanged ids."""
    if run.scanned is not None:
        yield _piece_of_scanned(run.scanned, run.lines.tolist(), layout)
        return
    piece = _read_fast(run, layout)
    if piece is not None:
        yield piece
    elif len(run) <= _SLOW_RECORDS:
        scanner = Scanner(layout.delimiter, is_lenient=False)  # quotes in the run follow the rule
        scanned = [scanner.scan(run.data, int(start)) for start in run.starts]
        yield _piece_of_scanned(scanned, run.lines.tolist(), layout)
    else:
        for first, stop in pairwise((0, len(run) // 2, len(run))):
            yield from _read_run(run.part(first, stop), layout)


def _read_fast(run: Run, layout: _Layout) -> RowPiece | None:
    """Read a run with Arrow; return None if it refuses."""
    start, end = int(run.starts[0]), int(run.ends[-1])
    if run.data.startswith(_BOM, start):  # Arrow would remove it even in the middle of the file
        return None
    buffer = pa.py_buffer(run.data)[start:end]
    names = [str(index) for index in range(layout.n_columns)]
    wanted = [str(index) for index in (layout.text, layout.doc_id, layout.keep, *layout.carry) if index is not None]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(buffer),
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=buffer.size + 64, column_names=names),
            parse_options=pa.csv.ParseOptions(
                delimiter=layout.delimiter.decode(), newlines_in_values=True, ignore_empty_lines=True
            ),
            convert_options=pa.csv.ConvertOptions(
                check_utf8=False,
                include_columns=list(dict.fromkeys(wanted)),
                column_types=dict.fromkeys(wanted, pa.binary()),
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):  # the latter if the message quotes invalid UTF-8
        return None
    if len(table) != len(run):
        return None

    def column(index: int) -> pa.Array:
        return pa.concat_arrays(table.column(str(index)).chunks)

    return RowPiece(
        doc_id=None if layout.doc_id is None else named(column(layout.doc_id)),
        text=column(layout.text).cast(pa.large_binary()),
        line=run.lines,
        keep_value=None if layout.keep is None else layout.keeper.of_characters(column(layout.keep)),
        carried=[
            pa.nulls(len(run)) if index is None else integers_or_strings(named(column(index))) for index in layout.carry
        ],
    )


def _piece_of_scanned(records: list[Scanned], lines: list[int], layout: _Layout) -> RowPiece:
    """Return records that were split one by one; each bad one becomes a row with its problem."""
    rows = RowList()
    keeps: list[bytes | None] = []
    for record, line in zip(records, lines, strict=True):
        fields, problem = record.fields, record.problem
        if problem is None and len(fields) != layout.n_columns:
            problem = f"damaged: {counted(len(fields), 'field')} where the header has {layout.n_columns}"
        if problem is not None:
            rows.add(line, problem=problem)
            keeps.append(None)
            continue
        doc_id = b"" if layout.doc_id is None else fields[layout.doc_id]
        carried = [None if index is None else fields[index] or None for index in layout.carry]
        rows.add(line, doc_id or None, fields[layout.text], carried=carried)
        keeps.append(None if layout.keep is None else fields[layout.keep])
    piece = rows.piece()
    doc_ids = named(pa.array(rows.doc_ids, pa.large_binary()))
    return replace(
        piece,
        doc_id=doc_ids,
        keep_value=layout.keeper.of_characters(pa.array(keeps, pa.binary())),
        carried=[integers_or_strings(values) for values in piece.carried],
    )


def _with_settled_ids(pieces: list[RowPiece]) -> list[RowPiece]:
    """Convert the ids of the pieces of a batch to integers if all of them are integers."""
    settled = [replace(piece, doc_id=integers_or_strings(piece.doc_id)) for piece in pieces]
    return settled if {piece.doc_id.type for piece in settled} <= {pa.int64(), pa.null()} else pieces
