"""Theme of the pages and figures: one palette for light and dark.

Each coloured element also carries a class (``nk-fill-accent``), so a page that includes ``stylesheet()`` recolours the
same SVG when the reader's system is dark.
"""

from __future__ import annotations

from dataclasses import dataclass

FONT = "system-ui, 'Segoe UI', 'Liberation Sans', Arial, Helvetica, sans-serif"


@dataclass(frozen=True, slots=True)
class Colour:
    """Colour for one purpose, as it is on a light page and on a dark one."""

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
"""Colours of lines and bars in order of use; distinguishable with every common kind of colour vision."""

DASHES = ((), (7, 3), (2, 2), (9, 3, 2, 3), (12, 4), (4, 4))
"""Dash patterns that go with ``SERIES``, so that colour is never the only distinction between lines."""


def stylesheet() -> str:
    """Return the CSS of the palette: custom properties for both kinds of page, and the classes of figures."""
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
