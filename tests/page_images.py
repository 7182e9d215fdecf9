"""Pages as images: what a scanner makes of a text."""

from __future__ import annotations

import io
import struct
import zlib

import pypdfium2
import pytest

from generator import office_files as make
from nearkin.errors import ParameterError
from nearkin.stages.documents.extraction.ocr import rendered
from nearkin.stages.documents.rules import language_data

_PAGE = (595, 112)
_SCALE = 200 / 72


def has_english() -> bool:
    try:
        return bool(language_data("eng"))
    except ParameterError:
        return False


needs_english = pytest.mark.skipif(not has_english(), reason="no language data: scripts/small_packages.sh")


def png(text: str) -> bytes:
    image = rendered(_page(text))
    size, _, pixels = image.removeprefix(b"P5 ").partition(b" 255\n")
    return grey_png(*map(int, size.split()), pixels)


def grey_png(width: int, height: int, pixels: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    size = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"".join(
        (b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", size), chunk(b"IDAT", zlib.compress(rows, 1)), chunk(b"IEND", b""))
    )


def scan(*texts: str, first: str | None = None) -> bytes:
    """A PDF with a page for each text, which is an image; before them one that has its text."""
    made = pypdfium2.PdfDocument.new()
    if first is not None:
        made.import_pages(pypdfium2.PdfDocument(make.pdf([first])))
    for text in texts:
        page, image = made.new_page(*_PAGE), pypdfium2.PdfImage.new(made)
        image.set_bitmap(_grey(text))
        image.set_matrix(pypdfium2.PdfMatrix().scale(*_PAGE))
        page.insert_obj(image)
        page.gen_content()
    sink = io.BytesIO()
    made.save(sink)
    return sink.getvalue()


def tiff(*texts: str, order: str = "<") -> bytes:
    """A TIFF file with a page for each text, not packed."""
    file, link = bytearray((b"II*\0" if order == "<" else b"MM\0*") + bytes(4)), 4
    for text in texts:
        bitmap = _grey(text)
        held, at = memoryview(bitmap.buffer).cast("B"), len(file)
        for row in range(bitmap.height):
            file += held[row * bitmap.stride :][: bitmap.width]
        file += bytes(len(file) % 2)
        struct.pack_into(f"{order}I", file, link, len(file))
        fields = {
            256: bitmap.width, 257: bitmap.height, 258: 8, 259: 1, 262: 1, 273: at, 277: 1, 278: bitmap.height,
            279: bitmap.width * bitmap.height,
        }  # fmt: skip
        file += struct.pack(f"{order}H", len(fields))
        for tag, value in fields.items():
            file += struct.pack(f"{order}HHII", tag, 4, 1, value)
        link = len(file)
        file += bytes(4)
    return bytes(file)


def _grey(text: str) -> pypdfium2.PdfBitmap:
    return _page(text).render(scale=_SCALE, grayscale=True)


def _page(text: str) -> pypdfium2.PdfPage:
    """The upper end of a page of A4: the time of OCR grows with the area."""
    page = pypdfium2.PdfDocument(make.pdf([text]))[0]
    page.set_mediabox(0, 842 - _PAGE[1], _PAGE[0], 842)
    return page
