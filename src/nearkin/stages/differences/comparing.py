"""Word-by-word comparison of two documents: their words, shared or not, and their places.

Every character counts except white space, line breaks and canonically equivalent forms (Unicode NFC).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from nearkin.errors import check_int
from nearkin.stages.differences.changes import Change, find_changes
from nearkin.stages.differences.comparison import Comparison, Difference, Hunk, Kind, Line, Piece
from nearkin.stages.differences.ignoring import Ignored, check_ignored, what_counts, without_ignored
from nearkin.stages.differences.kinds import kinds_of
from nearkin.stages.differences.moves import Moves, find_moves
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.passages import clipped, passage_of, shortened, with_space
from nearkin.stages.differences.words import Wording, count_words, end_of_word


def compare_texts(
    text_a: str,
    text_b: str,
    *,
    context_lines: int = 2,
    context_words: int = 40,
    with_moves: bool = False,
    ignore: Collection[str] = (),
) -> Comparison:
    """Find the differences of two texts word by word, with the lines around each difference.

    Words are compared by letters and digits, after NFKC and in lower case; a punctuation character is separate. Equal
    words that are written differently differ in spelling. Text of only one side is never cut; up to 400,000 words of
    each text are compared, besides equal lines.

    Parameters
    ----------
    ignore : collection of {"case", "punctuation", "numbers"}
        Differences that do not count, unless also of another kind, or a sign of a number: 1.5 is not 15.
    """
    for name, value in (("context_lines", context_lines), ("context_words", context_words)):
        check_int(name, value, 0)
    ignored = check_ignored(ignore)
    n_words_a = count_words(text_a)
    if text_a == text_b:
        return Comparison(
            hunks=(), differences=(), n_words_a=n_words_a, n_words_b=n_words_a, is_identical=True, is_whole=True
        )
    a, b, n_ignored = Original(text_a), Original(text_b), 0
    changes = find_changes(a, b)
    if ignored and _has_same_counting(text_a, text_b, ignored):
        # the words may be aligned so that a single difference is also of another kind
        changes, n_ignored = replace(changes, changes=()), len(changes.changes)
    elif ignored:
        shown_b, n_ignored = without_ignored(text_a, text_b, changes, ignored)
        if n_ignored:
            b = Original(shown_b)
            changes = find_changes(a, b)
    moves = find_moves(a, b, changes, ignored) if with_moves else Moves(changes.changes, {})
    differences = tuple(
        Difference(
            number=number,
            line_a=a.line_of(change.start_a),
            line_b=b.line_of(change.start_b),
            n_words_a=change.n_words_a,
            n_words_b=change.n_words_b,
            start_a=change.start_a,
            counterpart=moves.counterpart.get(number - 1, -1) + 1,
            kinds=("moves",) if number - 1 in moves.counterpart else kinds_of(a, b, change),
        )
        for number, change in enumerate(moves.changes, 1)
    )
    return Comparison(
        hunks=View(a, b, context_lines, context_words).hunks(moves.changes),
        differences=differences,
        n_words_a=n_words_a,
        n_words_b=count_words(text_b),
        is_identical=False,
        is_whole=changes.is_whole,
        n_ignored=n_ignored,
        ignored=ignored,
        not_compared="white space" if differences else _not_compared(text_a, text_b),
    )


def _not_compared(text_a: str, text_b: str) -> str:
    r"""Name what differs between two texts with the same words.

    Examples
    --------
    >>> _not_compared("in 30 days", "in 30  days"), _not_compared("é", "e\u0301")
    ('white space', 'the Unicode form of characters')
    >>> _not_compared(" é", "e\u0301")
    'white space and the Unicode form of characters'
    """
    form = "the Unicode form of characters"
    if unicodedata.normalize("NFC", text_a) == unicodedata.normalize("NFC", text_b):
        return form
    return "white space" if "".join(text_a.split()) == "".join(text_b.split()) else f"white space and {form}"


def _has_same_counting(text_a: str, text_b: str, ignored: Collection[Ignored]) -> bool:
    return what_counts(text_a, 0, len(text_a), ignored) == what_counts(text_b, 0, len(text_b), ignored)


@dataclass(frozen=True, slots=True)
class FirstPassage:
    """First difference of two texts: in words or in a sign of a number, else a moved passage, else in spelling."""

    pieces: tuple[Piece, ...] = ()
    n_differences: int = 0
    n_moves: int = 0


def first_passage(text_a: str, text_b: str) -> FirstPassage:
    """Return the first difference of two texts, for answers that show only one passage."""
    a, b = Wording(text_a), Wording(text_b)
    moves = find_moves(a, b, find_changes(a, b)) if text_a != text_b else None
    if moves is None or not moves.changes:
        return FirstPassage()
    number = 1 + _first(text_a, text_b, moves)
    # the passage ends at the following change, if not before
    pieces = passage_of(View(a, b, 0, 40).hunks(moves.changes[: number + 1]), number)
    n_parts = len(moves.counterpart)
    return FirstPassage(pieces, len(moves.changes) - n_parts, n_parts // 2)


def _first(text_a: str, text_b: str, moves: Moves) -> int:
    unmoved = [(i, change) for i, change in enumerate(moves.changes) if i not in moves.counterpart]
    with_words = next((i for i, change in unmoved if change.n_words_a or change.n_words_b), None)
    before = [(i, change) for i, change in unmoved if with_words is None or i < with_words]
    if before:
        from nearkin.stages.differences.kinds import kinds_of  # in most texts, the first difference has words
        from nearkin.stages.differences.particulars import Original

        a, b = Original(text_a), Original(text_b)
        of_signs = next((i for i, change in before if kinds_of(a, b, change) != ("formatting",)), None)
        if of_signs is not None:
            return of_signs
    return min(moves.counterpart, default=0) if with_words is None else with_words


def first_hunks(a: Wording, b: Wording, changes: Sequence[Change], most: int) -> tuple[Hunk, ...]:
    """Return the first ``most`` changes with the words around them; of a long one, its two ends."""
    hunks = list[Hunk]()
    # the words around the last one end at the following change
    for hunk in View(a, b, 0, _AROUND).hunks(changes[: most + 1]) if most else ():
        lines = [
            replace(line, pieces=shortened(list(takewhile(lambda piece: piece.difference <= most, line.pieces)), _RUN))
            for line in hunk.lines
        ]
        if any(piece.difference for line in lines for piece in line.pieces):
            hunks.append(replace(hunk, lines=tuple(line for line in lines if line.pieces)))
    return tuple(hunks)


def one_run(text_a: str, text_b: str, *, max_words: int = 4_000) -> tuple[Piece, ...]:
    """Return the differences of two texts, or of their beginnings, as one run of pieces with gaps between them.

    Examples
    --------
    >>> from nearkin.stages.differences.comparison import marked_text
    >>> marked_text(one_run("Rent is due in May. No pets.", "Rent is due in June. No cats."))
    'Rent is due in [-May-] {+June+}. No [-pets-] {+cats+}.'
    """
    n_more = [count_words(text) - max_words for text in (text_a, text_b)]
    begun = [text[: end_of_word(text, max_words)] if n > 0 else text for text, n in zip((text_a, text_b), n_more)]
    comparison, pieces = compare_texts(begun[0], begun[1], context_lines=0, context_words=_AROUND), list[Piece]()
    for i, hunk in enumerate(comparison.hunks):
        pieces += [Piece("gap", "")] * (i > 0)
        for line in hunk.lines:
            pieces += with_space(line) if pieces else line.pieces
    pieces = pieces or clipped(begun[0], _AROUND, _AROUND)
    if max(n_more) > 0:
        pieces.append(Piece("gap", f"only the first {max_words:,} words of each text were compared"))
    return shortened(pieces, _RUN)


_AROUND, _RUN = 14, 60
"""Words shown on either side of a difference, and at most of a stretch that only one text has."""
_LINE = re.compile(r"\S(?:[^\r\n]*\S)?")  # without surrounding white space; blank lines do not match
_CHUNK = re.compile(r"\S+")
_WHITE = re.compile(r"\s*")
_Block = tuple[int, int, int, int]


@dataclass(slots=True)
class _Page:
    hunks: list[Hunk] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    line_a: int | None = None
    line_b: int | None = None

    def put(self, pieces: Sequence[Piece], line_a: int | None, line_b: int | None) -> None:
        for piece in pieces:
            text = piece.text if self.pieces else piece.text.lstrip()
            self.pieces.append(Piece(piece.kind, text, piece.difference))
        self.line_a = line_a if self.line_a is None else self.line_a
        self.line_b = line_b if self.line_b is None else self.line_b

    def end_line(self) -> None:
        if self.pieces:
            self.lines.append(Line(tuple(self.pieces), self.line_a, self.line_b))
        self.pieces, self.line_a, self.line_b = [], None, None

    def end_hunk(self, line_a: int, line_b: int) -> None:
        self.end_line()
        if self.lines:
            first_a = next((line.line_a for line in self.lines if line.line_a is not None), line_a)
            first_b = next((line.line_b for line in self.lines if line.line_b is not None), line_b)
            self.hunks.append(Hunk(first_a, first_b, tuple(self.lines)))
        self.lines = []


@dataclass(frozen=True, slots=True)
class View:
    """Merged view of two texts, with ``context_lines`` around a change, of each ``context_words``."""

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
        """As in A; if A has nothing there, as in B between lines or alone."""
        at_a, at_b = (before.end_a, before.end_b) if before else (0, 0)
        if change.end_a > change.start_a:
            return _has_break_before(self.a.text, at_a, change.start_a)
        if not _has_break_before(self.b.text, at_b, change.start_b):
            return False
        return _has_break_at(self.a.text, change.start_a) or _has_break_at(self.b.text, change.end_b)

    def _ends_line(self, change: Change, begins_line: bool) -> bool:
        in_a = _has_break_at(self.a.text, change.end_a)
        if change.end_a > change.start_a:
            return in_a
        return (not begins_line or _has_break_at(self.b.text, change.end_b)) if in_a else begins_line

    def _put_equal(
        self, page: _Page, before: Change | None, after: Change | None, ends_line: bool, begins_next: bool
    ) -> None:
        """Append the common text between two changes: the adjacent lines, of a long one a part."""
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
        """Append A's text, then B's, with line breaks; side by side if A has at most one line."""
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
        between = self.a.text[from_a:to_a]
        if self.b.text.startswith(between, from_b):
            return _next(self.b.text, from_b + len(between))
        return _after(self.b.text, from_b, _n_written(between))

    def _place_from_end(self, start: int, block: _Block) -> int:
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
    return [occurrence.span() for occurrence in _LINE.finditer(text, start, end)]


def _piece(kind: Kind, text: str, start: int, end: int, number: int) -> Piece:
    lead = " " if start == 0 or text[start - 1].isspace() else ""
    return Piece(kind, lead + " ".join(text[start:end].split()), number)


def _has_break_at(text: str, place: int) -> bool:
    occurrence = _WHITE.match(text, place)
    return occurrence is not None and _breaks(occurrence.group())


def _has_break_before(text: str, least: int, place: int) -> bool:
    start = place
    while start > least and text[start - 1].isspace():
        start -= 1
    return _breaks(text[start:place])


def _breaks(white: str) -> bool:
    return "\n" in white or "\r" in white


def _next(text: str, place: int) -> int:
    occurrence = _CHUNK.search(text, place)
    return occurrence.start() if occurrence else len(text)


def _after(text: str, place: int, n: int) -> int:
    for occurrence in _CHUNK.finditer(text, place):
        length = _n_written(occurrence.group())
        if n < length:
            return occurrence.start() + n
        n -= length
    return len(text)


def _n_written(text: str) -> int:
    packed = "".join(text.split())
    return len(packed if packed.isascii() else unicodedata.normalize("NFC", packed))
