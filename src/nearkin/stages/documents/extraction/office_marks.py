"""Marks that xberg writes into a text for notes, comments and images, and their removal.

An author can write the same signs, such as ``[^1]`` in a text on Markdown. A mark that the file itself has is not
removed anywhere in the text, because nothing distinguishes the two there.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Container, Iterator

from nearkin.stages.documents.extraction.office_packages import UNREADABLE
from nearkin.stages.documents.extraction.office_parts import parts_of

_NOTE = r"\[\^[\w-]+\]"
_MARKS = {
    "docx": re.compile(rf"{_NOTE}|\[cmt:\d+\]"),
    **dict.fromkeys(("odt", "odp", "rtf", "epub"), re.compile(rf"^\[Image(?:: [^\]\n]*)?\]\n*|{_NOTE}", re.MULTILINE)),
}
"""Marks by kinds of files; xberg writes none into the texts of others."""
_WRITTEN = re.compile(rf"{_NOTE}|\[cmt:\d+\]|\[Image(?:: [^\]\n]*)?\]")
_TAG = re.compile(r"<[^<>]*+>")
_CODE = re.compile(r"\\'([0-9a-fA-F]{2})|\\[a-zA-Z]+-?\d* ?|[{}\r\n]")
_HEAD_BYTES = 200


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
    return marks.sub(lambda mark: mark[0] if mark[0].rstrip("\n") in written else "", text)


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
    if archive is None:
        texts = iter([_CODE.sub(lambda code: bytes.fromhex(code[1] or "").decode("latin-1"), data.decode("latin-1"))])
    else:
        texts = _texts(archive, kind)
    return frozenset(mark for text in texts for mark in _WRITTEN.findall(text))


def _texts(archive: zipfile.ZipFile, kind: str) -> Iterator[str]:
    for name, role in parts_of(archive, kind):
        try:
            part = archive.read(name) if role else b""
        except UNREADABLE:
            continue
        if b"[" in part or b"&#" in part:
            told = part.decode("utf-16" if b"\0" in part[:_HEAD_BYTES] else "utf-8", "replace")
            yield html.unescape(_TAG.sub("", told))
