"""Records of a CSV or TSV file: bounds and first line of each, and those that are ambiguous.

A field that begins with a quote ends at the next quote that is not doubled, and a delimiter or line end must follow;
any other quote is an ordinary character (RFC 4180, and Python's ``csv`` with ``strict=True``). While all quotes of a
stretch follow this rule, a line end is the end of a record exactly if the number of quotes before it is even, which
numpy finds without splitting records. Elsewhere records are scanned one by one.

TSV is written by some programs with quotes and by others without. A TSV field that breaks the rule, or that would
contain both a tab and a line end, is taken literally, including quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nearkin.records import I64
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.streams import ByteStream

_WINDOW_BYTES = 1 << 14
QUOTE, _CR, _LF = ord('"'), ord("\r"), ord("\n")


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive records in one piece of memory.

    Parameters
    ----------
    data : bytes
    starts, ends : int64 arrays, shape (n_records,)
        Bounds of each, including its line end; blank lines are no records.
    lines : int64 array, shape (n_records,)
        Line on which each starts, from 1.
    scanned : list of Scanned, or None
        The records already split into fields, if that was necessary; one with a problem is unreadable.
    """

    data: bytes
    starts: I64
    ends: I64
    lines: I64
    scanned: list[Scanned] | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, first: int, stop: int) -> Run:
        """Return some of the records."""
        scanned = None if self.scanned is None else self.scanned[first:stop]
        return Run(self.data, self.starts[first:stop], self.ends[first:stop], self.lines[first:stop], scanned)


@dataclass(frozen=True, slots=True)
class Scanned:
    """A record or field that was split.

    Parameters
    ----------
    fields : list of bytes
    end : int
        Its end, including a record's line end; for a record with a problem, the end of its first line.
    problem : str or None
    is_open : bool
        Whether it reached the end of the data, so that more data could change it.
    """

    fields: list[bytes]
    end: int
    problem: str | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class Scanner:
    """Splits single records by the rule above.

    Parameters
    ----------
    delimiter : bytes
        One ASCII character.
    is_lenient : bool
        Whether a field that breaks the rule is taken literally, as in TSV.
    """

    delimiter: bytes
    is_lenient: bool
    _quoted: re.Pattern[bytes] = field(init=False, repr=False)
    _plain: re.Pattern[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compile the patterns of a field."""
        delimiter = re.escape(self.delimiter)
        object.__setattr__(self, "_quoted", re.compile(rb'"((?:[^"]++|"")*+)("|\Z)'))
        object.__setattr__(self, "_plain", re.compile(rb"[^\r\n" + delimiter + rb"]*+"))

    def scan(self, data: bytes, start: int) -> Scanned:
        r"""Split the record at ``start`` into fields.

        Examples
        --------
        >>> Scanner(b",", is_lenient=False).scan(b'a,"b, ""c"" d"\n', 0).fields
        [b'a', b'b, "c" d']
        """
        fields: list[bytes] = []
        place, is_open = start, False
        while True:
            taken = self._field(data, place)
            is_open |= taken.is_open
            if taken.problem is not None:
                problem = f"damaged: field {len(fields) + 1}: {taken.problem}"
                end = self._end_of_line(data, start)
                # the line from which to continue may be incomplete
                is_open |= end == len(data) and not data.endswith(b"\n")
                return Scanned([], end, problem, is_open)
            fields += taken.fields
            place = taken.end
            if place == len(data):
                return Scanned(fields, place, None, is_open=True)
            if data[place] != self.delimiter[0]:
                # the second half of a line end may follow in the next data
                is_open |= data[place] == _CR and place + 1 == len(data)
                return Scanned(fields, self._after_break(data, place), None, is_open)
            place += 1

    def _field(self, data: bytes, start: int) -> Scanned:
        """Scan one field of a record."""
        if data[start : start + 1] != b'"':
            return self._as_it_stands(data, start, is_open=False)
        match = self._quoted.match(data, start)
        value, end = (match[1], match.end()) if match is not None else (b"", start)
        is_closed = match is not None and bool(match[2])
        is_mixed = self.delimiter in value and (b"\n" in value or b"\r" in value)
        if self.is_lenient and is_mixed:
            return self._as_it_stands(data, start, is_open=False)
        if is_closed and (end == len(data) or data[end] in (self.delimiter[0], _CR, _LF)):
            return Scanned([value.replace(b'""', b'"')], end, None, is_open=False)
        if self.is_lenient:
            return self._as_it_stands(data, start, is_open=not is_closed)
        if is_closed:
            return Scanned([], start, "more characters follow the closing quote", is_open=False)
        return Scanned([], start, "the quote that opens it is never closed", is_open=True)

    def _as_it_stands(self, data: bytes, start: int, *, is_open: bool) -> Scanned:
        """Scan a field up to the next delimiter or line end, taking quotes literally."""
        match = self._plain.match(data, start)
        end = start if match is None else match.end()
        return Scanned([data[start:end]], end, None, is_open)

    def _end_of_line(self, data: bytes, start: int) -> int:
        """Return the end of the line that begins at ``start``."""
        match = re.compile(rb"[^\r\n]*+").match(data, start)
        return self._after_break(data, start if match is None else match.end())

    @staticmethod
    def _after_break(data: bytes, place: int) -> int:
        """Return the position after the line end at ``place``."""
        return min(place + (2 if data[place : place + 2] == b"\r\n" else 1), len(data))


def cut_runs(data: bytes, line: int, scanner: Scanner, *, at_end: bool) -> tuple[list[Run], int, int]:
    """Return the runs in ``data``, the position after the last complete record, and the line there."""
    runs: list[Run] = []
    place = 0
    window = len(data)
    while place < len(data):
        stop = min(place + window, len(data))
        ends = _ends_of_clean_records(data, place, stop, scanner, at_end=at_end and stop == len(data))
        if ends is not None and len(ends):
            run, line = _clean_run(data, place, ends, line)
            runs.append(run)
            place = int(ends[-1])
            continue
        if window > _WINDOW_BYTES:
            if ends is not None and stop == len(data) and not at_end:
                return runs, place, line  # no error: only the end is missing
            window = _WINDOW_BYTES
            continue
        run, place, line = _scanned_run(data, place, stop, line, scanner, at_end=at_end)
        if len(run):
            runs.append(run)
        if place < stop:
            return runs, place, line
    return runs, place, line


def _scanned_run(
    data: bytes, start: int, stop: int, line: int, scanner: Scanner, *, at_end: bool
) -> tuple[Run, int, int]:
    """Return the split records that begin in a window, the position after them, and the line there.

    The whole window is scanned, not just what breaks the rule; otherwise files of stray quotes would take forever.
    """
    place = start
    records: list[Scanned] = []
    places: list[tuple[int, int, int]] = []
    while place < stop:
        scanned = scanner.scan(data, place)
        if scanned.is_open and not at_end:
            break
        record = data[place : scanned.end]
        if record.strip(b"\r\n"):
            records.append(scanned)
            places.append((place, scanned.end, line))
        line += _n_breaks(record)
        place = scanned.end
    starts, ends, lines = np.array(places, np.int64).reshape(-1, 3).T
    return Run(data, starts, ends, lines, records), place, line


def _ends_of_clean_records(data: bytes, start: int, stop: int, scanner: Scanner, *, at_end: bool) -> I64 | None:
    """Return the ends of the complete records from ``start`` on; None if a quote breaks the rule."""
    view = np.frombuffer(data, np.uint8)[start:stop]
    breaks = line_breaks(view, at_end=at_end)
    quotes = np.flatnonzero(view == QUOTE)
    if not _any_opens_a_field(view, quotes, scanner.delimiter):
        quotes = quotes[:0]  # all quotes are ordinary characters
    is_outside = np.searchsorted(quotes, breaks) % 2 == 0
    if scanner.is_lenient and not is_outside.all():
        return None
    outside = breaks[is_outside]
    last = int(outside[-1]) + 1 if len(outside) else 0
    if at_end and last < len(view) and len(quotes) % 2 == 0:
        outside, last = np.append(outside, len(view) - 1), len(view)
    if len(quotes) and not _quotes_follow_rule(view, quotes, last, scanner.delimiter):
        return None
    after: I64 = outside + 1 + start
    return after


def line_breaks(view: NDArray[np.uint8], *, at_end: bool) -> I64:
    """Return the last byte of each line end: LF, CR LF, or CR alone."""
    breaks = np.flatnonzero(view == _LF)
    returns = np.flatnonzero(view == _CR)
    if not len(returns):
        return breaks
    follows = view[np.minimum(returns + 1, len(view) - 1)]
    is_last = returns == len(view) - 1
    alone = returns[np.where(is_last, at_end, follows != _LF)]
    return np.sort(np.concatenate([breaks, alone])) if len(alone) else breaks


def _any_opens_a_field(view: NDArray[np.uint8], quotes: I64, delimiter: bytes) -> bool:
    """Whether any quote is at the beginning of a field."""
    if not len(quotes):
        return False
    before = view[quotes[quotes > 0] - 1]
    return bool(quotes[0] == 0 or ((before == delimiter[0]) | (before == _LF) | (before == _CR)).any())


def _quotes_follow_rule(view: NDArray[np.uint8], quotes: I64, last: int, delimiter: bytes) -> bool:
    """Whether fields begin and end at the quotes: those before ``last``, or all if there is no record yet."""
    known = quotes[: np.searchsorted(quotes, last)] if last else quotes
    allowed = np.zeros(256, np.bool_)
    allowed[[delimiter[0], _CR, _LF, QUOTE]] = True
    opening, closing = known[0::2], known[1::2]
    opening = opening[opening > 0]
    closing = closing[closing < len(view) - 1]
    return bool(allowed[view[opening - 1]].all() and allowed[view[closing + 1]].all())


def _clean_run(data: bytes, start: int, ends: I64, line: int) -> tuple[Run, int]:
    """Return the records that end at ``ends`` without the blank lines, and the line after them."""
    starts = np.concatenate([[start], ends[:-1]])
    view = np.frombuffer(data, np.uint8)[start : int(ends[-1])]
    breaks = line_breaks(view, at_end=True) + start
    lines = line + np.searchsorted(breaks, starts)
    contents = ends - starts
    is_there = contents > 2
    for index in np.flatnonzero(~is_there):
        is_there[index] = bool(data[starts[index] : ends[index]].strip(b"\r\n"))
    return Run(data, starts[is_there], ends[is_there], lines[is_there]), line + len(breaks)


def _n_breaks(record: bytes) -> int:
    """Return the number of line ends in a record."""
    return record.count(b"\n") + record.count(b"\r") - record.count(b"\r\n")


_READ_BYTES = 1 << 20
_PREFIX_BYTES = 1 << 16
_MAX_LINES = 200
_SHARE_OF_RECORDS = 0.8


def read_runs(
    stream: ByteStream, scanner: Scanner, block_bytes: int, max_record_bytes: int = MAX_DOCUMENT_BYTES
) -> Iterator[list[Run]]:
    """Yield the runs of consecutive blocks of about ``block_bytes``.

    A record of more than ``max_record_bytes`` becomes one with a problem, and hardly more than that is held of it. If
    its lines look like records, a quote in its first line is stray: then only that line is the problem, and reading
    continues after it.

    Raises
    ------
    StreamFault
        The stream breaks off; all earlier complete records have been yielded.
    """
    yield from _RunReader(stream, scanner, block_bytes, max_record_bytes).runs()


class _RunReader:
    """The part of the stream that is held: from the first record that has not been yielded yet."""

    def __init__(self, stream: ByteStream, scanner: Scanner, block_bytes: int, max_record_bytes: int) -> None:
        self._stream = stream
        self._scanner = scanner
        self._block_bytes = block_bytes
        self._max_record_bytes = max_record_bytes
        self._data = b""
        self._line = 1
        self._n_fields = 0

    def runs(self) -> Iterator[list[Run]]:
        """Yield all runs."""
        try:
            while True:
                # read no more of an unfinished record than shows that it is too long
                n_open = len(self._data)
                piece = self._stream.read(max(self._block_bytes, min(n_open, self._max_record_bytes + 1 - n_open)))
                self._data += piece
                yield from self._whole(at_end=not piece)
                if not piece:
                    return
        except StreamFault as fault:
            fault.line = self._line
            raise

    def _whole(self, *, at_end: bool) -> Iterator[list[Run]]:
        """Yield the complete records that are held."""
        while True:
            runs, place, line = cut_runs(self._data, self._line, self._scanner, at_end=at_end)
            self._n_fields = self._n_fields or _n_fields(runs, self._scanner)
            runs, long = _up_to_too_long(runs, self._max_record_bytes)
            if long is not None:
                place, line = int(long.starts[0]), int(long.lines[0])
            if runs:
                yield runs
            self._data, self._line = self._data[place:], line
            if long is None and len(self._data) <= self._max_record_bytes:
                return
            yield [self._refused()]

    def _refused(self) -> Run:
        """Return the first record of the data, which is too long, as one with a problem."""
        line, n_bytes = self._line, None
        prefix = self._data[: min(_PREFIX_BYTES, self._max_record_bytes)]
        if _looks_like_records(prefix, self._scanner, self._n_fields):
            self._data = self._data[prefix.find(b"\n") + 1 :]
            self._line += 1
        else:
            n_bytes = self._pass_over()
        scanned = Scanned([], 0, str(too_long(n_bytes, self._max_record_bytes)), is_open=False)
        return Run(b"", np.array([0]), np.array([0]), np.array([line]), [scanned])

    def _pass_over(self) -> int:
        """Skip to the first line end outside quotes; return the number of skipped bytes."""
        n_passed = n_quotes = 0
        while True:
            view = np.frombuffer(self._data, np.uint8)
            breaks = line_breaks(view, at_end=False)
            quotes = np.flatnonzero(view == QUOTE) if not self._scanner.is_lenient else np.zeros(0, np.int64)
            is_outside = (np.searchsorted(quotes, breaks) + n_quotes) % 2 == 0
            if is_outside.any():
                n_lines = int(np.argmax(is_outside)) + 1
                end = int(breaks[n_lines - 1]) + 1
                self._data, self._line = self._data[end:], self._line + n_lines
                return n_passed + end
            n_quotes, n_passed = n_quotes + len(quotes), n_passed + len(self._data)
            self._line += len(breaks)
            self._data = b""
            self._data = self._stream.read(_READ_BYTES)
            if not self._data:
                return n_passed


def _n_fields(runs: list[Run], scanner: Scanner) -> int:
    """Return the number of fields of the first record; 0 if there is none."""
    if not runs or not len(runs[0]):
        return 0
    first = runs[0]
    return len(scanner.scan(first.data, int(first.starts[0])).fields)


def _up_to_too_long(runs: list[Run], max_record_bytes: int) -> tuple[list[Run], Run | None]:
    """Return the runs before the first record that is too long, and that record."""
    for i, run in enumerate(runs):
        is_long = run.ends - run.starts > max_record_bytes
        if is_long.any():
            first = int(np.argmax(is_long))
            before = [*runs[:i], run.part(0, first)] if first else runs[:i]
            return before, run.part(first, first + 1)
    return runs, None


def _looks_like_records(prefix: bytes, scanner: Scanner, n_fields: int) -> bool:
    """Whether the lines after the first have as many fields as the header, so that a stray quote swallowed them."""
    lines = prefix.split(b"\n")[1:-1][:_MAX_LINES]
    if n_fields < 2 or not lines:
        return False
    n_alike = 0
    for line in lines:
        scanned = scanner.scan(line.rstrip(b"\r") + b"\n", 0)
        n_alike += scanned.problem is None and len(scanned.fields) == n_fields
    return n_alike >= _SHARE_OF_RECORDS * len(lines)
