"""Files that are neither plain text nor a supported table, recognised by their first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath

from nearkin.stages.documents.encodings import looks_binary

_MIN_TAGS = 3
# Comments are matched atomically, (?>…): otherwise every way to split many of them would be tried if no page follows.
_HTML = re.compile(
    rb"(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)(?:<!doctype\s+html\b|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(
    rb"</?(?:html|head|body|title|meta|link|script|style|div|p|a|span|table|h1|main|section)\b", re.IGNORECASE
)
_XML = re.compile(rb"<\?xml\s[^>]*\?>")
_ELEMENT = re.compile(rb"<([A-Za-z_][\w.:-]*)[\s/>]")
_DOC = re.compile(rb"<doc(?: +[a-z_]+=|>)", re.IGNORECASE)
_DAYS, _MONTHS = b"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)", b"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE = _DAYS + rb",? +(?:" + _MONTHS + rb" +\d{1,2}|\d{1,2} +" + _MONTHS + rb")"
_FIELD = re.compile(rb"([!-9;-~]+):[^\n]*\n(?:[ \t][^\n]*\n)*")
_OF_MAIL = frozenset((b"from", b"to", b"date", b"subject", b"message-id", b"received", b"mime-version", b"return-path"))
_MIN_FIELDS = 3
_ENCODED = re.compile(
    rb"content-transfer-encoding:\s*(?:base64|quoted-printable)|content-type:\s*multipart/", re.IGNORECASE
)
_ROOTS = {
    b"mediawiki": "a dump of MediaWiki; read it with --format wikipedia",
    b"tmx": "a translation memory, TMX; read it with nearkin align train",
    b"svg": "an SVG image",
}
_SIGNED = "a signed or encrypted file, PKCS#7; extract its content first, for example with openssl cms"


class _Signatures:
    """Names of files by patterns of their first bytes, which are tried in order."""

    def __init__(self, names: Mapping[bytes, str]) -> None:
        self._names = [*names.values()]
        self._pattern = re.compile(b"|".join(b"(%b)" % pattern for pattern in names), re.DOTALL)

    def name_of(self, data: bytes) -> str | None:
        match = self._pattern.match(data)
        return None if match is None else self._names[match.lastindex - 1]  # type: ignore[operator]  # a group matched


_MARKUP = _Signatures({
    rb"\{\\rtf\d?": "an RTF file",
    rb"WARC/\d\.\d+\r?\n": "a web archive, WARC or WET; name it on its own, without its folder",
    rb"%!PS": "a PostScript file",
    rb"-----BEGIN (?:PKCS7|CMS)-----": _SIGNED,
    rb"(?:\xfe|\xc3\xbe)[^\r\n\x14]{0,200}(?:\xfe|\xc3\xbe)\x14":
        "a Concordance load file, DAT; name it on its own, without its folder",
    # bounded, else a page in one long line would be searched to its end for a comma
    rb"(?i:[^,\r\n]{1,1000}+,[^,\r\n]{0,1000}+,[^,\r\n]{1,1000}\.(?:tiff?|jpe?g|pdf|png),Y?,[^,\r\n]*,[^,\r\n]*,"
    rb"\d*[ \t]*(?:\r?\n|\Z)|IM,[^,\r\n]+,[DSC ]?,\d+,@)":
        "a load file of images, Opticon or LFP; name the text files that go with it",
    rb"From \S+ +" + _DATE + rb"\b[^\r\n]*\r?\n[!-9;-~]+:": "a mailbox, mbox",
})  # fmt: skip


def markup_of(data: bytes) -> str | None:
    """Return the kind of markup that a text begins with, as `Foreign.name`; None if it looks plain.

    Examples
    --------
    >>> markup_of(b"<html><head><title>News</title></head><body>It was")
    'an HTML page'
    >>> markup_of(b"<html> is the outermost element of a page.")
    >>> markup_of(b"From the beginning: it was a dark night.")
    """
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if (name := _MARKUP.name_of(text)) is not None:
        return name
    return _angled(text) if text.startswith(b"<") else _mail(text)


def _mail(text: bytes) -> str | None:
    names, place = set(), 0
    of_content = []
    while (field := _FIELD.match(text, place)) is not None:
        name = field[1].lower()
        names.add(name)
        if name.startswith(b"content-t"):
            of_content.append(place)
        place = field.end()
    # not searched for: that would cost more than all the rest
    if len(names & _OF_MAIL) >= _MIN_FIELDS and any(_ENCODED.match(text, start, place) for start in of_content):
        return "a mail message with an encoded body"
    return None


def _angled(text: bytes) -> str | None:
    if _HTML.match(text) and len(list(islice(_TAG.finditer(text), _MIN_TAGS))) == _MIN_TAGS:
        return "an HTML page"
    if _DOC.match(text) and re.search(rb"</doc>", text, re.IGNORECASE):
        return "a file of <doc> elements; convert it to JSON Lines first"
    root = _ELEMENT.search(text)
    name = b"?" if root is None else root[1]
    is_first = root is not None and root.start() == 0  # prose may begin with a tag, but has no known name or namespace
    if not _XML.match(text) and not (is_first and (name.lower() in _ROOTS or b"xmlns" in text[: text.find(b">")])):
        return None
    return _ROOTS.get(
        name.lower(), f"an XML file (<{name.decode('ascii', 'replace')[:40]}>)" if name else "an XML file"
    )


COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIPPED = {
    f".{one}": f"{'an' if one[0] in 'eox' else 'a'} {one.upper()} file"
    for one in ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub")
}
_ZIP = "a ZIP archive"
_BINARY = _Signatures({
    rb"PK\x03\x04": _ZIP, rb"PK\x05\x06": "an empty ZIP archive", rb"%PDF-": "a PDF file",
    rb"!BDN": "an Outlook mailbox", re.escape(COMPOUND_FILE): "a file of Word, Excel, PowerPoint or Outlook",
    rb"\x78\x9f\x3e\x22": "TNEF (winmail.dat), which is not supported; export the mail as MSG",
    rb"7z\xbc\xaf\x27\x1c": "a 7-Zip archive; unpack it first", rb"Rar!\x1a\x07": "a RAR archive; unpack it first",
    rb"\x89PNG\r\n\x1a\n": "a PNG image", rb"\xff\xd8\xff": "a JPEG image", rb"II\*\0|MM\0\*": "a TIFF image",
    rb"\x7fELF": "a program", rb"RIFF.{4}WEBP|.{4}ftyp(?:hei[cx]|mif1|avif)": "an image",
    rb".{257}ustar": "a tar archive; unpack it first, and name its folder",
    rb"version https://git-lfs\.github\.com/spec/": "a pointer of Git LFS; fetch the file with git lfs pull",
    rb"\x30.{0,54}\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07": _SIGNED,
})  # fmt: skip
_LIKE_WORDS = _Signatures({
    rb"GIF8[79]a": "a GIF image", rb"BM": "a BMP image", rb"MZ": "a program", rb"PK": _ZIP,
    # LZ4, SQLite, Avro, Parquet, ORC, sound, video: they may have no byte that is not UTF-8
    rb"\x04\x22\x4d\x18|SQLite format 3\0|Obj\x01|PARE|ORC|FEA1|GGUF|RIFF|OggS|ID3|.{4}(?:ftyp|\0{4})":
        "binary data; convert it to text, JSON Lines or Parquet first",
})  # fmt: skip
"""Some of these begin like words: they count only if binary bytes follow."""
_FOREIGN_BYTES = 1 << 16
FIRST_BYTES = 1 << 12
"""Bytes of a file that suffice to recognise all kinds except markup."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A kind of file that is not plain text, with its article; ``is_text``: it has markup, and can be read as it is."""

    name: str
    is_text: bool = False

    @property
    def problem(self) -> str:
        """Reasons why such a file is not a document, with what to do.

        Examples
        --------
        >>> Foreign("an HTML page", is_text=True).problem
        'an HTML page; --format file reads it as it is'
        """
        return f"{self.name}; --format file reads it as it is" if self.is_text else self.name


def foreign(data: bytes, path: str) -> Foreign | None:
    r"""Return the kind of a file by its first `FIRST_BYTES`, of ZIP archives by suffix; None if it may be text.

    Examples
    --------
    >>> foreign(b"PK\x03\x04\x14", "letters/offer.docx").problem
    'a DOCX file'
    >>> foreign(b"PK is short for public key", "notes.txt")
    """
    name = _BINARY.name_of(data)
    if name is None and (like := _LIKE_WORDS.name_of(data)) is not None and looks_binary(data):
        name = like
    if name is not None:
        return Foreign(_ZIPPED.get(PurePath(path).suffix.lower(), name) if name == _ZIP else name)
    markup = markup_of(data[:_FOREIGN_BYTES])
    return None if markup is None else Foreign(markup, is_text=True)
