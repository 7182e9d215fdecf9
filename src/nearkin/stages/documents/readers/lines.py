"""Records of a stream in blocks of whole ones, lines or fields; and readers of lines, ``ID<TAB>TEXT`` or a text."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearkin.nouns import counted
from nearkin.records import I64
from nearkin.stages.documents.reader import Head, RowMask, StreamReader
from nearkin.stages.documents.rows import IdType, documents_batch, ids_of_text, problem_batch
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, RecordFault, StreamFault, too_long
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream

_LF, _CR, _QUOTE = 0x0A, 0x0D, 0x22


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Whole records, or a place where one cannot be read.

    Parameters
    ----------
    data
        Contains the records. The memory is reused for the next block: copy what you keep.
    starts, ends : int64 array, shape (n_records,)
        Bounds of each record in ``data``, with its line end.
    """

    data: memoryview
    starts: I64
    ends: I64
    lines: I64
    scanned: Sequence[ScannedRecord] | None = None
    fault: RecordFault | None = None

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of_fault(cls, line: int, fault: RecordFault) -> Records:
        """Make a place where a record cannot be read."""
        none = np.zeros(0, np.int64)
        return cls(data=memoryview(b""), starts=none, ends=none, lines=np.array([line]), fault=fault)

    @property
    def view(self) -> NDArray[np.uint8]:
        """The data as an array."""
        return np.frombuffer(self.data, np.uint8)

    def at(self, place: slice | NDArray[np.bool_]) -> Records:
        """Return some of the records."""
        rows = np.arange(len(self))[place].tolist()
        scanned = None if self.scanned is None else [self.scanned[row] for row in rows]
        starts, ends, lines = self.starts[place], self.ends[place], self.lines[place]
        return Records(data=self.data, starts=starts, ends=ends, lines=lines, scanned=scanned)

    def without_line_ends(self) -> I64:
        r"""Return the ends of lines without their ``\n`` or ``\r\n``."""
        view, starts = self.view, self.starts
        ends = self.ends - (view[self.ends - 1] == _LF)
        without: I64 = ends - ((ends > starts) & (view[np.maximum(ends - 1, 0)] == _CR))
        return without


class LineSplitter:
    """Finds the ends of records: each line is one."""

    def split(self, data: memoryview, line: int, *, at_end: bool) -> tuple[Records, int, int]:
        """Return the complete records, and the position and the line after them."""
        ends: I64 = np.flatnonzero(np.frombuffer(data, np.uint8) == _LF) + 1
        if at_end and len(data) and (not len(ends) or ends[-1] < len(data)):
            ends = np.append(ends, len(data))
        starts = np.concatenate([[0], ends[:-1]])[: len(ends)]
        lines = np.arange(line, line + len(ends), dtype=np.int64)
        records = Records(data=data, starts=starts, ends=ends, lines=lines)
        return records, int(ends[-1]) if len(ends) else 0, line + len(ends)

    def end_in(self, piece: bytes, held: memoryview | None) -> tuple[int, int]:
        """Return the last byte of the record that goes on in a piece, or -1, and the line ends up to there."""
        return line_end_in(piece)


def line_end_in(piece: bytes) -> tuple[int, int]:
    """Return the first line end, or -1, and the number of line ends up to there."""
    end = piece.find(b"\n")
    return end, int(end >= 0)


def read_records(
    stream: ByteStream, splitter: LineSplitter, block_bytes: int, max_record_bytes: int = MAX_DOCUMENT_BYTES
) -> Iterator[Records]:
    """Yield the records of blocks of about ``block_bytes`` each, larger only for longer records."""
    room = bytearray(block_bytes)
    n_held, line = 0, 1  # the beginning of a record is held until its end is read
    while True:
        try:
            n_new = stream.read_into(memoryview(room)[n_held:])
        except StreamFault as fault:
            fault.line = line
            raise
        n_held += n_new
        data = memoryview(room)[:n_held]
        records, place, line = splitter.split(data, line, at_end=not n_new)
        yield from _within(records, max_record_bytes)
        data = data[place:]
        if not n_new:
            return
        n_held = len(data)
        if n_held > max_record_bytes:
            n_skipped, n_lines = _skip(stream, splitter, data, line)
            yield Records.of_fault(line, too_long(n_held + n_skipped, max_record_bytes))
            n_held, line = 0, line + n_lines
        elif n_held > len(room) // 2 or len(room) > block_bytes:  # enlarged for a long record, and reset after it
            other = bytearray(max(block_bytes, min(2 * n_held, max_record_bytes + block_bytes)))
            other[:n_held] = data
            room = other
        else:
            room[:n_held] = bytes(data)


def _within(records: Records, max_record_bytes: int) -> Iterator[Records]:
    first = 0
    if len(records) and int(records.ends[-1] - records.starts[0]) > max_record_bytes:
        sizes = records.ends - records.starts - (records.view[records.ends - 1] == _LF)
        for index in np.flatnonzero(sizes > max_record_bytes).tolist():
            if first < index:
                yield records.at(slice(first, index))
            yield Records.of_fault(int(records.lines[index]), too_long(int(sizes[index]), max_record_bytes))
            first = index + 1
    if first < len(records):
        yield records.at(slice(first, len(records))) if first else records


def _skip(stream: ByteStream, splitter: LineSplitter, held: memoryview, line: int) -> tuple[int, int]:
    first, n_lines = [held], 0

    def end_in(piece: bytes) -> int:
        nonlocal n_lines
        end, n_passed = splitter.end_in(piece, first.pop() if first else None)
        if not piece and n_lines:
            raise StreamFault(f"a quote that opens in line {line} is never closed", line)
        n_lines += n_passed
        return end

    return stream.skip(end_in), n_lines


@dataclass(frozen=True, slots=True)
class ScannedRecord:
    """A record that was split, with the end of its bytes; a blank line has no fields."""

    fields: list[str]
    end: int
    fault: RecordFault | None = None


def other_number(n_fields: int, n_columns: int) -> RecordFault:
    """Return the fault of a record with another number of fields than the header."""
    return RecordFault("damaged", f"{counted(n_fields, 'field')} where the header has {n_columns:,}")


class _LinesAgain:
    def __init__(self, lines: list[str]) -> None:
        self.all, self.at, self.is_at_end = lines, 0, False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.is_at_end = self.at == len(self.all)
        if self.is_at_end:
            raise StopIteration
        self.at += 1
        return self.all[self.at - 1]


def legible(fields: Sequence[str]) -> list[str]:
    """Return fields with a replacement for bytes that are not UTF-8."""
    return [
        field if field.isascii() else field.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for field in fields
    ]


class FieldSplitter(LineSplitter):
    """Records of fields, as Python's `csv` reads them, strictly.

    A record that breaks the rule costs one line: reading continues with the next. Bytes that are not UTF-8 are unpaired
    surrogates in fields.
    """

    is_plain = True
    """Whether quotes and separators are single bytes, so that `_clean_ends` can find the ends of records."""

    def __init__(self, delimiter: str, quote: str = '"') -> None:
        self.delimiter, self.quote = delimiter, quote
        self._is_quoted = False

    def fault_in(self, fields: list[str], n_lines: int) -> RecordFault | None:
        """Return why fields that follow the rule for quotes are no record."""
        return None

    def mended(self, line: str) -> list[str] | None:
        """Return the fields of the first line of a record with a fault; None if it is damaged."""
        return None

    def split(self, data: memoryview, line: int, *, at_end: bool) -> tuple[Records, int, int]:
        """Return the complete records that are not blank; see `LineSplitter`."""
        view, scanned = np.frombuffer(data, np.uint8), None
        ends = self._clean_ends(view, at_end=at_end) if self.is_plain else None
        if ends is None:
            scanned = list(self.scan(bytes(data), is_all=at_end))
            ends = np.array([record.end for record in scanned], np.int64)
        done = int(ends[-1]) if len(ends) else 0
        starts = np.concatenate([[0], ends[:-1]])[: len(ends)]
        breaks = _line_ends(view[:done], at_end=True)
        lines = line + np.searchsorted(breaks, starts)
        records = Records(data=data, starts=starts, ends=ends, lines=lines, scanned=scanned)
        is_there = ends - starts > 2
        for index in np.flatnonzero(~is_there):
            is_there[index] = bool(bytes(data[starts[index] : ends[index]]).strip(b"\r\n"))
        return records if is_there.all() else records.at(is_there), done, line + len(breaks)

    def scan(self, data: bytes, *, is_all: bool) -> Iterator[ScannedRecord]:
        r"""Yield the records of data, the last one only if it is complete.

        Examples
        --------
        >>> [record.fields for record in FieldSplitter(",").scan(b'a,"b, ""c"" d"\n5" wide,e', is_all=True)]
        [['a', 'b, "c" d'], ['5" wide', 'e']]
        """
        pieces = data.splitlines(keepends=True)
        if pieces and not is_all and not pieces[-1].endswith(b"\n"):
            pieces.pop()
        lines = _LinesAgain([piece.decode("utf-8", "surrogateescape") for piece in pieces])
        csv.field_size_limit(max(csv.field_size_limit(), len(data) + 1))
        rows = csv.reader(
            lines, delimiter=self.delimiter, quotechar=self.quote or None, strict=True,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
        )  # fmt: skip
        end = 0
        while lines.at < len(pieces):
            first = lines.at
            try:
                fields = next(rows)
                fault = self.fault_in(fields, lines.at - first) if fields else None
            except csv.Error:
                if lines.is_at_end and not is_all:
                    return
                why = "the quote that opens a field is never closed"
                why = why if lines.is_at_end else "more characters follow the closing quote of a field"
                fault = RecordFault("damaged", why)
            if fault is not None:
                lines.at = first + 1
                fields = self.mended(lines.all[first].rstrip("\r\n")) or []
                fault = None if fields else fault
            end += sum(map(len, pieces[first : lines.at]))
            yield ScannedRecord(fields, end, fault)

    def end_in(self, piece: bytes, held: memoryview | None) -> tuple[int, int]:
        """Return the first line end outside of quotes; see `LineSplitter`."""
        view = np.frombuffer(piece, np.uint8)
        breaks, quotes = _line_ends(view, at_end=True), np.flatnonzero(view == _QUOTE)
        n_lines = 0
        if held is not None:
            begun = np.frombuffer(held, np.uint8)
            n_lines = len(_line_ends(begun, at_end=False))
            self._is_quoted = bool((begun == _QUOTE).sum() % 2)
        is_outside = (np.searchsorted(quotes, breaks) + self._is_quoted) % 2 == 0
        if is_outside.any():
            end = int(np.argmax(is_outside))
            return int(breaks[end]), n_lines + end + 1
        self._is_quoted ^= bool(len(quotes) % 2)
        return -1, n_lines + len(breaks)

    def _clean_ends(self, view: NDArray[np.uint8], *, at_end: bool) -> I64 | None:
        breaks = _line_ends(view, at_end=at_end)
        quotes = np.flatnonzero(view == _QUOTE)
        if len(quotes):
            before = view[quotes[quotes > 0] - 1]
            opens = (before == ord(self.delimiter)) | (before == _LF) | (before == _CR)
            if quotes[0] > 0 and not opens.any():
                quotes = quotes[:0]  # all quotes are ordinary characters
        is_outside = np.searchsorted(quotes, breaks) % 2 == 0
        ends: I64 = breaks[is_outside] + 1
        last = int(ends[-1]) if len(ends) else 0
        if at_end and last < len(view):
            if len(quotes) % 2:
                return None
            ends, last = np.append(ends, len(view)), len(view)
        if len(quotes) and not self._quotes_follow_rule(view, quotes, last):
            return None
        return ends

    def _quotes_follow_rule(self, view: NDArray[np.uint8], quotes: I64, last: int) -> bool:
        """Whether fields begin and end at the quotes before ``last``, or at all."""
        known = quotes[: np.searchsorted(quotes, last)] if last else quotes
        allowed = np.zeros(256, np.bool_)
        allowed[[ord(self.delimiter), _CR, _LF, _QUOTE]] = True
        opening, closing = known[0::2], known[1::2]
        opening = opening[opening > 0]
        closing = closing[closing < len(view) - 1]
        return bool(allowed[view[opening - 1]].all() and allowed[view[closing + 1]].all())


def _line_ends(view: NDArray[np.uint8], *, at_end: bool) -> I64:
    breaks = np.flatnonzero(view == _LF)
    returns = np.flatnonzero(view == _CR)
    if not len(returns):
        return breaks
    follows = view[np.minimum(returns + 1, len(view) - 1)]
    alone = returns[np.where(returns == len(view) - 1, at_end, follows != _LF)]
    return np.sort(np.concatenate([breaks, alone])) if len(alone) else breaks


_LONGEST_ID = 512
_COPIED_BYTES = 8 << 20
_BLANKS = (b" ", b"\t", b"\r", b"\v", b"\f")
_NO_TAB = RecordFault("damaged", "the line has no tab between an id and a text")


class LineReader(StreamReader):
    """Reader of a format whose lines are records, which are copied byte for byte."""

    def copy_stream(self, opened: OpenedSource, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy kept lines, adjacent ones in one call."""
        edit = None if opened.added is None else opened.added.json
        for block in read_records(stream, LineSplitter(), _COPIED_BYTES, opened.source.max_document_bytes):
            write_kept(block, is_kept, stream, sink, edit)


class Lines(LineReader):
    """``ID<TAB>TEXT``."""

    def begins(self, head: Head) -> bool:
        """Whether two lines, and two thirds of the first ones, have this form, without repeated ids."""
        lines = head.first_lines
        ids = [line.partition(b"\t")[0] for line in lines if b"\t" in line]
        are_ids = all(0 < len(doc_id) <= _LONGEST_ID and not re.search(rb"\s", doc_id) for doc_id in ids)
        return are_ids and len(set(ids)) == len(ids) >= 2 and 3 * len(ids) >= 2 * len(lines)

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each block that is not blank."""
        yield from _batches(stream, opened, _ids_and_texts)


class TextLines(LineReader):
    """One text per line, without an id."""

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents, one per line, without blank lines."""
        yield from _batches(stream, opened, _texts)


def _batches(
    stream: ByteStream, opened: OpenedSource, read_block: Callable[[Records, IdType], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    ids = IdType()
    for block in read_records(stream, LineSplitter(), opened.batch_bytes, opened.source.max_document_bytes):
        batch = read_block(block, ids) if block.fault is None else problem_batch(ids, int(block.lines[0]), block.fault)
        if len(batch):
            yield batch


def _texts(block: Records, ids: IdType) -> pa.RecordBatch:
    (texts,) = _slices(block, (block.starts, block.without_line_ends()))
    is_there = np.ones(len(texts), np.bool_)
    begins_blank = pc.is_in(pc.binary_slice(texts, 0, 1), value_set=pa.array([b"", *_BLANKS], texts.type))
    for index in np.flatnonzero(begins_blank.to_numpy(zero_copy_only=False)).tolist():
        is_there[index] = bool(texts[index].as_py().strip())
    return documents_batch(ids, text=texts.filter(pa.array(is_there)), line=block.lines[is_there])


def _ids_and_texts(block: Records, ids: IdType) -> pa.RecordBatch:
    tabs = np.append(np.flatnonzero(block.view == ord("\t")), len(block.data))
    starts, ends = block.starts, block.without_line_ends()
    tabs = tabs[np.searchsorted(tabs, starts)]
    is_blank = ends <= starts
    for index in np.flatnonzero(~is_blank & (tabs >= ends)):
        is_blank[index] = not bytes(block.data[starts[index] : ends[index]]).strip()
    starts, ends, tabs = starts[~is_blank], ends[~is_blank], tabs[~is_blank]
    has_no_tab = tabs >= ends
    tabs = np.where(has_no_tab, starts, tabs)
    doc_ids, texts = _slices(block, (starts, tabs), (np.where(has_no_tab, starts, tabs + 1), ends))
    problems = pa.nulls(len(starts), pa.large_string())
    if has_no_tab.any():
        mask = pa.array(has_no_tab)
        texts = pc.if_else(mask, pa.scalar(None, pa.large_binary()), texts)
        problems = pc.if_else(mask, pa.scalar(str(_NO_TAB), pa.large_string()), problems)
    return documents_batch(ids, doc_id=ids_of_text(doc_ids), text=texts, line=block.lines[~is_blank], problem=problems)


def read_plain_lines(stream: ByteStream, *, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of lines, with blank ones, because lines are identified by number."""
    for block in read_records(stream, LineSplitter(), batch_bytes):
        if block.fault is None:
            (texts,) = _slices(block, (block.starts, block.without_line_ends()))
            yield documents_batch(IdType(), text=texts, line=block.lines)
        else:
            yield problem_batch(IdType(), int(block.lines[0]), block.fault)


def _slices(block: Records, *bounds: tuple[I64, I64]) -> list[pa.Array]:
    n_rows, n_parts = len(bounds[0][0]), 2 * len(bounds)
    places = np.column_stack([place for column in bounds for place in column]).ravel()
    places = np.append(places, len(block.data)).astype(np.int64)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(block.data)]
    parts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), n_parts * n_rows, buffers)
    return [parts.take(pa.array(np.arange(2 * i, n_parts * n_rows, n_parts))) for i in range(len(bounds))]


Edit = Callable[[bytes, int], bytes]
"""Returns a copied record, of which the line is given, with more in it."""


def write_kept(block: Records, is_kept: RowMask, stream: ByteStream, sink: IO[bytes], edit: Edit | None = None) -> None:
    """Write the kept records of a block in their original encoding."""
    if block.fault is not None:
        return
    data, starts, ends = block.data, block.starts, block.ends
    mask = is_kept(block.lines)
    if edit is not None:
        for index in np.flatnonzero(mask).tolist():
            sink.write(stream.as_it_was(edit(bytes(data[starts[index] : ends[index]]), int(block.lines[index]))))
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    for first, stop in edges.reshape(-1, 2):
        if int(ends[stop - 1] - starts[first]) == int((ends[first:stop] - starts[first:stop]).sum()):
            sink.write(stream.as_it_was(bytes(data[starts[first] : ends[stop - 1]])))
        else:  # blank lines between records
            for index in range(first, stop):
                sink.write(stream.as_it_was(bytes(data[starts[index] : ends[index]])))
