"""The paper's statements about its results, and whether they hold here."""

from __future__ import annotations

from collections.abc import Iterator

from labs.experiment import Claim
from labs.range_search.projections import ALGORITHM_2, FILTERS, PROJECTIONS, WITH_FILTERS, Searches
from labs.range_search.published import ALIKE, FIRST_RANGE, GAMMAS, SAID
from labs.range_search.similarity import Alikeness
from nearkin.wording import share_text

NEAR = 0.02
"""Maximum shortfall of a share, a recall or a precision from the paper's that still counts as the same."""
STAYS = 0.95
"""Minimum recall that "remains almost unchanged at 1" with any number of projections."""


def claims(searches: Searches, alikes: tuple[Alikeness, ...]) -> tuple[Claim, ...]:
    """Return the paper's statements, with the deciding numbers."""
    return (
        *_alike(alikes),
        *_quality(searches),
        _rises(searches),
        *_filters(searches),
        *_filters_alone(searches),
    )


def _alike(alikes: tuple[Alikeness, ...]) -> Iterator[Claim]:
    for alike in alikes:
        said = ALIKE[alike.gamma]
        here = alike.at_least(said.similarity)
        yield Claim(
            f"γ = {alike.gamma}: matches with an edit similarity of at least {said.similarity:.2f}",
            said.words,
            percent(here),
            None if here != here else here >= said.share - NEAR,
        )


def _quality(searches: Searches) -> Iterator[Claim]:
    for way in (ALGORITHM_2, WITH_FILTERS, FILTERS):
        for gamma in GAMMAS:
            said, here = SAID[way.key, gamma].recall, searches.of(way, gamma).quality.recall.mean
            yield Claim(f"γ = {gamma}: recall of {way.label}", f"{said:.3f}", f"{here:.3f}", here >= said - NEAR)
    for way in (ALGORITHM_2, WITH_FILTERS):
        for gamma in GAMMAS:
            said, here = SAID[way.key, gamma].precision, searches.of(way, gamma).quality.precision.mean
            yield Claim(f"γ = {gamma}: precision of {way.label}", f"{said:.3f}", f"{here:.3f}", here >= said - NEAR)


def _rises(searches: Searches) -> Claim:
    curve = searches.curve(ALGORITHM_2, GAMMAS[0])
    precisions = [point.quality.precision.mean for point in curve]
    least = min(point.quality.recall.mean for point in curve)
    return Claim(
        f"γ = {GAMMAS[0]}: with more projections precision rises, and recall stays almost at 1",
        "below 0.002 to almost 0.9; 1",
        f"{precisions[0]:.3f} with 1 to {precisions[-1]:.3f} with {PROJECTIONS[-1]}; at least {share_text(least)}",
        precisions == sorted(precisions) and precisions[0] < precisions[-1] and least >= STAYS,
    )


def _filters(searches: Searches) -> Iterator[Claim]:
    for gamma in GAMMAS:
        plain, filtered = searches.of(ALGORITHM_2, gamma), searches.of(WITH_FILTERS, gamma)
        said = FIRST_RANGE[ALGORITHM_2.key, gamma] / FIRST_RANGE[WITH_FILTERS.key, gamma]
        here = plain.n_first / max(filtered.n_first, 1)
        yield Claim(
            f"γ = {gamma}: the filters leave fewer documents after the first step, by a factor of",
            f"{said:.1f}",
            f"{here:.1f}",
            here > 1,
        )
    for gamma in GAMMAS:
        plain, filtered = searches.of(ALGORITHM_2, gamma), searches.of(WITH_FILTERS, gamma)
        more = SAID[WITH_FILTERS.key, gamma].precision - SAID[ALGORITHM_2.key, gamma].precision
        gained = filtered.quality.precision.mean - plain.quality.precision.mean
        yield Claim(f"γ = {gamma}: the filters add precision", f"+{more:.3f}", f"{gained:+.3f}", gained > 0)


def _filters_alone(searches: Searches) -> Iterator[Claim]:
    for gamma in GAMMAS:
        alone = searches.of(FILTERS, gamma).quality.precision.mean
        both = searches.of(WITH_FILTERS, gamma).quality.precision.mean
        yield Claim(
            f"γ = {gamma}: the filters alone have a poor precision",
            f"{SAID[FILTERS.key, gamma].precision:.3f}",
            f"{alone:.3f}",
            alone < both / 2,
        )


def percent(share: float) -> str:
    """Format a share in per cent; a dash for NaN.

    Examples
    --------
    >>> percent(0.98765), percent(float("nan"))
    ('98.8 %', '–')
    """
    return "–" if share != share else f"{100 * share:.1f} %"
