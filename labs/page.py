"""Pages of all experiments: figures in two widths, and a Jinja template for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from nearkin._version import __version__
from nearkin.reports.pages import page_environment

WIDE, NARROW = 684, 262
"""Widths of a figure's plot in pixels: beside a margin of text, and on a phone."""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure in two widths, and its caption."""

    name: str
    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True, slots=True)
class PageHead:
    """Content of the page's head."""

    version: str = __version__


@dataclass(frozen=True, slots=True)
class LabPage(Generic[R]):
    """Rendering of results as figures, and as an HTML page without scripts or external files.

    Parameters
    ----------
    package : str
        Package with the template: ``templates/NAME.html.j2``, where NAME is the last part of the package's name.
    draw : function
        Draws all figures.
    values : function
        Returns the template's values besides ``results``, ``figures``, ``facts`` and ``corpus``.
    filters : mapping of str to function
        Number formats of the template.
    """

    package: str
    draw: Callable[[R], Iterable[Drawn]]
    values: Callable[[R], Mapping[str, object]]
    filters: Mapping[str, Callable[..., str]]

    def render(self, results: R, figures: Iterable[Drawn], corpus: str) -> str:
        """Render the page; for the same arguments, only the elapsed time can differ."""
        environment = page_environment(self.package, "labs")
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
    """Draw a figure in both widths.

    Parameters
    ----------
    name : str
        Name of its file, and of its id in the page.
    chart : function
        Takes the results, and ``name`` and ``width`` by keyword.
    results : object
    caption : str
    """
    wide, narrow = (chart(results, name=f"{name}-{tag}", width=width) for tag, width in (("w", WIDE), ("n", NARROW)))
    return Drawn(name, wide, narrow, caption)


def places(n: int) -> Callable[[float], str]:
    """Return a filter that formats a number with ``n`` decimals, or a dash if it is missing."""
    return lambda x: "–" if x != x else f"{x:.{n}f}"
