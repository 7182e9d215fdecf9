"""Comparison as HTML, a page or part of one; it makes no network request and escapes all text."""

from __future__ import annotations

from collections.abc import Container, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial

from nearkin._version import __version__
from nearkin.errors import MissingExtraError
from nearkin.reports.facts.fact import Fact
from nearkin.reports.pages import PageScript, report_environment
from nearkin.stages.differences.comparison import Comparison, Difference, DifferenceKind, Hunk, Piece

_MAX_LINES = 20_000  # a browser is slow with more


def comparison_html(comparison: Comparison, *, name_a: str | int, name_b: str | int, facts: Sequence[Fact] = ()) -> str:
    """Render the page of a comparison, with ``facts`` on top; equal arguments give equal text.

    Examples
    --------
    >>> from nearkin.stages.differences.comparing import compare_texts
    >>> page = comparison_html(compare_texts("in 30 days", "in 45 days"), name_a="lease", name_b="lease, signed")
    >>> "1 difference: 1 word only in A, 1 word only in B" in page
    True
    """
    return _rendered(
        "comparison.html.j2",
        comparison,
        name_a=name_a,
        name_b=name_b,
        shown_facts=list(facts),
        facts={"nearkin": __version__},
        script=PageScript.named("comparison.js"),
        is_side_by_side=False,
    )


def comparison_fragment(comparison: Comparison, *, has_headline: bool = True, is_side_by_side: bool = False) -> str:
    """Render a comparison for a page that has the styles of `comparison_html`; a page can hold several.

    Examples
    --------
    >>> from nearkin.stages.differences.comparing import compare_texts
    >>> print(comparison_fragment(compare_texts("in 30  days", "in 30 days")), end="")
    <section class="comparison">
    <p>The two documents are identical except for white space</p>
    </section>
    """
    return _rendered(
        "comparison_fragment.html.j2", comparison, has_headline=has_headline, is_side_by_side=is_side_by_side
    )


def _rendered(template: str, comparison: Comparison, **values: object) -> str:
    hunks = _first_lines(comparison)
    in_spelling = {one.number for one in comparison.differences if one.has_same_words}
    try:
        environment = report_environment()
        environment.filters["spaced"] = partial(
            shown_pieces,
            in_spelling=in_spelling,
            moves=comparison.move_notes,
            differences=comparison.differences,
            labels=labels_of(comparison),
        )
        return environment.get_template(template).render(
            comparison=comparison,
            hunks=hunks,
            n_shown=max(
                (piece.difference for hunk in hunks for line in hunk.lines for piece in line.pieces), default=0
            ),
            **values,
        )
    except ImportError as error:
        raise MissingExtraError.of("The page of a comparison", "report") from error


def _first_lines(comparison: Comparison) -> list[Hunk]:
    hunks: list[Hunk] = []
    n_left = _MAX_LINES
    for hunk in comparison.hunks:
        if n_left <= 0:
            break
        hunks.append(hunk if len(hunk.lines) <= n_left else Hunk(hunk.line_a, hunk.line_b, hunk.lines[:n_left]))
        n_left -= len(hunk.lines)
    return hunks


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPiece:
    """Piece of a comparison, separated from its leading space.

    ``is_spelling``: only the spelling differs. ``move`` says where a moved passage is in the other text; ``label``
    names the kinds where the difference begins.
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
