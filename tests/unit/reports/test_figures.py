from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from nearkin.reports.figures import RecallLine, group_sizes, outcome_chart, similarity_chart
from nearkin.reports.plots import Series, column_chart, interval_chart, line_chart
from nearkin.reports.theme import ACCENT, GREEN, INK, OLIVE, QUIET, SIGNAL, SURFACE, VIOLET
from unit.web.test_contrast import ratio

EDGES = [0.8, 0.85, 0.9, 0.95, 1.0]
COUNTS = [12, 9, 4, 30]
WORDS = {"name": "f", "title": "t", "description": "d"}
AXES = {"x_title": "x", "y_title": "y"}

FIGURES: dict[str, Callable[[], str]] = {
    "histogram": lambda: similarity_chart(EDGES, COUNTS, 0.8, None),
    "no threshold": lambda: similarity_chart(EDGES, COUNTS, None, None),
    "sizes": lambda: group_sizes([2, 3, 140], [20, 4, 1]),
    "outcome": lambda: outcome_chart(10, 1, {"exact copy": 2, "near-duplicate": 0}),
    "nothing dropped": lambda: outcome_chart(10, 0, {}),
    "curve": lambda: similarity_chart(EDGES, COUNTS, 0.85, RecallLine([0, 0.5, 1], [0, 0.9, 1], 0.97, 0.99)),
    "curve alone": lambda: similarity_chart(
        EDGES, [0] * 4, 0.8, RecallLine([0, 1], [0, 1], 0.8), measure="containment"
    ),
    "skewed": lambda: interval_chart(EDGES, [1, 2, 3, 1_000_000], **WORDS, **AXES, mark=(0.99, "here")),
    "lines": lambda: line_chart([Series("a", [0, 1], [0, 1]), Series("b", [0, 1], [1, 0])], **WORDS, **AXES),
    "one point": lambda: line_chart([Series("a", [1], [1])], **WORDS, **AXES, mark=(1, "here")),
    "nothing": lambda: column_chart([], [], **WORDS, **AXES),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_is_an_image_with_words_and_without_links(draw: Callable[[], str]) -> None:
    svg = draw()
    root = ElementTree.fromstring(svg)

    assert root.get("role") == "img"
    assert len(root.get("aria-label", "")) > 3
    assert "href" not in svg
    assert "<image" not in svg
    assert "NaN" not in svg


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_every_colour_follows_the_page(draw: Callable[[], str]) -> None:
    for element in ElementTree.fromstring(draw()).iter():
        for attribute in ("fill", "stroke"):
            if element.get(attribute, "none") not in {"none", "transparent"}:
                assert f"nk-{attribute}-" in element.get("class", ""), ElementTree.tostring(element)


@pytest.mark.parametrize("colour", [INK, QUIET, ACCENT, SIGNAL, GREEN, VIOLET, OLIVE], ids=lambda colour: colour.name)
def test_words_can_be_read_on_light_and_dark_pages(colour) -> None:  # WCAG 2.2, AA
    assert ratio(colour.light, SURFACE.light) >= 4.5
    assert ratio(colour.dark, SURFACE.dark) >= 4.5
