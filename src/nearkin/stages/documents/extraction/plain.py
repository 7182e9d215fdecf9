"""Plain text inside archives and mails, the encodings of texts, and files that cannot be read at all."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
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
from nearkin.stages.documents.extraction.reading import DocumentRead, ExtractionError, Given
from nearkin.stages.documents.foreign import foreign


def read_text(given: Given) -> DocumentRead:
    """Return a plain text."""
    data = given.data
    mark = next((mark for mark, _ in BYTE_ORDER_MARKS if data.startswith(mark)), b"")
    if (encoding := _certain_encoding(data, mark, given.encoding)) is not None:
        content = into_utf8(data[len(mark) :], encoding)
        if (fault := why_not_utf8(content, encoding, mark)) is not None:
            raise ExtractionError(fault.reason, fault.sentence)
        return DocumentRead(text=content.decode())
    if looks_binary(data):
        raise ExtractionError("unsupported", "binary data of an unknown kind")
    found = decoded(data, None, given.encoding)
    return DocumentRead(text=found.text, warnings=found.warnings)


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
    """Raise ExtractionError: images, programs, archives of other kinds and technical attachments are not read."""
    if given.kind in TECHNICAL:
        raise ExtractionError("technical", f"{TECHNICAL[given.kind]}, which is not compared")
    is_image = given.kind == "image"
    known = foreign(given.blob.head, "" if is_image else given.name)
    if is_image:
        name = "an image" if known is None else known.name
        raise ExtractionError("image only", f"{name}, whose text is not recognised; use --ocr LANGUAGES")
    if known is None:
        raise ExtractionError("unsupported", f"files of the kind {given.kind} are not read")
    sentence = known.problem if not known.is_text else f"{known.name}, which is not read"
    raise ExtractionError("encrypted" if "signed or encrypted" in known.name else "unsupported", sentence)


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
    """Return bytes as text.

    A byte order mark comes first, then the declared character set, then UTF-8, then the user's (``fallback``), then a
    guess by charset-normalizer where it is installed, then Windows-1252.
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
        encoding = codecs.lookup(name).name
        b"text".decode(encoding, "replace")  # some of Python's make bytes of bytes, such as base64
    except (LookupError, ValueError):
        return None
    return None if encoding in _NO_CHARACTER_SETS else _TAKEN_AS.get(encoding, encoding)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _is_nearly(data: bytes, encoding: str) -> bool:
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
