"""The pages of all experiments: figures at two widths, and Jinja over the template of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from nearkin._version import __version__
from nearkin.reports.pages import page_environment

WIDE, NARROW = 684, 262
"""Pixels of a figure's plot: beside a margin of text, and on a telephone."""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure at two widths, and its caption."""

    name: str
    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True, slots=True)
class PageHead:
    """What the head of a page names."""

    version: str = __version__


@dataclass(frozen=True, slots=True)
class LabPage(Generic[R]):
    """How results become figures, and results with figures a page of HTML without network or script.

    Parameters
    ----------
    package : str
        Holds the template: ``templates/NAME.html.j2``, where NAME is the last part of the package's name.
    draw : function
        Draws all figures.
    values : function
        What the template is given besides ``results``, ``figures``, ``facts`` and ``corpus``.
    filters : mapping of str to function
        How the template writes numbers.
    """

    package: str
    draw: Callable[[R], Iterable[Drawn]]
    values: Callable[[R], Mapping[str, object]]
    filters: Mapping[str, Callable[..., str]]

    def render(self, results: R, figures: Iterable[Drawn], corpus: str) -> str:
        """The page; the same bytes for the same arguments but for the time it took."""
        environment = page_environment(self.package, "nearkin.lab")
        environment.filters |= self.filters
        template = environment.get_template(f"{self.package.rpartition('.')[2]}.html.j2")
        return template.render(
            facts=PageHead(),
            corpus=corpus,
            results=results,
            figures={figure.name: figure for figure in figures},
            **self.values(results),
        )


def drawn(name: str, chart: Callable[..., str], results: R, caption: str) -> Drawn:
    """A figure at both widths.

    Parameters
    ----------
    name : str
        Of its file; begins the ids inside it.
    chart : function
        Of the results; ``name`` and ``width`` are given by keyword.
    results : object
    caption : str
    """
    wide, narrow = (chart(results, name=f"{name}-{tag}", width=width) for tag, width in (("w", WIDE), ("n", NARROW)))
    return Drawn(name, wide, narrow, caption)


def places(n: int) -> Callable[[float], str]:
    """A filter: a number with so many decimals, and a dash for one that is not there."""
    return lambda x: "–" if x != x else f"{x:.{n}f}"
