"""Pieces of a comparison as a page shows them: no mark begins with a space, and gaps are separate."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from nearkin.stages.differences.comparison import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPiece:
    """Piece of a comparison, separated from its leading space.

    ``is_spelling``: the words are the same, and only their spelling differs. ``move`` says where a moved passage is in
    the other text.
    """

    kind: str
    space: str
    text: str
    difference: int
    is_spelling: bool
    move: str


def shown_pieces(
    pieces: Sequence[Piece], in_spelling: Container[int] = (), moves: Mapping[int, str] | None = None
) -> tuple[ShownPiece, ...]:
    """Separate the leading spaces of pieces.

    ``in_spelling`` holds the differences in spelling only; ``moves`` describes those that are moves.

    Examples
    --------
    >>> [(one.space, one.text) for one in shown_pieces((Piece("equal", " in"), Piece("only_a", " 30")))]
    [(' ', 'in'), (' ', '30')]
    """
    shown = []
    for i, piece in enumerate(pieces):
        text = piece.text.lstrip()
        beside_gap = i > 0 and "gap" in (piece.kind, pieces[i - 1].kind)
        space = " " if beside_gap or len(text) < len(piece.text) else ""
        is_spelling, move = piece.difference in in_spelling, (moves or {}).get(piece.difference, "")
        shown.append(
            ShownPiece(
                kind=piece.kind,
                space=space,
                text=text,
                difference=piece.difference,
                is_spelling=is_spelling,
                move=move,
            )
        )
    return tuple(shown)
