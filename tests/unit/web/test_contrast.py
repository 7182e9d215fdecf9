"""Contrast of the review screen's colours, in both themes: WCAG 2.2, 4.5:1 for text."""

from __future__ import annotations

import re

import pytest

from nearkin.web.service import StaticFilesOfPages

TEXT = ("nk-ink", "nk-quiet", "nk-accent", "nk-signal", "nk-green")
SURFACES = ("nk-surface", "panel")


def themes() -> dict[str, dict[str, str]]:
    """The values of the custom properties, light and dark."""
    css = StaticFilesOfPages().by_name["review.css"].content.decode()
    named = re.compile(r"--([\w-]+):(#[0-9a-f]{6})\b")
    dark = "".join(re.findall(r"@media screen and \(prefers-color-scheme:\s*dark\)\s*\{\s*:root\s*\{([^}]*)\}", css))
    light = re.sub(r"@media[^{]*prefers-color-scheme[^{]*\{\s*:root\s*\{[^}]*\}", "", css)
    plain = dict(named.findall(light))
    return {"light": plain, "dark": plain | dict(named.findall(dark))}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(a: str, b: str) -> float:
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_the_ratio_is_that_of_the_standard() -> None:
    assert ratio("#000000", "#ffffff") == pytest.approx(21)
    assert ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read(theme: str) -> None:
    colours = themes()[theme]
    low = {
        (text, surface): round(ratio(colours[text], colours[surface]), 2)
        for text in TEXT
        for surface in SURFACES
        if ratio(colours[text], colours[surface]) < 4.5
    }
    assert low == {}
    assert ratio(colours["nk-surface"], colours["nk-accent"]) >= 4.5  # the main button
    assert colours["nk-ink"] != themes()["dark" if theme == "light" else "light"]["nk-ink"]
