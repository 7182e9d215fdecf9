"""Office files by xberg: Word, Excel, PowerPoint, OpenDocument, RTF, EPUB; what is embedded in them are members.

xberg omits comments, charts of workbooks and the rest of a truncated part without a word: the words of the parts are
compared with its text.
"""

from __future__ import annotations

import asyncio
import html
import re
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.stages.documents.extraction.cells import with_empty_cells, with_marked_tables
from nearkin.stages.documents.extraction.kinds import COMPOUND_FILE, ZIPPED, kind_of
from nearkin.stages.documents.extraction.ole import CUT_OFF, OleError, OleFile
from nearkin.stages.documents.extraction.reading import (
    ARCHIVE_FAULTS,
    Blob,
    DocumentRead,
    Given,
    Member,
    is_out_of_memory,
    safe_name,
    tick,
)
from nearkin.stages.documents.rules import ExtractionLimits, RecordFault

if TYPE_CHECKING:
    import xberg


MIME_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "doc": "application/msword",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xls": "application/vnd.ms-excel",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "ppt": "application/vnd.ms-powerpoint", "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet", "odp": "application/vnd.oasis.opendocument.presentation",
    "rtf": "application/rtf", "epub": "application/epub+zip",
}  # fmt: skip
_LOSS = re.compile(
    r"\bsheet\b.*\bskipped\b|(?:content|text|notes|comments) (?:was|were) not extracted"
    r"|(?:header|footer)\b.*\bdropped\b|\boutput truncated\b",
    re.IGNORECASE,
)
"""Words of warnings that text was omitted."""


def read_office(given: Given) -> DocumentRead:
    """Return the text of an office file, and the files that are embedded in it."""
    inside = _inside(given)
    members = (lambda: iter(inside.members)) if inside.members else None
    try:
        text, warnings, n_objects = text_of_office(given.data, given.kind, given.limits)
    except RecordFault as fault:
        return DocumentRead(fault=fault, members=members)
    read = DocumentRead(text=text, warnings=tuple(warnings), members=members)
    if not inside.is_whole:
        read = read.lacking("damaged", CUT_OFF)
    elif given.kind in ZIPPED:
        read = with_parts(read, given)
    if any(map(_LOSS.search, warnings)):
        read = read.lacking("unsupported", "a part of it was not read: text may be missing")
    if n := max(inside.n_lost, n_objects):
        read = read.lacking("partial", f"{counted(n, 'embedded object')} {agreeing(n, 'was', 'were')} not read")
    if inside.has_images and read.fault is None and not (members or (read.text or "").strip()):
        sentence = "it holds images and no text; text in images is not recognised"
        return DocumentRead(fault=RecordFault("image only", sentence))
    return read


_ROLES = re.compile(
    r"""(?x)
      (?P<text> word/(?:document|footnotes|endnotes|comments)\d*\.xml | xl/sharedStrings\.xml
        | ppt/(?:slides|notesSlides)/[^/]+\.xml | content\.xml)
    | (?P<beside> (?:word|xl|ppt)/(?:charts/chart|diagrams/data)\d*\.xml | xl/comments\d*\.xml
        | xl/(?:comments|threadedComments|drawings)/[^/]+\.xml | ppt/comments/[^/]+\.xml
        | (?:\./)?Object[^/]*/content\.xml)
    | (?P<header> word/(?:header|footer)\d*\.xml)
    | (?P<styles> styles\.xml) | (?P<sheet> xl/(?:work|chart)sheets/[^/]+\.xml)
    | (?P<embedding> (?:word|xl|ppt)/embeddings/[^/]+) | (?P<object> (?:\./)?Object\ ?\d+)
    | (?P<image> (?:(?:word|xl|ppt)/media|Pictures)/[^/]+) | (?P<manifest> META-INF/manifest\.xml)
    | (?P<document> word/[^/]+\.(?:x?html?|mht|txt|rtf|docx))"""
)
"""Parts of office files: texts; charts, comments and headers beside them; what is embedded; what Word shows as a part
of a document (altChunk)."""
_WITH_TEXT, _BESIDE = ("text", "beside", "header", "styles", "sheet"), ("beside", "header", "styles", "sheet")
_PAGE = re.compile(r"(?i:.+\.x?html?)")


@lru_cache(maxsize=1024)  # most files have parts of the same names
def _role(name: str) -> str | None:
    return None if (part := _ROLES.fullmatch(name)) is None else part.lastgroup


_ESCAPED, _BINARY = re.compile(rb"\\[\\{}]"), re.compile(rb"\\bin\d")


@dataclass(slots=True)
class _Embedded:
    members: list[Member] = field(default_factory=list)
    n_lost: int = 0
    has_images: bool = False
    is_whole: bool = True


def _inside(given: Given) -> _Embedded:
    data = given.data
    if data.startswith(COMPOUND_FILE):
        return _in_compound_file(data)
    if given.kind in ZIPPED:
        return _in_archive(given.blob)
    if not data.startswith(b"{\\rtf"):
        return _Embedded(is_whole=False)
    plain = _ESCAPED.sub(b"", data)  # a file that was cut has groups that are not closed; binary data may hold braces
    is_open = plain.count(b"{") > plain.count(b"}") and _BINARY.search(plain) is None
    return _Embedded(n_lost=data.count(b"\\objdata"), has_images=b"\\pict" in data, is_whole=not is_open)


def _in_archive(blob: Blob) -> _Embedded:
    inside = _Embedded()
    if any(entry.flag_bits & 1 for entry in blob.archive.infolist()):
        raise _encrypted()
    for name in blob.archive.namelist():
        role = _role(name)
        inside.has_images |= role == "image"
        inside.n_lost += role == "object"
        if role == "manifest" and b"encryption-data" in blob.archive.read(name):
            raise _encrypted()
        if role == "embedding":
            try:
                member = unwrapped(name.rpartition("/")[2], blob.archive.read(name))
            except ARCHIVE_FAULTS:
                member = None
            inside.n_lost += member is None
            inside.members += [] if member is None else [member]
    return inside


def _in_compound_file(data: bytes) -> _Embedded:
    try:
        file = OleFile(data)
        word = file.stream("WordDocument") if file.is_whole else None
    except (OleError, struct.error):
        return _Embedded(is_whole=False)
    is_encrypted_word = word is not None and len(word) >= 12 and bool(word[11] & 1)
    if is_encrypted_word or not file.paths.isdisjoint(("encryptedpackage", "encryptedsummary")):
        raise _encrypted()
    objects = {match[0] for path in file.paths if (match := re.match(r"objectpool/_\d+|mbd[0-9a-f]{8}", path))}
    return _Embedded(n_lost=len(objects), is_whole=file.is_whole)


def _encrypted() -> RecordFault:
    return RecordFault("encrypted", "encrypted with a password")


_NOTE = r"\[\^[\w-]+\]"
_IMAGE = r"^\[Image(?:: [^\]\n]*)?\]\n*"
_MARKS = {
    "docx": re.compile(rf"{_IMAGE}|{_NOTE}|\[cmt:\d+\]| \(style_name: .*\)$", re.MULTILINE),
    **dict.fromkeys(("odt", "odp", "rtf", "epub"), re.compile(rf"{_IMAGE}|{_NOTE}", re.MULTILINE)),
}
"""Marks for notes, comments, images and headings that xberg writes, by kinds of files."""
_NOISE = ("ocr", "relationships", "docx_embedded_objects", "excel_embedded_objects", "pptx_embedded_objects")
"""Sources of warnings about what is not asked for, or read by others."""
_ENCRYPTED = re.compile(r"encrypt|password", re.IGNORECASE)
_OWN_LIMIT = f"exceeds limit of {100 << 20}"
"""Words of a limit of xberg that no option raises."""
_BOMB = re.compile(r"\bratio\b|bomb|security|limit exceeded|exceeds|\bcell limit\b", re.IGNORECASE)
_DAMAGED = re.compile(r"invalid zip archive", re.IGNORECASE)
"""Words of a reader of ZIP archives, which come in an error of another kind, too."""
_MIN_CELLS, _BYTES_A_CELL = 100_000, 128
"""The least maximum number of cells, and the bytes of the limit of a text of which each allows one."""


def text_of_office(data: bytes, kind: str, limits: ExtractionLimits) -> tuple[str, list[str], int]:
    """Return text and warnings of xberg, and how many embedded objects it does not read. Raises RecordFault."""
    result = asked_of_xberg(data, MIME_TYPES[kind], settings_of_xberg(limits, kind), limits)
    text = with_marked_tables(result.content, (table.cells for table in result.tables))
    if kind == "pptx" and "\t\t" in text:
        text = "\n".join("\t".join(with_empty_cells(line.split("\t"))) for line in text.split("\n"))
    if kind in _MARKS and ("[" in text or "(style_name: " in text):
        text = _MARKS[kind].sub("", text)
    warnings = list(dict.fromkeys(item.message for item in result.processing_warnings if item.source not in _NOISE))
    n_objects = len(result.children or ()) if kind == "ppt" else 0
    return text, warnings, n_objects + sum("Skipped embedded object" in warning for warning in warnings)


def asked_of_xberg(
    data: bytes, mime_type: str, config: xberg.ExtractionConfig, limits: ExtractionLimits
) -> xberg.ExtractedDocument:
    """Return what xberg extracts, or recognises in an image. Raises RecordFault."""
    import xberg

    extract_input = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=mime_type)
    try:
        result = _event_loop().run_until_complete(xberg.extract(extract_input, config))
    except Exception as error:
        raise _fault_of(str(error), limits) from error
    if result.errors and not result.results:
        raise _fault_of(str(result.errors[0].message), limits)
    return result.results[0]


@lru_cache(maxsize=1)
def _event_loop() -> asyncio.AbstractEventLoop:
    """One for each document would take a tenth of the time of a short one."""
    return asyncio.new_event_loop()


def rtf_text(rtf: bytes, given: Given) -> str:
    """Return the text of the body of a mail in RTF."""
    return text_of_office(rtf, "rtf", given.limits)[0]


@lru_cache(maxsize=16)
def settings_of_xberg(limits: ExtractionLimits, kind: str) -> xberg.ExtractionConfig:
    """Return what xberg is asked for."""
    import xberg

    return xberg.ExtractionConfig(
        mime_detection_policy=xberg.MimeDetectionPolicy.PREFER_CONTENT,  # as by default; their names would be looked up
        result_format=xberg.ResultFormat.UNIFIED,  # for each file, which takes a tenth of the time of a short one
        jupyter_cell_rendering=xberg.JupyterCellRendering.BOTH,
        use_cache=False,
        disable_ocr=True,
        enable_quality_processing=False,
        extraction_timeout_secs=limits.time,
        max_archive_depth=1 if kind == "ppt" else 0,
        output_format="plain",
        content_filter=xberg.ContentFilterConfig(
            include_headers=True, include_footers=True, include_footnotes=True, strip_repeating_text=False
        ),
        security_limits=xberg.SecurityLimits(
            max_compression_ratio=limits.ratio,
            max_content_size=limits.size,
            max_archive_size=2 * limits.size,
            max_table_cells=max(_MIN_CELLS, limits.size // _BYTES_A_CELL),
        ),
        concurrency=xberg.ConcurrencyConfig(max_threads=1),
    )


def _fault_of(message: str, limits: ExtractionLimits) -> Exception:
    """Return what an error of xberg means for its document."""
    why = re.sub(r"^(?:Parsing|Validation|IO|Security) error: ", "", message.splitlines()[0] if message else "")[:300]
    if is_out_of_memory(why):
        return MemoryError()
    if _ENCRYPTED.search(why):
        return _encrypted()
    if _OWN_LIMIT in why:
        return RecordFault("too large", why)
    if _BOMB.search(why) and not _DAMAGED.search(why):
        return limits.exceeded("ratio" if "ratio" in why else "size")
    return RecordFault("image only" if why.startswith("OCR error: ") else "damaged", f"it cannot be read: {why}")


_NATIVE = "\x01Ole10Native"
_NATIVE_HEAD = re.compile(rb".{6}([^\0]*)\0[^\0]*\0.{4}(.{4})", re.DOTALL)
"""The size of all, and a mark; the name, a path, and the length of another path."""


def unwrapped(name: str, data: bytes) -> Member | None:
    """Return an embedded file; None if there is no file that can be read."""
    if not data.startswith(COMPOUND_FILE):
        return Member(name=name, blob=Blob(data))
    try:
        wrapper = OleFile(data)
        if kind_of(Blob(data), name) != "unsupported":
            return Member(name=name, blob=Blob(data))
        native = wrapper.stream(_NATIVE)
        if native is not None:
            return _of_native(name, native)
        for stream in ("Package", "CONTENTS", "EmbeddedOdf"):
            if (content := wrapper.stream(stream)) is not None:
                return Member(name=name, blob=Blob(content))
    except (OleError, struct.error):
        return None
    return None


def _of_native(name: str, native: bytes) -> Member | None:
    """Return a file that was dropped into a document (a "Package" of Windows)."""
    if (head := _NATIVE_HEAD.match(native)) is None:
        return None
    at = head.end() + int.from_bytes(head[2], "little") + 4
    size = int.from_bytes(native[at - 4 : at], "little")
    content = native[at : at + size]
    if len(content) < size or not size:
        return None
    return Member(name=safe_name(head[1].decode("cp1252", "replace")) or name, blob=Blob(content))


_HIDDEN = re.compile(
    rb"<((?:mc:)?Fallback|rPh|w:moveFrom|c:numCache|text:(?:tracked-changes|sheet-name|title|file-name|date|time"
    rb"|page-number|page-count))\b[^<>]*(?<!/)>.*?</\1>",
    re.DOTALL,
)
"""Elements whose text is shown by no program, or is another for each page."""
_DELETED = re.compile(rb"<(?:w:(?:del|moveFrom)\s[^<>]*(?<!/)|text:deletion)>")
_BREAK_IN_ODF = re.compile(rb"</text:(?:p|h)>|<(?:text:(?:s|tab|line-break|note|note-body)|office:annotation)\b")
_XML_TAG = re.compile(rb"<[^<>]*>")
_TEXT = re.compile(
    rb"<(?:c:v|(?:\w+:)?(?:t|text|(?:odd|even|first)(?:Header|Footer)))(?:\s[^<>]*)?>([^<]*)"
    rb"|<(?:/(?:\w+:)?(?:p|si|is|text|pt)>|\w+:(?:tab|br|cr|footnoteReference|endnoteReference)\b)"
)
"""A text; or what separates words: the end of a paragraph or a cell, and what stands between two texts."""
_USUAL = {
    "docx": re.compile(rb"<w:t(?: [^<>]*)?>([^<]*)"), "xlsx": re.compile(rb"<t(?: [^<>]*)?>([^<]*)"),
    "pptx": re.compile(rb"<a:t(?: [^<>]*)?>([^<]*)"), **dict.fromkeys(("odt", "ods", "odp"), re.compile(rb">([^<]+)")),
}  # fmt: skip
"""Texts with the usual prefix, which are found ten times as fast."""
_HEADER, _BODY = b"headerFooter", b"<office:body"
_CODE_OF_HEADER = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|\d+|[A-Z])')
_ROOT, _END_BYTES = re.compile(rb"(?:[^<>]|<[?!][^<>]*>)*<([\w:.-]+)"), 1024
_WORD = re.compile(r"[^\W\d_]+")
_FIELD_OF_FORM = re.compile(rb"<w:(checkBox|ddList)\b[^<>]*(?<!/)>(.{0,4096}?)</w:\1>", re.DOTALL)
_STRUCK = re.compile(rb"<w:d?strike(?: w:val=\"(?:1|true|on)\")?\s*/>")
_IS_TICKED = re.compile(rb"<w:(checked|default)(?: w:val=\"(\w+)\")?\s*/>")
_CHOSEN, _CHOICE = re.compile(rb"<w:result w:val=\"(\d{1,4})\""), re.compile(rb"<w:listEntry w:val=\"([^\"]*)\"")
_LENGTHS, _BEFORE_LENGTHS, _HEADER_BYTES, _MAX_QUICK = struct.Struct("<HH"), 26, 30, 1 << 22
"""Of the header of a file in an archive: the lengths of the name and of further fields, the bytes before these, and all
bytes; and the most that is unpacked at once."""
_MIN_MISSING, _MISSING_SHARE = 3, 0.02
"""Words, and their share of all, from which on text counts as missing: a reference to a note joins two."""


def with_parts(read: DocumentRead, given: Given) -> DocumentRead:
    """Return a text with the parts that were not read, and the exception that words are missing."""
    text, kind, archive = read.text or "", given.kind, given.blob.archive
    names = dict.fromkeys(archive.namelist())
    shown = filter(_PAGE.fullmatch, names) if kind == "epub" else (name for name in names if _role(name) in _WITH_TEXT)
    try:
        parts = {name: _part(given.data, archive, name) for name in shown}
    except RecordFault as fault:
        return read.lacking(fault.reason, fault.sentence)
    is_tracked = kind == "docx" or kind.startswith("od")
    if n_deleted := sum(len(_DELETED.findall(part)) for part in parts.values()) if is_tracked else 0:
        read = replace(read, warnings=(*read.warnings, f"{counted(n_deleted, 'tracked deletion')}: no text"))
    if kind == "docx" and (fields := " ".join(_fields_of_forms(b"".join(parts.values())))):
        read = replace(read, text=f"{text.rstrip()}\n{fields}")
    further, n_missing, n_words = dict[str, None](), 0, 0
    if kind != "epub" and not _has_all(text, parts, kind):  # pages of books are often no XML
        left = _words(text)
        n_words = left.total()
        for name in sorted(parts, key=lambda name: _role(name) in _BESIDE):
            part, role = _text_of(parts[name], name, kind), _role(name)
            missing = (wanted := _words(part)) - left
            left -= wanted
            if role == "text":
                n_missing += missing.total()
            elif missing:
                lines = (line for line in map(str.strip, part.split("\n")) if role != "styles" or " " in line)
                further |= dict.fromkeys(  # the numbers of a header, such as dates, are in no other part
                    line for line in lines if line and (role == "header" or not missing.keys().isdisjoint(_words(line)))
                )
    if further:
        read = replace(read, text="\n".join([(read.text or "").rstrip(), *further]).lstrip("\n"))
    if n_missing >= _MIN_MISSING and n_missing > _MISSING_SHARE * (n_words + n_missing):
        lost = f"{counted(n_missing, 'word')} of {n_words + n_missing:,} not extracted: text may be missing"
        read = read.lacking("partial", lost)
    inside = next((name for name in names if _role(name) == "document"), None)
    return read if inside is None else read.lacking("unsupported", f"its {inside}, a document inside it, was not read")


def _fields_of_forms(part: bytes) -> Iterator[str]:
    """Yield the ticks and choices of a form in Word, which are no text, and again the words that are struck."""
    for kind, inside in _FIELD_OF_FORM.findall(part):
        if kind == b"checkBox":
            values = dict(_IS_TICKED.findall(inside))
            yield tick(values.get(b"checked", values.get(b"default", b"0")) not in (b"0", b"false", b"off"))
        elif choices := _CHOICE.findall(inside):
            chosen = _CHOSEN.search(inside)
            yield html.unescape(
                choices[min(int(chosen[1]) if chosen else 0, len(choices) - 1)].decode("utf-8", "replace")
            )
    for paragraph in part.split(b"</w:p>") if _STRUCK.search(part) else ():
        runs = paragraph.rpartition(b"</w:pPr>")[2].split(b"</w:r>")
        for is_struck, joined in groupby(runs, lambda run: _STRUCK.search(run) is not None):
            if is_struck and (text := _text_of(b"".join(joined), "", "docx").strip()):
                yield f"~~{text}~~"


def _part(data: bytes, archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        part = _unpacked(data, archive, archive.getinfo(name)).rstrip()
    except ARCHIVE_FAULTS:
        part = b""
    root = _ROOT.match(part)
    end = -1 if root is None else part.find(b">", root.end())
    if root is None or not (part[end - 1 : end] == b"/" or b"</" + root[1] in part[-_END_BYTES:]):
        raise RecordFault("damaged", f"its {name} is damaged: text may be missing")
    return part


def _unpacked(data: bytes, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """`zipfile` makes a stream for each part, which takes longer than to unpack a slide."""
    if entry.compress_type == zipfile.ZIP_DEFLATED and entry.file_size <= _MAX_QUICK:
        at = (
            entry.header_offset + _HEADER_BYTES + sum(_LENGTHS.unpack_from(data, entry.header_offset + _BEFORE_LENGTHS))
        )
        content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data[at : at + entry.compress_size], _MAX_QUICK)
        if len(content) == entry.file_size and zlib.crc32(content) == entry.CRC:
            return content
    return archive.read(entry)


def _has_all(text: str, parts: Mapping[str, bytes], kind: str) -> bool:
    """Whether no part stands beside the text, and the pieces of all follow one another in it: nearly always."""
    if any(_role(name) in _BESIDE and not _is_wordless(name, part, kind) for name, part in parts.items()):
        return False
    body = b"".join(part[max(0, part.find(_BODY)) :] for name, part in parts.items() if name != "styles.xml")
    shown = html.unescape(b"\n".join(_USUAL[kind].findall(body)).decode("utf-8", "replace"))
    if kind == "xlsx":  # thousands of words, each of which stands there once
        return set(text.split()).issuperset(shown.split())
    if text.replace("\n", "") == shown.replace("\n", ""):
        return True
    end = 0
    for piece in shown.split("\n"):
        while text.startswith("\n", end):  # mostly, a piece begins where the one before ends
            end += 1
        at = end if text.startswith(piece, end) else text.find(piece, end)
        if at < 0:
            return False
        end = at + len(piece)
    return True


def _is_wordless(name: str, part: bytes, kind: str) -> bool:
    return _HEADER not in part if _role(name) == "sheet" else _WORD.search(_text_of(part, name, kind)) is None


def _text_of(part: bytes, name: str, kind: str) -> str:
    shown = _HIDDEN.sub(b"", part)
    if kind.startswith("od"):
        shown = _XML_TAG.sub(b"", _BREAK_IN_ODF.sub(rb"\n\g<0>", shown[max(0, shown.find(_BODY)) :]))
    else:
        shown = b"".join(run or b"\n" for run in _TEXT.findall(shown))
    text = html.unescape(shown.decode("utf-8", "replace"))
    return _CODE_OF_HEADER.sub(" ", text) if _role(name) == "sheet" else text


def _words(text: str) -> Counter[str]:
    """Count the words of a text, case and numbers aside: programs show those in their own forms."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
