"""What a comparison of two documents consists of: hunks of lines of pieces, and the differences, numbered."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from nearkin.nouns import counted

Kind = Literal["equal", "only_a", "only_b", "gap"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line.

    Parameters
    ----------
    kind : {"equal", "only_a", "only_b", "gap"}
        Where the stretch occurs. A gap stands for equal words that are not shown.
    text : str
        As the document has it, white space made one space, with a leading space where one belongs; for a gap what is
        left out: ``1,234 equal words``.
    difference : int
        The number of the difference that it belongs to, from 1; 0 for what both texts have.
    """

    kind: Kind
    text: str
    difference: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the merged view; ``line_a`` and ``line_b`` are the lines of A and B that its first words stand in.

    They are counted from 1; None where the line has nothing of that text.
    """

    pieces: tuple[Piece, ...]
    line_a: int | None
    line_b: int | None


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring lines with what differs in them; where it begins in A and in B, counted from 1."""

    line_a: int
    line_b: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the texts differ, its number counted from 1, and the lines in which it begins.

    ``n_words_a`` and ``n_words_b`` are the words that only A or only B has there; where both are 0 the words are the
    same and differ in capitals, signs or invisible characters.
    """

    number: int
    line_a: int
    line_b: int
    n_words_a: int
    n_words_b: int

    @property
    def has_same_words(self) -> bool:
        """Whether only the spelling differs."""
        return self.n_words_a == self.n_words_b == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two documents differ.

    Parameters
    ----------
    hunks : tuple of Hunk
        What differs, with the lines around it, in the order of the texts.
    differences : tuple of Difference
    n_words_a, n_words_b : int
        Words of each text; signs do not count.
    is_identical : bool
        Not even white space differs.
    is_whole : bool
        False: the texts were too long to be compared to the end, and some shared words are marked as if they differed.
    """

    hunks: tuple[Hunk, ...]
    differences: tuple[Difference, ...]
    n_words_a: int
    n_words_b: int
    is_identical: bool
    is_whole: bool

    @property
    def n_hunks(self) -> int:
        """Places that are shown."""
        return len(self.hunks)

    @property
    def n_differences(self) -> int:
        """Places that differ, those in spelling too."""
        return len(self.differences)

    @property
    def n_spelling_differences(self) -> int:
        """Differences in which the words are the same, and capitals, signs or invisible characters are not."""
        return sum(one.has_same_words for one in self.differences)

    @property
    def n_words_only_a(self) -> int:
        """Words that only A has."""
        return sum(one.n_words_a for one in self.differences)

    @property
    def n_words_only_b(self) -> int:
        """Words that only B has."""
        return sum(one.n_words_b for one in self.differences)

    @property
    def has_same_words(self) -> bool:
        """Both texts have the same words in the same order, however they are written."""
        return all(one.has_same_words for one in self.differences)

    @property
    def headline(self) -> str:
        """What there is to say in one line."""
        if self.is_identical:
            return "The two documents are the same, character for character"
        if not self.differences:
            return "The two documents differ in white space only"
        if self.has_same_words:
            places = counted(self.n_differences, "place")
            return f"The two documents have the same words, written differently in {places}"
        only_a, only_b = counted(self.n_words_only_a, "word"), counted(self.n_words_only_b, "word")
        return f"{counted(self.n_differences, 'difference')}: {only_a} only in A, {only_b} only in B"

    def to_json(self) -> dict[str, object]:
        """What ``json.dump`` takes.

        Returns
        -------
        dict
            The counts and flags by their names here; ``differences``, a list of ``{number, line_a, line_b, n_words_a,
            n_words_b}``; ``hunks``, a list of ``{line_a, line_b, lines}``, their lines ``{line_a, line_b, pieces}``,
            their pieces ``{kind, text, difference}``.
        """
        return {
            "n_words_a": self.n_words_a,
            "n_words_b": self.n_words_b,
            "n_words_only_a": self.n_words_only_a,
            "n_words_only_b": self.n_words_only_b,
            "n_differences": self.n_differences,
            "n_spelling_differences": self.n_spelling_differences,
            "n_hunks": self.n_hunks,
            "has_same_words": self.has_same_words,
            "is_identical": self.is_identical,
            "is_whole": self.is_whole,
            "differences": [asdict(one) for one in self.differences],
            "hunks": [
                {"line_a": hunk.line_a, "line_b": hunk.line_b, "lines": [_line(line) for line in hunk.lines]}
                for hunk in self.hunks
            ],
        }


def _line(line: Line) -> dict[str, object]:
    pieces = [{"kind": one.kind, "text": one.text, "difference": one.difference} for one in line.pieces]
    return {"line_a": line.line_a, "line_b": line.line_b, "pieces": pieces}
