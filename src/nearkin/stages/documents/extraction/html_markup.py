"""Markup of an HTML page: where its tags, comments and raw texts begin and end, in time that grows with its length.

Source: HTML Standard, 13.2.5 Tokenization. Versions of `html.parser` differ in what they make of the same page, and
until 2025 their time grew with the square of the number of comments that are not closed. Here no search is repeated:
what is missing behind one place is missing behind all later ones.

Browsers hide everything behind a comment or an attribute value that is not closed. A page that was cut off, or written
by a careless program, would lose its text: here both end with the next ``>``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from html import unescape

_NAME = r"(/?)([a-zA-Z][^\t\n\r\f />\0]*+)"
_VALUE = r"""=[\t\n\r\f ]*+(?:"[^"]*"|'[^']*'|[^\t\n\r\f >"'][^\t\n\r\f >]*+)?"""
_TAG = re.compile(rf"<(?:{_NAME}(?:>|(?:[^>=/]++|/(?!>)|{_VALUE})*+(/?)>)([^<]*+))?")
"""A tag with the text behind it; the value of an attribute may hold ``>`` in quotation marks. Else ``<`` alone."""
_TAG_WITHOUT_VALUES = re.compile(rf"<(?:{_NAME}(?:>|(?:[^>/]++|/(?!>))*+(/?)>)([^<]*+))?")
_BEGINS_TAG = re.compile(r"</?[a-zA-Z]")
_END_OF_COMMENT = re.compile(r"--\s*!?>")
_CDATA, _END_OF_CDATA = "<![CDATA[", "]]>"
_END_OF_RAW_TEXT = {
    "plaintext": re.compile(r"(?!)"),
    **{name: re.compile(rf"</{name}(?=[\t\n\r\f />])", re.IGNORECASE) for name in ("script", "style", "xmp")},
}
"""Elements that hold no markup, with their ends; one has none."""
_TOO_LONG = re.compile(r"&#[0-9]{1000,};?")
"""Reference to a character that cannot exist: `int` refuses thousands of digits (sys.set_int_max_str_digits)."""


class MarkupReader:
    """Reader of pages; a derived class says what becomes of tags and texts.

    Parameters
    ----------
    watched : collection of str
        Names, in lower case, of the elements whose tags are passed on.
    """

    def __init__(self, watched: Collection[str]) -> None:
        self._watched = frozenset((*watched, *_END_OF_RAW_TEXT))
        self._has_comment_end = self._has_cdata_end = True

    def read(self, page: str) -> None:
        """Go through a page."""
        at, tag, n_tags = 0, _TAG, page.rfind(">") + 1
        while (begin := page.find("<", at)) >= 0:
            if at < begin:
                self.add_text(page[at:begin])
            at = self._tags(page, tag, begin, n_tags) if begin < n_tags else begin
            if at > begin:
                continue
            if _BEGINS_TAG.match(page, begin) is None:
                at = self._declaration(page, begin)
            elif begin < n_tags and tag is _TAG:
                tag = _TAG_WITHOUT_VALUES  # a value that is not closed would hide the rest of the page
            else:
                at = page.find("<", begin + 1)
                at = len(page) if at < 0 else at
                self.add_text(page[begin:at])
        if at < len(page):
            self.add_text(page[at:])

    def _tags(self, page: str, tag: re.Pattern[str], at: int, end: int) -> int:
        """Take tags and texts up to a place; return where something else begins."""
        watched = self._watched
        for found in tag.finditer(page, at, end):
            is_end, name, is_empty, text = found.groups()
            if name is None:
                return found.start()
            if name in watched or (name := name.lower()) in watched:
                if is_end:
                    self.end(name)
                elif is_empty:
                    self.begin_and_end(name)
                else:
                    self.begin(name)
                    if name in _END_OF_RAW_TEXT:
                        return self._raw_text(page, name, found.start(4))
            if text:
                self.add_text(text)
        return end

    def _raw_text(self, page: str, name: str, begin: int) -> int:
        """Take the text of an element that holds no markup; return where its end begins."""
        closed = _END_OF_RAW_TEXT[name].search(page, begin)
        end = len(page) if closed is None else closed.start()
        self.add_raw_text(name, page[begin:end])
        return end

    def _declaration(self, page: str, begin: int) -> int:
        """Return where a comment, a declaration or an instruction ends, or ``<`` that begins none of them."""
        if page.startswith("<!--", begin):
            if page.startswith((">", "->"), begin + 4):
                return page.index(">", begin) + 1
            if self._has_comment_end and (found := _END_OF_COMMENT.search(page, begin + 4)) is not None:
                return found.end()
            self._has_comment_end = False
        elif page.startswith(_CDATA, begin):
            if self._has_cdata_end and (at := page.find(_END_OF_CDATA, begin)) >= 0:
                return at + len(_END_OF_CDATA)
            self._has_cdata_end = False
        elif not page.startswith(("<!", "<?", "</"), begin):
            self.add_text("<")
            return begin + 1
        at = page.find(">", begin)
        return len(page) if at < 0 else at + 1

    def begin(self, name: str) -> None:
        """Take the tag that begins an element."""

    def begin_and_end(self, name: str) -> None:
        """Take the tag of an element that is empty, as XHTML writes it."""

    def end(self, name: str) -> None:
        """Take the tag that ends an element."""

    def add_text(self, text: str) -> None:
        """Take a text with character references."""

    def add_raw_text(self, name: str, text: str) -> None:
        """Take the text of an element that holds no markup."""


def without_references(text: str) -> str:
    """Return a text with the characters that its references name.

    Examples
    --------
    >>> without_references("A &amp; B &lt;&#8364; &nosuch; &#" + 5000 * "9")
    'A & B <€ &nosuch; �'
    """
    return unescape(_TOO_LONG.sub("\ufffd", text)) if "&" in text else text
