from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearkin.reports.plots.charts import Series, column_chart, line_chart
from nearkin.reports.plots.plot import element, number
from nearkin.reports.theme import ACCENT, INK
from nearkin.wording import reveal_line

texts = st.text(st.characters())  # surrogates and control characters as well: a label may be the name of a file


@given(texts)
@example("\x00\x0b\x1f\t\n\r\ud800\ufffe\uffff")
@example("]]> & &amp; <b> ' \"")
def test_any_text_is_read_back(words: str) -> None:
    read = ElementTree.fromstring(element("text", words, label=words))
    assert (read.text or "") == read.get("label") == reveal_line(words)


@given(texts, texts)
def test_any_label_makes_a_figure_that_xml_reads(label: str, title: str) -> None:
    columns = column_chart([label], [1], name="f", title=title, description=label, x_title="x", y_title="y")
    root = ElementTree.fromstring(columns)
    assert root.get("aria-label") == reveal_line(f"{title}. {label}")
    assert reveal_line(label) in "".join(root.itertext())
    lines = [Series(label, [0, 1], [0, 1]), Series(title, [0, 1], [1, 0])]
    drawn = line_chart(lines, name="f", title=title, description=label, x_title=label, y_title=title)
    assert reveal_line(label) in "".join(ElementTree.fromstring(drawn).itertext())


def test_colours_are_attributes_and_classes() -> None:
    assert element("rect", fill=ACCENT, stroke=INK, x=1.5, rx=None) == (
        '<rect class="nk-fill-accent nk-stroke-ink" x="1.5" fill="#0b62a4" stroke="#1b2026"/>'
    )


@given(st.floats(-1e9, 1e9))
def test_coordinates_are_close_and_short(value: float) -> None:
    text = number(value)
    assert abs(float(text) - value) <= 0.005 + 1e-6
    assert "e" not in text
    assert len(text.partition(".")[2]) <= 2


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (-0.0, "0"), (100.0, "100"), (-1.5, "-1.5"), (0.999, "1")])
def test_coordinates_have_no_trailing_zeros(value: float, text: str) -> None:
    assert number(value) == text
