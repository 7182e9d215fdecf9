"""Text of an HTML page: its markup, its encoding, and what it shows, a line for each block."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

from nearkin.stages.documents.encodings import BYTE_ORDER_MARKS
from nearkin.stages.documents.extraction import kinds
from nearkin.stages.documents.extraction.reading import DocumentRead, Given, Single

_NAME = r"(/?)([a-zA-Z][^\t\n\r\f />\0]*+)"
_VALUE = r"""=[\t\n\r\f ]*+(?:"[^"]*"|'[^']*'|[^\t\n\r\f >"'][^\t\n\r\f >]*+)?"""
_TAG = re.compile(rf"<(?:{_NAME}(?:>|(?:[^>=/]++|/(?!>)|{_VALUE})*+(/?)>)([^<]*+))?")
"""A tag with the text behind it; the value of an attribute may hold ``>`` in quotation marks. Else ``<`` alone."""
_TAG_WITHOUT_VALUES = re.compile(rf"<(?:{_NAME}(?:>|(?:[^>/]++|/(?!>))*+(/?)>)([^<]*+))?")
_BEGINS_TAG = re.compile(r"</?[a-zA-Z]")
_END_OF_HTML_COMMENT = re.compile(r"--\s*!?>")
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
            if self._has_comment_end and (found := _END_OF_HTML_COMMENT.search(page, begin + 4)) is not None:
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


_HIDDEN = frozenset(("template", "title", "object", "svg", "math", "iframe", "noembed", "noframes"))
_LINES = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5",
    "h6", "head", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup",
    "option", "p", "plaintext", "pre", "search", "section", "select", "summary", "table", "tbody", "tfoot", "thead",
    "tr", "ul", "xmp",
))  # fmt: skip
"""Elements in lines of their own (HTML Standard, 15.3 Non-replaced elements)."""
_CELLS = frozenset(("td", "th"))
_BOXES = frozenset(("button", "input", "meter", "progress", "textarea"))
"""Elements in a line that are apart from the words beside them."""
_AS_IS = frozenset(("pre", "textarea", "listing"))
_PLAIN_LINES = _LINES - _AS_IS
_SHOWN_RAW = frozenset(("xmp", "plaintext"))
_BEGINS_BODY = frozenset(("body", "p", "div", "table", "h1", "h2", "h3"))
_WITH_EFFECT = _HIDDEN | _LINES | _CELLS | _BOXES
_SPACE = re.compile(r"[ \t\n\f\r]+")
_TWO_SPACES = re.compile("  ")
"""Found sooner by a pattern than by ``in``; any other white space is found sooner by ``in``."""
_MARKS = ("\xa0", "\xad", "\0")
"""A space that breaks no line, a hyphen that is seen at the end of a line only, and what is no character."""
_CHARSET = re.compile(
    rb"""<meta[^>]{0,1000}?charset\s*=\s*["']?\s*([\w.:+-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 1 << 14
_COMMENT, _END_OF_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL), b"-->"


class HtmlPage(Single):
    """A page in a file."""

    name = kinds.HTML

    def __init__(self, given: Given) -> None:
        self._given = given

    def document(self) -> DocumentRead:
        """Return the text of the page."""
        data = self._given.blob.held(self._given.limits["output_bytes"])
        page = decoded_page(data, fallback=self._given.encoding)
        return DocumentRead(text=text_of_html(page.text), extractor=kinds.HTML, warnings=page.warnings)


def decoded_page(data: bytes, declared: str | None = None, fallback: str = "utf-8") -> DecodedText:
    r"""Return a page as characters, by the character set declared outside of it or in it.

    Examples
    --------
    >>> decoded_page(b"<meta charset=windows-1251>\xcc\xe8\xf0").text[-3:]
    'Мир'
    """
    if declared is None:
        head = data[:_DECLARED_WITHIN]
        found = _CHARSET.search(head) if b"=" in head else None
        if found is not None and _END_OF_COMMENT in head:  # a comment may mention another character set
            closed, end, rest = head.rpartition(_END_OF_COMMENT)  # else each comment that has no end would be searched
            found = _CHARSET.search(_COMMENT.sub(b"", closed + end) + rest)
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
    return _PageReader(page).text()


class _PageReader(MarkupReader):
    """Lines of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(_WITH_EFFECT)
        self._lines: list[str] = []
        self._line: list[str] = []
        self._hidden: list[str] = []
        self._as_is = 0
        self._has_marks = any(mark in page for mark in _MARKS)
        self._is_spaced = _has_other_spaces(page)  # one search instead of one for each text
        self.read(page)

    def text(self) -> str:
        """Return the lines, without white space around each and without empty ones in succession."""
        self._break()
        return "\n".join(self._lines).strip("\n")

    def begin(self, name: str) -> None:
        """Begin a line, a cell or what is not shown."""
        if self._hidden and not self._is_shown_again(name):
            return
        if name in _PLAIN_LINES:
            if self._line:
                self._break()
        elif name in _CELLS:
            self._line.append(" ")
        elif name in _HIDDEN:
            self._hidden.append(name)
        else:
            if name in _BOXES:
                self._set_apart()
            elif name in _AS_IS and self._line:
                self._break()
            self._as_is += name in _AS_IS

    def begin_and_end(self, name: str) -> None:
        """Begin a line, or set what follows apart."""
        if self._hidden:
            return
        if name in _LINES:
            if self._line:
                self._break()
        elif name in _BOXES:
            self._set_apart()

    def end(self, name: str) -> None:
        """End a line, or what is not shown."""
        if self._hidden:
            if name == self._hidden[-1]:
                self._hidden.pop()
            elif name in ("body", "html"):
                self._hidden.clear()
            return
        if name in _PLAIN_LINES:
            if self._line:
                self._break()
            return
        if name in _BOXES:
            self._set_apart()
        elif name in _AS_IS and self._line:
            self._break()
        if name in _AS_IS and self._as_is:
            self._as_is -= 1

    def add_text(self, text: str) -> None:
        """Add a text, with one space for each run of white space unless it is shown as it is."""
        if self._hidden:
            return
        has_references = "&" in text
        if has_references:
            text = without_references(text)
        if has_references or self._has_marks:
            text = text.replace("\xa0", " ").replace("\xad", "").replace("\0", "")
        if self._as_is:
            self._add_as_is(text)
            return
        if (has_references or self._is_spaced) and _has_other_spaces(text):
            text = _SPACE.sub(" ", text)
        if text == " " and (not self._line or self._line[-1].endswith(" ")):
            return
        self._line.append(text)

    def add_raw_text(self, name: str, text: str) -> None:
        """Add the text of an element that holds no markup, if it is shown."""
        if name in _SHOWN_RAW and not self._hidden:
            self._add_as_is(text.replace("\0", ""))

    def _is_shown_again(self, name: str) -> bool:
        """Whether a tag inside what is not shown is shown all the same: that of the body, if a title has no end."""
        if name in _BEGINS_BODY and self._hidden[-1] == "title":
            self._hidden.clear()
            return True
        if name == self._hidden[-1]:
            self._hidden.append(name)
        return False

    def _add_as_is(self, text: str) -> None:
        """Add a text with its lines."""
        first, *others = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._line.append(first)
        for line in others:
            self._break()
            self._line.append(line)
        if others and not others[-1]:
            self._line.clear()

    def _break(self) -> None:
        """End the line; of empty ones in succession, only one is kept."""
        pieces = self._line
        line = (pieces[0] if len(pieces) == 1 else "".join(pieces)).strip(" \t")
        pieces.clear()
        if line or (self._lines and self._lines[-1]):
            self._lines.append(line)

    def _set_apart(self) -> None:
        if self._line and not self._line[-1].endswith(" "):
            self._line.append(" ")


def _has_other_spaces(text: str) -> bool:
    """Whether a text has white space that is not one space already."""
    return "\n" in text or "\t" in text or "\r" in text or "\f" in text or _TWO_SPACES.search(text) is not None


_FALLBACK = "cp1252"
# As browsers take them: what calls itself by the first name is usually in the second, which contains it.
_TAKEN_AS = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "shift_jis": "cp932",
}  # fmt: skip
_BY_OTHER_NAMES = {
    "ks_c_5601-1987": "cp949", "x-sjis": "cp932", "unicode": "utf-16-le", "x-gbk": "gb18030",
    "x-user-defined": "cp1252",
    "x-mac-roman": "mac_roman", "macintosh": "mac_roman", "iso-8859-8-i": "iso8859-8", "unicode-1-1-utf-7": "utf-7",
    "utf8mb4": "utf-8", "us-ascii": "cp1252", "x-euc-jp": "euc_jp", "cp-850": "cp850", "windows-874": "cp874",
}  # fmt: skip
_NO_CHARACTER_SETS = ("idna", "punycode", "undefined", "unicode_escape")
_NOT_ASCII = bytes(range(128, 256))
_MIN_EVIDENCE = 64
"""Bytes beyond ASCII from which on a guess is better than Windows-1252."""
_REPLACED = "bytes that are not valid {} were replaced"
_TEXTUAL = re.compile(r"[\w.:+-]{1,40}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text, and what was wrong with its encoding."""

    text: str
    warnings: tuple[str, ...] = ()


def decoded(data: bytes, declared: str | None, fallback: str = "utf-8") -> DecodedText:
    r"""Return bytes as text.

    A byte order mark comes first, then the declared character set, then UTF-8, then the one that the user named, then
    a guess by charset-normalizer where it is installed, then Windows-1252.

    Parameters
    ----------
    data : bytes
    declared : str or None
        As the file calls it.
    fallback : str
        The encoding that the user named.

    Examples
    --------
    >>> decoded(b"caf\xe9", "iso-8859-1").text, decoded("café".encode(), "x-nonsense").warnings
    ('café', ("the character set 'x-nonsense' is unknown; read as utf-8",))
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            content = data[len(mark) :]
            if (text := _strictly(content, encoding)) is not None:
                return DecodedText(text)
            return DecodedText(content.decode(encoding, "replace"), (_REPLACED.format(encoding),))
    known = None if declared is None else encoding_of(declared)
    if known is not None and (text := _strictly(data, known)) is not None:
        return DecodedText(text)
    for encoding in dict.fromkeys(("utf-8", fallback)):
        if (text := _strictly(data, encoding)) is not None:
            return DecodedText(text, _said(declared, known, encoding))
    if known is not None and _is_nearly(data, known):
        return DecodedText(data.decode(known, "replace"), (_REPLACED.format(known),))
    guessed = _guessed(data) or _FALLBACK
    return DecodedText(data.decode(guessed, "replace"), _said(declared, known, guessed) or (f"read as {guessed}",))


def encoding_of(declared: str) -> str | None:
    """Return Python's name of a declared character set; None if it is unknown.

    Examples
    --------
    >>> encoding_of("ISO-8859-1"), encoding_of("no such thing")
    ('cp1252', None)
    """
    name = declared.strip().strip("\"'").lower()
    name = _BY_OTHER_NAMES.get(name, name)
    return _python_name(name) if _TEXTUAL.fullmatch(name) else None


@lru_cache(maxsize=256)  # of short names: a hostile one may have megabytes
def _python_name(name: str) -> str | None:
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    if found in _NO_CHARACTER_SETS or not _is_of_text(found):
        return None
    return _TAKEN_AS.get(found, found)


def _is_of_text(encoding: str) -> bool:
    """Whether an encoding makes text of bytes: Python has some that make bytes of bytes, such as base64."""
    try:
        b"text".decode(encoding)
    except UnicodeError:
        return True
    except LookupError:
        return False
    return True


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _is_nearly(data: bytes, encoding: str) -> bool:
    """Whether few bytes do not fit: one stray byte in a page does not make it another encoding."""
    try:
        text = data.decode(encoding, "replace")
    except (UnicodeError, LookupError):
        return False
    return text.count("\ufffd") * 100 <= len(text)


def _guessed(data: bytes) -> str | None:
    if len(data) - len(data.translate(None, _NOT_ASCII)) < _MIN_EVIDENCE:
        return None
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return None
    best = from_bytes(data[: 1 << 16]).best()
    return None if best is None else best.encoding


def _said(declared: str | None, known: str | None, used: str) -> tuple[str, ...]:
    if declared is None or known == used:
        return ()
    if known is None:
        return (f"the character set {declared[:40]!r} is unknown; read as {used}",)
    return (f"not valid {declared[:40]}; read as {used}",)
