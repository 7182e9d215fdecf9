"""What the pages of all experiments share: figures at two widths, facts for the head, Jinja over their templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nearkin._version import __version__
from nearkin.errors import MissingExtraError
from nearkin.reports.pages import page_environment

if TYPE_CHECKING:
    import jinja2

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
class Facts:
    """What the page's head names."""

    version: str = __version__


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


def lab_environment(package: str) -> jinja2.Environment:
    """Jinja over the templates of an experiment, with what all experiments share.

    Raises
    ------
    MissingExtraError
        The ``report`` extra is not installed.
    """
    try:
        return page_environment(package, "nearkin.lab")
    except ImportError as error:
        raise MissingExtraError.of("The page", "report") from error
