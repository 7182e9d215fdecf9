"""Plain text of pieces, with marks that are readable without colour, and without terminal control characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nearkin.stages.differences.comparison import Kind, Piece
from nearkin.wording import reveal

_FRAMES: dict[Kind, tuple[str, str]] = {
    "equal": ("", ""),
    "only_a": ("[-", "-]"),
    "only_b": ("{+", "+}"),
    "gap": ("… ", " …"),
}


def marked_pieces(pieces: Sequence[Piece], notes: Mapping[int, str] | None = None) -> Iterator[tuple[Kind, str]]:
    """Yield the kind and the marked text of each piece of a line or a passage, and the spaces between pieces.

    ``notes`` has words for some differences, such as where a passage was moved.
    """
    for i, piece in enumerate(pieces):
        body = piece.text.lstrip()
        if i and (len(body) < len(piece.text) or "gap" in (piece.kind, pieces[i - 1].kind)):
            yield "equal", " "
        opening, closing = _FRAMES[piece.kind]
        if notes and piece.difference in notes:
            opening += f"{notes[piece.difference]}: "
        yield piece.kind, f"{opening}{reveal(body)}{closing}" if body else "…"


def marked_text(pieces: Sequence[Piece]) -> str:
    """Return a line or a passage as a single text.

    Examples
    --------
    >>> marked_text((Piece("gap", ""), Piece("only_a", "a"), Piece("only_b", " b")))
    '… [-a-] {+b+}'
    """
    return "".join(text for _, text in marked_pieces(pieces))
