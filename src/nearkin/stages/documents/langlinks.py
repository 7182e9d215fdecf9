"""The table ``langlinks`` of a wiki in a MySQL dump: for each page its titles in other languages.

Source: "Manual:Langlinks table" of mediawiki.org; "String Literals" of the MySQL reference manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nearkin.errors import SourceError
from nearkin.stages.documents.streams import ByteStream, StreamFault

_READ_BYTES = 1 << 20
_MAX_OF_A_ROW = 1 << 16
"""Maximum length of a row: it has a number, a code and a title of at most 255 bytes."""
_INSERT = re.compile(rb"INSERT INTO `langlinks`(?: \([^)]{0,200}\))? VALUES\s")
_LONGEST_INSERT = 512
_INSERT_TOLD = "INSERT INTO `langlinks` VALUES"
_OTHER_INSERT = re.compile(rb"(?:INSERT|REPLACE) INTO `?([^` ]{1,64})`?")
_STRING = rb"'((?:[^'\\]++|\\.|'')*+)'"
_ROW = re.compile(rb"\s*+\(\s*+([0-9]{1,18}),\s*+" + _STRING + rb",\s*+" + _STRING + rb"\s*+\)\s*+([,;])", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPED = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}


def read_langlinks(stream: ByteStream, name: str, language: str) -> Iterator[tuple[int, str]]:
    r"""Yield the number and the title of each page that has a title in a language.

    Parameters
    ----------
    stream : ByteStream
        Only one row at a time is held, however long the statements are.
    name : str
        For messages.
    language : str

    Raises
    ------
    SourceError
        The file contains another table, or an invalid row.
    StreamFault
        The file breaks off; all earlier rows have been yielded.

    Examples
    --------
    >>> import io
    >>> sql = rb"INSERT INTO `langlinks` VALUES (7,'en','Rain'),(8,'en','Hobson\'s choice'),(8,'fr','Choix');"
    >>> list(read_langlinks(ByteStream(io.BytesIO(sql), "none"), "a.sql", "en"))
    [(7, 'Rain'), (8, "Hobson's choice")]
    """
    text = _Text(stream, name)
    wanted = language.encode()
    n_statements = 0
    while text.find_statement():
        n_statements += 1
        more = b","
        while more == b",":
            row = text.row()
            number, code, title, more = row.groups()
            if code == wanted:
                yield int(number), _unescaped(title)
    if not n_statements:
        raise SourceError(f"{name} is not a dump of the table langlinks: it has no '{_INSERT_TOLD}'.")


def _unescaped(literal: bytes) -> str:
    r"""Return the characters that an SQL string represents.

    >>> _unescaped(rb"a\'b\\n''c")
    "a'b\\n'c"
    """
    if b"\\" in literal or b"'" in literal:
        literal = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]) if found[1] else b"'", literal)
    return literal.decode("utf-8", "replace")


class _Text:
    """The part of the file that is held in memory."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        self._stream = stream
        self._name = name
        self._data = b""
        self._place = 0
        self._n_lines = 0
        self._n_counted = 0  # position in the data up to which lines are counted
        self._n_passed = 0  # bytes of the file before the data
        self._line_begins = 0  # byte of the file at which the line begins

    def _more(self) -> bool:
        """Drop processed data, and read the next piece; return False at the end."""
        self._count_lines()
        try:
            piece = self._stream.read(_READ_BYTES)
        except StreamFault as fault:
            raise self._fault(str(fault)) from fault
        self._n_passed += self._place
        self._data = self._data[self._place :] + piece
        self._place = self._n_counted = 0
        return bool(piece)

    def _count_lines(self) -> None:
        n_lines = self._data.count(b"\n", self._n_counted, self._place)
        if n_lines:
            self._line_begins = self._n_passed + self._data.rfind(b"\n", 0, self._place) + 1
        self._n_lines += n_lines
        self._n_counted = self._place

    def _error(self, what: str) -> SourceError:
        self._count_lines()
        byte = self._n_passed + self._place - self._line_begins + 1
        return SourceError(f"{self._name}, line {self._n_lines + 1:,}, byte {byte:,}: {what}.")

    def _fault(self, what: str) -> StreamFault:
        """Return the fault of a file that is truncated here."""
        self._count_lines()
        byte = self._n_passed + self._place - self._line_begins + 1
        return StreamFault(f"{what}, in line {self._n_lines + 1:,}, byte {byte:,}")

    def find_statement(self) -> bool:
        """Move to the rows of the next statement that has some; return False at the end of the file."""
        is_line_begin = True
        while True:
            if is_line_begin:
                if len(self._data) - self._place < _LONGEST_INSERT and self._more():
                    continue
                if (insert := _INSERT.match(self._data, self._place)) is not None:
                    self._place = insert.end()
                    return True
                self._refuse_other()
            end = self._data.find(b"\n", self._place)
            is_line_begin = end >= 0
            self._place = end + 1 if is_line_begin else len(self._data)
            if not is_line_begin and not self._more():
                return False

    def _refuse_other(self) -> None:
        other = _OTHER_INSERT.match(self._data, self._place)
        if other is not None:
            rule = f"a dump of the table langlinks must insert by '{_INSERT_TOLD}'"
            table = other[1].decode("utf-8", "replace")
            came = "this one in another way" if table == "langlinks" else f"this one into '{table}'"
            raise self._error(f"{rule}, {came}")

    def row(self) -> re.Match[bytes]:
        """Return the next row."""
        while True:
            row = _ROW.match(self._data, self._place)
            if row is not None:
                self._place = row.end()
                return row
            if len(self._data) - self._place >= _MAX_OF_A_ROW:
                came = self._data[self._place : self._place + 40].decode("utf-8", "replace")
                raise self._error(f"a row must be (page,'language','title'). Got {came!r}")
            if not self._more():
                left = self._data[self._place :].strip()
                if left and not left.startswith(b"("):
                    came = self._data[self._place : self._place + 40].decode("utf-8", "replace")
                    raise self._error(f"a row must be (page,'language','title'). Got {came!r} at the end of the file")
                raise self._fault("the file ends inside a statement")
