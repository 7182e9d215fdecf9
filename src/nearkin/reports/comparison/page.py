"""Comparison as HTML, a page or part of one; it makes no network request and escapes all text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nearkin._version import __version__
from nearkin.errors import MissingExtraError
from nearkin.reports.comparison.shown_pieces import labels_of, shown_pieces
from nearkin.reports.pages import PageScript, report_environment
from nearkin.stages.differences.comparison import Comparison, Hunk

_MAX_LINES = 20_000  # a browser is slow with more


def comparison_html(
    comparison: Comparison, *, name_a: str | int, name_b: str | int, facts: Sequence[tuple[str, str]] = ()
) -> str:
    """Render the page of a comparison; equal arguments give equal text.

    Parameters
    ----------
    comparison : Comparison
    name_a, name_b : str or int
        The documents' names.
    facts : sequence of (label, value)
        Shown on top: similarities, say.

    Returns
    -------
    str
        A whole page with its style and its script. Up to 20,000 lines are shown; where there are more it says so.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.

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
        facts={"version": __version__},
        script=PageScript.named("comparison.js"),
        is_side_by_side=False,
    )


def comparison_fragment(comparison: Comparison, *, has_headline: bool = True, is_side_by_side: bool = False) -> str:
    """Render a comparison for a page that has the styles of `comparison_html`; a page can hold several.

    Parameters
    ----------
    comparison : Comparison
    has_headline : bool
        False if the page itself shows it.
    is_side_by_side : bool
        Whether A is on the left and B on the right, and not both in one text.

    Returns
    -------
    str
        A ``section`` with the headline and the lines that differ, without names, facts and script. Lines are limited as
        on a page of its own.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.

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
    """Return the hunks up to the last line that is shown."""
    hunks: list[Hunk] = []
    n_left = _MAX_LINES
    for hunk in comparison.hunks:
        if n_left <= 0:
            break
        hunks.append(hunk if len(hunk.lines) <= n_left else Hunk(hunk.line_a, hunk.line_b, hunk.lines[:n_left]))
        n_left -= len(hunk.lines)
    return hunks
