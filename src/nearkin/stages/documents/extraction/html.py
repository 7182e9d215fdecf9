"""Text of an HTML page: what it shows, without scripts and styles, a line for each block."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from nearkin.stages.documents.extraction import versions
from nearkin.stages.documents.extraction.charsets import DecodedText, decoded
from nearkin.stages.documents.extraction.reading import DocumentRead, Given, Single

_SKIPPED = frozenset(("script", "style", "template", "title", "object", "svg", "math", "iframe", "noembed", "noframes"))
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "head", "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre",
    "section", "select", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
))  # fmt: skip
_CELLS = frozenset(("td", "th"))
_AS_IS = frozenset(("pre", "textarea", "listing", "xmp", "plaintext"))
_BEGINS_BODY = frozenset(("body", "p", "div", "table", "h1", "h2", "h3"))
_SPACE = re.compile(r"[ \t\n\f\r]+")
_OTHER_SPACES = ("\n", "  ", "\t", "\r", "\f")
"""White space that is not one space already; one of them is found sooner than all by a pattern."""
_BARE_TAG = re.compile(
    r"<(/?)(p|div|br|td|tr|th|table|tbody|li|ul|ol|dd|dt|h[1-6]|b|i|em|strong|span|font|center)>",
    re.IGNORECASE | re.ASCII,
)
"""Tags without attributes, after which a page goes on as before: the parser takes four patterns for each."""
_CHARSET = re.compile(
    rb"""<meta[^>]{0,1000}?charset\s*=\s*["']?\s*([\w.:+-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 1 << 14
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


class HtmlPage(Single):
    """A page in a file."""

    name = versions.HTML

    def __init__(self, given: Given) -> None:
        self._given = given

    def document(self) -> DocumentRead:
        """Return the text of the page."""
        data = self._given.blob.held(self._given.limits["output_bytes"])
        page = decoded_page(data, fallback=self._given.encoding)
        return DocumentRead(text=text_of_html(page.text), extractor=versions.HTML, warnings=page.warnings)


def decoded_page(data: bytes, declared: str | None = None, fallback: str = "utf-8") -> DecodedText:
    r"""Return a page as characters, by the character set declared outside of it or in it.

    Examples
    --------
    >>> decoded_page(b"<meta charset=windows-1251>\xcc\xe8\xf0").text[-3:]
    'Мир'
    """
    if declared is None:
        # a page may mention another character set in a comment
        head = data[:_DECLARED_WITHIN]
        found = _CHARSET.search(_COMMENT.sub(b"", head) if b"<!--" in head else head)
        declared = None if found is None else (found[1] or found[2]).decode("ascii")
        if declared is not None and declared.lower().startswith("utf-16"):
            declared = "utf-8"  # it could not have been read otherwise
    return decoded(data, declared, fallback)


def text_of_html(page: str) -> str:
    r"""Return the text that a page shows.

    Examples
    --------
    >>> text_of_html("<h1>A &amp; B</h1><p>one<br>two<script>x()</script> <b>th</b>ree<td>1<td>2")
    'A & B\none\ntwo three 1 2'
    """
    reader = _PageReader()
    reader.feed(page)
    reader.close()
    return reader.text()


class _PageReader(HTMLParser):
    """Lines of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._skipping: list[str] = []
        self._as_is = 0

    def updatepos(self, i: int, j: int) -> int:
        """Return the place up to which the page was read, without counting its lines."""
        return j

    def parse_starttag(self, i: int) -> int:
        """Read a tag that begins here."""
        found = _BARE_TAG.match(self.rawdata, i)
        if found is None or found[1]:
            return super().parse_starttag(i)
        self.handle_starttag(found[2].lower(), [])
        return found.end()

    def parse_endtag(self, i: int) -> int:
        """Read the end of an element that begins here."""
        found = _BARE_TAG.match(self.rawdata, i)
        if found is None or not found[1] or self.cdata_elem is not None:
            return super().parse_endtag(i)
        self.handle_endtag(found[2].lower())
        return found.end()

    def text(self) -> str:
        """Return the lines, without white space around each and without empty ones in succession."""
        lines = [line.strip(" \t") for line in "".join(self._pieces).split("\n")]
        kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
        return "\n".join(kept).strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipping:
            if tag in _BEGINS_BODY and self._skipping[-1] == "title":
                self._skipping.clear()  # the end of the title is missing
            elif tag == self._skipping[-1]:
                self._skipping.append(tag)
                return
            else:
                return
        if tag in _SKIPPED:
            self._skipping.append(tag)
        elif tag in _BLOCKS:
            self._break()
        elif tag in _CELLS:
            self._pieces.append(" ")
        if tag in _AS_IS:
            self._as_is += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._skipping and tag in _BLOCKS:
            self._break()

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
            elif tag in ("body", "html"):
                self._skipping.clear()
            return
        if tag in _BLOCKS:
            self._break()
        if tag in _AS_IS and self._as_is:
            self._as_is -= 1

    def handle_data(self, data: str) -> None:
        if self._skipping:
            return
        data = data.replace("\xa0", " ").replace("\xad", "").replace("\0", "")
        if self._as_is:
            self._pieces.append(data.replace("\r\n", "\n").replace("\r", "\n"))
            return
        if any(space in data for space in _OTHER_SPACES):
            data = _SPACE.sub(" ", data)
        if data == " " and (not self._pieces or self._pieces[-1].endswith((" ", "\n"))):
            return
        self._pieces.append(data)

    def _break(self) -> None:
        if self._pieces and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n")
