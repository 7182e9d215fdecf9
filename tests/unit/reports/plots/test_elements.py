from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import example, given
from hypothesis import strategies as st

from nearkin.reports.plots import element
from nearkin.wording import reveal_line

texts = st.text(st.characters())  # surrogates and control characters as well: a label may be the name of a file


@given(texts)
@example("\x00\x0b\x1f\t\n\r\ud800\ufffe\uffff")
@example("]]> & &amp; <b> ' \"")
def test_any_text_is_read_back(words: str) -> None:
    read = ElementTree.fromstring(element("text", words, label=words))
    assert (read.text or "") == read.get("label") == reveal_line(words)
