"""Plain text and HTML pages with their encodings, and files that cannot be read at all."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from nearkin.stages.documents.encodings import (
    BYTE_ORDER_MARKS,
    WIDE,
    into_utf8,
    is_taken_as_utf8,
    looks_binary,
    looks_like_utf16,
    why_not_utf8,
    with_byte_order,
)
from nearkin.stages.documents.extraction.cells import with_empty_cells
from nearkin.stages.documents.extraction.kinds import foreign
from nearkin.stages.documents.extraction.reading import DocumentRead, Given, tick
from nearkin.stages.documents.rules import RecordFault


def read_text(given: Given) -> DocumentRead:
    """Return a plain text."""
    data = given.data
    mark = next((mark for mark, _ in BYTE_ORDER_MARKS if data.startswith(mark)), b"")
    if (encoding := _certain_encoding(data, mark, given.encoding)) is not None:
        content = into_utf8(data[len(mark) :], encoding)
        if (fault := why_not_utf8(content, encoding, mark)) is not None:
            raise fault
        return DocumentRead(text=content.decode())
    if looks_binary(data):
        raise RecordFault("unsupported", "binary data of an unknown kind")
    return DocumentRead(text=decoded(data, None, given.encoding))


def _certain_encoding(data: bytes, mark: bytes, encoding: str) -> str | None:
    """Return the encoding that a mark or a wide encoding makes certain."""
    if mark:
        return dict(BYTE_ORDER_MARKS)[mark]
    if (advice := looks_like_utf16(data)) is not None:
        return advice.rpartition(" ")[2]
    named = with_byte_order(encoding)
    return named if named.startswith(WIDE) and not is_taken_as_utf8(data, named, is_all=True) else None


TECHNICAL = {
    "signature": "the signature of a mail", "vcard": "a vCard", "calendar reply": "the answer to an invitation",
}  # fmt: skip
"""Kinds of attachments that are listed and not compared."""


def read_nothing(given: Given) -> DocumentRead:
    """Raise RecordFault: images, programs, archives of other kinds and technical attachments are not read."""
    if given.kind in TECHNICAL:
        raise RecordFault("technical", f"{TECHNICAL[given.kind]}, which is not compared")
    known = foreign(given.blob.head, "" if given.kind == "image" else given.name)
    name = f"a file of the kind {given.kind}" if known is None else known.name
    if given.kind == "image":
        raise RecordFault("image only", f"{name}, whose text is not recognised; use --ocr LANGUAGES")
    raise RecordFault("encrypted" if "signed or encrypted" in name else "unsupported", f"{name}, which is not read")


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
_TEXTUAL = re.compile(r"[\w.:+-]{1,40}", re.ASCII)


def decoded(data: bytes, declared: str | None, fallback: str = "utf-8") -> str:
    """Return bytes as text.

    The first that applies: a byte order mark, the declared character set, UTF-8, the user's (``fallback``), a guess by
    charset-normalizer, Windows-1252.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    known = None if declared is None else encoding_of(declared)
    for encoding in filter(None, (known, "utf-8", fallback)):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    if known is not None and (text := data.decode(known, "replace")).count("\ufffd") * 100 <= len(text):
        return text
    return data.decode(_guessed(data) or _FALLBACK, "replace")


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
        encoding = codecs.lookup(name).name
        b"text".decode(encoding, "replace")  # some of Python's make bytes of bytes, such as base64
    except (LookupError, ValueError):
        return None
    return None if encoding in _NO_CHARACTER_SETS else _TAKEN_AS.get(encoding, encoding)


def _guessed(data: bytes) -> str | None:
    if len(data) - len(data.translate(None, _NOT_ASCII)) < _MIN_EVIDENCE:
        return None
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return None
    best = from_bytes(data[: 1 << 16]).best()
    return None if best is None else best.encoding


_HIDDEN = ["script", "style", "template", "title", "object", "svg", "math", "iframe", "noembed", "noframes"]
_BLOCK = re.compile(
    r"<(?=/?(?:p|div|br|li|tr|h[1-6r]|ul|ol|table|d[dlt]|pre|blockquote|body"
    r"|address|article|aside|caption|center|details|dialog|dir|fieldset|figcaption|figure|footer|form|header|hgroup"
    r"|legend|listing|main|menu|nav|optgroup|option|plaintext|search|section|select|summary|xmp)[\s/>])",
    re.IGNORECASE,
)
"""Beginning of a tag of an element in lines of its own. Source: HTML Standard, 15.3 Non-replaced elements."""
_CELL = re.compile(r"<(?=/?(?:td|th|button|input|meter|progress|textarea)[\s/>])", re.IGNORECASE)
"""Beginning of a tag of an element in a line that is apart from the words beside it."""
_END_OF_CELL = re.compile(r"(?=</t[dh][\s>])", re.IGNORECASE)
_BOXES = ("checkbox", "radio")
_NO_TEXTS = ("hidden", "password", "submit", "reset", "button", "image", "file")
"""Kinds of fields: boxes that are ticked, and those whose value is no text of a form."""
_ALTS = {"checked": True, "ticked": True, "selected": True, "yes": True} | dict.fromkeys(
    ("unchecked", "unticked", "unselected", "not checked", "not ticked", "not selected", "no"), False
)
"""Pictures of boxes."""
_BREAK, _KEPT_SPACE, _AFTER_CELL = "\f", "\x1f", "\x1e"
"""Marks: white space of HTML, which may stand between the rows of a table; a space that is shown as it is; the end of a
cell."""
_AS_IS = {ord("\n"): _BREAK + _KEPT_SPACE, ord("\t"): _KEPT_SPACE, ord(" "): _KEPT_SPACE}
_CHARSET = re.compile(
    rb"""<meta[^>]{0,1000}?charset\s*=\s*["']?\s*([\w.:+-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 1 << 14
_COMMENT, _END_OF_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL), b"-->"


def read_page(given: Given) -> DocumentRead:
    """Return the text of a page in a file."""
    return DocumentRead(text=text_of_html(decoded_page(given.data, given.charset, given.encoding)))


def decoded_page(data: bytes, declared: str | None = None, fallback: str = "utf-8") -> str:
    """Return a page as characters, by the character set declared outside or in it."""
    if declared is None:
        head = data[:_DECLARED_WITHIN]
        occurrence = _CHARSET.search(head) if b"=" in head else None
        if occurrence is not None and _END_OF_COMMENT in head:  # a comment may mention another character set
            closed, end, rest = head.rpartition(_END_OF_COMMENT)  # else each comment that has no end would be searched
            occurrence = _CHARSET.search(_COMMENT.sub(b"", closed + end) + rest)
        declared = None if occurrence is None else (occurrence[1] or occurrence[2]).decode("ascii")
        if declared is not None and declared.lower().startswith("utf-16"):
            declared = "utf-8"  # it could not have been read otherwise
    return decoded(data, declared, fallback)


def text_of_html(page: str) -> str:
    """Return the text that a page shows."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    page = page.replace(_BREAK, " ").replace("\0", "").replace(_AFTER_CELL, "")
    page = _END_OF_CELL.sub(_AFTER_CELL, page)
    try:
        tree = LexborHTMLParser(_CELL.sub(" <", _BLOCK.sub(f"{_BREAK}<", page)))
    except SelectolaxError as error:  # any characters are a page
        raise MemoryError from error
    tree.strip_tags(_HIDDEN)
    for element in tree.css("pre, textarea, listing, xmp, plaintext"):
        for node in [node for node in element.traverse(include_text=True) if node.is_text_node]:
            node.replace_with((node.text_content or "").translate(_AS_IS))
    for entry in tree.css("s, strike, del, [style*='line-through']"):
        entry.insert_before("~~")
        entry.insert_after("~~")
    for entry in tree.css("[aria-checked]:not(input), img[alt]"):
        state = _ALTS.get((entry.attributes.get("alt") or "").strip().lower())
        if entry.tag != "img" or state is not None:
            entry.insert_before(f"{tick(state or entry.attributes.get('aria-checked') == 'true')} ")
    for entry in tree.css("input, select:has(option[selected]) option"):
        kind = (entry.attributes.get("type") or "text").lower()
        if entry.tag == "option" or kind in _BOXES:
            entry.insert_before(f"{tick(not entry.attributes.keys().isdisjoint(('checked', 'selected')))} ")
        elif kind not in _NO_TEXTS:
            entry.insert_before(f"{entry.attributes.get('value') or ''} ")
    shown = "" if tree.root is None else tree.root.text(deep=True).replace("\xa0", " ").replace("\xad", "")
    shown = _BREAK.join("".join(with_empty_cells(line.split(_AFTER_CELL))) for line in shown.split(_BREAK))
    shown = shown.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    while "  " in shown:  # a pattern would take ten times as long
        shown = shown.replace("  ", " ")
    lines = [line.strip(" ") for line in shown.split(_BREAK)]
    return "\n".join([line.replace(_KEPT_SPACE, " ").strip(" ") for line in lines if line]).strip("\n")
