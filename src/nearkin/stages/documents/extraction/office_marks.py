"""Marks that xberg writes into a text for notes, comments and images, and their removal.

An author can write the same signs, such as ``[^1]`` in a text on Markdown. A mark that the file itself has is not
removed anywhere in the text, because nothing distinguishes the two there.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Container, Iterator
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_packages import UNREADABLE
from nearkin.stages.documents.extraction.office_parts import parts_of
from nearkin.stages.documents.extraction.office_xml import ExpansionError, ExpansionLimit, decoded, in_known_encoding

_NOTE = r"\[\^[\w-]+\]"
_MARKS = {
    "docx": re.compile(rf"{_NOTE}|\[cmt:\d+\]"),
    **dict.fromkeys(("odt", "odp", "rtf", "epub"), re.compile(rf"^\[Image(?:: [^\]\n]*)?\]\n*|{_NOTE}", re.MULTILINE)),
}
"""Marks by kinds of files; xberg writes none into the texts of others."""
_MAX_IMAGE = 1000
_WRITTEN = re.compile(rf"\[\^[\w-]*+\]|\[cmt:\d+\]|\[Image(?::[^\]]{{0,{_MAX_IMAGE}}}+)?\]?+")
"""Marks, and beginnings of long ones, in a text without spaces."""
_LENGTH = len("[Image:") + _MAX_IMAGE
_TAG = re.compile(r"<[^<>]*+>")
_CODE = re.compile(r"\\'([0-9a-fA-F]{2})|\\u(-?\d{1,5}) ?|\\[a-zA-Z]+-?\d* ?|[{}\r\n]")
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F\r\n]{256,}+")
"""Images and embedded files in RTF."""
_AFTER_UNICODE = re.compile(r"(\\u-?\d{1,5} ?)(?:\\'[0-9a-fA-F]{2}|[^\\{}])")
"""A character of RTF, and the one that older programs show in its place."""


def has_marks(text: str, kind: str) -> bool:
    """Whether a text has marks that xberg may have written, or their like."""
    marks = _MARKS.get(kind)
    return marks is not None and "[" in text and marks.search(text) is not None


def without_marks(text: str, kind: str, written: Container[str]) -> str:
    """Return a text without marks.

    Parameters
    ----------
    text : str
    kind : str
    written : collection of str
        Marks that an author wrote, which stay.

    Examples
    --------
    >>> without_marks("A note.[^1] In Markdown: [^note].", "docx", {"[^note]"})
    'A note. In Markdown: [^note].'
    """
    marks = _MARKS.get(kind)
    if marks is None or "[" not in text:  # the search takes a tenth of the time of a short file
        return text
    return marks.sub(lambda mark: mark[0] if _as_written(mark[0], kind) in written else "", text)


def _as_written(mark: str, kind: str) -> str:
    """Return a mark without spaces, which programs change; of RTF without what depends on the code page, too."""
    told = "".join(mark.split())
    return (told.encode("ascii", "ignore").decode() if kind == "rtf" else told)[:_LENGTH]


def written_marks(data: bytes, archive: zipfile.ZipFile | None, kind: str) -> frozenset[str]:
    """Return what looks like marks in the text of a file itself, in whatever parts of it.

    Parameters
    ----------
    data : bytes
        An RTF file.
    archive : ZipFile or None
        Any other file; None for RTF.
    kind : str
    """
    texts = _texts_of_rtf(_HEXADECIMAL.sub(b"", data).decode("latin-1")) if archive is None else _texts(archive, kind)
    found = (mark for text in texts for mark in _WRITTEN.findall("".join(text.split())))
    return frozenset(_as_written(one, kind) for one in found)


def _texts_of_rtf(rtf: str) -> Iterator[str]:
    """Yield the text of a file, without and with the characters that older programs show in place of others."""
    for one in (_AFTER_UNICODE.sub(r"\1", rtf), rtf) if "\\u" in rtf else (rtf,):
        yield _CODE.sub(_sign, one).encode("ascii", "ignore").decode()


def _sign(code: re.Match[str]) -> str:
    if code[2] is not None:
        return chr(int(code[2]) % (1 << 16))
    return bytes.fromhex(code[1] or "").decode("latin-1")


def _texts(archive: zipfile.ZipFile, kind: str) -> Iterator[str]:
    for name, role in parts_of(archive, kind):
        try:
            part = archive.read(name) if role else b""
        except UNREADABLE:
            continue
        if any(one in part for one in (b"[", b"&", b"\0")):
            yield _text_of(part)


def _text_of(part: bytes) -> str:
    """Return the text of a part; one that is no well-formed XML, as pages of books may be, is read as it is."""
    pieces: list[str] = []
    known = in_known_encoding(part)
    limit, parser = ExpansionLimit(known), expat.ParserCreate()

    def text(told: str) -> None:
        limit.take(len(told))
        pieces.append(told)

    parser.UseForeignDTD()  # unknown entities, such as &nbsp;, are no errors
    parser.buffer_text = True
    parser.CharacterDataHandler = text
    parser.SkippedEntityHandler = lambda name, is_parameter: None if is_parameter else text(html.unescape(f"&{name};"))
    try:
        parser.Parse(known, True)
    except (expat.ExpatError, ExpansionError, LookupError, ValueError):
        return html.unescape(_TAG.sub("", decoded(part)))
    return "".join(pieces)
