"""Dumps of Wikipedia, and of other editions of MediaWiki: one document per article, what a reader would read of it.

Omitted, and counted, are pages outside namespace 0, redirects, disambiguation pages (by a template of that name in
English or German, or ``__DISAMBIG__``), and stubs: pages that call a template "stub" or "…-stub", or whose text has
fewer words than `MIN_WORDS`. What is innermost in wikitext goes first, again and again; mwparserfromhell (0.7.2) takes
quadratic time if tags, comments or links are not closed.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError
from nearkin.kernels.buffers import strings
from nearkin.nouns import counted
from nearkin.stages.documents.reader import Head, StreamReader, opened_text
from nearkin.stages.documents.rows import Row, RowList
from nearkin.stages.documents.rules import StreamFault, truncated_input
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream, Progress, unreported
from nearkin.stages.documents.xml_stream import Element, ElementReader

MIN_WORDS = 50
_DISAMBIGUATION = """
    begriffsklärung dab disam disamb disambig disambiguation geodis hndis letter-number-combdisambig mathdab numberdis
    schooldis
    """
_NAMES_OF_DISAMBIGUATION = frozenset(_DISAMBIGUATION.split())
# Thai to Khmer, kana, ideographs: scripts without spaces between words
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
_ROOT_OF_DUMP = re.compile(rb"<mediawiki[\s>]")


class Wikipedia(StreamReader):
    """XML with one page per article."""

    declares_encoding = True

    def begins(self, head: Head) -> bool:
        """Whether this is the beginning of a MediaWiki export.

        Examples
        --------
        >>> dump = b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">'
        >>> Wikipedia().begins(Head(data=dump, compression="none", is_all=False))
        True
        >>> prose = b"The element <mediawiki> is the outermost."
        >>> Wikipedia().begins(Head(data=prose, compression="none", is_all=True))
        False
        """
        begins_so = head.data.lstrip().startswith((b"<mediawiki", b"<?xml", b"<!"))
        return begins_so and bool(_ROOT_OF_DUMP.search(head.data))

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of articles: the id is the title, the text begins with it, the line is that of the page."""
        return RowList(batch_bytes=opened.batch_bytes).batches(_rows(stream, opened))


def _rows(stream: ByteStream, opened: OpenedSource) -> Iterator[Row]:
    reader, counts = PageReader(stream, opened.source.name, opened.source.max_document_bytes), Counter[str]()
    try:
        for page in reader.pages():
            text, kind = _read_page(page, reader.hidden)
            counts[kind] += 1
            if page.problem is not None:
                yield Row(page.line, page.title or None, problem=page.problem)
            elif text is not None:
                yield Row(page.line, page.title, text.encode())
    except StreamFault as fault:
        fault.line = reader.line
        opened.note(_told(opened.source.name, counts))
        raise
    opened.note(_told(opened.source.name, counts))


def _read_page(page: Page, hidden: frozenset[str]) -> tuple[str | None, str]:
    if page.namespace:
        return None, "other namespace"
    if page.problem is not None:
        return None, "unreadable"
    if page.is_redirect:
        return None, "redirect"
    names = template_names(page.wikitext)
    is_disambiguation = any(name in _NAMES_OF_DISAMBIGUATION or name.endswith(" disambiguation") for name in names)
    if is_disambiguation or "__DISAMBIG__" in page.wikitext:
        return None, "disambiguation"
    if any(name == "stub" or name.endswith("-stub") for name in names):
        return None, "stub"
    text = plain_text(page.wikitext, hidden)
    if _is_short(text):
        return None, "stub"
    return f"{page.title}\n{text}", "article"


def _is_short(text: str) -> bool:
    n_words = len(text.split(None, MIN_WORDS))
    return n_words < MIN_WORDS and n_words + len(_WITHOUT_SPACES.findall(text)) // 2 < MIN_WORDS


_KINDS = ("article", "unreadable", "redirect", "disambiguation", "stub", "other namespace")


def _told(name: str, counts: Counter[str]) -> str:
    by_kind = ", ".join(f"{counts[kind]:,} {kind}" for kind in _KINDS if counts[kind] or kind == "article")
    return f"{name}: {counted(counts.total(), 'page')}: {by_kind}"


HIDDEN = frozenset({"file", "image", "media", "category", "datei", "bild", "kategorie"})
"""Prefixes of links that are not text of the page: files and categories."""
MAX_CHARACTERS = 1 << 24
"""Maximum number of characters in the text of a page; MediaWiki's default limit is 2 MiB."""
_MAX_OF_A_NAME = 1 << 12
_MAX_NAMESPACES = 1 << 12
_FILES, _CATEGORIES = 6, 14
_TITLE, _NAMESPACE, _NUMBER, _REDIRECT_TO = "page/title", "page/ns", "page/id", "page/redirect"
_PAGE, _TEXT, _NAME = "mediawiki/page", "revision/text", "namespaces/namespace"
_INTEGER = re.compile(r"\s*-?[0-9]{1,18}\s*")
# "#REDIRECT [[Other]]" in any language: dumps before export-0.4 have no element for it
_REDIRECT = re.compile(r"\s*#[^\s\[\]#*:]{2,40}+\s*:?\s*\[\[")


@dataclass(slots=True)
class Page:
    """A page of a dump; ``number`` is that of other tables, ``namespace`` 0 for articles."""

    line: int
    title: str = ""
    number: int | None = None
    namespace: int = 0
    is_redirect: bool = False
    wikitext: str = ""
    problem: str | None = None


class PageReader:
    """Reader of the pages of a dump; a text of more than ``max_characters`` is a problem."""

    def __init__(self, stream: ByteStream, name: str, max_characters: int = MAX_CHARACTERS) -> None:
        names = dict.fromkeys((_TITLE, _NAMESPACE, _NUMBER, _NAME), _MAX_OF_A_NAME)
        self._wanted = {**names, _TEXT: min(max_characters, MAX_CHARACTERS), _PAGE: 0, _REDIRECT_TO: 0}
        self._reader = ElementReader(stream, name, "mediawiki", self._wanted)
        self._namespaces: dict[str, int] = {}
        self.hidden = HIDDEN

    @property
    def line(self) -> int:
        """Line reached by the reader."""
        return self._reader.line

    def pages(self) -> Iterator[Page]:
        """Yield all pages in order."""
        parts = dict[str, Element]()
        for element in self._reader.elements():
            if element.path == _NAME:
                self._add_namespace(element)
            elif element.path == _PAGE:
                yield self._page(element, parts)
                parts.clear()
            else:
                parts[element.path] = element

    def _add_namespace(self, element: Element) -> None:
        name, key = (element.text or "").strip().lower(), element.attributes.get("key", "")
        if name and len(self._namespaces) < _MAX_NAMESPACES:
            number = self._namespaces[name] = int(key) if re.fullmatch(r"-?[0-9]{1,9}", key) else 0
            if number in (_FILES, _CATEGORIES):
                self.hidden |= {name}

    def _page(self, element: Element, parts: dict[str, Element]) -> Page:
        texts = {path: part.text or "" for path, part in parts.items()}
        page = Page(element.line, title=texts.get(_TITLE, "").strip(), problem=element.problem)
        for path, part in parts.items():
            if part.text is None:
                page.problem = f"too large: its {part.name} is longer than {counted(self._wanted[path], 'character')}"
        number, namespace = (
            int(text) if _INTEGER.fullmatch(text := texts.get(path, "")) else None for path in (_NUMBER, _NAMESPACE)
        )
        prefix, colon, _ = page.title.partition(":")
        by_title = self._namespaces.get(prefix.strip().lower(), 0) if colon else 0
        page.number, page.namespace = number, by_title if namespace is None else namespace
        page.is_redirect = _REDIRECT_TO in parts or _REDIRECT.match(texts.get(_TEXT, "")) is not None
        if not (page.is_redirect or page.namespace):
            page.wikitext = texts.get(_TEXT, "")
        if not page.title and page.problem is None:
            page.problem = "damaged: the page has no title"
        return page


_EDITION = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]{1,8}){0,2}|simple):")
"""Beginning of a link to the same article in another language."""

_UNREAD = """
    ce categorytree chem gallery graph hiero imagemap includeonly inputbox indicator languages mapframe maplink math pre
    ref references score script source style syntaxhighlight templatedata templatestyles timeline
    """
"""Elements that are removed with their content."""
_BREAKS = "blockquote br caption center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem tbody td th thead tr ul"
_UNMARKED = """
    a abbr b bdi bdo big cite code data del dfn em font i ins kbd langconvert mark noinclude onlyinclude phonos q
    rb rbc rp rt rtc ruby s samp section small span strike strong sub sup time translate tt tvar u var wbr
    """
"""Elements of which only the tags are removed."""
_MAX_DEPTH = 40
"""Of templates inside templates, as in MediaWiki: what is deeper is not removed, only its marks."""
_OPEN_TAG = re.compile(rf"<(nowiki|{'|'.join(_UNREAD.split())})\b([^<>]*)>", re.IGNORECASE)
_TAG = re.compile(
    rf"</?(?:({'|'.join(_BREAKS.split())})|{'|'.join((_UNMARKED + _UNREAD).split())}|table|nowiki)\b[^<>]*>",
    re.IGNORECASE,
)
_LITERAL = {ord(mark): f"&#{ord(mark)};" for mark in "[]{}<>|'=&"}
"""Marks in an element that has none: they become characters again with all others that are written so."""
_INDENT = r"(?:^|\n)[*#:; \t]{0,16}"
_CLOSED = re.compile(
    rf"{_INDENT}\{{\|(?:(?!{_INDENT}(?:\{{\||\|\}})).)*+{_INDENT}\|\}}|<table\b[^<>]*>(?:(?!</?table\b).)*+</table\s*+>"
    r"|\{\{\{(?:[^{}]|\{(?![{|])|\}(?!\}))*+\}\}\}|\{\{(?:[^{}]|\{(?![{|])|\}(?!\}))*+\}\}"
    r"|\[\[(?P<target>[^\[\]|]*+)(?:\|(?P<label>(?:[^\[\]]|\[(?!\[)|\](?!\]))*+))?+\]\]",
    re.IGNORECASE | re.DOTALL,
)
"""A table, a template or a link that holds no other one of them."""
_URL = re.compile(r"\[(?:https?:|ftp:)?//[^\s\[\]<>{}]*+[ \t]*+([^\[\]]*+)\]")
_UNCLOSED = re.compile(r"\{\{+|\}\}+|\[\[(?:[^\[\]{}|<>\n]*+\|)?+")

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_QUOTES = re.compile(r"''+")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s\[\]<>\"|]*+")
_SWITCH = re.compile(r"__(?P<word>[^\W\d_]++(?:_[^\W\d_]++)*+)__")
_HOLLOW = re.compile(r"\([ ,;]*+\)")
_BLANKS = re.compile(r"[ \t\xa0]{2,}|[\t\xa0]")
_OF_LISTS = "*#:; \t"


def plain_text(wikitext: str, hidden: frozenset[str] = HIDDEN) -> str:
    """Return the text of a page: paragraphs, headings and list items, one per line, without blank lines.

    Templates, tables, references, formulas, comments, files, categories, links to other languages and addresses of
    links are removed; labels of links stay. ``hidden`` has lower-case prefixes of links that are not shown, such as
    "file". Unclosed elements are text, except comments, which last to the end.
    """
    text = _without_unread(without_comments(wikitext))

    def shown(occurrence: re.Match[str]) -> str:
        target = occurrence["target"]
        if target is None:
            return "\n" if occurrence[0].startswith("\n") else ""
        prefix, colon, _ = target.partition(":")
        if colon and (prefix.strip(" _").lower() in hidden or _EDITION.match(target)):
            return ""
        return occurrence["label"] or target.removeprefix(":")

    n_changes, depth = 1, 0
    while n_changes and depth < _MAX_DEPTH:
        text, n_addresses = _URL.subn(r"\1", text)
        text, n_changes = _CLOSED.subn(shown, text)
        n_changes, depth = n_changes + n_addresses, depth + 1
    text = _TAG.sub(lambda tag: "\n" if tag[1] else "", _UNCLOSED.sub("", text))
    return _tidied(text, has_open_table="\n{|" in text)


def _without_unread(text: str) -> str:
    """Remove the elements that are not read, with their content; a missing end is searched for once per name."""
    pieces, place, never_ended = list[str](), 0, set[str]()
    for tag in _OPEN_TAG.finditer(text):
        name = tag[1].lower()
        if tag.start() < place or name in never_ended or tag[2].endswith("/"):
            continue
        end = re.compile(rf"</{name}\s*+>", re.IGNORECASE).search(text, tag.end())
        if end is None:
            never_ended.add(name)
            continue
        pieces += [
            text[place : tag.start()],
            text[tag.end() : end.start()].translate(_LITERAL) if name == "nowiki" else "",
        ]
        place = end.end()
    return "".join([*pieces, text[place:]])


def _tidied(text: str, *, has_open_table: bool) -> str:
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "''" in text:
        text = _QUOTES.sub("", text)
    if "://" in text:
        text = _ADDRESS.sub("", text)
    if "__" in text:
        text = _SWITCH.sub(lambda switch: "" if switch["word"].isupper() else switch[0], text)
    text = _BLANKS.sub(" ", _HOLLOW.sub("", text))
    lines = (_line(line.strip(), has_open_table) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _line(line: str, has_open_table: bool) -> str:
    if not line:
        return ""
    first = line[0]
    if first in _OF_LISTS:
        return line.lstrip(_OF_LISTS)
    if first == "=" and line[-1] == "=":
        return line.strip("=").strip()
    if first == "|" or line.startswith("{|") or (first == "!" and has_open_table):
        return ""
    return line.lstrip("-").lstrip() if line.startswith("----") else line


def template_names(wikitext: str) -> set[str]:
    """Return the names of the templates that a page calls, in lower case."""
    return {name.strip(" _\n").replace("_", " ").lower() for name in _TEMPLATE.findall(wikitext)}


_TEMPLATE = re.compile(r"\{\{([^{}|<>\[\]]{1,99}+)")


def without_comments(wikitext: str) -> str:
    """Return the wikitext without comments; the content of ``<nowiki>`` stays."""
    parts = wikitext.split("<!--")
    return "".join([parts[0], *(part.partition("-->")[2] for part in parts[1:])])


_LONGEST_TITLE = 1 << 10
"""Maximum length of a valid link; MediaWiki allows 255 bytes."""


def interwiki_links(
    dump: Path,
    language: str,
    *,
    langlinks: Path | None = None,
    takes_damaged: bool = False,
    progress: Progress = unreported,
) -> pa.Table:
    """Return the articles of a dump that are linked to another language, with their titles there.

    Parameters
    ----------
    dump, langlinks
        Pages (XML) and, since 2013, the table ``langlinks`` (SQL) of one edition and day, possibly compressed.

    Returns
    -------
    Table
        Columns ``title`` and ``other``, large_string, in the order of the dump, without repeated pairs. Titles are as
        document names: with spaces, the other with a capital, without a section. Only namespace 0, without redirects.
    """
    language = language.strip().lower()
    if not re.fullmatch(r"[a-z]{2,12}(-[a-z]{2,12})*", language):
        raise ParameterError.of("language", "the code of an edition, such as 'en'", language)
    others: dict[int, list[str]] = {}
    if langlinks is not None:
        with _opened(langlinks, progress, takes_damaged=takes_damaged) as stream:
            for page, other in read_langlinks(stream, str(langlinks), language):
                others.setdefault(page, []).append(other)
    titles: list[str] = []
    links: list[str] = []
    with _opened(dump, progress, takes_damaged=takes_damaged) as stream:
        for title, number, inline in _articles(stream, str(dump), language):
            linked = (*others.get(number, ()), *inline) if number is not None else inline
            distinct = dict.fromkeys(normal for other in linked if (normal := _title(other)))
            titles += [title] * len(distinct)
            links += distinct
    return pa.table({"title": strings(titles), "other": strings(links)})


@contextmanager
def _opened(path: Path, progress: Progress, *, takes_damaged: bool) -> Iterator[ByteStream]:
    with opened_text(str(path), progress=progress) as stream:
        try:
            yield stream
        except StreamFault as fault:
            if not takes_damaged:
                raise truncated_input(str(path), fault) from fault


def _articles(stream: ByteStream, name: str, language: str) -> Iterator[tuple[str, int | None, list[str]]]:
    inline = re.compile(rf"\[\[[ \t_]*+{language}[ \t_]*+:([^\[\]{{}}|<>\n]++)", re.IGNORECASE)
    reader = PageReader(stream, name)
    try:
        for page in reader.pages():
            if not page.namespace and not page.is_redirect and page.problem is None:
                yield page.title, page.number, inline.findall(without_comments(page.wikitext))
    except StreamFault as fault:
        raise StreamFault(f"{fault}, after line {reader.line:,}") from fault


def _title(linked: str) -> str:
    title = html.unescape(linked.partition("#")[0].replace("_", " ")) if len(linked) < _LONGEST_TITLE else ""
    title = " ".join(title.split())
    return title[:1].upper() + title[1:]


_READ_BYTES = 1 << 20
_MAX_OF_A_ROW = 1 << 16
"""Maximum length of a row: it has a number, a code and a title of at most 255 bytes."""
_INSERT = re.compile(rb"\nINSERT INTO `langlinks`(?: \([^)]{0,200}\))? VALUES\s")
_LONGEST_INSERT = 512
_STRING = rb"'((?:[^'\\]++|\\.|'')*+)'"
_ROW = re.compile(rb"\s*+\(\s*+([0-9]{1,18}),\s*+" + _STRING + rb",\s*+" + _STRING + rb"\s*+\)\s*+([,;])", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPED = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}


def read_langlinks(stream: ByteStream, name: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield number and title of each page with a title in a language; SourceError if it is another table."""
    wanted = language.encode()
    data, n_statements, is_inside = b"\n", 0, False
    piece = b"\n"
    while piece:
        piece = stream.read(_READ_BYTES)
        data, place = data + piece, 0
        while True:
            if not is_inside:
                insert = _INSERT.search(data, place)
                if insert is None:
                    place = max(place, len(data) - _LONGEST_INSERT)
                    break
                place, n_statements = insert.end(), n_statements + 1
            row = _ROW.match(data, place)
            is_inside = row is None or row[4] == b","
            if row is None:
                break
            place = row.end()
            if row[2] == wanted:
                yield int(row[1]), _unescaped(row[3])
        data = data[place:]
        if is_inside and len(data) > _MAX_OF_A_ROW:
            came = data[:40].decode("utf-8", "replace")
            raise SourceError(f"{name}: a row must be (page,'language','title'). Got {came!r}.")
    if is_inside:
        raise StreamFault("the file ends inside a statement")
    if not n_statements:
        raise SourceError(f"{name} is not a dump of the table langlinks: it has no 'INSERT INTO `langlinks` VALUES'.")


def _unescaped(literal: bytes) -> str:
    if b"\\" in literal or b"'" in literal:
        literal = _ESCAPE.sub(
            lambda occurrence: _ESCAPED.get(occurrence[1], occurrence[1]) if occurrence[1] else b"'", literal
        )
    return literal.decode("utf-8", "replace")
