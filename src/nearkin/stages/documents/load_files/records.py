r"""Records of a load file, and its encoding and delimiters, which its header line tells.

In the usual Concordance DAT the character 0x14 separates fields, þ quotes them, and ® stands for a line end inside a
field. The file is in CP1252 or UTF-8, or in UTF-16 with a byte order mark; a file that several programs wrote may have
both in one line, so each field is decoded by itself.

A field that begins with the qualifier ends at the next qualifier that the separator or a line end follows; a doubled
qualifier stands for one. A qualifier elsewhere is an ordinary character: not all programs double it. A record that has
another number of fields than the header costs one line: reading continues with the next.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nearkin.nouns import counted
from nearkin.stages.documents.encodings import is_told_by_line, is_utf8
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.streams import ByteStream

SEPARATOR, QUALIFIER, NEWLINE = "\x14", "þ", "®"
_CSV_QUALIFIER, _CSV_SEPARATORS = '"', ",;\t|"
_OTHER_SEPARATORS = "\x14|^~\x1f\x1e\x1c¶"
"""Separators of headers without a qualifier."""
MAX_COLUMNS = 4_096
_LONGEST_NAME = 200
SINGLE_BYTE = "cp1252"
_SHOWN = {"utf-8": "UTF-8", "utf-16-le": "UTF-16 LE", "utf-16-be": "UTF-16 BE", SINGLE_BYTE: "CP1252"}
_SHOWN_AS_CODE = "\x14\x1c\x1e\x1f"
_NAMED = {",": "comma", ";": "semicolon", "\t": "tab", _CSV_QUALIFIER: "double quote"}
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    r"""Encoding and delimiters of a load file.

    Parameters
    ----------
    separator : str
        Character between fields.
    qualifier : str
        Character around each field; empty if the header has none.
    newline : str
        Character that stands for a line end inside a field; empty if there is none.
    encoding : str
        Encoding of the characters, such as cp1252 or utf-16-le.

    Examples
    --------
    >>> dialect_of("þDOCIDþ\x14þTEXTPATHþ\r\nþA-1þ\x14þTEXT\\A-1.txtþ\r\n".encode("cp1252")).in_words()
    'Concordance DAT in CP1252, separator 0x14, qualifier þ, newline ®'
    >>> dialect_of(b"^DOCID^|^TEXT^\n").in_words()
    'Concordance DAT in UTF-8, separator |, qualifier ^, no newline character'
    >>> dialect_of(b"DOCID,TEXT\n").in_words()
    'CSV load file in UTF-8, separator comma, qualifier double quote'
    """

    separator: str = SEPARATOR
    qualifier: str = QUALIFIER
    newline: str = NEWLINE
    encoding: str = "utf-8"

    @property
    def is_csv(self) -> bool:
        """Whether it is CSV rather than DAT."""
        return self.qualifier in ("", _CSV_QUALIFIER) and self.separator in _CSV_SEPARATORS and not self.newline

    def in_words(self) -> str:
        """Name the dialect for a message."""
        encoding = _SHOWN.get(self.encoding, self.encoding)
        separator = f"0x{ord(self.separator):02x}" if self.separator in _SHOWN_AS_CODE else self.separator
        separator = _NAMED.get(self.separator, separator)
        qualifier = f"qualifier {_NAMED.get(self.qualifier, self.qualifier)}" if self.qualifier else "no qualifier"
        newline = f", newline {self.newline}" if self.newline else "" if self.is_csv else ", no newline character"
        kind = "CSV load file" if self.is_csv else "Concordance DAT"
        return f"{kind} in {encoding}, separator {separator}, {qualifier}{newline}"


def dialect_of(head: bytes, encoding: str | None = None) -> Dialect | None:
    """Return the dialect of a load file; None if it is not one.

    Parameters
    ----------
    head : bytes
        Its beginning, without a byte order mark; in UTF-8 if it had one.
    encoding : str or None
        Encoding that a byte order mark stands for, or that the user named; None: UTF-8, or CP1252 if the data is not
        UTF-8.
    """
    _, dialect = _header_of(head)
    return None if dialect is None else replace(dialect, encoding=encoding or _encoding_of(head))


def names_in(head: bytes) -> list[str]:
    """Return the column names of a load file's beginning; none if it is not a load file."""
    return _header_of(head)[0]


def _header_of(head: bytes) -> tuple[list[str], Dialect | None]:
    return header_of(decoded(head.partition(b"\n")[0].rstrip(b"\r")))


def header_of(line: str) -> tuple[list[str], Dialect | None]:
    r"""Return the column names of a header line and the dialect; none if it is not the header of a load file.

    Examples
    --------
    >>> header_of("^DOCID^|^TEXT^")[0], header_of("DOCID,TEXT")[1].is_csv, header_of("It was a dark night")
    (['DOCID', 'TEXT'], True, ([], None))
    """
    quote = line[:1]
    if len(line) < 2 or line.isspace():
        return [], None
    if (quote.isascii() and (quote.isalnum() or quote in "_ [(")) or quote in _OTHER_SEPARATORS[:1]:
        return _plain_header(line)
    end = line.find(quote, 1)
    if end <= 1 or not line.endswith(quote):
        return [], None
    separator = line[end + 1 : end + 2] or (SEPARATOR if quote == QUALIFIER else ",")
    names = line[1:-1].split(f"{quote}{separator}{quote}")
    if separator == quote or any(quote in name for name in names) or not _are_names(names):
        return [], None
    is_dat = quote == QUALIFIER or separator == SEPARATOR
    if quote == _CSV_QUALIFIER and separator in _CSV_SEPARATORS:
        return names, Dialect(separator=separator, qualifier=quote, newline="")
    if not is_dat and separator.isalnum():
        return [], None
    return names, Dialect(separator=separator, qualifier=quote, newline=NEWLINE if is_dat else "")


def _plain_header(line: str) -> tuple[list[str], Dialect | None]:
    """Return the names of a header without a qualifier."""
    if SEPARATOR in line:
        names, dialect = line.split(SEPARATOR), Dialect(qualifier="")
    else:
        separator = max(_CSV_SEPARATORS, key=line.count)
        names = [name.strip(_CSV_QUALIFIER) for name in line.split(separator)]
        dialect = Dialect(separator=separator, qualifier=_CSV_QUALIFIER, newline="")
        if len(names) < 2:
            return [], None
    return (names, dialect) if _are_names(names) else ([], None)


def _are_names(names: list[str]) -> bool:
    return len(names) <= MAX_COLUMNS and all(
        name.strip() and len(name) < _LONGEST_NAME and name.isprintable() for name in names
    )


def fallback(encoding: str) -> str:
    """Return the encoding of fields that are not UTF-8.

    Examples
    --------
    >>> fallback("utf-8"), fallback("cp1251")
    ('cp1252', 'cp1251')
    """
    return encoding if is_told_by_line(encoding) and not is_utf8(encoding) else SINGLE_BYTE


def decoded(data: bytes, encoding: str = SINGLE_BYTE) -> str:
    """Return the characters of bytes in UTF-8, or else in another encoding."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(encoding, "replace")


def is_utf8_so_far(head: bytes) -> bool:
    """Whether data is UTF-8 up to a character that may be cut off at its end."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _encoding_of(head: bytes) -> str:
    return "utf-8" if is_utf8_so_far(head) else SINGLE_BYTE


@dataclass(frozen=True, slots=True)
class LoadRecord:
    """A record of a load file.

    Parameters
    ----------
    line : int
        Line on which it begins, from 1.
    fields : list of str
        Values without qualifiers; empty if there is a problem.
    problem : str or None
    """

    line: int
    fields: list[str]
    problem: str | None = None


def records_of(
    stream: ByteStream,
    dialect: Dialect,
    *,
    encoding: str = SINGLE_BYTE,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    block_bytes: int = _BLOCK_BYTES,
) -> Iterator[LoadRecord]:
    """Yield the records of a load file, the header first; blank lines are none.

    Parameters
    ----------
    stream : ByteStream
    dialect : Dialect
    encoding : str
        Encoding of fields that are not UTF-8.
    max_bytes : int
        A longer record is a problem; hardly more than twice as much is held.
    block_bytes : int
        Bytes that are read at once.

    Raises
    ------
    StreamFault
        The stream breaks off; all earlier complete records have been yielded.
    """
    lines = _HeldLines(stream, block_bytes, max_bytes)
    splitter = _Splitter(dialect, lines)
    number, n_columns = 1, 0
    while lines.is_left():
        text, place = lines.text, lines.place
        end = text.find("\n", place) + 1 or len(text)
        line = text[place:end].removesuffix("\n").removesuffix("\r")
        fields, problem = list[str]() if not line else splitter.fields_of_line(line, n_columns), None
        if _is_longer(line, max_bytes):
            problem = too_long(None, max_bytes)
        elif fields is None:
            bounds, after = splitter.bounds_at(place, n_columns)
            if after is None and not lines.is_all and len(text) - place <= max_bytes:
                lines.more()
                continue
            if after is None and lines.is_all:
                lines.check_fault(number)
                problem = f"damaged: field {len(bounds) + 1}: the {dialect.qualifier} that opens it is never closed"
            elif after is not None and n_columns not in (0, len(bounds)):
                more = "or more " if len(bounds) > n_columns else ""
                problem = f"damaged: {counted(len(bounds), 'field')} {more}where the header has {n_columns:,}"
            elif after is None or _is_longer(text[place:after], max_bytes):
                problem = too_long(None, max_bytes)
            else:
                fields, end = splitter.fields_in(bounds), after
        if problem is not None:
            yield LoadRecord(number, [], problem)
        elif fields:
            n_columns = n_columns or len(fields)
            yield LoadRecord(number, [_whole(field, encoding) for field in fields])
        number += text.count("\n", place, end)
        lines.place = end
    lines.check_fault(number)


class _HeldLines:
    """Whole lines of a stream as characters, from a place that moves; bytes that are not UTF-8 are surrogates."""

    def __init__(self, stream: ByteStream, block_bytes: int, max_bytes: int) -> None:
        self._stream, self._block_bytes, self._max_bytes = stream, block_bytes, max_bytes
        self._rest = b""
        self._fault: StreamFault | None = None
        self.text, self.place, self.is_all = "", 0, False

    def is_left(self) -> bool:
        """Whether there is another line."""
        while self.place == len(self.text) and not self.is_all:
            self.more()
        return self.place < len(self.text)

    def more(self) -> None:
        """Drop what was taken, and read at least as much as is left; the rest of a line that is too long is skipped."""
        left = self.text[self.place :]
        pieces, n_bytes, end = [self._rest], len(self._rest), -1
        while end < 0 and not self.is_all:
            try:
                piece = self._stream.read(max(self._block_bytes, len(left)))
            except StreamFault as fault:
                piece, self._fault = b"", fault
            self.is_all = not piece
            end = piece.rfind(b"\n")
            if n_bytes > self._max_bytes:
                piece = piece[piece.find(b"\n") :] if end >= 0 else b""
            pieces.append(piece)
            n_bytes += len(piece)
        data = b"".join(pieces)
        n_whole = len(data) if self.is_all and self._fault is None else data.rfind(b"\n") + 1
        self.text = left + data[:n_whole].decode("utf-8", "surrogateescape")
        self.place, self._rest = 0, data[n_whole:]

    def check_fault(self, line: int) -> None:
        """Raise the fault that ended the stream, if there is one."""
        if self._fault is not None:
            self._fault.line = line
            raise self._fault


_Bounds = tuple[int, int, bool]
"""Bounds of a field, and whether it is quoted."""


class _Splitter:
    """Splits records of a dialect; þ may be written as in CP1252 and as in UTF-8, even in one line."""

    def __init__(self, dialect: Dialect, lines: _HeldLines) -> None:
        self._separator = dialect.separator
        as_single_byte = dialect.qualifier.encode(SINGLE_BYTE, "ignore").decode("utf-8", "surrogateescape")
        self._quotes = tuple({dialect.qualifier, as_single_byte} - {""})
        quote = f"[{''.join(map(re.escape, self._quotes))}]" if self._quotes else r"[^\s\S]"
        separator = re.escape(dialect.separator)
        edge = rf"{separator}|\r?\n|\r?\Z"
        self._opening = re.compile(f"{quote}++")
        self._edge = re.compile(edge)
        self._closing = re.compile(f"(?<!{quote}){quote}++(?={edge})")
        self._plain = re.compile(rf"(?:[^{separator}\r\n]|\r(?!\n|\Z))*+")
        self._doubled = re.compile(rf"({quote})\1")
        self._line_end = re.compile(r"\r?\n?")
        self._lines = lines
        self._searched, self._closings = "", list[int]()

    def fields_of_line(self, line: str, n_columns: int) -> list[str] | None:
        """Split a line whose fields are all quoted, or all unquoted, as in nearly all records; None for others."""
        quote = line[:1]
        if not n_columns:
            return None
        if quote in self._quotes:
            if len(line) < 2 or not line.endswith(quote) or sum(map(line.count, self._quotes)) != 2 * n_columns:
                return None
            fields = line[1:-1].split(f"{quote}{self._separator}{quote}")
        elif any(quote in line for quote in self._quotes):
            return None
        else:
            fields = line.split(self._separator)
        return fields if len(fields) == n_columns else None

    def bounds_at(self, place: int, n_columns: int) -> tuple[list[_Bounds], int | None]:
        """Return the bounds of the fields of a record, and its end; None if a field is never closed.

        The fields after one that is too many are not searched.
        """
        text, bounds = self._lines.text, list[_Bounds]()
        while True:
            if opening := self._opening.match(text, place):
                closing = self._closing_of(opening)
                if closing is None:
                    return bounds, None
                bounds.append((place + 1, closing, True))
                place = closing + 1
            else:
                end = place if (plain := self._plain.match(text, place)) is None else plain.end()
                bounds.append((place, end, False))
                place = end
            if not text.startswith(self._separator, place) or 0 < n_columns < len(bounds):
                line_end = self._line_end.match(text, place)
                return bounds, place if line_end is None else line_end.end()
            place += 1

    def fields_in(self, bounds: list[_Bounds]) -> list[str]:
        """Return the values of fields: of doubled qualifiers one."""
        values = ((self._lines.text[start:end], is_quoted) for start, end, is_quoted in bounds)
        return [self._doubled.sub(r"\1", value) if is_quoted else value for value, is_quoted in values]

    def _closing_of(self, opening: re.Match[str]) -> int | None:
        """Return the place of the qualifier that closes a field, of which the first ones are given; None without."""
        text, start, end = self._lines.text, *opening.span()
        if (end - start) % 2 == 0 and self._edge.match(text, end):
            return end - 1
        if text is not self._searched:  # once for what is held, so that hostile files take linear time
            runs = (run.span() for run in self._closing.finditer(text, start))
            self._closings = [after - 1 for before, after in runs if (after - before) % 2]
            self._searched = text
        found = bisect_left(self._closings, end)
        return self._closings[found] if found < len(self._closings) else None


def _is_longer(text: str, n_bytes: int) -> bool:
    return len(text) > n_bytes or (4 * len(text) > n_bytes and len(text.encode("utf-8", "surrogateescape")) > n_bytes)


def _whole(field: str, encoding: str) -> str:
    """Return a field in its own encoding."""
    if field.isascii():
        return field
    try:
        field.encode()
    except UnicodeEncodeError:
        return field.encode("utf-8", "surrogateescape").decode(encoding, "replace")
    return field
