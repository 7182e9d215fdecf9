"""The results as one page of HTML that needs neither a network nor a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nearkin._version import __version__
from nearkin.errors import MissingExtraError
from nearkin.lab.minhash.experiment import Results
from nearkin.lab.minhash.published import PUBLISHED, REMARKS
from nearkin.lab.minhash.tables import side_by_side
from nearkin.reports.pages import page_environment

_WIDE, _NARROW = 684, 262  # pixels of a figure's plot: beside a margin of text, and on a telephone


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure at two widths, and its caption."""

    name: str
    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the page's head names."""

    version: str


def draw(results: Results) -> tuple[Drawn, ...]:
    """All figures.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.
    """
    from nearkin.lab.minhash import figures

    n_near, n_strangers = results.lengths.n_near, results.lengths.n_strangers
    pairs = f"{n_near:,} near-duplicates and {n_strangers:,} other pairs"
    return (
        _drawn("sentences", figures.sentence_columns, results, "The two cat sentences by the length of a shingle."),
        _drawn(
            "lengths-chars",
            lambda r, **how: figures.length_lines(r, unit="chars", **how),
            results,
            f"{pairs} of this corpus, by shingles of characters.",
        ),
        _drawn(
            "lengths-words",
            lambda r, **how: figures.length_lines(r, unit="words", **how),
            results,
            "The same pairs by shingles of words.",
        ),
        _drawn(
            "s-curves",
            figures.s_curves,
            results,
            "How likely a pair becomes a candidate, with 100 hashes cut five ways.",
        ),
        _drawn(
            "similarities", figures.all_similarities, results, "All pairs of this corpus by their exact similarity."
        ),
        _drawn(
            "candidates",
            figures.candidate_columns,
            results,
            "Candidate pairs: columns measured with one sketch, points predicted from the exact similarities.",
        ),
        _drawn(
            "in-vain",
            figures.in_vain_columns,
            results,
            "Candidates that turn out below 0.9: what the check costs in vain.",
        ),
    )


def _drawn(name: str, chart: Callable[..., str], results: Results, caption: str) -> Drawn:
    wide, narrow = (chart(results, name=f"{name}-{tag}", width=width) for tag, width in (("w", _WIDE), ("n", _NARROW)))
    return Drawn(name, wide, narrow, caption)


def render(results: Results, drawn: tuple[Drawn, ...], corpus: str) -> str:
    """The page; the same bytes for the same arguments but for the time it took.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.
    """
    try:
        environment = page_environment("nearkin.lab.minhash")
    except ImportError as error:
        raise MissingExtraError.of("The page", "report") from error
    environment.filters |= {
        "tenths": lambda x: f"{x:,.1f}",
        "similarity": lambda x: "–" if x != x else f"{x:.4f}",
    }
    return environment.get_template("minhash.html.j2").render(
        facts=_Facts(__version__),
        corpus=corpus,
        results=results,
        truth=results.truth,
        copies=results.copies,
        beside=side_by_side(results),
        published=PUBLISHED,
        remarks=REMARKS,
        figures={figure.name: figure for figure in drawn},
    )
