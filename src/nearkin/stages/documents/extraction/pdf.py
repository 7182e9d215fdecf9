"""PDF files: their text, notes, form fields and embedded files, from pdfium.

docs/decisions/0026-text-of-pdf.md explains when a text is broken.
"""

from __future__ import annotations

import ctypes
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any

from nearkin.nouns import agreeing, counted
from nearkin.stages.documents.extraction import ocr
from nearkin.stages.documents.extraction.reading import Blob, DocumentRead, Given, Member, safe_name, tick
from nearkin.stages.documents.rules import RecordFault

_NO_IMAGE_TEXT = "text in images is not recognised; use --ocr LANGUAGES"
_MIN_MEAN_LENGTH = 2.5
"""Mean number of letters of a word: 4 to 5 in English, and at least 3 in every language with Latin letters."""
_MIN_TOKEN_LENGTH = 4.5
"""Characters of a word with the space and the signs around it, below which words are looked at."""
_MAX_UNDECODED = 0.05
_MIN_WORDS = 6
_WORD = re.compile(r"(?<!\w)[A-Za-z]+(?!\w)")
_UNDECODED = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_BROKEN = "its words may be wrong: letters stand apart, or have no meaning"
_END_MARK, _OBJECT = b"%%EOF", re.compile(rb"\d\s+\d+\s+obj\b")
_CUT_OFF = "the file does not end as a PDF does, and may be truncated: pages or attachments may be missing"
_FILE_ATTACHMENT = 17
_WITHOUT_NOTE = (2, 16, 20, _FILE_ATTACHMENT)
"""Kinds of annotations that are no notes: links, windows of other notes, form fields."""
_FORM_OF_XFA, _BOXES, _FIELDS_WITH_TEXT = (2, 3), (2, 3), (4, 5, 6)
"""Kinds of forms, and of fields: boxes that are ticked; choices and texts."""


def read_pdf(given: Given) -> DocumentRead:
    """Return the text of all pages, the values of form fields, and the embedded files."""
    import pypdfium2.raw as raw

    opened = _opened(given.data)
    why = RecordFault("image only", _NO_IMAGE_TEXT if given.ocr is None else ocr.NOTHING_RECOGNISED)
    has_form = opened.get_formtype()
    if has_form:
        opened.init_forms()
    pages = dict[int, str]()
    images, notes, values, n_lost = list[int](), list[str](), list[str](), 0
    reading = None if given.ocr is None else ocr.ImageReading(given, given.ocr)
    n_attached = opened.count_attachments()
    for number, page in enumerate(_pages(opened), 1):
        if page is None:
            n_lost += 1
            continue
        text = _text_of_page(page)
        if not text.strip() and _has_image(page):
            images.append(number)
            try:
                text = "" if reading is None else reading.text_of(page)
            except RecordFault as fault:
                text, why = "", RecordFault("time-out" if fault.reason == "time-out" else why.reason, fault.sentence)
        pages[number] = text
        for note in _annotations(page):
            kind = raw.FPDFAnnot_GetSubtype(note)
            n_attached += kind == _FILE_ATTACHMENT
            if kind not in _WITHOUT_NOTE:
                notes.append(_string(partial(raw.FPDFAnnot_GetStringValue, note, b"Contents")))
            elif has_form:
                values.append(_field_of_form(opened.formenv, note))
        page.close()
    if why.reason == "time-out":  # which pages were done by then depends on the machine; a text may not
        pages |= dict.fromkeys(images, "")
    recognised = [number for number in images if pages[number]]
    n_images, n_pages = len(images) - len(recognised), len(pages) + n_lost
    members = partial(_members, opened, given) if n_attached else None
    text = "\n".join([*pages.values(), *filter(None, notes)])
    read = DocumentRead(text="\n".join([text, *filter(None, values)]), n_pages=n_pages, members=members)
    if has_form in _FORM_OF_XFA:
        read = replace(read, warnings=("a form of the kind XFA: parts of it may be missing",))
    if recognised and given.ocr is not None:
        warnings = (*read.warnings, ocr.by_ocr(given.ocr))
        read = replace(read, extractor=ocr.extractor_name(given.ocr), warnings=warnings)
    elif is_broken(read.text or ""):
        read = read.lacking("damaged", _BROKEN)
    read = _with_damage(read, given, n_lost, n_pages)
    if not n_images:
        return read
    if not (read.text or "").strip():
        return replace(read, text=None, fault=RecordFault(why.reason, f"its pages are images; {why.sentence}"))
    are = agreeing(n_images, "is an image", "are images")
    return read.lacking(why.reason, f"{n_images:,} of {counted(n_pages, 'page')} {are}; {why.sentence}")


def _with_damage(read: DocumentRead, given: Given, n_lost: int, n_pages: int) -> DocumentRead:
    if n_lost:
        read = read.lacking("damaged", f"{n_lost:,} of {counted(n_pages, 'page')} cannot be read")
    if has_damaged_stream(given.data, given.limits.size):
        read = read.lacking("damaged", "a stream of it is damaged: text may be missing")
    if is_cut_off(given.data):  # pages may be read all the same, from a table at the beginning
        read = read.lacking("damaged", _CUT_OFF)
    return read


def _opened(data: bytes) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error) or "ecurity" in str(error):
            raise RecordFault("encrypted", "encrypted with a password") from error
        raise


def _pages(opened: Any) -> Iterator[Any | None]:
    """Yield all pages; None stands for one that is damaged."""
    import pypdfium2

    for index in range(len(opened)):
        try:
            yield opened[index]
        except pypdfium2.PdfiumError:
            yield None


def _members(opened: Any, given: Given) -> Iterator[Member]:
    import pypdfium2
    import pypdfium2.raw as raw

    embedded = (raw.FPDFDoc_GetAttachment(opened.raw, index) for index in range(opened.count_attachments()))
    for file in chain(embedded, _pinned(opened)):
        name = safe_name(_string(partial(raw.FPDFAttachment_GetName, file))) or None
        yield Member.of(name, partial(_content_of, pypdfium2.PdfAttachment(file, opened)), given.limits)


def _content_of(file: Any) -> Blob:
    return Blob(bytes(file.get_data()))


def _pinned(opened: Any) -> Iterator[Any]:
    import pypdfium2.raw as raw

    for page in _pages(opened):
        for note in () if page is None else _annotations(page):
            if raw.FPDFAnnot_GetSubtype(note) == _FILE_ATTACHMENT and (file := raw.FPDFAnnot_GetFileAttachment(note)):
                yield file


def is_cut_off(data: bytes) -> bool:
    """Whether a PDF has no end mark, or objects follow the last one.

    Examples
    --------
    >>> is_cut_off(b"1 0 obj ... %%EOF and more"), is_cut_off(b"1 0 obj ... %%EOF 2 0 obj ..."), is_cut_off(b"1 0 obj")
    (False, True, True)
    """
    at = data.rfind(_END_MARK)
    return at < 0 or _OBJECT.search(data, at) is not None


def is_broken(text: str) -> bool:
    """Whether words are split into pieces, or many characters have no meaning.

    Examples
    --------
    >>> is_broken("H e re i s so me te xt"), is_broken("It was a dark and stormy night"), is_broken("")
    (True, False, False)
    """
    if len(_UNDECODED.findall(text)) > _MAX_UNDECODED * len(text):
        return True
    if len(text) > _MIN_TOKEN_LENGTH * len(text.split()):  # the usual case, without looking at each word
        return False
    words = _WORD.findall(text)
    return len(words) >= _MIN_WORDS and sum(map(len, words)) < _MIN_MEAN_LENGTH * len(words)


def _text_of_page(page: Any) -> str:
    """Return the text of a page in the order of the file, or by columns; divided words are joined."""
    layer = page.get_textpage()
    text, n_boxes, boxes = str(layer.get_text_bounded()), layer.count_rects(), None
    if text.count("\n") + _MIN_ROWS < n_boxes <= _MAX_BOXES:  # rows of two columns are lines of several boxes
        boxes = boxes_by_columns([layer.get_rect(i) for i in range(n_boxes)])
    if boxes is not None:
        by_columns = "\n".join(layer.get_text_bounded(*box).strip("\r\n ") for box in boxes)
        if _letters(by_columns) == _letters(text):  # a box also has the letters of other lines that touch it
            text = by_columns
    layer.close()
    text = text.replace("\r\n", "\n").replace("\ufffe\n", "").replace("\x02\n", "")
    return text.replace("\ufffe", "").replace("\x02", "")


def _letters(text: str) -> Counter[str]:
    return Counter("".join(text.replace("\ufffe", "").replace("\x02", "").split()))


Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points from the lower left corner of a page."""
_MAX_BOXES = 5_000
_MIN_ROWS, _MIN_SHARE, _MIN_WIDTH, _MAX_CROSSING = 6, 0.5, 0.2, 0.3


def boxes_by_columns(boxes: Sequence[Box]) -> list[Box] | None:
    """Return the boxes of a page by columns if the file has them row by row; otherwise None.

    Two columns are boxes on both sides of a gap that most rows share, each a fifth as wide as the page's text. A box
    across the gap ends what is above it.

    Examples
    --------
    >>> left, right = [[(x, y, x + 200, y + 10) for y in range(700, 600, -12)] for x in (50, 300)]
    >>> rows = [box for row in zip(left, right) for box in row]
    >>> title = (50, 720, 500, 740)
    >>> boxes_by_columns([title, *rows]) == [title, *left, *right], boxes_by_columns([*left, *right])
    (True, None)
    """
    gaps = [
        (a[2], b[0])
        for a, b in pairwise(boxes)
        if b[0] - a[2] > a[3] - a[1] and min(a[3], b[3]) - max(a[1], b[1]) > _MIN_SHARE * (a[3] - a[1])
    ]
    middle = sorted((a + b) / 2 for a, b in gaps)[len(gaps) // 2] if gaps else 0.0
    n_rows = sum(a < middle < b for a, b in gaps)
    crossing = [i for i, box in enumerate(boxes) if box[0] < middle < box[2]]
    if n_rows < _MIN_ROWS or 2 * n_rows < _MIN_SHARE * len(boxes) or len(crossing) > _MAX_CROSSING * len(boxes):
        return None
    width = max(box[2] for box in boxes) - min(box[0] for box in boxes)
    left = [box[2] - box[0] for box in boxes if box[2] <= middle]
    right = [box[2] - box[0] for box in boxes if box[0] >= middle]
    if any(sum(widths) < _MIN_WIDTH * width * len(widths) for widths in (left, right)):
        return None
    ordered = list[Box]()
    for start, end in pairwise([-1, *crossing, len(boxes)]):
        part = boxes[start + 1 : end]
        for side in ([box for box in part if box[2] <= middle], [box for box in part if box[0] >= middle]):
            ordered += boxes_by_columns(side) or side
        ordered += boxes[end : end + 1]
    return ordered


def _has_image(page: Any) -> bool:
    import pypdfium2.raw as raw

    return next(iter(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)), None) is not None


def _annotations(page: Any) -> Iterator[Any]:
    import pypdfium2.raw as raw

    for index in range(min(raw.FPDFPage_GetAnnotCount(page.raw), 10_000)):
        if note := raw.FPDFPage_GetAnnot(page.raw, index):
            yield note
            raw.FPDFPage_CloseAnnot(note)


def _field_of_form(form: Any, note: Any) -> str:
    """Return the value of a field, or the name of a box with its tick."""
    import pypdfium2.raw as raw

    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    if kind in _FIELDS_WITH_TEXT:
        return _string(partial(raw.FPDFAnnot_GetFormFieldValue, form, note))
    if kind not in _BOXES:
        return ""
    names = (raw.FPDFAnnot_GetFormFieldName, raw.FPDFAnnot_GetFormFieldExportValue)
    return " ".join(
        [
            tick(raw.FPDFAnnot_IsChecked(form, note)),
            *filter(None, (_string(partial(name, form, note)) for name in names)),
        ]
    )


def _string(read: Callable[[Any, int], int]) -> str:
    n_bytes = read(None, 0)
    buffer = (ctypes.c_ushort * (n_bytes // 2))()
    read(buffer, n_bytes)
    text = bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


_STREAM = re.compile(rb"stream\r?\n(?<!endstream\n)(?<!endstream\r\n)")
_UNJUDGED = re.compile(rb"/Subtype\s*/Image\b|/ASCII85|/A85|/ASCIIHex|/AHx|/Crypt\b")
"""Signs in the dictionary of a stream that its bytes are not those of zlib, or hold no text."""
_DICTIONARY_BYTES, _ZLIB_HEADER = 4096, 2


def has_damaged_stream(data: bytes, max_bytes: int) -> bool:
    """Whether a stream cannot be unpacked to its end: pdfium reads it as far as it goes, silently."""
    if b"/Encrypt" in data:
        return False
    end = 0
    for begin in _STREAM.finditer(data):
        dictionary = data[max(end, begin.start() - _DICTIONARY_BYTES) : begin.start()]
        dictionary = dictionary[dictionary.rfind(b" obj") :]
        if b"/Fl" in dictionary and not _UNJUDGED.search(dictionary):
            stop = data.find(b"endstream", begin.end())
            if stop < 0 or not ends_properly(data[begin.end() : stop], max_bytes):
                return True
        end = begin.end()
    return False


def ends_properly(packed: bytes, max_bytes: int) -> bool:
    """Whether bytes of zlib can be unpacked to their end; the checksum may be missing.

    Examples
    --------
    >>> packed = zlib.compress(bytes(range(256)))
    >>> ends_properly(packed, 999), ends_properly(packed[:-4], 999), ends_properly(packed[:-20], 999)
    (True, True, False)
    """
    for start, window in ((0, zlib.MAX_WBITS), (_ZLIB_HEADER, -zlib.MAX_WBITS)):
        inflater, rest, n_bytes = zlib.decompressobj(window), packed[start:], 0
        try:
            while rest and not inflater.eof and n_bytes <= max_bytes:
                n_bytes += len(inflater.decompress(rest, 1 << 20))
                rest = inflater.unconsumed_tail
        except zlib.error:
            return False
        if inflater.eof or n_bytes > max_bytes:
            return True
    return False
