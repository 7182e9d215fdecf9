r"""Records of a load file, with their bytes.

A field that begins with the qualifier ends at the next qualifier that the separator or a line end follows; a doubled
qualifier stands for one. A qualifier elsewhere is an ordinary character: not all programs double it. A record that has
another number of fields than the header costs one line: reading continues with the next.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nearkin.nouns import counted
from nearkin.stages.documents.load_files.dialect import QUALIFIER, Dialect, decoded
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.streams import ByteStream, StreamFault

_BLOCK_BYTES = 1 << 20
_LONGEST_CHARACTER = 4
_LINE = re.compile(rb"[^\r\n]*+(\r\n|\r|\n)?")


@dataclass(frozen=True, slots=True)
class LoadRecord:
    """A record of a load file.

    Parameters
    ----------
    line : int
        Line on which it begins, from 1.
    raw : bytes
        The record with its line end.
    fields : list of bytes
        Values without qualifiers; empty if there is a problem.
    problem : str or None
    first : bytes or None
        Value of the first field of a record whose number of fields is wrong, if it ends on the first line.
    """

    line: int
    raw: bytes
    fields: list[bytes]
    problem: str | None = None
    first: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Scan:
    """Bounds of the fields of a record, each with whether it is quoted; the end of the record."""

    bounds: list[tuple[int, int, bool]]
    end: int
    problem: str | None = None
    is_open: bool = False


@dataclass(slots=True)
class RecordReader:
    """Reader of the records of a stream, the header first.

    Parameters
    ----------
    stream : ByteStream
        Bytes of the file, or its characters in UTF-8.
    dialect : Dialect
    max_record_bytes : int
        A longer record is a problem; hardly more than that is held of it.
    n_columns : int
        Number of fields of a record; taken from the first record.
    block_bytes : int
        Bytes that are read at once.
    """

    stream: ByteStream
    dialect: Dialect
    max_record_bytes: int = MAX_DOCUMENT_BYTES
    n_columns: int = 0
    block_bytes: int = _BLOCK_BYTES
    _data: bytes = b""
    _place: int = 0
    _line: int = 1
    _at_end: bool = False
    _searched: int = 0
    _closings: list[int] = field(default_factory=list)
    _fault: StreamFault | None = None

    def records(self) -> Iterator[LoadRecord]:
        """Yield all records; blank lines are none.

        Raises
        ------
        StreamFault
            The stream breaks off; all earlier complete records have been yielded.
        """
        quotes = _qualifiers(self.dialect)
        pattern = b"|".join(map(re.escape, quotes))
        separator = self.dialect.separator.encode()
        edge = re.escape(separator) + rb"|[\r\n]"
        run = re.compile(b"(?:" + pattern + b")+") if quotes else None
        closing = re.compile(b"(?:" + pattern + b")+(?=" + edge + rb"|\Z)") if quotes else None
        one = re.compile(pattern) if quotes else None
        is_byte = len(separator) == 1
        plain = re.compile(rb"[^\r\n" + re.escape(separator) + b"]*+" if is_byte else b"(?:(?!" + edge + b")[^\r\n])*+")
        scanner = _Scanner(separator=separator, quotes=quotes, run=run, closing=closing, one=one, plain=plain)
        while True:
            record = self._next(scanner)
            if record is None:
                return
            if record.raw.strip(b"\r\n"):
                yield record

    def _next(self, scanner: _Scanner) -> LoadRecord | None:
        """Return the next record or blank line; None at the end."""
        while True:
            if self._place == len(self._data) and self._at_end:
                if self._fault is not None:
                    self._fault.line = self._line
                    raise self._fault
                return None
            fast = self._next_of_one_line(scanner)
            if fast is not None:
                return fast
            data, scan = self._data, self._scan(scanner)
            n_held = len(self._data) - self._place
            is_cut = scan.is_open or (scan.problem is not None and self._has_cut_line())
            if is_cut and not self._at_end and n_held <= self.max_record_bytes:
                self._more(max(self.block_bytes, min(n_held, self.max_record_bytes + 1 - n_held)))
                continue
            if scan.end - self._place > self.max_record_bytes or (scan.is_open and not self._at_end):
                return self._first_line(too_long(None, self.max_record_bytes))
            if scan.problem is not None:
                place, found = self._place, self._first_line(scan.problem)
                is_on_line = scan.bounds and scan.bounds[0][1] <= place + len(found.raw.rstrip(b"\r\n"))
                first = scanner.value(data, *scan.bounds[0]) if is_on_line else None
                return replace(found, first=first) if first is not None and first in found.raw else found
            self.n_columns = self.n_columns or len(scan.bounds)
            fields = [scanner.value(self._data, *bounds) for bounds in scan.bounds]
            return self._taken(scan.end, fields)

    def _has_cut_line(self) -> bool:
        """Whether the end of the current line is not read yet; a line feed may follow a carriage return."""
        match = _LINE.match(self._data, self._place)
        return match is None or match[1] is None or (match[1] == b"\r" and match.end() == len(self._data))

    def _next_of_one_line(self, scanner: _Scanner) -> LoadRecord | None:
        """Return a record on one line whose fields are all quoted, or all unquoted, as nearly all records are."""
        end = self._data.find(b"\n", self._place)
        if end < 0 or not self.n_columns:
            return None
        line = self._data[self._place : end]
        if line.endswith(b"\r"):
            line = line[:-1]
        if b"\r" in line or end + 1 - self._place > self.max_record_bytes:
            return None
        fields = scanner.fields_of_line(line, self.n_columns)
        return None if fields is None else self._taken(end + 1, fields)

    def _taken(self, end: int, fields: list[bytes], problem: str | None = None) -> LoadRecord:
        raw = self._data[self._place : end]
        record = LoadRecord(self._line, raw, fields, problem)
        self._line += raw.count(b"\n") + raw.count(b"\r") - raw.count(b"\r\n")
        self._place = end
        return record

    def _first_line(self, problem: str) -> LoadRecord:
        """Return the first line that was read as a record with a problem; the rest of a longer line is skipped."""
        match = _LINE.match(self._data, self._place)
        end = len(self._data) if match is None else match.end()
        if match is not None and match[1] is None and not self._at_end:
            raw = self._data[self._place : end]
            self._data, self._place, self._closings, self._searched = b"", 0, [], 0
            self._pass_over()
            record = LoadRecord(self._line, raw, [], problem)
            self._line += 1
            return record
        return self._taken(end, [], problem)

    def _pass_over(self) -> None:
        """Skip to the end of the line."""
        while not self._at_end:
            self._more(self.block_bytes)
            end = self._data.find(b"\n")
            if end >= 0:
                self._place = end + 1
                return
            self._data = b""

    def _more(self, n_bytes: int) -> None:
        """Read more bytes; drop the records that were yielded."""
        if self._place:
            self._data = self._data[self._place :]
            self._closings = [one - self._place for one in self._closings if one >= self._place]
            self._searched = max(0, self._searched - self._place)
            self._place = 0
        try:
            piece = self.stream.read(n_bytes)
        except StreamFault as fault:
            piece, self._fault = b"", fault
        self._at_end = not piece
        self._data += piece

    def _scan(self, scanner: _Scanner) -> _Scan:
        """Find the bounds of the fields of the next record."""
        bounds: list[tuple[int, int, bool]] = []
        place, data = self._place, self._data
        while True:
            opened = scanner.opening(data, place)
            if opened is None:
                match = scanner.plain.match(data, place)
                end = place if match is None else match.end()
                bounds.append((place, end, False))
            else:
                closed = self._closing(scanner, place, opened)
                if closed is None:
                    problem = f"field {len(bounds) + 1}: the {self.dialect.qualifier} that opens it is never closed"
                    return _Scan([], len(data), problem, is_open=True)
                bounds.append((*closed, True))
                end = closed[1] + scanner.length_at(data, closed[1])
            if end == len(data):
                return self._finished(bounds, end, is_open=True)
            if not data.startswith(scanner.separator, end):
                is_cut = data[end:] == b"\r"
                after = end + (2 if data[end : end + 2] == b"\r\n" else 1)
                return self._finished(bounds, after, is_open=is_cut)
            if self.n_columns and len(bounds) > self.n_columns:
                return self._finished(bounds, end, is_open=False)
            place = end + len(scanner.separator)

    def _finished(self, bounds: list[tuple[int, int, bool]], end: int, *, is_open: bool) -> _Scan:
        if not self.n_columns or len(bounds) == self.n_columns or (is_open and not self._at_end):
            return _Scan(bounds, end, None, is_open)
        more = "or more " if len(bounds) > self.n_columns else ""
        n_fields = counted(len(bounds), "field")
        return _Scan(bounds[:1], end, f"{n_fields} {more}where the header has {self.n_columns:,}", is_open)

    def _closing(self, scanner: _Scanner, place: int, after: int) -> tuple[int, int] | None:
        """Return the bounds of the value of a quoted field whose first qualifiers reach from ``place`` to ``after``."""
        data = self._data
        sizes = [one.end() - one.start() for one in scanner.qualifiers_in(data, place, after)]
        is_closed = len(sizes) % 2 == 0 and scanner.is_edge(data, after, at_end=self._at_end)
        if is_closed:
            return place + sizes[0], after - sizes[-1]
        self._search(scanner)
        found = bisect_left(self._closings, after)
        if found == len(self._closings):
            return None
        return place + sizes[0], self._closings[found]

    def _search(self, scanner: _Scanner) -> None:
        """Find every later place where a qualifier closes a field, each once."""
        data = self._data
        place = max(self._searched, self._place)
        for run in scanner.runs_at_edges(data, place):
            if run.end() == len(data) and not self._at_end:
                break
            sizes = [one.end() - one.start() for one in scanner.qualifiers_in(data, run.start(), run.end())]
            if len(sizes) % 2:
                self._closings.append(run.end() - sizes[-1])
            place = run.end()
        if self._at_end:
            self._searched = len(data)
            return
        # a run of qualifiers, or a character, may be cut at the end of what is held
        tail = max(place, len(data) - _LONGEST_CHARACTER)
        while tail > place and data[tail] & 0xC0 == 0x80:
            tail -= 1
        while tail > place and scanner.ends_in_qualifier(data, tail):
            tail -= scanner.length_before(data, tail)
        self._searched = max(place, tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scanner:
    """Compiled patterns of a dialect."""

    separator: bytes
    quotes: tuple[bytes, ...]
    run: re.Pattern[bytes] | None
    closing: re.Pattern[bytes] | None
    one: re.Pattern[bytes] | None
    plain: re.Pattern[bytes]

    def fields_of_line(self, line: bytes, n_columns: int) -> list[bytes] | None:
        """Split a line if it is unambiguous."""
        for quote in self.quotes:
            if not line.startswith(quote):
                continue
            if not line.endswith(quote) or len(line) < 2 * len(quote):
                return None
            if sum(map(line.count, self.quotes)) != 2 * n_columns:
                return None
            fields = line[len(quote) : -len(quote)].split(quote + self.separator + quote)
            return fields if len(fields) == n_columns else None
        if any(quote in line for quote in self.quotes):
            return None
        fields = line.split(self.separator)
        return fields if len(fields) == n_columns else None

    def opening(self, data: bytes, place: int) -> int | None:
        """Return the end of the qualifiers at a place; None if there is none."""
        match = None if self.run is None else self.run.match(data, place)
        return None if match is None else match.end()

    def qualifiers_in(self, data: bytes, place: int, end: int) -> Iterator[re.Match[bytes]]:
        """Yield the qualifiers of a run."""
        return iter(()) if self.one is None else self.one.finditer(data, place, end)

    def runs_at_edges(self, data: bytes, place: int) -> Iterator[re.Match[bytes]]:
        """Yield the runs of qualifiers that a separator, a line end or the end of the data follows."""
        return iter(()) if self.closing is None else self.closing.finditer(data, place)

    def length_at(self, data: bytes, place: int) -> int:
        """Return the size of the qualifier at a place."""
        return next(len(quote) for quote in self.quotes if data.startswith(quote, place))

    def ends_in_qualifier(self, data: bytes, end: int) -> bool:
        """Whether a qualifier ends at a place."""
        return any(data.endswith(quote, 0, end) for quote in self.quotes)

    def length_before(self, data: bytes, end: int) -> int:
        """Return the size of the qualifier that ends at a place."""
        return next(len(quote) for quote in self.quotes if data.endswith(quote, 0, end))

    def is_edge(self, data: bytes, place: int, *, at_end: bool) -> bool:
        """Whether a field may end at a place."""
        if place == len(data):
            return at_end
        return data.startswith(self.separator, place) or data[place] in b"\r\n"

    def value(self, data: bytes, start: int, end: int, is_quoted: bool) -> bytes:
        """Return the value of a field: doubled qualifiers stand for one."""
        value = data[start:end]
        if is_quoted:
            for quote in self.quotes:
                value = value.replace(quote + quote, quote)
        return value


def _qualifiers(dialect: Dialect) -> tuple[bytes, ...]:
    """Return the bytes of the qualifier: þ is one byte in CP1252, and two in UTF-8; a file may mix them."""
    if not dialect.qualifier:
        return ()
    if dialect.qualifier == QUALIFIER:
        return QUALIFIER.encode(), QUALIFIER.encode("cp1252")
    return (dialect.qualifier.encode(),)


_DIGITS = re.compile(r"[0-9]+")


def control_of_damaged(record: LoadRecord, index: int, encoding: str, known: str | None) -> str | None:
    """Return the control number of a record with a problem, if it is known; None otherwise.

    It is the first field, if control numbers are the first column and the field has the form of an earlier one, which
    precedes it: a line in the middle of a damaged record may begin with any text, such as a number, and would take the
    control number of another record.

    Parameters
    ----------
    record : LoadRecord
    index : int
        Column of the control numbers.
    encoding : str
        Encoding of fields that are not UTF-8.
    known : str or None
        Control number of an earlier record.

    Examples
    --------
    >>> damaged = LoadRecord(3, b"A-03,x", [], "2 fields where the header has 3", b"A-03")
    >>> [control_of_damaged(damaged, 0, "utf-8", known) for known in ("A-02", "B-02", "A-04")]
    ['A-03', None, None]
    >>> control_of_damaged(LoadRecord(3, b"3, in the list", [], "2 fields", b"3"), 0, "utf-8", "2")
    """
    if index or record.first is None or known is None:
        return None
    found, before = decoded(record.first, encoding).strip(), known.strip()
    form = _DIGITS.sub("0", found)
    is_like = form == _DIGITS.sub("0", before) and len(found) == len(before) and found > before
    return found if is_like and "0" in form and (form != "0" or found.startswith("0")) else None
