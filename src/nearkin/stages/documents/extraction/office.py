"""Office files by xberg: Word, Excel, PowerPoint, OpenDocument, RTF, EPUB; what is embedded in them are members."""

from __future__ import annotations

import asyncio
import html
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.stages.documents.extraction import kinds
from nearkin.stages.documents.extraction.blobs import ARCHIVE_FAULTS, Blob
from nearkin.stages.documents.extraction.kinds import ZIPPED, kind_of
from nearkin.stages.documents.extraction.limits import raised_by
from nearkin.stages.documents.extraction.office_parts import PartLacking, checked_parts
from nearkin.stages.documents.extraction.ole import CUT_OFF, OleError, OleFile
from nearkin.stages.documents.extraction.reading import DocumentRead, ExtractionError, Given, Member, safe_name
from nearkin.stages.documents.foreign import COMPOUND_FILE

if TYPE_CHECKING:
    import xberg


MIME_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "doc": "application/msword",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xls": "application/vnd.ms-excel",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "ppt": "application/vnd.ms-powerpoint", "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet", "odp": "application/vnd.oasis.opendocument.presentation",
    "rtf": "application/rtf", "epub": "application/epub+zip", "pdf": "application/pdf",
}  # fmt: skip
_EMBEDDINGS = re.compile(r"(?:word|xl|ppt)/embeddings/[^/]+")
_OBJECTS = re.compile(r"(?:\./)?Object ?\d+/?")
_IMAGES = re.compile(r"(?:(?:word|xl|ppt)/media|Pictures)/[^/]+")
_BESIDE_TEXT = tuple(f"{one}/{folder}/" for one in ("word", "xl", "ppt") for folder in ("embeddings", "media"))
_BESIDE_TEXT += ("Pictures/", "Object", "./Object")
"""Beginnings of names that one of these patterns may match."""
_BLOCK = re.compile(r"</?(?:p|h\d|br|hr|li|ul|ol|dl|dt|dd|tr|table|div|pre|blockquote|section|figure)\b[^<>]*>")
_LINKS_OF_NOTES = re.compile(r'<sup class="footnote-ref">.*?</sup>|<a [^<>]*footnote-backref.*?</a>')
_ESCAPED, _BINARY = re.compile(rb"\\[\\{}]"), re.compile(rb"\\bin\d")
_TAG = re.compile(r"<[^<>]*>")
_NOTE = r"\[\^[\w-]+\]"
_MARKS = {
    "docx": re.compile(rf"{_NOTE}|\[cmt:\d+\]"),
    **dict.fromkeys(("odt", "odp", "rtf", "epub"), re.compile(rf"^\[Image(?:: [^\]\n]*)?\]\n*|{_NOTE}", re.MULTILINE)),
}
"""Marks for notes, comments and images that xberg writes, by kinds of files."""
_ENCRYPTED = re.compile(r"encrypt|password", re.IGNORECASE)
_DAMAGED = re.compile(r"invalid zip archive", re.IGNORECASE)
"""Words of a reader of ZIP archives, which come in an error of another kind, too."""
_BOMB = re.compile(r"\bratio\b|bomb|security|limit exceeded|exceeds", re.IGNORECASE)
_LOSS = re.compile(
    r"\bsheet\b.*\bskipped\b|(?:content|text|notes|comments) (?:was|were) not extracted"
    r"|(?:header|footer)\b.*\bdropped\b|\boutput truncated\b",
    re.IGNORECASE,
)
"""Words of warnings that text was omitted."""
_CELLS = re.compile(r"\bcell limit\b", re.IGNORECASE)
_MIN_CELLS, _BYTES_A_CELL = 100_000, 128
"""The least maximum number of cells, and the bytes of the limit of a text of which each allows one."""
_TIME = re.compile(r"timed? ?out", re.IGNORECASE)


class OfficeFile:
    """An office file."""

    is_container = False

    def __init__(self, given: Given) -> None:
        self._given = given
        self._lost: list[str] = []

    @property
    def name(self) -> str:
        """Program and version."""
        return f"xberg {version()}"

    @cached_property
    def _data(self) -> bytes:
        blob, most = self._given.blob, self._given.limits["output_bytes"]
        if self._given.kind not in ZIPPED:
            return blob.held(most)
        try:
            if not blob.head.startswith(COMPOUND_FILE):  # that of an encrypted one
                _ = blob.archive
        except ARCHIVE_FAULTS as error:
            raise ExtractionError("damaged", f"damaged, or not of the kind that it claims: {error}") from error
        return blob.held(most)

    @cached_property
    def _inside(self) -> _OfficeContent:
        return _inside(self._data, self._given.blob)

    def document(self) -> DocumentRead:
        """Return the text."""
        if self._inside.is_encrypted:
            raise ExtractionError("encrypted", "encrypted with a password")
        n_encrypted = self._inside.n_encrypted
        try:
            found = self._read()
        except ExtractionError:
            if n_encrypted:
                raise ExtractionError("encrypted", "encrypted in its ZIP archive") from None
            raise
        text, warnings = found.text, found.warnings
        read = DocumentRead(text=text, extractor=self.name, n_pages=found.n_pages, warnings=warnings)
        if n_encrypted:
            sentence = f"{counted(n_encrypted, 'part')} of it encrypted in its ZIP archive: text may be missing"
            read = read.lacking("encrypted", sentence)
        if not self._inside.is_whole:
            read = read.lacking("damaged", CUT_OFF)
        if found.lacking is not None:
            read = read.lacking(found.lacking.exception, found.lacking.sentence)
        if self._inside.lost or found.n_objects:
            n = max(len(self._inside.lost), found.n_objects)
            what = "an embedded object was" if n == 1 else f"{n} embedded objects were"
            read = read.lacking("partial", f"{what} not read")
        if not text.strip() and self._inside.is_of_1995:
            raise ExtractionError("unsupported", "a workbook of Excel 95, in which no text was found")
        is_without_text = not (text.strip() or self._inside.members or self._inside.lost)
        if is_without_text and self._inside.n_images and read.exception is None:
            read = DocumentRead(
                text=None, extractor=self.name, exception="image only",
                sentence="it holds images and no text; text in images is not recognised",
            )  # fmt: skip
        return read

    def _read(self) -> ExtractedText:
        """Return the text of xberg and of the parts that it omits, and what the XML of the file has besides."""
        found = extract(self._data, self._given)
        if self._has_parts:
            found.lacking, further = checked_parts(self._given.blob.archive, self._given.kind, found.text)
            if further:
                found.text = "\n".join([found.text.rstrip(), *further]).lstrip("\n")
        if found.lacking is None and any(map(_LOSS.search, found.warnings)):
            found.lacking = PartLacking("unsupported", "a part of it was not read: text may be missing")
        return found

    @property
    def _has_parts(self) -> bool:
        return self._given.kind in ZIPPED and self._inside.is_whole and not self._inside.n_encrypted

    def has_members(self) -> bool:
        """Whether documents are embedded."""
        return bool(self._inside.members)

    def members(self) -> Iterator[Member]:
        """Yield the embedded documents."""
        yield from (Member(name=name, blob=Blob(data)) for name, data in self._inside.members)


class _OfficeContent:
    """Content of a file besides its text."""

    def __init__(self) -> None:
        self.members: list[tuple[str, bytes]] = []
        self.lost: list[str] = []
        self.n_images = 0
        self.is_encrypted = False
        self.is_of_1995 = False
        self.n_encrypted = 0
        self.is_whole = True


def _inside(data: bytes, blob: Blob) -> _OfficeContent:
    found = _OfficeContent()
    if data.startswith(COMPOUND_FILE):
        _of_compound_file(data, found)
    elif data.startswith(b"{\\rtf"):
        found.is_whole = not _has_open_groups(data)
        found.lost += ["object"] * len(re.findall(rb"\\objdata\b", data))
        found.n_images = data.count(b"\\pict")
    else:
        try:
            _of_zip(blob, found)
        except ARCHIVE_FAULTS:
            found.is_whole = False  # the extractor may read its text all the same
    return found


def _has_open_groups(data: bytes) -> bool:
    """Whether groups of an RTF file are not closed, as in one that was cut; binary data may hold braces."""
    plain = _ESCAPED.sub(b"", data)
    return plain.count(b"{") > plain.count(b"}") and _BINARY.search(plain) is None


def _of_zip(blob: Blob, found: _OfficeContent) -> None:
    """List embedded files; those that are only wrapped in a compound file are unwrapped."""
    names = blob.archive.namelist()
    found.n_encrypted = sum(entry.flag_bits & 1 for entry in blob.archive.infolist())
    beside = [name for name in names if name.startswith(_BESIDE_TEXT)]
    if any(map(_EMBEDDINGS.fullmatch, beside)):
        _of_embeddings(blob.archive, found)
    else:
        found.n_images = sum(_IMAGES.fullmatch(name) is not None for name in beside)
        found.lost += [name for name in beside if _OBJECTS.fullmatch(name) and not name.endswith("/")]
    if "META-INF/manifest.xml" in names:
        found.is_encrypted = b"encryption-data" in blob.archive.read("META-INF/manifest.xml")


def _of_embeddings(archive: zipfile.ZipFile, found: _OfficeContent) -> None:
    """List embedded files, objects and images in the order of the archive."""
    for entry in archive.infolist():
        found.n_images += bool(_IMAGES.fullmatch(entry.filename))
        if _OBJECTS.fullmatch(entry.filename) and not entry.filename.endswith("/"):
            found.lost.append(entry.filename)
        if _EMBEDDINGS.fullmatch(entry.filename) is None:
            continue
        name = entry.filename.rpartition("/")[2]
        try:
            content = archive.read(entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError):
            found.lost.append(name)
            continue
        inner = unwrapped(name, content)
        if inner is None:
            found.lost.append(name)
        else:
            found.members.append(inner)


def _of_compound_file(data: bytes, found: _OfficeContent) -> None:
    """List embedded objects of files of Word, Excel and PowerPoint 97."""
    try:
        file = OleFile(data)
        found.is_whole = file.is_whole
    except (OleError, struct.error):
        found.is_whole = False
        return
    paths = ["/".join(one.path) for one in file.entries]
    lower = {path.lower() for path in paths}
    found.is_encrypted = "encryptedpackage" in lower or "encryptedsummary" in lower or _is_encrypted_word(file)
    found.is_of_1995 = "book" in lower and "workbook" not in lower
    objects = {match[0] for path in paths if (match := re.match(r"(?i)objectpool/_\d+|mbd[0-9a-f]{8}", path))}
    found.lost += sorted(objects)


def _is_encrypted_word(file: OleFile) -> bool:
    """Whether the first bytes of a document of Word 97 say that it is encrypted."""
    try:
        head = (file.stream("WordDocument") or b"")[:12]
    except (OleError, struct.error):
        return False
    return len(head) == 12 and bool(head[11] & 1)


class ExtractedText:
    """Result of xberg.

    Parameters
    ----------
    text : str
    warnings : tuple of str
    n_pages : int or None
    n_objects : int
        Embedded objects, which are not in the text.

    Attributes
    ----------
    lacking : PartLacking or None
    """

    def __init__(self, text: str, warnings: tuple[str, ...], n_pages: int | None, n_objects: int) -> None:
        self.text = text
        self.warnings = warnings
        self.n_pages = n_pages
        self.n_objects = n_objects
        self.lacking: PartLacking | None = None


def extract(data: bytes, given: Given) -> ExtractedText:
    """Return what xberg makes of a file.

    Raises
    ------
    ExtractionError
    """
    import xberg

    kind = given.kind
    asked = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=MIME_TYPES[kind])
    config = settings_of_xberg(
        given.limits["wall_s"], given.limits["output_bytes"], given.limits["compression_ratio"], kind
    )
    try:
        result = event_loop().run(xberg.extract(asked, config))
    except Exception as error:
        raise _in_words(str(error), given.limits["output_bytes"]) from error
    if result.errors and not result.results:
        raise _in_words(str(result.errors[0].message), given.limits["output_bytes"])
    found = result.results[0]
    text = _text_of_word(found) if _is_page(kind) else _without_marks(found.content, kind)
    warnings = tuple(dict.fromkeys(one.message for one in found.processing_warnings if one.source not in _NOISE))
    n_objects = len(found.children or ()) if kind == "ppt" else 0
    n_objects += sum("Skipped embedded object" in one for one in warnings)
    return ExtractedText(text, warnings, None, n_objects)


@lru_cache(maxsize=1)
def event_loop() -> asyncio.Runner:
    """Return the event loop of this worker: one for each document would take a tenth of the time of a short one."""
    return asyncio.Runner()


def _without_marks(text: str, kind: str) -> str:
    """Return a text without the marks that xberg writes for notes, comments and images."""
    marks = _MARKS.get(kind)
    return text if marks is None or "[" not in text else marks.sub("", text)


_NOISE = ("ocr", "relationships", "docx_embedded_objects", "excel_embedded_objects", "pptx_embedded_objects")
"""Sources of warnings about what is not asked for, or read by others."""


def rtf_text(rtf: bytes, given: Given) -> str:
    """Return the text of the body of a mail in RTF."""
    return extract(rtf, Given(blob=Blob(rtf), kind="rtf", limits=given.limits)).text


def _text_of_word(found: xberg.ExtractedDocument) -> str:
    """Return the text of a document of Word: its headers, its body with notes and comments, its footers."""
    around: dict[str, list[str]] = {"header": [], "footer": []}
    document = found.document
    for node in document.nodes if document is not None else ():
        if (layer := str(node.content_layer)) in around:
            around[layer].append(str(json.loads(str(node.content)).get("text", "")).strip())
    told = [*around["header"], _text_of_tags(found.content), *around["footer"]]
    return "\n".join(one for one in told if one)


def _text_of_tags(page: str) -> str:
    """Return the text of a page as xberg writes it: every tag is closed, and every sign of a text is escaped."""
    told = page.replace("\n", " ").replace("<p>", "\n").replace("</p>", "\n")
    if "<" in told or "[" in page:  # else there is nothing but paragraphs: patterns would take ten times as long
        told = _without_tags(page)
    lines = html.unescape(told).split("\n")
    return "\n".join(line for line in map(str.strip, lines) if line)


def _without_tags(page: str) -> str:
    if "footnote" in page:
        page = _LINKS_OF_NOTES.sub("", page)
    if "[" in page:
        page = _without_marks(page, "docx")
    page = page.replace("\n", " ")
    if "</t" in page:
        page = page.replace("</td>", " ").replace("</th>", " ")
    return _TAG.sub("", _BLOCK.sub("\n", page))


def _is_page(kind: str) -> bool:
    """Whether a kind is asked for as HTML: as plain text, xberg writes names of styles behind headings of Word."""
    return kind == "docx"


@lru_cache(maxsize=16)
def settings_of_xberg(wall_s: int, output_bytes: int, ratio: int, kind: str) -> xberg.ExtractionConfig:
    """Return what xberg is asked for: the text with headers, footers and notes, within limits."""
    import xberg

    return xberg.ExtractionConfig(
        use_cache=False,
        disable_ocr=True,
        enable_quality_processing=False,
        extraction_timeout_secs=wall_s,
        max_archive_depth=1 if kind == "ppt" else 0,
        output_format="html" if _is_page(kind) else "plain",
        include_document_structure=_is_page(kind),
        content_filter=xberg.ContentFilterConfig(
            include_headers=True, include_footers=True, include_footnotes=True, strip_repeating_text=False
        ),
        security_limits=xberg.SecurityLimits(
            max_compression_ratio=ratio,
            max_content_size=output_bytes,
            max_archive_size=2 * output_bytes,
            max_table_cells=_max_cells(output_bytes),
        ),
        concurrency=xberg.ConcurrencyConfig(max_threads=1),
    )


def _max_cells(output_bytes: int) -> int:
    """Return the maximum number of cells in the tables of a document: 2,097,152 with the usual limits."""
    return max(_MIN_CELLS, output_bytes // _BYTES_A_CELL)


def _in_words(message: str, output_bytes: int) -> ExtractionError:
    """Return the exception for an error of xberg."""
    why = re.sub(r"^(?:Parsing|Validation|IO|Security) error: ", "", message.splitlines()[0] if message else "")[:300]
    if _ENCRYPTED.search(why):
        return ExtractionError("encrypted", "encrypted with a password")
    if _CELLS.search(why):
        return ExtractionError("too large", f"refused: {_refusal(why, output_bytes)}")
    if _BOMB.search(why) and not _DAMAGED.search(why):
        return ExtractionError("too large", f"refused: {_refusal(why, output_bytes)}")
    if _TIME.search(why):
        return ExtractionError("time-out", f"not finished in time: {why}{raised_by('time')}")
    return ExtractionError("damaged", f"damaged, or not of the kind that it claims: {why}")


def _refusal(why: str, output_bytes: int) -> str:
    """Return which limit an error of xberg is about, and how to raise it; some limits of xberg are fixed."""
    if _CELLS.search(why):
        return f"its tables have more than {_max_cells(output_bytes):,} cells, the limit{raised_by('size')}"
    if "ratio" in why:
        return f"{why}{raised_by('ratio')}"
    is_ours = not {str(output_bytes), str(2 * output_bytes)}.isdisjoint(re.findall(r"\d+", why))
    return f"{why}{raised_by('size') if is_ours else '; this limit is fixed'}"


@lru_cache(maxsize=1)
def version() -> str:
    """Return the version of xberg, and of what Nearkin does with its texts."""
    import xberg

    return kinds.of_xberg(str(xberg.__version__))


_NATIVE = "\x01Ole10Native"


def unwrapped(name: str, data: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of an embedded file; None if there is no file that can be read.

    Parameters
    ----------
    name : str
        Name of the embedded file in the office file.
    data : bytes
    """
    if not data.startswith(COMPOUND_FILE):
        return name, data
    try:
        wrapper = OleFile(data)
        if kind_of(Blob(data), name) != "unsupported":
            return name, data
        native = wrapper.stream(_NATIVE)
        if native is not None:
            return _of_native(name, native)
        for stream in ("Package", "CONTENTS", "EmbeddedOdf"):
            if (content := wrapper.stream(stream)) is not None:
                return name, content
    except (OleError, struct.error):
        return None
    return None


def _of_native(name: str, native: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of a file that was dropped into a document (a "Package" of Windows)."""
    at = 6  # the size of all, and a mark
    own, at = _string(native, at)
    _, at = _string(native, at)
    (n_path,) = struct.unpack_from("<I", native, at + 4)
    at += 8 + n_path
    (size,) = struct.unpack_from("<I", native, at)
    content = native[at + 4 : at + 4 + size]
    if len(content) < size or not size:
        return None
    return safe_name(own) or name, content


def _string(data: bytes, at: int) -> tuple[str, int]:
    """Return a string that ends with a zero byte, and the position after it."""
    end = data.find(b"\0", at)
    if end < 0:
        raise struct.error("a name has no end")
    return data[at:end].decode("cp1252", "replace"), end + 1
