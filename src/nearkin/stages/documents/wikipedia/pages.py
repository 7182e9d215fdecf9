"""Pages of a dump of Wikipedia, or of any MediaWiki: XML in its export format, of any version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nearkin.errors import SourceError
from nearkin.nouns import counted
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.wikipedia.wikitext import HIDDEN
from nearkin.stages.documents.xml_stream import guarded_parser, parse

MAX_CHARACTERS = 1 << 24
"""Maximum number of characters in the text of a page; MediaWiki's default limit is 2 MiB."""
_MAX_OF_A_NAME = 1 << 12
_MAX_NAMESPACES = 1 << 12
_FILES, _CATEGORIES = 6, 14
_ROOT = "mediawiki"
# "#REDIRECT [[Other]]" in any language: dumps before export-0.4 have no element for it
_REDIRECT = re.compile(r"\s*#[^\s\[\]#*:]{2,40}+\s*:?\s*\[\[")


@dataclass(slots=True)
class Page:
    """A page of a dump; ``number`` is that of other tables, ``namespace`` 0 for articles."""

    line: int
    title: str = ""
    number: int | None = None
    namespace: int | None = None
    is_redirect: bool = False
    wikitext: str = ""
    problem: str | None = None


class PageReader:
    """Reader of the pages of a dump; a text of more than ``max_characters`` is a problem."""

    def __init__(self, stream: ByteStream, name: str, max_characters: int = MAX_CHARACTERS) -> None:
        self._max_characters = min(max_characters, MAX_CHARACTERS)
        self._stream = stream
        self._name = name
        self._parser = guarded_parser(stream, name)
        self._parser.buffer_size = 1 << 16
        self._parser.SkippedEntityHandler = self._skipped
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._names: list[str] = []
        self._namespaces: dict[str, int] = {}
        self._namespace = 0
        self._page: Page | None = None
        self._wanted: list[str] | None = None
        self._n_left = 0
        self._depth = 0
        self._pages: list[Page] = []
        self.hidden = HIDDEN

    @property
    def line(self) -> int:
        """Line reached by the reader."""
        return self._parser.CurrentLineNumber

    def pages(self) -> Iterator[Page]:
        """Yield all pages in order."""
        fault: StreamFault | None = None
        try:
            for _ in parse(self._parser, self._stream):
                yield from self._pages
                self._pages.clear()
        except StreamFault as broken:
            fault = broken
        yield from self._pages
        if fault is not None:
            raise fault

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name != _ROOT:
            raise SourceError(
                f"{self._name} is not a dump of Wikipedia: its outermost element must be <{_ROOT}>. "
                f"Got <{name[:40]}> instead."
            )
        if self._page is None:
            if name == "page" and self._depth == 2:
                self._page = Page(self.line)
            elif name == "namespace" and len(self._namespaces) < _MAX_NAMESPACES:
                key = attributes.get("key", "")
                self._namespace = int(key) if re.fullmatch(r"-?[0-9]{1,9}", key) else 0
                self._want(_MAX_OF_A_NAME)
        elif self._depth == 3:
            if name == "redirect":
                self._page.is_redirect = True
            elif name in ("title", "ns", "id"):
                self._want(_MAX_OF_A_NAME)
        elif name == "text" and self._depth == 4 and not self._page.is_redirect and not self._page.namespace:
            self._want(self._max_characters)

    def _want(self, max_characters: int) -> None:
        self._wanted, self._n_left = [], max_characters

    def _characters(self, text: str) -> None:
        if self._wanted is not None:
            self._n_left -= len(text)
            if self._n_left >= 0:
                self._wanted.append(text)

    def _skipped(self, name: str, is_parameter: int) -> None:
        if self._page is not None and not is_parameter:
            self._page.problem = f"damaged: it has the entity &{name};, which is not declared"

    def _end(self, name: str) -> None:
        self._depth -= 1
        page, wanted = self._page, self._wanted
        if wanted is not None:
            self._wanted = None
            text = "".join(wanted)
            if page is None:
                self._add_namespace(text if self._n_left >= 0 else "")
            elif self._n_left < 0:
                most = self._max_characters if name == "text" else _MAX_OF_A_NAME
                page.problem = f"too large: its {name} is longer than {counted(most, 'character')}"
            elif name == "title":
                page.title = text.strip()
            elif name == "text":
                page.wikitext = text
            elif re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text):
                if name == "ns":
                    page.namespace = int(text)
                else:
                    page.number = int(text)
        elif name == "page" and self._depth == 1 and page is not None:
            self._close(page)

    def _add_namespace(self, name: str) -> None:
        name = name.strip().lower()
        if name:
            self._namespaces[name] = self._namespace
            if self._namespace in (_FILES, _CATEGORIES):
                self.hidden |= {name}

    def _close(self, page: Page) -> None:
        self._page = None
        if page.namespace is None:
            prefix, colon, _ = page.title.partition(":")
            page.namespace = self._namespaces.get(prefix.strip().lower(), 0) if colon else 0
        page.is_redirect = page.is_redirect or _REDIRECT.match(page.wikitext) is not None
        if page.is_redirect or page.namespace:
            page.wikitext = ""
        if not page.title and page.problem is None:
            page.problem = "damaged: the page has no title"
        self._pages.append(page)
