"""Comparison for a terminal: its marks do not need colour, and no text in it can control the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nearkin.stages.differences.comparison import Comparison, Hunk, Kind, Piece, marked_pieces

_STYLES: dict[Kind, str] = {"equal": "", "only_a": "yellow strike", "only_b": "cyan underline", "gap": "dim"}


def to_terminal(comparison: Comparison) -> list[tuple[str, str]]:
    r"""Return styles and texts to print: each hunk under its line numbers, with ``[-A-]`` and ``{+B+}`` in it.

    Examples
    --------
    >>> from nearkin.stages.differences.comparing import compare_texts
    >>> print("".join(text for _, text in to_terminal(compare_texts("due\nin 30 days", "due in 45 days"))), end="")
    @@ A line 1 · B line 1 @@
    due
    in [-30-] {+45+} days
    """
    spans: list[tuple[str, str]] = []
    for i, hunk in enumerate(comparison.hunks):
        spans += [("", "\n")] * (i > 0)
        spans += _hunk_spans(hunk, comparison.move_notes)
    if not comparison.is_whole:
        spans.append(("bold", "The texts are too long to be compared to the end: some shared words are marked.\n"))
    return spans


def pieces_to_terminal(pieces: Sequence[Piece], notes: Mapping[int, str] | None = None) -> list[tuple[str, str]]:
    """Return styles and texts of a line or a passage."""
    return [(_STYLES[kind], text) for kind, text in marked_pieces(pieces, notes)]


def _hunk_spans(hunk: Hunk, notes: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    yield "bold", f"@@ A line {hunk.line_a:,} · B line {hunk.line_b:,} @@"
    yield "", "\n"
    for line in hunk.lines:
        yield from pieces_to_terminal(line.pieces, notes)
        yield "", "\n"
