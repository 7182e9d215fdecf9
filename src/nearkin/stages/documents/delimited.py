"""CSV and TSV with a header.

Records are located first (see :mod:`.record_runs`), then Arrow splits a run of them into fields; if it refuses a run,
the run is halved until the refused records are nearly alone and can be split one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

from nearkin.errors import SourceError
from nearkin.stages.documents.columns import check_unique, missing_column
from nearkin.stages.documents.keeping import KeepColumn
from nearkin.stages.documents.record_runs import Run, Scanned, Scanner, read_runs
from nearkin.stages.documents.rows import (
    IdType,
    RowList,
    RowPiece,
    ids_from_characters,
    integers_or_strings,
    one_batch,
    without_empty,
)
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream

_SLOW_RECORDS = 8
_BOM = b"\xef\xbb\xbf"


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


def read_delimited(stream: ByteStream, scanner: Scanner, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents, one for each block of records.

    Raises
    ------
    SourceError
        There is no header, or it is unreadable or lacks a column.
    """
    source, keep = opened.source, opened.keep
    name = source.name
    layout: _Layout | None = None
    ids = IdType()
    is_blank = False
    for block in read_runs(stream, scanner, opened.batch_bytes, source.max_document_bytes):
        runs = with_records(block)
        if not runs:
            is_blank = True
            continue
        if layout is None:
            header, runs = split_header(runs, scanner, name)
            layout = _Layout(
                n_columns=len(header),
                delimiter=scanner.delimiter,
                text=_index(name, header, "text", "text" if source.text is None else source.text),
                doc_id=None if source.id is None else _index(name, header, "id", source.id),
                keep=None if keep is None else _index(name, header, "keep", keep.name),
                keeper=keep or KeepColumn(""),
                carry=[header.index(column) if column in header else None for column in opened.carry],
            )
        pieces = [piece for run in with_records(runs) for piece in _read_run(run, layout)]
        if pieces:
            yield one_batch(_settled_together(pieces), ids)
    if layout is None and is_blank:
        raise SourceError(f"{name} has no header: all lines are blank.")


def with_records(runs: list[Run]) -> list[Run]:
    """Return the runs that contain more than blank lines."""
    return [run for run in runs if len(run)]


def split_header(runs: list[Run], scanner: Scanner, name: str) -> tuple[list[str], list[Run]]:
    """Return the names of the columns, and the runs without the header."""
    first = runs[0]
    taken = first.scanned[0] if first.scanned is not None else scanner.scan(first.data, int(first.starts[0]))
    if taken.problem is not None:
        raise SourceError(f"{name}: cannot read the header in line {first.lines[0]}: {taken.problem}.")
    rest = first.part(1, len(first))
    return [value.decode("utf-8", "replace") for value in taken.fields], [rest, *runs[1:]]


def _index(name: str, header: list[str], parameter: str, column: str) -> int:
    """Return the index of a column."""
    if column not in header:
        raise missing_column(name, parameter, column, header)
    check_unique(name, {parameter: column}, header)
    return header.index(column)


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
            problem = f"damaged: {_n_fields(len(fields))} where the header has {layout.n_columns}"
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
        carried=[integers_or_strings(_characters(values)) for values in piece.carried],
    )


def _characters(values: pa.Array) -> pa.Array:
    return named(values) if pa.types.is_large_binary(values.type) else values


def _n_fields(n_fields: int) -> str:
    return f"{n_fields} field{'' if n_fields == 1 else 's'}"


def named(values: pa.Array) -> pa.Array:
    """Return ids read as characters; empty ones become null."""
    return without_empty(ids_from_characters(values))


def _with_settled_ids(piece: RowPiece) -> RowPiece:
    """Convert ids to integers if all of them are integers."""
    return replace(piece, doc_id=integers_or_strings(piece.doc_id))


def _settled_together(pieces: list[RowPiece]) -> list[RowPiece]:
    """Convert the ids of the pieces of a batch to integers if all of them are integers."""
    settled = [_with_settled_ids(piece) for piece in pieces]
    return settled if {piece.doc_id.type for piece in settled} <= {pa.int64(), pa.null()} else pieces
