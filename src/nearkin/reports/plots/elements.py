"""SVG elements as strings: numbers rounded, text escaped, colours as attributes and as classes of the stylesheet."""

from __future__ import annotations

import re
from html import escape

from nearkin.errors import ParameterError
from nearkin.reports.theme import FONT, Colour
from nearkin.wording import reveal_line

_NAME = re.compile(r"[a-z][a-z0-9-]*")


def element(
    tag: str, text: str = "", *, fill: Colour | None = None, stroke: Colour | None = None, **given: object
) -> str:
    """Return an element with its attributes; underscores of their names become hyphens.

    Characters that XML forbids, and others that a reader cannot see, are shown by their code points.

    Examples
    --------
    >>> element("text", "a < b", x=1.0, text_anchor="end")
    '<text x="1" text-anchor="end">a &lt; b</text>'
    """
    attributes = [f'{key.replace("_", "-")}="{_value(value)}"' for key, value in given.items() if value is not None]
    attributes += [f'{key}="{colour.light}"' for key, colour in (("fill", fill), ("stroke", stroke)) if colour]
    classes = " ".join(f"nk-{key}-{colour.name}" for key, colour in (("fill", fill), ("stroke", stroke)) if colour)
    opening = " ".join([tag, *([f'class="{classes}"'] if classes else []), *attributes])
    return f"<{opening}>{escape(reveal_line(text), quote=False)}</{tag}>" if text else f"<{opening}/>"


def number(value: float) -> str:
    """Return a coordinate with two decimals at most.

    Examples
    --------
    >>> number(3.0), number(0.125), number(-0.001)
    ('3', '0.12', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def picture(*parts: str, width: float, height: float, origin: tuple[float, float], name: str, label: str) -> str:
    """Return the SVG of a figure.

    Parameters
    ----------
    *parts : str
        Elements, the first at the bottom.
    width, height : float
        Size of the figure, in pixels.
    origin : (float, float)
        Upper left corner of the plot within the figure, in pixels.
    name : str
        Id of the figure: small letters, digits and hyphens.
    label : str
        Words of a screen reader.

    Raises
    ------
    ParameterError
        The name is no id.
    """
    if not _NAME.fullmatch(name):
        raise ParameterError.of("name", "small letters, digits and hyphens, a letter first", name)
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nk-figure" id="{name}" {size} role="img"'
        f' aria-label="{_value(label)}" font-family="{escape(FONT)}" fill="none">'
        f'<g transform="translate({number(origin[0])},{number(origin[1])})">{"".join(parts)}</g></svg>'
    )


def _value(value: object) -> str:
    return number(value) if isinstance(value, int | float) else escape(reveal_line(str(value)))
