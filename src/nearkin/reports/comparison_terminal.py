"""A comparison for the terminal: marks that can be read without colour, nothing that could steer it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nearkin.reports.comparison_records import Comparison, Hunk, Kind, Piece
from nearkin.reports.hidden_characters import reveal

_STYLES: dict[Kind, str] = {"equal": "", "only_a": "yellow strike", "only_b": "cyan underline", "gap": "dim"}
_FRAMES: dict[Kind, tuple[str, str]] = {
    "equal": ("", ""),
    "only_a": ("[-", "-]"),
    "only_b": ("{+", "+}"),
    "gap": ("… ", " …"),
}


def to_terminal(comparison: Comparison) -> list[tuple[str, str]]:
    r"""Styles and texts to print one after another: each hunk under its line numbers, ``[-A-]`` and ``{+B+}`` in it.

    Control characters of the texts are shown by their code points. Nothing where nothing differs.

    Examples
    --------
    >>> from nearkin.reports.comparison import compare_texts
    >>> print("".join(text for _, text in to_terminal(compare_texts("due\nin 30 days", "due in 45 days"))), end="")
    @@ A line 1 · B line 1 @@
    due
    in [-30-] {+45+} days
    """
    spans: list[tuple[str, str]] = []
    for i, hunk in enumerate(comparison.hunks):
        spans += [("", "\n")] * (i > 0)
        spans += _hunk_spans(hunk)
    if not comparison.is_whole:
        spans.append(("bold", "The texts are too long to be compared to the end: some shared words are marked.\n"))
    return spans


def pieces_to_terminal(pieces: Sequence[Piece]) -> list[tuple[str, str]]:
    """Styles and texts of a line or a passage.

    Examples
    --------
    >>> "".join(text for _, text in pieces_to_terminal((Piece("gap", ""), Piece("only_a", "a"), Piece("only_b", " b"))))
    '… [-a-] {+b+}'
    """
    return list(_line_spans(pieces))


def _hunk_spans(hunk: Hunk) -> Iterator[tuple[str, str]]:
    yield "bold", f"@@ A line {hunk.line_a:,} · B line {hunk.line_b:,} @@"
    yield "", "\n"
    for line in hunk.lines:
        yield from _line_spans(line.pieces)
        yield "", "\n"


def _line_spans(pieces: Sequence[Piece]) -> Iterator[tuple[str, str]]:
    for i, piece in enumerate(pieces):
        body = piece.text.lstrip()
        if i and (len(body) < len(piece.text) or "gap" in (piece.kind, pieces[i - 1].kind)):
            yield "", " "
        opening, closing = _FRAMES[piece.kind]
        yield _STYLES[piece.kind], f"{opening}{reveal(body)}{closing}" if body else "…"
