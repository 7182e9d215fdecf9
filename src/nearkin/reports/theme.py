"""Theme of the figures: one palette for light and dark pages, quiet axes, the same bytes on every machine.

A figure is drawn in the light colours. Each coloured element also carries a class (``nk-fill-accent``), so a page that
includes ``stylesheet()`` recolours the same SVG when the reader's system is dark. Nothing is measured from installed
fonts: margins and axis extents are given, so the same data make the same bytes anywhere.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from nearkin.errors import ParameterError
from nearkin.reports.drawing import draw

if TYPE_CHECKING:
    import altair

FONT = "system-ui, 'Segoe UI', 'Liberation Sans', Arial, Helvetica, sans-serif"


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour by its job, as it is on a light page and on a dark one."""

    name: str
    light: str
    dark: str


SURFACE = Colour("surface", "#ffffff", "#14181d")
INK = Colour("ink", "#1b2026", "#e6e9ed")
QUIET = Colour("quiet", "#55606b", "#a7b2bd")  # words of less weight; 6:1 on its surface
AXIS = Colour("axis", "#89939e", "#6b7682")
GRID = Colour("grid", "#e4e8ec", "#2b323a")
ACCENT = Colour("accent", "#0b62a4", "#5fb2ee")  # what a figure is about; "only in B"
SOFT = Colour("soft", "#b9d5ea", "#274a66")  # what lies behind it
SIGNAL = Colour("signal", "#b34700", "#f4a460")  # a threshold, a choice; "only in A"
GREEN = Colour("green", "#00775a", "#4fcaa6")
VIOLET = Colour("violet", "#8b4a9c", "#d6a4e8")
OLIVE = Colour("olive", "#7a6200", "#dcbf55")

PALETTE = (SURFACE, INK, QUIET, AXIS, GRID, ACCENT, SOFT, SIGNAL, GREEN, VIOLET, OLIVE)
SERIES = (ACCENT, SIGNAL, GREEN, VIOLET, OLIVE, INK)
"""Colours of lines and bars in the order in which they are used; told apart by every common kind of colour vision."""

DASHES = ((), (7, 3), (2, 2), (9, 3, 2, 3), (12, 4), (4, 4))
"""Dash patterns that go with ``SERIES``, so that no line is identified by its colour alone."""

_NAMED = {colour.light: colour.name for colour in PALETTE}
_DROPPED = re.compile(r"role|class|aria-.*|pointer-events|font-family|opacity|xlink.*")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")


def stylesheet() -> str:
    """The CSS of the palette: custom properties for both kinds of page, and the classes that figures use."""
    light = "".join(f"--nk-{colour.name}:{colour.light};" for colour in PALETTE)
    dark = "".join(f"--nk-{colour.name}:{colour.dark};" for colour in PALETTE)
    classes = "".join(
        f".nk-{what}-{colour.name}{{{what}:var(--nk-{colour.name})}}\n"
        for colour in PALETTE
        for what in ("fill", "stroke")
    )
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{classes}"
        f".nk-figure text{{font-family:{FONT}}}\n"
    )


def to_svg(chart: altair.LayerChart, *, name: str, title: str, description: str) -> str:
    """A chart as an SVG element for a page.

    Parameters
    ----------
    chart : altair.LayerChart
        With its width, height and padding given.
    name : str
        Begins every id inside the SVG: two figures of one page need two names. Small letters, digits and hyphens.
    title, description : str
        What a screen reader says in place of the figure.

    Returns
    -------
    str
        ``<svg …>…</svg>``; the same for the same chart, however many were drawn before it.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ParameterError.of("name", "to_svg", "small letters, digits and hyphens, a letter first", name)
    specification = json.loads(chart.to_json(validate=False))  # validating takes longer than drawing
    specification["config"] = _config()
    return _tidied(draw(specification), name, f"{title}. {description}")


def _config() -> dict[str, object]:
    """The Vega-Lite configuration of every figure."""
    axis: dict[str, object] = {
        "domainColor": AXIS.light,
        "gridColor": GRID.light,
        "labelColor": QUIET.light,
        "labelFontSize": 12,
        "labelOverlap": False,
        "labelPadding": 5,
        "tickColor": AXIS.light,
        "tickSize": 4,
        "titleColor": INK.light,
        "titleFontSize": 12.5,
        "titleFontWeight": "normal",
        "minExtent": 30,
        "maxExtent": 30,
    }
    return {
        "aria": False,
        "autosize": "none",
        "background": "transparent",
        "font": "Liberation Sans",
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"grid": False, "titlePadding": 4, "minExtent": 20, "maxExtent": 20},
        "axisY": {"domain": False, "ticks": False},
        "bar": {"fill": ACCENT.light},
        "line": {"stroke": ACCENT.light, "strokeWidth": 2.5, "strokeCap": "round", "strokeJoin": "round"},
        "text": {"fill": INK.light, "fontSize": 12},
    }


def _tidied(drawn: str, name: str, label: str) -> str:
    """The SVG without what a page does not need, with classes for the colours and ids of its own.

    The drawing library numbers its ids through the life of the process; here they are renumbered.
    """
    root = ElementTree.fromstring(re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", drawn, count=2))
    ids = {element.get("id", ""): f"{name}-{i}" for i, element in enumerate(root.iterfind(".//*[@id]"))}
    for element in root.iter():
        _tidy_element(element, ids)
    _remove_unseen(root)
    root.attrib.update(
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "nk-figure",
            "role": "img",
            "aria-label": label,
            "font-family": FONT,
        }
    )
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _tidy_element(element: ElementTree.Element, ids: dict[str, str]) -> None:
    """Rewrites the attributes of one element."""
    classes = []
    for key, value in list(element.attrib.items()):
        if _DROPPED.fullmatch(key) and not (key == "opacity" and value != "1"):
            del element.attrib[key]
        elif key in {"fill", "stroke"} and value in _NAMED:
            classes.append(f"nk-{key}-{_NAMED[value]}")
        elif key == "id":
            element.set(key, ids[value])
        elif key == "clip-path":
            element.set(key, re.sub(r"#(.+)\)", lambda found: f"#{ids[found.group(1)]})", value))
        elif key in {"d", "transform"}:
            element.set(key, _LONG_NUMBER.sub(lambda found: f"{float(found.group()):.2f}", value))
    if classes:
        element.set("class", " ".join(classes))


def _remove_unseen(parent: ElementTree.Element) -> None:
    """Takes out empty paths and empty groups."""
    for child in list(parent):
        _remove_unseen(child)
        unseen_path = child.tag == "path" and (child.get("display") == "none" or child.get("d") == "M0,0h0v0h0Z")
        if unseen_path or (child.tag in {"g", "defs"} and not len(child)):
            parent.remove(child)
