"""Copies of a dump of Wikipedia with only the kept pages, byte for byte, in a form that can be read again."""

from __future__ import annotations

from collections.abc import Callable

from nearkin.stages.documents.streams import ByteStream, StreamFault
from nearkin.stages.documents.xml_stream import guarded_parser, parse

Write = Callable[[bytes], object]


def copy_kept_pages(stream: ByteStream, name: str, is_kept: Callable[[int], bool], write: Write) -> None:
    """Write a dump without the pages that are not kept, including redirects and other pages that are no documents.

    Parameters
    ----------
    stream : ByteStream
    name : str
        For messages.
    is_kept : callable
        Takes the line where a page begins.
    write : callable
        Takes the bytes of the copy.

    Raises
    ------
    SourceError
        The file declares entities.
    """
    copying = _Copying(stream, name, is_kept, write)
    try:
        for piece in parse(copying.parser, stream):
            copying.take(piece)
    except StreamFault:  # already reported when it was read; the copy is valid
        copying.take(b"")
        write(b"</mediawiki>\n")


class _Copying:
    """Position of the parser, and the bytes that were neither written nor dropped yet."""

    def __init__(self, stream: ByteStream, name: str, is_kept: Callable[[int], bool], write: Write) -> None:
        self.parser = guarded_parser(stream, name)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self._is_kept = is_kept
        self._write = write
        self._depth = 0
        # Byte from which on data is written or dropped. A dropped page lasts until the next begins, including blanks.
        self._turns: list[tuple[int, bool]] = []
        self._is_written = True
        self._held = b""
        self._n_passed = 0  # bytes of the file before those that are held
        self._place = 0

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 2:
            is_written = name != "page" or self._is_kept(self.parser.CurrentLineNumber)
            self._turns.append((self.parser.CurrentByteIndex, is_written))

    def _end(self, name: str) -> None:
        self._depth -= 1
        if not self._depth:
            self._turns.append((self.parser.CurrentByteIndex, True))

    def take(self, piece: bytes) -> None:
        """Write or drop what the parser has reported, and hold the rest; an empty piece ends the file."""
        self._held += piece
        for byte, is_written in self._turns:
            self._pass_to(byte)
            self._is_written = is_written
        self._turns.clear()
        self._pass_to(self.parser.CurrentByteIndex if piece else self._n_passed + len(self._held))
        self._held, self._n_passed = self._held[self._place :], self._n_passed + self._place
        self._place = 0

    def _pass_to(self, byte: int) -> None:
        """Move on to a byte of the file."""
        place = byte - self._n_passed
        if self._is_written and place > self._place:
            self._write(self._held[self._place : place])
        self._place = max(place, self._place)
