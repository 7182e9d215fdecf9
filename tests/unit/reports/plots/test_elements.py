from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import example, given
from hypothesis import strategies as st

from nearkin.reports.plots import Series, column_chart, element, line_chart
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
