"""Records of a stream, in blocks of whole ones: lines, or records of CSV.

A splitter says where the records of a block end. A reader parses many records at once; if that fails, it halves them
until the refused ones are nearly alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nearkin.records import I64
from nearkin.stages.documents.faults import RecordFault, StreamFault
from nearkin.stages.documents.rows import RowPiece
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.streams import ByteStream

_LF, _CR, _QUOTE = 0x0A, 0x0D, 0x22
_SLOW_RECORDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Whole records, or a place where one cannot be read.

    Parameters
    ----------
    data
        Contains the records. The memory is reused for the next block: copy what you keep.
    starts, ends : int64 array, shape (n_records,)
        Bounds of each record in ``data``, with its line end.
    lines : int64 array, shape (n_records,)
        Line on which each record begins, from 1.
    scanned
        The fields of each record, if they had to be split to find where the records end.
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

    def part(self, first: int, stop: int) -> Records:
        """Return some of the records."""
        is_there = slice(first, stop)
        return self._at(is_there, None if self.scanned is None else self.scanned[is_there])

    def only(self, is_there: NDArray[np.bool_]) -> Records:
        """Return the records that are marked."""
        rows = np.flatnonzero(is_there).tolist()
        return self._at(is_there, None if self.scanned is None else [self.scanned[row] for row in rows])

    def _at(self, place: slice | NDArray[np.bool_], scanned: Sequence[ScannedRecord] | None) -> Records:
        starts, ends, lines = self.starts[place], self.ends[place], self.lines[place]
        return Records(data=self.data, starts=starts, ends=ends, lines=lines, scanned=scanned)

    def without_line_ends(self) -> I64:
        r"""Return the ends of lines without their ``\n`` or ``\r\n``."""
        view, starts = self.view, self.starts
        ends = self.ends - (view[self.ends - 1] == _LF)
        without: I64 = ends - ((ends > starts) & (view[np.maximum(ends - 1, 0)] == _CR))
        return without


def read_pieces(
    records: Records,
    read_fast: Callable[[Records], RowPiece | None],
    read_slow: Callable[[Records], Iterator[RowPiece]],
    *,
    is_fast: bool = True,
) -> Iterator[RowPiece]:
    """Yield records as rows in order: in one piece, or more around those that ``read_fast`` refuses."""
    piece = read_fast(records) if is_fast else None
    if piece is not None:
        yield piece
    elif len(records) <= _SLOW_RECORDS or not is_fast:
        yield from read_slow(records)
    else:
        for first, stop in pairwise((0, len(records) // 2, len(records))):
            yield from read_pieces(records.part(first, stop), read_fast, read_slow)


class Splitter(Protocol):
    """Finds the ends of records."""

    def split(self, data: memoryview, line: int, *, at_end: bool) -> tuple[Records, int, int]:
        """Return the complete records, and the position and the line after them."""

    def end_in(self, piece: bytes, held: memoryview | None) -> tuple[int, int]:
        """Return the last byte of the record that goes on in a piece, or -1, and the line ends up to there."""


class LineSplitter:
    """Each line is a record."""

    def split(self, data: memoryview, line: int, *, at_end: bool) -> tuple[Records, int, int]:
        """Return the complete lines; see `Splitter`."""
        ends: I64 = np.flatnonzero(np.frombuffer(data, np.uint8) == _LF) + 1
        if at_end and len(data) and (not len(ends) or ends[-1] < len(data)):
            ends = np.append(ends, len(data))
        starts = np.concatenate([[0], ends[:-1]])[: len(ends)]
        lines = np.arange(line, line + len(ends), dtype=np.int64)
        records = Records(data=data, starts=starts, ends=ends, lines=lines)
        return records, int(ends[-1]) if len(ends) else 0, line + len(ends)

    def end_in(self, piece: bytes, held: memoryview | None) -> tuple[int, int]:
        """Return the end of the line; see `Splitter`."""
        end = piece.find(b"\n")
        return end, int(end >= 0)


def read_records(
    stream: ByteStream, splitter: Splitter, block_bytes: int, max_record_bytes: int = MAX_DOCUMENT_BYTES
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
                yield records.part(first, index)
            yield Records.of_fault(int(records.lines[index]), too_long(int(sizes[index]), max_record_bytes))
            first = index + 1
    if first < len(records):
        yield records.part(first, len(records)) if first else records


def _skip(stream: ByteStream, splitter: Splitter, held: memoryview, line: int) -> tuple[int, int]:
    """Skip the rest of a record; return the number of its bytes, and of its line ends."""
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
    """A record that was split; ``is_open``: it reached the end of the data, so that more could change it."""

    fields: list[bytes]
    end: int
    fault: RecordFault | None
    is_open: bool


@dataclass(slots=True)
class FieldSplitter:
    """Records of CSV and TSV by RFC 4180: a field that begins with a quote ends at the next one that is not doubled.

    A quote elsewhere is an ordinary character. A record that breaks the rule costs one line: reading continues with the
    next; if lenient, as in TSV, such a field is taken literally. Line ends are LF, CR LF and CR; blank lines are no
    records.
    """

    delimiter: bytes
    is_lenient: bool
    _is_quoted: bool = False
    _quoted: re.Pattern[bytes] = field(init=False, repr=False)
    _plain: re.Pattern[bytes] = field(init=False, repr=False)
    _line: re.Pattern[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compile the patterns of a field and a line."""
        self._quoted = re.compile(rb'"((?:[^"]++|"")*+)("|\Z)')
        self._plain = re.compile(rb"[^\r\n" + re.escape(self.delimiter) + rb"]*+")
        self._line = re.compile(rb"[^\r\n]*+(?:\r?\n|\r)?")

    def split(self, data: memoryview, line: int, *, at_end: bool) -> tuple[Records, int, int]:
        """Return the complete records that are not blank; see `Splitter`."""
        view, scanned = np.frombuffer(data, np.uint8), None
        ends = self._clean_ends(view, at_end=at_end)
        if ends is None:
            scanned, place = list[ScannedRecord](), 0
            while place < len(data):
                record = self.scan(data, place)
                if record.is_open and not at_end:
                    break
                scanned.append(record)
                place = record.end
            ends = np.array([record.end for record in scanned], np.int64)
        done = int(ends[-1]) if len(ends) else 0
        starts = np.concatenate([[0], ends[:-1]])[: len(ends)]
        breaks = _line_ends(view[:done], at_end=True)
        lines = line + np.searchsorted(breaks, starts)
        records = Records(data=data, starts=starts, ends=ends, lines=lines, scanned=scanned)
        is_there = ends - starts > 2
        for index in np.flatnonzero(~is_there):
            is_there[index] = bool(bytes(data[starts[index] : ends[index]]).strip(b"\r\n"))
        return records if is_there.all() else records.only(is_there), done, line + len(breaks)

    def scan(self, data: bytes | memoryview, start: int) -> ScannedRecord:
        r"""Split the record at ``start`` into fields.

        Examples
        --------
        >>> FieldSplitter(b",", is_lenient=False).scan(b'a,"b, ""c"" d"\n', 0).fields
        [b'a', b'b, "c" d']
        """
        fields, place, is_open = list[bytes](), start, False
        while True:
            value, end, may_change = self._field(data, place)
            is_open |= may_change
            if isinstance(value, str):
                match = self._line.match(data, start)
                end = start if match is None else match.end()
                is_open |= end == len(data) and data[end - 1] != _LF  # the line from which to continue
                return ScannedRecord([], end, RecordFault("damaged", f"field {len(fields) + 1}: {value}"), is_open)
            fields.append(value)
            if end == len(data):
                return ScannedRecord(fields, end, None, is_open=True)
            place = end + 1
            if data[end] != self.delimiter[0]:
                is_open |= data[end] == _CR and place == len(data)  # the second half of a line end may follow
                place += data[end] == _CR and bytes(data[place : place + 1]) == b"\n"
                return ScannedRecord(fields, place, None, is_open)

    def _field(self, data: bytes | memoryview, start: int) -> tuple[bytes | str, int, bool]:
        """Return a field or its fault, its end, and whether more data could change it."""
        match, is_open = self._quoted.match(data, start), False
        if match is not None:
            value, end, is_closed = match[1], match.end(), bool(match[2])
            is_mixed = self.is_lenient and self.delimiter in value and (b"\n" in value or b"\r" in value)
            is_at_edge = end == len(data) or data[end] in (self.delimiter[0], _CR, _LF)
            if is_closed and is_at_edge and not is_mixed:
                return value.replace(b'""', b'"'), end, False
            if not self.is_lenient and is_closed:
                return "more characters follow the closing quote", end, False
            if not self.is_lenient:
                return "the quote that opens it is never closed", end, True
            is_open = not is_closed and not is_mixed
        plain = self._plain.match(data, start)
        return (b"", start, is_open) if plain is None else (plain[0], plain.end(), is_open)

    def end_in(self, piece: bytes, held: memoryview | None) -> tuple[int, int]:
        """Return the first line end outside of quotes; see `Splitter`."""
        view = np.frombuffer(piece, np.uint8)
        breaks, quotes = _line_ends(view, at_end=True), np.flatnonzero(view == _QUOTE)
        n_lines = 0
        if held is not None:
            begun = np.frombuffer(held, np.uint8)
            n_lines = len(_line_ends(begun, at_end=False))
            self._is_quoted = bool((begun == _QUOTE).sum() % 2)
        is_outside = (np.searchsorted(quotes, breaks) + self._is_quoted) % 2 == 0
        if self.is_lenient:
            is_outside[:] = True
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
            opens = (before == self.delimiter[0]) | (before == _LF) | (before == _CR)
            if quotes[0] > 0 and not opens.any():
                quotes = quotes[:0]  # all quotes are ordinary characters
        is_outside = np.searchsorted(quotes, breaks) % 2 == 0
        if self.is_lenient and not is_outside.all():
            return None
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
        allowed[[self.delimiter[0], _CR, _LF, _QUOTE]] = True
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
