from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from nearkin.errors import ParameterError
from nearkin.reports.charts import Series, bar_chart, column_chart, interval_chart, line_chart
from nearkin.reports.figures import (
    binned_sizes,
    group_sizes,
    reasons_bar,
    recall_curve,
    s_curve,
    similarity_histogram,
)
from nearkin.reports.theme import ACCENT, GREEN, INK, OLIVE, PALETTE, QUIET, SERIES, SIGNAL, SURFACE, VIOLET, stylesheet

EDGES = [0.8, 0.85, 0.9, 0.95, 1.0]
COUNTS = [12, 9, 4, 30]
WORDS = {"name": "f", "title": "t", "description": "d"}
AXES = {"x_title": "x", "y_title": "y"}

FIGURES: dict[str, Callable[[], str]] = {
    "histogram": lambda: similarity_histogram(EDGES, COUNTS, 0.8),
    "sizes": lambda: group_sizes([2, 3, 140], [20, 4, 1]),
    "reasons": lambda: reasons_bar({"unique": 10, "exact copy": 2, "near-duplicate": 0}),
    "curve": lambda: s_curve(20, 5, 0.8, 0.99, EDGES, COUNTS),
    "other curve": lambda: recall_curve([0, 1], [0, 1], 0.3, 0.3, None, EDGES, [0, 0, 0, 0], measure="containment"),
    "skewed": lambda: interval_chart(EDGES, [1, 2, 3, 1_000_000], **WORDS, **AXES, mark=(0.99, "here")),
    "lines": lambda: line_chart([Series("a", [0, 1], [0, 1]), Series("b", [0, 1], [1, 0])], **WORDS, **AXES),
    "one point": lambda: line_chart([Series("a", [1], [1])], **WORDS, **AXES, mark=(1, "here")),
    "nothing": lambda: column_chart([], [], **WORDS, **AXES),
    "no bars": lambda: bar_chart([], [], **WORDS),
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
def test_ids_begin_with_the_name(draw: Callable[[], str]) -> None:
    ids = re.findall(r'\bid="([^"]+)"', draw())

    assert all(re.fullmatch(r"(f|similarities|sizes|reasons|curve)-\d+", found) for found in ids)


def test_labels_are_escaped() -> None:
    assert "<b>" not in bar_chart(["<b> & 'x' \""], [1], **WORDS)


def test_binned_sizes_hold_every_group() -> None:
    sizes = list(range(2, 200))

    assert sum(n for _, n in binned_sizes(sizes, [1] * len(sizes))) == len(sizes)


@pytest.mark.parametrize(("edges", "counts"), [([0.5], []), ([0.5, 0.5], [1]), ([0, 1], [1, 2])])
def test_bins_that_are_none_are_refused(edges: list[float], counts: list[int]) -> None:
    with pytest.raises(ParameterError):
        similarity_histogram(edges, counts, 0.8)


def test_more_lines_than_colours_are_refused() -> None:
    with pytest.raises(ParameterError, match="series"):
        line_chart([Series(str(i), [0], [0]) for i in range(len(SERIES) + 1)], **WORDS, **AXES)


@pytest.mark.parametrize("name", ["", "1a", "a b", 'x"'])
def test_a_name_that_is_no_id_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="name"):
        bar_chart(["a"], [1], name=name, title="t", description="d")


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
