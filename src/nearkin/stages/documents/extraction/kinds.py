"""Kind of a file by its content, else by its name; names of the extractors."""

from __future__ import annotations

import codecs
import os
import re
import struct
import tarfile
from functools import lru_cache
from typing import Final

from nearkin.stages.documents.extraction.reading import ARCHIVE_FAULTS, Blob
from nearkin.stages.documents.foreign import COMPOUND_FILE, foreign
from nearkin.stages.documents.members import is_ocr
from nearkin.stages.documents.streams import compression_of

KIND_OF_SUFFIX: Final = {
    ".pdf": "pdf", ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".dotm": "docx", ".doc": "doc", ".dot": "doc",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx", ".xls": "xls", ".xlt": "xls",
    ".pptx": "pptx", ".pptm": "pptx", ".ppsx": "pptx", ".ppt": "ppt", ".pps": "ppt",
    ".odt": "odt", ".ott": "odt", ".ods": "ods", ".odp": "odp", ".rtf": "rtf", ".epub": "epub",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "eml", ".emlx": "eml", ".mbox": "mbox", ".msg": "msg",
    ".pst": "pst", ".ost": "pst", ".zip": "zip", ".tar": "tar", ".tgz": "tar", ".tbz2": "tar", ".txz": "tar",
}  # fmt: skip
"""Kinds by suffix, in lower case."""
OFFICE = ("docx", "doc", "xlsx", "xls", "pptx", "ppt", "odt", "ods", "odp", "rtf", "epub")
ZIPPED = ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub")
"""Kinds of office files that are ZIP archives."""
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
_FIELD = re.compile(rb"(?:From [^\r\n]*\r?\n)?[!-9;-~]+:[ \t\r\n]")
_POSTMARK = re.compile(rb"\AFrom |^From \S[^\r\n]*\d:\d\d", re.MULTILINE)
_IMAGES = ("an image", "a PNG image", "a JPEG image", "a TIFF image", "a GIF image", "a BMP image")
_MARKUP = {
    "an HTML page": "html", "an RTF file": "rtf", "a mailbox, mbox": "mbox",
    "a mail message with an encoded body": "eml",
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
    if known is not None and not known.is_text:
        return "image" if known.name in _IMAGES else "unsupported"
    kind = None if known is None else _MARKUP.get(known.name)
    if declared == "eml" and kind in (None, "mbox") and _FIELD.match(head.removeprefix(codecs.BOM_UTF8).lstrip()):
        return "eml"
    if kind is not None:
        return kind
    if declared == "html" or (declared == "mbox" and _POSTMARK.search(head)):
        return declared
    return "text" if known is None else "unsupported"


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
