"""Pages of a dump of Wikipedia, or of any MediaWiki: XML in its export format, of any version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nearkin.nouns import counted
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.wikipedia.wikitext import HIDDEN
from nearkin.stages.documents.xml_stream import Element, ElementReader

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
