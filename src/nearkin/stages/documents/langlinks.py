"""The table ``langlinks`` of a wiki as MySQL dumps it: for each page its titles in other languages.

Source: "Manual:Langlinks table" of mediawiki.org; "String Literals" of the MySQL reference manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nearkin.errors import SourceError
from nearkin.stages.documents.streams import ByteStream, StreamFault

_READ_BYTES = 1 << 20
_MAX_OF_A_ROW = 1 << 16
"""A row has a number, a code and a title of at most 255 bytes."""
_INSERT = re.compile(rb"INSERT INTO `langlinks`(?: \([^)]{0,200}\))? VALUES\s")
_LONGEST_INSERT = 512
_INSERT_TOLD = "INSERT INTO `langlinks` VALUES"
_OTHER_INSERT = re.compile(rb"(?:INSERT|REPLACE) INTO `?([^` ]{1,64})`?")
_STRING = rb"'((?:[^'\\]++|\\.|'')*+)'"
_ROW = re.compile(rb"\s*+\(\s*+([0-9]{1,18}),\s*+" + _STRING + rb",\s*+" + _STRING + rb"\s*+\)\s*+([,;])", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPED = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}


def read_langlinks(stream: ByteStream, name: str, language: str) -> Iterator[tuple[int, str]]:
    r"""The number of each page that has a title in a language, and the title.

    Parameters
    ----------
    stream : ByteStream
        A row is held at a time, however long the statements are.
    name : str
        For messages.
    language : str

    Raises
    ------
    SourceError
        The file is of another table, or has a row that is none.
    StreamFault
        The file breaks off; the rows before were handed out.

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
        raise SourceError(f"{name}: this is no dump of the table langlinks: it has no '{_INSERT_TOLD}'.")


def _unescaped(literal: bytes) -> str:
    r"""The characters that a string in SQL stands for.

    >>> _unescaped(rb"a\'b\\n''c")
    "a'b\\n'c"
    """
    if b"\\" in literal or b"'" in literal:
        literal = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]) if found[1] else b"'", literal)
    return literal.decode("utf-8", "replace")


class _Text:
    """The part of the file that is looked at."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        self._stream = stream
        self._name = name
        self._data = b""
        self._place = 0
        self._n_lines = 0
        self._n_counted = 0  # up to where in the data they are counted
        self._n_passed = 0  # bytes of the file before the data
        self._line_begins = 0  # at which byte of the file

    def _more(self) -> bool:
        """Let go of what is behind, and take the next piece; false at the end."""
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
        """The file breaks off here."""
        self._count_lines()
        byte = self._n_passed + self._place - self._line_begins + 1
        return StreamFault(f"{what}, in line {self._n_lines + 1:,}, byte {byte:,}")

    def find_statement(self) -> bool:
        """Go on to the rows of the next statement that has some; false at the end of the file."""
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
            rule = f"a dump of the table langlinks inserts by '{_INSERT_TOLD}'"
            table = other[1].decode("utf-8", "replace")
            came = "this one in another way" if table == "langlinks" else f"this one into '{table}'"
            raise self._error(f"{rule}, {came}")

    def row(self) -> re.Match[bytes]:
        """The next row."""
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
