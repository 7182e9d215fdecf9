"""Dumps of Wikipedia, and of other editions of MediaWiki: one document per article.

Omitted, and counted, are pages outside namespace 0, redirects, disambiguation pages (by a template of that name in
English or German, or ``__DISAMBIG__``), and stubs: pages that call a template "stub" or "…-stub", or whose text has
fewer words than `MIN_WORDS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from nearkin.nouns import counted
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.head import Head
from nearkin.stages.documents.reader import StreamReader
from nearkin.stages.documents.rows import RowList
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.wikipedia import Page, PageReader, plain_text, template_names

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
        """Yield batches of articles; see `read_wikipedia`."""
        return read_wikipedia(stream, opened)


def read_wikipedia(stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Yield batches of articles: the id is the title, the text begins with it, the line is that of the page."""
    reader = PageReader(stream, opened.source.name, opened.source.max_document_bytes)
    counts: Counter[str] = Counter()
    rows = RowList(batch_bytes=opened.batch_bytes)
    fault: StreamFault | None = None
    try:
        for page in reader.pages():
            text, kind = _read_page(page, reader.hidden)
            counts[kind] += 1
            if page.problem is not None:
                rows.add(page.line, page.title or None, problem=page.problem)
            elif text is not None:
                rows.add(page.line, page.title, text.encode())
            if rows.is_full:
                yield rows.batch()
    except StreamFault as broken:
        fault = broken
        fault.line = reader.line
    if rows.rows:
        yield rows.batch()
    opened.note(_told(opened.source.name, counts))
    if fault is not None:
        raise fault


def _read_page(page: Page, hidden: frozenset[str]) -> tuple[str | None, str]:
    if page.namespace:
        return None, "other"
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


def _told(name: str, counts: Counter[str]) -> str:
    stubs = f"stubs (fewer than {MIN_WORDS} words of text, or marked as a stub)"
    parts = {
        "redirect": "redirects", "disambiguation": "disambiguation pages", "stub": stubs,
        "other": "of other namespaces",
    }  # fmt: skip
    left_out = ", ".join(f"{counts[kind]:,} {words}" for kind, words in parts.items() if counts[kind])
    unreadable = f", {counts['unreadable']:,} that cannot be read" if counts["unreadable"] else ""
    sentence = f"{name}: {counted(counts.total(), 'page')}: {counted(counts['article'], 'article')} read{unreadable}"
    return f"{sentence}; omitted: {left_out}" if left_out else sentence
