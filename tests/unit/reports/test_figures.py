from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from nearkin.errors import ParameterError
from nearkin.reports.figures import (
    RecallLine,
    binned_sizes,
    group_sizes,
    outcome_chart,
    similarity_chart,
)
from nearkin.reports.plots.charts import Series, column_chart, interval_chart, line_chart
from nearkin.reports.theme import ACCENT, GREEN, INK, OLIVE, PALETTE, QUIET, SERIES, SIGNAL, SURFACE, VIOLET, stylesheet

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
def test_a_figure_is_the_same_however_many_were_drawn_before(draw: Callable[[], str]) -> None:
    assert draw() == draw()


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


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_the_name_is_the_only_id(draw: Callable[[], str]) -> None:
    root = ElementTree.fromstring(draw())

    assert root.get("id") in {"f", "similarities", "sizes", "outcome"}
    assert not root.findall(".//*[@id]")


def test_labels_are_escaped() -> None:
    assert "<b>" not in column_chart(["<b> & 'x' \""], [1], **WORDS, **AXES)


def test_the_label_of_the_threshold_is_legible_over_bars() -> None:
    svg = similarity_chart(EDGES, COUNTS, 0.85, RecallLine([0, 1], [0, 0.4], 0.34))
    (label,) = (one for one in ElementTree.fromstring(svg).iter() if one.text == "0.340 at 0.85")
    assert (label.get("paint-order"), label.get("stroke")) == ("stroke", SURFACE.light)
    assert float(label.get("stroke-width", "0")) >= 4


def test_binned_sizes_hold_every_group() -> None:
    sizes = list(range(2, 200))

    assert sum(n for _, n in binned_sizes(sizes, [1] * len(sizes))) == len(sizes)


@pytest.mark.parametrize(("edges", "counts"), [([0.5], []), ([0.5, 0.5], [1]), ([0, 1], [1, 2])])
def test_bins_that_are_none_are_refused(edges: list[float], counts: list[int]) -> None:
    with pytest.raises(ParameterError):
        similarity_chart(edges, counts, 0.8, None)


def test_more_lines_than_colours_are_refused() -> None:
    with pytest.raises(ParameterError, match="series"):
        line_chart([Series(str(i), [0], [0]) for i in range(len(SERIES) + 1)], **WORDS, **AXES)


@pytest.mark.parametrize("name", ["", "1a", "a b", 'x"'])
def test_a_name_that_is_no_id_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="name"):
        column_chart(["a"], [1], name=name, title="t", description="d", x_title="x", y_title="y")


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [INK, QUIET, ACCENT, SIGNAL, GREEN, VIOLET, OLIVE], ids=lambda colour: colour.name)
def test_words_can_be_read_on_light_and_dark_pages(colour) -> None:  # WCAG 2.2, AA
    assert contrast(colour.light, SURFACE.light) >= 4.5
    assert contrast(colour.dark, SURFACE.dark) >= 4.5


def test_the_stylesheet_knows_every_colour_twice() -> None:
    assert len({colour.light for colour in PALETTE}) == len(PALETTE)
    assert all(colour.light in stylesheet() and colour.dark in stylesheet() for colour in PALETTE)
