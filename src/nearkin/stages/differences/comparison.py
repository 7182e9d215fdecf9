"""Records of a comparison of two documents: hunks of lines of pieces, and numbered differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal, get_args

from nearkin.nouns import counted
from nearkin.wording import reveal

Kind = Literal["equal", "only_a", "only_b", "gap"]
DifferenceKind = Literal["numbers", "dates", "names", "negations", "wording", "formatting", "moves"]
KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
"""Kinds of a difference, in the order in which they are listed."""
_WITH_MEANING: frozenset[DifferenceKind] = frozenset(("numbers", "dates"))
"""Kinds in which a sign or a raised digit changes the meaning."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line.

    Parameters
    ----------
    kind : {"equal", "only_a", "only_b", "gap"}
        Text in which the stretch occurs. A gap stands for equal words that are not shown.
    text
        Text of the document with collapsed white space, including a leading space if needed; for a gap its
        description: ``1,234 equal words``.
    difference
        Number of the difference that it belongs to, from 1; 0 for text that both have.
    """

    hidden: ClassVar[tuple[str, ...]] = ("difference",)

    kind: Kind
    text: str
    difference: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the merged view; ``line_a`` and ``line_b`` are the lines of A and B with its first words."""

    pieces: tuple[Piece, ...]
    line_a: int | None
    line_b: int | None


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring lines with their differences, and the first line in A and in B, counted from 1."""

    line_a: int
    line_b: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where the texts differ: its number, counted from 1, and the lines where it begins.

    ``start_a`` is the number of characters of A before it; `Comparison.to_json` omits it.
    ``n_words_a`` and ``n_words_b`` are the words found only in A or only in B there; if both are 0, the words are
    the same and differ in capitals, punctuation, Unicode form or invisible characters, or a number or a date
    differs in a sign, a separator or a raised digit. ``counterpart`` is the number of the difference where a moved
    passage is in the other text; 0 if the passage was not moved. ``kinds`` says what differs: numbers, dates,
    names, negations, other wording, or only the formatting; "moves" for a moved passage.
    """

    number: int
    line_a: int
    line_b: int
    n_words_a: int
    n_words_b: int
    start_a: int = 0
    counterpart: int = 0
    kinds: tuple[DifferenceKind, ...] = ()

    @property
    def has_same_words(self) -> bool:
        """Whether only the spelling differs, and no sign, separator or raised digit that changes a number or a date.

        ``-500`` and ``500``, ``10⁵`` and ``105`` are not the same words.
        """
        return self.n_words_a == self.n_words_b == 0 and _WITH_MEANING.isdisjoint(self.kinds)

    @property
    def is_move(self) -> bool:
        """Whether the passage is in both texts, in different places."""
        return self.counterpart > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Differences between two documents.

    Parameters
    ----------
    is_identical
        Whether the texts are identical, including white space.
    is_whole
        False: the texts were too long to be compared completely, and some shared words are marked as different.
    not_compared
        What differs between texts without differences: white space, the Unicode form of characters, or both.
    """

    hunks: tuple[Hunk, ...]
    differences: tuple[Difference, ...]
    n_words_a: int
    n_words_b: int
    is_identical: bool
    is_whole: bool
    n_ignored: int = 0
    ignored: tuple[str, ...] = ()
    not_compared: str = "white space"

    @property
    def n_hunks(self) -> int:
        """Number of hunks."""
        return len(self.hunks)

    @property
    def n_differences(self) -> int:
        """Number of differences, including those in spelling."""
        return len(self.differences)

    @property
    def n_spelling_differences(self) -> int:
        """Number of differences with equal words but other capitals, punctuation or invisible characters."""
        return sum(difference.has_same_words for difference in self.differences)

    @property
    def n_words_only_a(self) -> int:
        """Number of words found only in A, without moved words."""
        return sum(difference.n_words_a for difference in self.differences if not difference.is_move)

    @property
    def n_words_only_b(self) -> int:
        """Number of words found only in B, without moved words."""
        return sum(difference.n_words_b for difference in self.differences if not difference.is_move)

    @property
    def n_moves(self) -> int:
        """Number of passages that both texts have, in different places."""
        return sum(difference.is_move for difference in self.differences) // 2

    @property
    def n_changes(self) -> int:
        """Number of differences, without those of moved passages."""
        return self.n_differences - 2 * self.n_moves

    @property
    def n_words_moved(self) -> int:
        """Number of words in moved passages."""
        return sum(difference.n_words_a for difference in self.differences if difference.is_move)

    @property
    def n_of_kind(self) -> dict[DifferenceKind, int]:
        """Number of differences of each kind that occurs, in the order of `KINDS`; a difference can have several."""
        n = Counter(kind for difference in self.differences for kind in difference.kinds)
        return {kind: n[kind] for kind in KINDS if n[kind]}

    @property
    def has_several_kinds(self) -> bool:
        """Whether a difference has several kinds, so that the sum of `n_of_kind` exceeds the number of differences."""
        return any(len(difference.kinds) > 1 for difference in self.differences)

    @property
    def move_notes(self) -> dict[int, str]:
        """Place of each moved passage in the other text, by the number of its difference: ``moved to B line 4``."""
        notes = {}
        for difference in self.differences:
            if difference.is_move:
                there = self.differences[difference.counterpart - 1]
                to_b = difference.n_words_a > 0
                notes[difference.number] = (
                    f"moved to B line {there.line_b:,}" if to_b else f"moved from A line {there.line_a:,}"
                )
        return notes

    @property
    def has_same_words(self) -> bool:
        """Whether both texts have the same words, numbers and dates in the same order, possibly written differently."""
        return all(difference.has_same_words for difference in self.differences)

    @property
    def headline(self) -> str:
        """Summary in one line."""
        if self.is_identical:
            return "The two documents are the same, character for character"
        if not self.differences:
            if self.n_ignored:
                return f"The two documents differ only in what is ignored: {counted(self.n_ignored, 'difference')}"
            return f"The two documents are identical except for {self.not_compared}"
        if all(difference.n_words_a == difference.n_words_b == 0 for difference in self.differences):
            return self._of_same_words()
        only_a, only_b = counted(self.n_words_only_a, "word"), counted(self.n_words_only_b, "word")
        moved = (
            f"{counted(self.n_moves, 'passage')} moved ({counted(self.n_words_moved, 'word')})" if self.n_moves else ""
        )
        if not self.n_changes:
            return f"{moved}, no other difference"
        return f"{counted(self.n_changes, 'difference')}: {only_a} only in A, {only_b} only in B" + f", {moved}" * bool(
            moved
        )

    def _of_same_words(self) -> str:
        """Return the headline if no word is only in one text; numbers may differ in signs."""
        n_written = self.n_spelling_differences
        n_meant = self.n_differences - n_written
        if not n_meant:
            return f"The two documents have the same words, written differently in {counted(n_written, 'place')}"
        kinds = " and ".join(kind for kind in self.n_of_kind if kind in _WITH_MEANING)
        if n_written:
            are = "is" if n_written == 1 else "are"
            others = f"{counted(n_written, 'other place')} {are} only written differently"
        else:
            others = "all other words are the same"
        return f"{counted(n_meant, 'difference')} in {kinds}; {others}"

    def to_json(self) -> dict[str, object]:
        """Return an object for ``json.dump``.

        Returns
        -------
        dict
            The counts and flags by their names here; ``differences``, a list of ``{number, line_a, line_b, n_words_a,
            n_words_b, counterpart, kinds}``; ``n_of_kind``; ``hunks``, a list of ``{line_a, line_b, lines}``,
            their lines ``{line_a, line_b, pieces}``, their pieces ``{kind, text, difference}``.
        """
        return {
            "n_words_a": self.n_words_a,
            "n_words_b": self.n_words_b,
            "n_words_only_a": self.n_words_only_a,
            "n_words_only_b": self.n_words_only_b,
            "n_words_moved": self.n_words_moved,
            "n_differences": self.n_differences,
            "n_changes": self.n_changes,
            "n_moves": self.n_moves,
            "n_ignored": self.n_ignored,
            "ignored": list(self.ignored),
            "n_spelling_differences": self.n_spelling_differences,
            "n_hunks": self.n_hunks,
            "has_same_words": self.has_same_words,
            "is_identical": self.is_identical,
            "is_whole": self.is_whole,
            "n_of_kind": self.n_of_kind,
            "differences": [_difference(difference) for difference in self.differences],
            "hunks": [
                {"line_a": hunk.line_a, "line_b": hunk.line_b, "lines": [_line(line) for line in hunk.lines]}
                for hunk in self.hunks
            ],
        }


def _difference(difference: Difference) -> dict[str, object]:
    written = asdict(difference) | {"kinds": list(difference.kinds)}
    del written["start_a"]
    return written


def _line(line: Line) -> dict[str, object]:
    pieces = [{"kind": piece.kind, "text": piece.text, "difference": piece.difference} for piece in line.pieces]
    return {"line_a": line.line_a, "line_b": line.line_b, "pieces": pieces}


_FRAMES: dict[Kind, tuple[str, str]] = {
    "equal": ("", ""),
    "only_a": ("[-", "-]"),
    "only_b": ("{+", "+}"),
    "gap": ("… ", " …"),
}


def marked_pieces(pieces: Sequence[Piece], notes: Mapping[int, str] | None = None) -> Iterator[tuple[Kind, str]]:
    """Yield the kind and the marked text of each piece of a line, and the spaces between pieces."""
    for i, piece in enumerate(pieces):
        body = piece.text.lstrip()
        if i and (len(body) < len(piece.text) or "gap" in (piece.kind, pieces[i - 1].kind)):
            yield "equal", " "
        opening, closing = _FRAMES[piece.kind]
        if notes and piece.difference in notes:
            opening += f"{notes[piece.difference]}: "
        yield piece.kind, f"{opening}{reveal(body)}{closing}" if body else "…"


def marked_text(pieces: Sequence[Piece]) -> str:
    """Return a line or a passage as a single text."""
    return "".join(text for _, text in marked_pieces(pieces))
