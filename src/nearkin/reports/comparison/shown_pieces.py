"""Pieces of a comparison as a page shows them: no mark begins with a space, and gaps are separate."""

from __future__ import annotations

from collections.abc import Container, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

from nearkin.stages.differences.comparison import Comparison, Difference, DifferenceKind, Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPiece:
    """Piece of a comparison, separated from its leading space.

    ``is_spelling``: the words are the same, and only their spelling differs. ``move`` says where a moved passage is in
    the other text. ``kinds`` are those of the difference; ``label`` names them where the difference begins.
    """

    kind: str
    space: str
    text: str
    difference: int
    is_spelling: bool
    move: str
    kinds: tuple[DifferenceKind, ...] = ()
    label: str = ""


LABELS: dict[DifferenceKind, str] = {"numbers": "number", "dates": "date", "names": "name", "negations": "negation"}
"""Kinds that a mark names; the other kinds of marks look different."""


def labels_of(comparison: Comparison) -> dict[int, str]:
    """Return the label of each difference that has one.

    Examples
    --------
    >>> from nearkin.stages.differences.comparing import compare_texts
    >>> labels_of(compare_texts("not due in 30 days", "due soon in 45 days"))
    {1: 'negation', 3: 'number'}
    """
    found = {
        one.number: ", ".join(LABELS[kind] for kind in one.kinds if kind in LABELS) for one in comparison.differences
    }
    return {number: label for number, label in found.items() if label}


def shown_pieces(
    pieces: Sequence[Piece],
    in_spelling: Container[int] = (),
    moves: Mapping[int, str] | None = None,
    differences: Sequence[Difference] = (),
    labels: MutableMapping[int, str] | None = None,
) -> tuple[ShownPiece, ...]:
    """Separate the leading spaces of pieces.

    ``in_spelling`` holds the differences in spelling only; ``moves`` describes those that are moves. A label is taken
    out of ``labels`` by the first piece of its difference.

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
                kinds=differences[piece.difference - 1].kinds if 0 < piece.difference <= len(differences) else (),
                label="" if labels is None or not piece.difference else labels.pop(piece.difference, ""),
            )
        )
    return tuple(shown)
