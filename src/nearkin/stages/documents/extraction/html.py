"""Text of an HTML page: its encoding, and what it shows, a line for each block; selectolax (lexbor) parses it."""

from __future__ import annotations

import re

from nearkin.stages.documents.extraction.plain import DecodedText, decoded
from nearkin.stages.documents.extraction.reading import DocumentRead, Given

_HIDDEN = ["script", "style", "template", "title", "object", "svg", "math", "iframe", "noembed", "noframes"]
_TAG = re.compile(
    r"</?(?:(td|th|button|input|meter|progress|textarea)|p|div|br|li|tr|h[1-6r]|ul|ol|table|d[dlt]|pre|blockquote|body"
    r"|address|article|aside|caption|center|details|dialog|dir|fieldset|figcaption|figure|footer|form|header|hgroup"
    r"|legend|listing|main|menu|nav|optgroup|option|plaintext|search|section|select|summary|xmp)(?=[\s/>])",
    re.IGNORECASE,
)
"""Tag of an element in a line that is apart from the words beside it, or else of one in lines of its own.

Source: HTML Standard, 15.3 Non-replaced elements.
"""
_BREAK, _KEPT_SPACE = "\f", "\x1f"
"""Marks: white space of HTML, which may stand between the rows of a table, and a space that is shown as it is."""
_AS_IS = {ord("\n"): _BREAK + _KEPT_SPACE, ord("\t"): _KEPT_SPACE, ord(" "): _KEPT_SPACE}
_CHARSET = re.compile(
    rb"""<meta[^>]{0,1000}?charset\s*=\s*["']?\s*([\w.:+-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 1 << 14
_COMMENT, _END_OF_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL), b"-->"


def read_page(given: Given) -> DocumentRead:
    """Return the text of a page in a file."""
    page = decoded_page(given.data, given.charset, given.encoding)
    return DocumentRead(text=text_of_html(page.text), warnings=page.warnings)


def decoded_page(data: bytes, declared: str | None = None, fallback: str = "utf-8") -> DecodedText:
    """Return a page as characters, by the character set declared outside or in it."""
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
    """Return the text that a page shows."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    page = page.replace(_BREAK, " ").replace("\0", "")
    marked = _TAG.sub(lambda tag: f"{' ' if tag[1] else _BREAK}{tag[0]}", page)
    try:
        tree = LexborHTMLParser(marked)
    except SelectolaxError as error:  # any characters are a page
        raise MemoryError from error
    tree.strip_tags(_HIDDEN)
    for element in tree.css("pre, textarea, listing, xmp, plaintext"):
        for node in [node for node in element.traverse(include_text=True) if node.is_text_node]:
            node.replace_with((node.text_content or "").translate(_AS_IS))
    shown = "" if tree.root is None else tree.root.text(deep=True).replace("\xa0", " ").replace("\xad", "")
    shown = shown.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    while "  " in shown:  # a pattern would take ten times as long
        shown = shown.replace("  ", " ")
    lines = (line.strip(" ") for line in shown.split(_BREAK))
    return "\n".join(line.replace(_KEPT_SPACE, " ").strip(" ") for line in lines if line).strip("\n")
