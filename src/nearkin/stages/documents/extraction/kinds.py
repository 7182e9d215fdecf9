"""Kind of a file by its content, else by its name; names for what is no plain text; names of the extractors."""

from __future__ import annotations

import codecs
import os
import re
import struct
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import PurePath

from nearkin.stages.documents.encodings import looks_binary
from nearkin.stages.documents.extraction.reading import ARCHIVE_FAULTS, Blob
from nearkin.stages.documents.formats import KIND_OF_SUFFIX
from nearkin.stages.documents.members import is_ocr
from nearkin.stages.documents.streams import compression_of

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
ZIPPED = ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub")
"""Kinds of office files that are ZIP archives."""
_ZIPPED = {f".{kind}": f"{'an' if kind[0] in 'eox' else 'a'} {kind.upper()} file" for kind in ZIPPED}
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
    def kind(self) -> str:
        """One of `kind_of`."""
        return _KINDS.get(self.name, "unsupported")

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


OFFICE = ("docx", "doc", "xlsx", "xls", "pptx", "ppt", "odt", "ods", "odp", "rtf", "epub")
_OOXML = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))
_OPEN_DOCUMENT = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/epub+zip": "epub",
}
_OF_STREAMS = (
    ("worddocument", "doc"), ("workbook", "xls"), ("book", "xls"), ("powerpoint document", "ppt"),
    ("__properties_version1.0", "msg"),
)  # fmt: skip
_FIRST_FIELD = re.compile(rb"(?:From [^\r\n]*\r?\n)?[!-9;-~]+:[ \t\r\n]")
_POSTMARK = re.compile(rb"\AFrom |^From \S[^\r\n]*\d:\d\d", re.MULTILINE)
_IMAGES = ("an image", "a PNG image", "a JPEG image", "a TIFF image", "a GIF image", "a BMP image")
_KINDS = {
    "an HTML page": "html", "an RTF file": "rtf", "a mailbox, mbox": "mbox",
    "a mail message with an encoded body": "eml", **dict.fromkeys(_IMAGES, "image"),
}  # fmt: skip
_PROGRAMS = (".npz", ".pt", ".pth", ".jar")
"""Suffixes of ZIP archives that hold no documents."""
_LOCAL_HEADER = b"PK\x03\x04"
_BEFORE_ARCHIVES = ("a program", "a ZIP archive")
"""Names of what unpacks an archive behind it, and of a part of an archive."""


@lru_cache(maxsize=4)  # asked for more than once for each file
def declared_kind(name: str) -> str | None:
    """Return the kind that a name declares by its suffix.

    Examples
    --------
    >>> declared_kind("letters/Offer.DOCX"), declared_kind("notes.txt")
    ('docx', None)
    """
    return KIND_OF_SUFFIX.get(os.path.splitext(name.lower())[1])


def kind_of(blob: Blob, name: str) -> str:
    """Return the kind of a file: one of `KIND_OF_SUFFIX`, "text", "image", "packed" or "unsupported"."""
    head, declared = blob.head, declared_kind(name)
    if head.startswith((_LOCAL_HEADER, b"PK\x05\x06")):
        return _zip_kind(blob, name, declared)
    if head.startswith(COMPOUND_FILE):
        return _ole_kind(blob, declared)
    if head.startswith(b"!BDN"):
        return "pst"
    if b"%PDF-" in head[:1024] and (head.startswith(b"%PDF-") or declared == "pdf"):
        return "pdf"
    if compression_of(head) != "none":
        return "packed"
    if _is_tar(head):
        return "tar"
    return _text_kind(blob, name, declared)


def is_read(head: bytes, name: str, *, with_images: bool = False) -> bool:
    r"""Whether a file with this beginning has a text that is extracted or recognised.

    Examples
    --------
    >>> is_read(b"%PDF-1.7", "a"), is_read(b"\x7fELF", "a"), is_read(b"Dear Sir", "a.txt")
    (True, False, False)
    """
    kind = kind_of(Blob(head), name)
    return kind not in ("packed", "text", "unsupported", "image") or (with_images and kind == "image")


def is_extracted(head: bytes, name: str) -> bool:
    """Whether a file with this beginning is extracted, not read as plain text."""
    return kind_of(Blob(head), name) not in ("packed", "text")


def _text_kind(blob: Blob, name: str, declared: str | None) -> str:
    head = blob.head
    if not head:
        return "text"  # an empty file, whatever its suffix
    known = foreign(_narrowed(head), name)
    if declared in (*ZIPPED, "zip") and _LOCAL_HEADER in head and (known is None or known.name in _BEFORE_ARCHIVES):
        return _zip_kind(blob, name, declared)
    kind = "text" if known is None else known.kind
    if known is None or known.is_text:  # a name decides only about what is text, or markup of no known kind
        is_open, begin = kind in ("text", "unsupported"), head.removeprefix(codecs.BOM_UTF8).lstrip()
        if declared == "eml" and (is_open or kind == "mbox") and _FIRST_FIELD.match(begin):
            return "eml"
        if is_open and (declared == "html" or (declared == "mbox" and _POSTMARK.search(head))):
            return declared
    return kind


def _narrowed(head: bytes) -> bytes:
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return head[2:].decode(encoding, "replace").encode("ascii", "replace")
    return head


def _zip_kind(blob: Blob, name: str, declared: str | None) -> str:
    if os.path.splitext(name.lower())[1] in _PROGRAMS:
        return "unsupported"
    try:
        names = blob.archive.namelist()
        if "mimetype" in names and blob.archive.getinfo("mimetype").file_size < 256:
            mimetype = blob.archive.read("mimetype").decode("ascii", "replace").strip().removesuffix("-template")
            return _OPEN_DOCUMENT.get(mimetype, "zip")
    except ARCHIVE_FAULTS:
        return declared if declared in ZIPPED else "zip"
    if "[Content_Types].xml" in names:
        for prefix, kind in _OOXML:
            if any(member.startswith(prefix) for member in names):
                return kind
    return "zip"


def _ole_kind(blob: Blob, declared: str | None) -> str:
    from nearkin.stages.documents.extraction.ole import OleError, OleFile  # few files are compound files

    of_name = declared if declared in ("doc", "xls", "ppt", "msg") else "unsupported"
    try:
        file = OleFile(blob.held())
        names = file.paths
    except (OleError, struct.error, MemoryError):
        return of_name
    if "encryptedpackage" in names:
        return declared if declared in ("docx", "xlsx", "pptx") else "docx"
    unknown = "unsupported" if file.are_tables_whole else of_name
    return next((kind for name, kind in _OF_STREAMS if name in names), unknown)


def _is_tar(head: bytes) -> bool:
    block = head[: tarfile.BLOCKSIZE]
    is_summed = block[148:156].strip(b" \0").isdigit()  # its checksum; to parse a text takes ten times as long
    try:
        return block[257:262] == b"ustar" or (
            is_summed and bool(tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape"))
        )
    except tarfile.HeaderError:
        return False


READERS = {
    "text": ("plain.read_text", "nearkin text 1"), "html": ("plain.read_page", "nearkin html 5"),
    "eml": ("mail.read_mail", "nearkin mail 4"), "mbox": ("mail.mails_in", "nearkin mailbox 1"),
    "msg": ("outlook.read_message", "nearkin msg 4"), "pst": ("outlook.messages_in", "nearkin pst 1"),
    "zip": ("archives.files_of_zip", "nearkin archive 1"), "tar": ("archives.files_of_tar", "nearkin archive 1"),
    "pdf": ("pdf.read_pdf", "pypdfium2"), **dict.fromkeys(OFFICE, ("office.read_office", "xberg")),
}  # fmt: skip
"""Functions that take `Given` and return `DocumentRead`, or the members of `CONTAINERS`, and programs: a library, or
Nearkin's own with its version."""
CONTAINERS = ("zip", "tar", "mbox", "pst")
"""Kinds of files without a text of their own."""
_REVISION_OF_XBERG = "+nearkin.6"
"""Revision of what Nearkin adds to the texts of xberg and removes from them; raised when that changes a text."""


def extractor_of(kind: str) -> str:
    """Return the program that reads files of a kind, with its version, or "none".

    Examples
    --------
    >>> extractor_of("eml"), extractor_of("image")
    ('nearkin mail 4', 'none')
    """
    program = READERS[kind][1] if kind in READERS else ""
    return program if " " in program else current_name(program) or "none"


@lru_cache
def current_name(program: str) -> str | None:
    """Return a program and its installed version; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # 30 modules, for texts of such a program alone

    package = "xberg" if is_ocr(program) else program
    try:
        installed = version(package)  # without an import: libraries that parse run in workers alone
    except (PackageNotFoundError, ValueError):
        return None
    return f"{program} {installed}{_REVISION_OF_XBERG if package == 'xberg' else ''}"
