"""Pieces as plain text, with marks that can be read without colour and nothing that could steer a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nearkin.hidden_characters import reveal
from nearkin.stages.differences.comparison import Kind, Piece

_FRAMES: dict[Kind, tuple[str, str]] = {
    "equal": ("", ""),
    "only_a": ("[-", "-]"),
    "only_b": ("{+", "+}"),
    "gap": ("… ", " …"),
}


def marked_pieces(pieces: Sequence[Piece]) -> Iterator[tuple[Kind, str]]:
    """Yield the kind and the text of each piece of a line or a passage, between its marks; and spaces between them."""
    for i, piece in enumerate(pieces):
        body = piece.text.lstrip()
        if i and (len(body) < len(piece.text) or "gap" in (piece.kind, pieces[i - 1].kind)):
            yield "equal", " "
        opening, closing = _FRAMES[piece.kind]
        yield piece.kind, f"{opening}{reveal(body)}{closing}" if body else "…"


def marked_text(pieces: Sequence[Piece]) -> str:
    """A line or a passage as one text.

    Examples
    --------
    >>> marked_text((Piece("gap", ""), Piece("only_a", "a"), Piece("only_b", " b")))
    '… [-a-] {+b+}'
    """
    return "".join(text for _, text in marked_pieces(pieces))
