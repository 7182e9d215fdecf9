"""Merged view of changes: hunks of lines, which follow A where both texts have the words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from nearkin.stages.differences.changes import Change
from nearkin.stages.differences.comparison import Hunk, Kind, Line, Piece
from nearkin.stages.differences.passages import clipped
from nearkin.stages.differences.words import Wording

_LINE = re.compile(r"\S(?:[^\r\n]*\S)?")  # without surrounding white space; blank lines do not match
_CHUNK = re.compile(r"\S+")
_WHITE = re.compile(r"\s*")
_Block = tuple[int, int, int, int]


@dataclass(slots=True)
class _Page:
    """The finished hunks, and the one in progress."""

    hunks: list[Hunk] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    line_a: int | None = None
    line_b: int | None = None

    def put(self, pieces: Sequence[Piece], line_a: int | None, line_b: int | None) -> None:
        """Append pieces to the current line."""
        for piece in pieces:
            text = piece.text if self.pieces else piece.text.lstrip()
            self.pieces.append(Piece(piece.kind, text, piece.difference))
        self.line_a = line_a if self.line_a is None else self.line_a
        self.line_b = line_b if self.line_b is None else self.line_b

    def end_line(self) -> None:
        """End the current line."""
        if self.pieces:
            self.lines.append(Line(tuple(self.pieces), self.line_a, self.line_b))
        self.pieces, self.line_a, self.line_b = [], None, None

    def end_hunk(self, line_a: int, line_b: int) -> None:
        """End the current hunk; the numbers are for a hunk that has nothing of a text."""
        self.end_line()
        if self.lines:
            first_a = next((line.line_a for line in self.lines if line.line_a is not None), line_a)
            first_b = next((line.line_b for line in self.lines if line.line_b is not None), line_b)
            self.hunks.append(Hunk(first_a, first_b, tuple(self.lines)))
        self.lines = []


@dataclass(frozen=True, slots=True)
class View:
    """Merged view of two texts.

    Parameters
    ----------
    a, b : Wording
    context_lines : int
        Lines shown before and after a change.
    context_words : int
        Words of an equal stretch of a line shown beside a change.
    """

    a: Wording
    b: Wording
    context_lines: int
    context_words: int

    def hunks(self, changes: Sequence[Change]) -> tuple[Hunk, ...]:
        """Return the changes, numbered from 1, with the lines around them."""
        page = _Page()
        before: Change | None = None
        begins_line = ends_line = False  # of the previous change
        for number, change in enumerate(changes, 1):
            begins_next = self._begins_line(change, before)
            self._put_equal(page, before, change, ends_line, begins_next)
            self._put_change(page, change, number)
            before, begins_line = change, begins_next
            ends_line = self._ends_line(change, begins_line)
        self._put_equal(page, before, None, ends_line, False)
        if before is not None:
            page.end_hunk(self.a.line_of(before.start_a), self.b.line_of(before.start_b))
        return tuple(page.hunks)

    def _begins_line(self, change: Change, before: Change | None) -> bool:
        """Whether a change begins a line: as in A; if A has nothing there, as in B between lines or alone."""
        at_a, at_b = (before.end_a, before.end_b) if before else (0, 0)
        if change.end_a > change.start_a:
            return _has_break_before(self.a.text, at_a, change.start_a)
        if not _has_break_before(self.b.text, at_b, change.start_b):
            return False
        return _has_break_at(self.a.text, change.start_a) or _has_break_at(self.b.text, change.end_b)

    def _ends_line(self, change: Change, begins_line: bool) -> bool:
        """Whether the common text after a change begins a line."""
        in_a = _has_break_at(self.a.text, change.end_a)
        if change.end_a > change.start_a:
            return in_a
        return (not begins_line or _has_break_at(self.b.text, change.end_b)) if in_a else begins_line

    def _put_equal(
        self, page: _Page, before: Change | None, after: Change | None, ends_line: bool, begins_next: bool
    ) -> None:
        """Append the common text between two changes: the adjacent lines, of a long line only a part."""
        at_a, at_b = (before.end_a, before.end_b) if before else (0, 0)
        to_a, to_b = (after.start_a, after.start_b) if after else (len(self.a.text), len(self.b.text))
        lines = _lines_of(self.a.text, at_a, to_a)
        n_head = self.context_lines + (not ends_line) if before else 0
        n_tail = self.context_lines + (not begins_next) if after else 0
        n_hidden = max(0, len(lines) - n_head - n_tail)
        is_spaced = self.a.text[at_a : at_a + 1].isspace() or self.b.text[at_b : at_b + 1].isspace()
        place_a, place_b = at_a, at_b
        for k in [*range(min(n_head, len(lines))), *range(n_head + n_hidden, len(lines))]:
            start, end = lines[k]
            if n_hidden and k == n_head + n_hidden:
                if before:
                    page.end_hunk(self.a.line_of(before.start_a), self.b.line_of(before.start_b))
                place_a, place_b = start, self._place_from_end(start, (at_a, to_a, at_b, to_b))
            elif k or ends_line:
                page.end_line()
            place_a, place_b = start, self._place_in_b(place_a, start, place_b)
            first = self.context_words if before and k == 0 and not ends_line else 0
            last = self.context_words if after and k == len(lines) - 1 and not begins_next else 0
            text = " " * (k == 0 and is_spaced) + " ".join(self.a.text[start:end].split())
            pieces = clipped(text, first, last) if first or last else clipped(text, self.context_words, 0)
            page.put(pieces, self.a.line_of(start), self.b.line_of(place_b))
            if k < len(lines) - 1:
                page.end_line()
        if n_hidden and not n_tail and before and after:
            page.end_hunk(self.a.line_of(before.start_a), self.b.line_of(before.start_b))
        if after and begins_next:
            page.end_line()

    def _put_change(self, page: _Page, change: Change, number: int) -> None:
        """Append A's text, then B's, each with its own line breaks; side by side if A has at most one line."""
        n_lines = 0
        for n_lines, (start, end) in enumerate(_lines_of(self.a.text, change.start_a, change.end_a), 1):
            if n_lines > 1:
                page.end_line()
            page.put([_piece("only_a", self.a.text, start, end, number)], self.a.line_of(start), None)
        for k, (start, end) in enumerate(_lines_of(self.b.text, change.start_b, change.end_b)):
            if k or (n_lines > 1 and (start == 0 or _has_break_before(self.b.text, 0, start))):
                page.end_line()
            page.put([_piece("only_b", self.b.text, start, end, number)], None, self.b.line_of(start))

    def _place_in_b(self, from_a: int, to_a: int, from_b: int) -> int:
        """Return the position in B of A's text at ``to_a``, if both texts are equal from the other two positions."""
        between = self.a.text[from_a:to_a]
        if self.b.text.startswith(between, from_b):
            return _next(self.b.text, from_b + len(between))
        return _after(self.b.text, from_b, _n_written(between))

    def _place_from_end(self, start: int, block: _Block) -> int:
        """Return the position in B of A's text at ``start``, found from the end of the common text."""
        _, to_a, at_b, to_b = block
        rest = self.a.text[start:to_a]
        if self.b.text.endswith(rest, at_b, to_b):
            return to_b - len(rest)
        n_rest, size = _n_written(rest), 2 * len(rest) + 64
        while True:
            low = max(at_b, to_b - size)
            n_there = _n_written(self.b.text[low:to_b])
            if n_there >= n_rest or low == at_b:
                return _after(self.b.text, low, max(0, n_there - n_rest))
            size *= 4


def _lines_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [found.span() for found in _LINE.finditer(text, start, end)]


def _piece(kind: Kind, text: str, start: int, end: int, number: int) -> Piece:
    lead = " " if start == 0 or text[start - 1].isspace() else ""
    return Piece(kind, lead + " ".join(text[start:end].split()), number)


def _has_break_at(text: str, place: int) -> bool:
    """Whether the white space that begins there ends a line."""
    found = _WHITE.match(text, place)
    return found is not None and _breaks(found.group())


def _has_break_before(text: str, least: int, place: int) -> bool:
    """Whether the white space that ends there ends a line."""
    start = place
    while start > least and text[start - 1].isspace():
        start -= 1
    return _breaks(text[start:place])


def _breaks(white: str) -> bool:
    return "\n" in white or "\r" in white


def _next(text: str, place: int) -> int:
    """Return the next position that is not white space."""
    found = _CHUNK.search(text, place)
    return found.start() if found else len(text)


def _after(text: str, place: int, n: int) -> int:
    """Return the position after ``n`` characters other than white space."""
    for found in _CHUNK.finditer(text, place):
        length = _n_written(found.group())
        if n < length:
            return found.start() + n
        n -= length
    return len(text)


def _n_written(text: str) -> int:
    """Count characters other than white space, canonically composed."""
    packed = "".join(text.split())
    return len(packed if packed.isascii() else unicodedata.normalize("NFC", packed))
