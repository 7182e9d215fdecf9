"""Text in the XML of office files: its encodings, and the elements that hold it."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple
from xml.parsers import expat

MAX_EXPANSION = 4
"""Maximum number of elements and characters in a part, as a multiple of its bytes: only entities make so many."""
_FREE_SIGNS = 1 << 18
_OTHER_ENCODING = re.compile(
    rb"""\s*<\?xml[^>]*\bencoding\s*=\s*["'](?!utf-?8["']|us-ascii["'])([\w.:-]*)["'][^>]*>""", re.IGNORECASE
)
_PIECE = re.compile(rb">([^<]++)<(/(?:[^\s<>/:]++:)?t\s*+>)?")
"""Text before a tag, and the tag if it ends an element ``t``; each sign is read once."""
_DECLARATION_BYTES = 1024
_END_OF_BOM = 3
_MAX_PREFIX = 200
_PREFIX = re.compile(rb"(?:[^\s<>/:]++:)?")
_TAG = re.compile(rb"""<(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>""")
_OF_SEVERAL_BYTES = frozenset((
    "shift_jis", "shift_jis_2004", "shift_jisx0213", "cp932", "euc_jp", "euc_jis_2004", "euc_jisx0213", "iso2022_jp",
    "gb2312", "gbk", "gb18030", "hz", "big5", "big5hkscs", "cp950", "euc_kr", "cp949", "johab", "iso2022_kr",
))  # fmt: skip
"""Encodings that the parser does not know; it knows those of one byte. Others, such as punycode, may take long."""
_OMITTED_MARK = re.compile(rb"<(/?)(?:mc:Fallback|m:oMath)(?:\s[^<>]*)?>")
_ENDS = frozenset((
    "p", "h", "tab", "br", "cr", "tc", "si", "is", "c", "s", "ptab", "noBreakHyphen", "line-break", "table-cell", "div",
    "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "pre", "title", "desc", "footnoteReference",
))  # fmt: skip


class TextElements:
    """Elements of one kind of XML that hold text, by their names without a prefix.

    Parameters
    ----------
    inside : iterable of str
        Elements whose text is read.
    omitted : iterable of str
        Elements in or around them whose text is rightly not read, such as deleted text.
    ends : iterable of str
        Elements that end a paragraph, besides the usual ones.
    has_numbers : bool
        Whether numbers and dates in cells of open documents are read as they are shown.
    """

    def __init__(
        self, inside: Iterable[str], omitted: Iterable[str], ends: Iterable[str] = (), *, has_numbers: bool = False
    ) -> None:
        self.inside = frozenset(inside)
        self.omitted = frozenset(omitted)
        self.ends = _ENDS.union(ends)
        self.has_numbers = has_numbers


class LeftOut(NamedTuple):
    """Elements that are not read because of an attribute.

    Parameters
    ----------
    element, attribute : str
        Their names without prefixes.
    values : collection of str
        Values of the attribute.
    """

    element: str
    attribute: str
    values: Container[str]


class StartTag(NamedTuple):
    """Start tag of an element, with names without prefixes."""

    name: str
    attributes: dict[str, str]


OOXML = TextElements(("t",), ("Fallback", "moveFrom", "del", "rPh", "oMath"))
"""Equations are not compared: xberg writes them in LaTeX, with a command in place of each Greek letter."""
_INDEXES = (
    *("table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index"),
    *("bibliography", "page-number", "page-count", "page-continuation"),
)
"""Elements that programs make themselves; xberg leaves them out."""
OPEN_DOCUMENT = TextElements(
    ("body",),
    ("tracked-changes", "annotation", "note-citation", "forms", "scripts", "event-listeners", "object", *_INDEXES),
)
STYLES = TextElements(("header", "footer"), OPEN_DOCUMENT.omitted)
MASTER_PAGES = TextElements(
    ("master-page",), OPEN_DOCUMENT.omitted | {"notes", "page-number", "page-count", "date", "time", "date-time"}
)
PAGE_OF_BOOK = TextElements(("body",), ("script", "style", "nav", "video", "audio"))


def quick_pieces(part: bytes) -> list[bytes] | None:
    """Return the text of the elements ``t`` of an XML file; None if it is not UTF-8.

    The file is well-formed, without comments and CDATA sections. A regular expression takes a tenth of the time of a
    parser that reports elements.

    Examples
    --------
    >>> quick_pieces(b"<w:p><w:r><w:t>A &amp; B</w:t></w:r><w:instrText>PAGE</w:instrText><w:t>, C</w:t></w:p>")
    [b'A & B', b', C']
    """
    if b"\0" in part or (not part.isascii() and is_in_other_encoding(part)):
        return None
    pieces = [piece for piece, end in _PIECE.findall(part) if end]
    if b"&" in part:
        pieces = [html.unescape(one.decode()).encode() if b"&" in one else one for one in pieces]
    return pieces


def is_in_other_encoding(part: bytes) -> bool:
    """Whether an XML file is not in UTF-8."""
    return part.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")) or _other_encoding(part) is not None


def _other_encoding(part: bytes) -> re.Match[bytes] | None:
    """Return the declaration of another encoding than UTF-8."""
    return _OTHER_ENCODING.match(part, 0, _DECLARATION_BYTES)


def in_known_encoding(part: bytes) -> bytes:
    """Return an XML file in an encoding that parsers know: in UTF-8 if it is in Shift_JIS, for example.

    Examples
    --------
    >>> in_known_encoding('<?xml version="1.0" encoding="Shift_JIS"?><t>文</t>'.encode("shift_jis")).decode()
    '<t>文</t>'
    """
    told = _other_encoding(part)
    if told is None:
        return part
    try:
        known = codecs.lookup(told[1].decode())
        return part[told.end() :].decode(known.name).encode() if known.name in _OF_SEVERAL_BYTES else part
    except (LookupError, ValueError):
        return part


def decoded(part: bytes) -> str:
    """Return an XML file as text, whether it is well-formed or not; what its encoding does not have is replaced.

    Examples
    --------
    >>> decoded('<?xml version="1.0" encoding="ISO-8859-1"?><t>Größe</t>'.encode("latin-1"))[-12:]
    '<t>Größe</t>'
    """
    if part.startswith((b"\xff\xfe", b"\xfe\xff")):
        return part.decode("utf-16", "replace")
    if part.startswith((b"<\0", b"\0<")):
        return part.decode("utf-16-le" if part.startswith(b"<") else "utf-16-be", "replace")
    known = in_known_encoding(part)
    told = _other_encoding(known)
    try:
        signs = bytes(range(256)).decode(told[1].decode(), "replace") if told is not None else ""
    except (LookupError, ValueError):
        signs = ""
    if len(signs) != len(range(256)):  # no encoding of one byte
        return known.decode("utf-8", "replace")
    return known.decode("latin-1").translate(dict(enumerate(signs)))


def texts_of(part: bytes, local: str) -> list[str]:
    """Return the text of each element of a name, empty ones included, of a part that is well-formed.

    Raises
    ------
    ExpansionError

    Examples
    --------
    >>> texts_of(b"<x:a><x:b/><x:b>It<![CDATA[ was]]></x:b></x:a>", "b")
    ['', 'It was']
    """
    found: list[list[str]] = []
    limit, parser = ExpansionLimit(part), expat.ParserCreate()

    def text(told: str) -> None:
        limit.take(len(told))
        found[-1].append(told)

    def start(name: str, _attributes: dict[str, str]) -> None:
        limit.take(1)
        if name.rpartition(":")[2] == local:
            found.append([])
            parser.CharacterDataHandler = text

    def end(name: str) -> None:
        if name.rpartition(":")[2] == local:
            parser.CharacterDataHandler = None

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(part, True)
    return ["".join(one) for one in found]


def without_omitted(part: bytes) -> bytes:
    """Return the XML of a part without equations and what repeats its text for older programs; the same if it has none.

    Examples
    --------
    >>> without_omitted(b"<w:p><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath><w:t>A</w:t></w:p>")
    b'<w:p><w:t>A</w:t></w:p>'
    """
    if b"<mc:Fallback" not in part and b"<m:oMath" not in part:
        return part
    kept, depth, at = [], 0, 0
    for mark in _OMITTED_MARK.finditer(part):
        if mark[0].endswith(b"/>"):
            continue
        if depth == 0:
            kept.append(part[at : mark.start()])
        depth += -1 if mark[1] else 1
        at = mark.end()
    return b"".join([*kept, part[at:]])


class ExpansionError(Exception):
    """Entities of a part expand to more than is read."""


class ExpansionLimit:
    """Number of elements and characters that a part may still have.

    Parameters
    ----------
    part : bytes
    """

    def __init__(self, part: bytes) -> None:
        self._n_left = max(_FREE_SIGNS, MAX_EXPANSION * len(part))

    def take(self, n: int) -> None:
        """Count elements and characters.

        Raises
        ------
        ExpansionError
        """
        self._n_left -= n
        if self._n_left < 0:
            raise ExpansionError


def elements_of(part: bytes) -> list[tuple[str, dict[str, str]]]:
    """Return the elements of an XML file, by their names without prefixes, and their attributes.

    The name of an attribute follows its namespace, if it has one, and ``}``.

    Raises
    ------
    ExpatError, ExpansionError, LookupError, ValueError

    Examples
    --------
    >>> elements_of(b"<x:a xmlns:x='u' b='1' x:c='2'><d/></x:a>")
    [('a', {'b': '1', 'u}c': '2'}), ('d', {})]
    """
    found: list[tuple[str, dict[str, str]]] = []
    limit = ExpansionLimit(part)

    def start(name: str, attributes: dict[str, str]) -> None:
        limit.take(1 + sum(map(len, attributes.values())))
        found.append((name.rpartition("}")[2], attributes))

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = start
    parser.Parse(part, True)
    return found


def start_tags(part: bytes, *names: str) -> list[StartTag]:
    """Return the start tags of some elements, by their names without prefixes, of a part that is well-formed.

    Raises
    ------
    ExpansionError

    Examples
    --------
    >>> start_tags(b"<x:a><x:b c='>' x:d='1 &amp; 2'>It was</x:b></x:a>", "b")
    [StartTag(name='b', attributes={'c': '>', 'd': '1 & 2'})]
    """
    found: list[StartTag] = []
    known = in_known_encoding(part)
    if not (is_in_other_encoding(known) or b"<!" in known or known.find(b"<?", _END_OF_BOM + 1) >= 0):
        starts = sorted(at for one in names for at in starts_of(known, one.encode()))
        tags = [tag[0] for at in starts if (tag := _TAG.match(known, at)) is not None]
        known = b"".join([b"<_>", *(one if one.endswith(b"/>") else b"%s/>" % one[:-1] for one in tags), b"</_>"])
    limit, parser = ExpansionLimit(part), expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        limit.take(1)
        local = name.rpartition(":")[2]
        if local in names:
            limit.take(sum(map(len, attributes.values())))
            found.append(StartTag(local, {one.rpartition(":")[2]: value for one, value in attributes.items()}))

    parser.StartElementHandler = start
    parser.Parse(known, True)
    return found


def starts_of(part: bytes, local: bytes) -> Iterator[int]:
    """Yield where the start tags of an element begin in a part in which each ``<`` begins a tag.

    Examples
    --------
    >>> list(starts_of(b"<x:b c='b '><b/></x:b>", b"b"))
    [0, 12]
    """
    for found in re.finditer(re.escape(local) + rb"(?=[\s/>])", part):
        at = part.rfind(b"<", max(0, found.start() - _MAX_PREFIX), found.start())
        if at >= 0 and _PREFIX.fullmatch(part, at + 1, found.start()) is not None:
            yield at


class _LocalNames(dict[str, str]):
    """Names of elements without their prefixes, by the names in a file; empty for those that do not matter."""

    def __init__(self, known: frozenset[str]) -> None:
        super().__init__()
        self._known = known

    def __missing__(self, name: str) -> str:
        local = name.rpartition(":")[2]
        self[name] = local if local in self._known else ""
        return self[name]


class TextListener:
    """Handlers of an XML parser, which gather the text of elements in paragraphs.

    Parameters
    ----------
    parser : XMLParserType
    elements : TextElements
    limit : ExpansionLimit
        A part that goes beyond it raises `ExpansionError` while it is parsed.
    only : collection of int or None
        Positions of the shared strings that are read, of a workbook whose other strings are in no cell; None for all.
    left_out : LeftOut or None

    Examples
    --------
    >>> parser = expat.ParserCreate()
    >>> part = b"<w:p><w:t>It w</w:t><w:t>as.</w:t><w:delText>Not</w:delText></w:p>"
    >>> listener = TextListener(parser, OOXML, ExpansionLimit(part))
    >>> parser.Parse(part, True)
    1
    >>> listener.paragraphs()
    ['It was.']
    """

    def __init__(
        self,
        parser: expat.XMLParserType,
        elements: TextElements,
        limit: ExpansionLimit,
        only: Container[int] | None = None,
        left_out: LeftOut | None = None,
    ) -> None:
        self._pieces: list[str] = []
        self._take = limit.take
        self._elements = elements
        self._left_out = left_out or LeftOut("", "", ())
        known = elements.ends | elements.inside | elements.omitted | {"v", self._left_out.element}
        self._names = _LocalNames(known)
        self._n_inside = self._n_omitted = 0
        self._is_text_of_formula = self._is_left_out = False
        self._only = only
        self._n_strings = 0
        self._parser = parser
        parser.buffer_text = True
        parser.SkippedEntityHandler = self._entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end

    def paragraphs(self) -> list[str]:
        """Return the texts."""
        return [one for one in "".join(self._pieces).split("\n") if one and not one.isspace()]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._take(1)
        local = self._names[name]
        if not local:
            return
        if local == "c":
            self._is_text_of_formula = attributes.get("t") == "str"
        if local in self._elements.ends:
            self._pieces.append("\n")
        if (
            local == "table-cell" and not self._elements.has_numbers
        ):  # of a number or a date, xberg writes the value, not as it is shown
            types = {value for name, value in attributes.items() if name.endswith(":value-type")}
            self._is_left_out = not types <= {"string"}
            self._listen()
        elif local == "si":
            self._is_left_out = self._only is not None and self._n_strings not in self._only
            self._n_strings += 1
        elif local == self._left_out.element:
            wanted = self._left_out.attribute
            values = [value for one, value in attributes.items() if one.rpartition(":")[2] == wanted]
            self._is_left_out = any(one in self._left_out.values for one in values)
        self._change(local, 1)

    def _entity(self, name: str, is_parameter: bool) -> None:
        """Read an entity that the file does not declare, such as ``&eacute;`` of a page."""
        if self._parser.CharacterDataHandler is not None and not is_parameter:
            self._parser.CharacterDataHandler(html.unescape(f"&{name};"))

    def _end(self, name: str) -> None:
        local = self._names[name]
        if not local:
            return
        if local in self._elements.ends:
            self._pieces.append("\n")
        if local in ("table-cell", "si", self._left_out.element):
            self._is_left_out = False
            self._listen()
        self._change(local, -1)

    def _change(self, local: str, step: int) -> None:
        if local in self._elements.inside or (local == "v" and self._is_text_of_formula):
            self._n_inside += step
        elif local in self._elements.omitted:
            self._n_omitted += step
        else:
            return
        self._listen()

    def _listen(self) -> None:
        is_read = self._n_inside and not self._n_omitted and not self._is_left_out
        self._parser.CharacterDataHandler = self._text if is_read else None

    def _text(self, text: str) -> None:
        self._take(len(text))
        self._pieces.append(text)
