"""OCR of images and of pages of PDF that are images, by the tesseract inside xberg, and its language data."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nearkin.stages.documents.extraction import kinds
from nearkin.stages.documents.extraction.office import asked_of_xberg
from nearkin.stages.documents.extraction.reading import DocumentRead, Given
from nearkin.stages.documents.members import OCR
from nearkin.stages.documents.rules import LanguageData, RecordFault

if TYPE_CHECKING:
    import xberg

_MIME_TYPES = (
    (b"\x89PNG", "image/png"), (b"\xff\xd8", "image/jpeg"), (b"II*\0", "image/tiff"), (b"MM\0*", "image/tiff"),
    (b"GIF8", "image/gif"), (b"BM", "image/bmp"),
)  # fmt: skip
_DPI = 300
"""Resolution that tesseract is designed for."""
_MAX_PIXELS = 40_000_000
"""Maximum number of pixels: larger pages, such as maps, are rendered at a lower resolution; A2 has the full one."""
_POINTS_PER_INCH = 72
_IMAGE_BYTES = 256 << 20
"""Decoded image that is always accepted: as large as a rendered page may be."""
NOTHING_RECOGNISED = "OCR recognised no text"


def read_image(given: Given) -> DocumentRead:
    """Return the text that is recognised in an image."""
    kind = next((kind for magic, kind in _MIME_TYPES if given.data.startswith(magic)), None)
    if kind is None or given.ocr is None:
        raise RecordFault("image only", "an image of a kind that OCR does not read")
    reading = ImageReading(given, given.ocr)
    pages = tiff_pages(given.data) if kind == "image/tiff" else [given.data]
    texts = [reading.text_of(page, kind) for page in pages]
    text = "\n".join(text for text in texts if text)
    if not text:
        raise RecordFault("image only", f"an image; {NOTHING_RECOGNISED}")
    n_pages = len(texts) if kind == "image/tiff" else None
    warnings = (by_ocr(given.ocr),)
    return DocumentRead(text=text, extractor=extractor_name(given.ocr), n_pages=n_pages, warnings=warnings)


class ImageReading:
    """OCR of the pages of one document; each page has its time limit, and all share another."""

    def __init__(self, given: Given, data: LanguageData) -> None:
        self._given = given
        self._language_data = data
        self._ends_at = time.monotonic() + given.limits.ocr

    def text_of(self, image: bytes | Any, mime_type: str = "image/x-portable-graymap") -> str:
        """Return the text in an image or a page; RecordFault if OCR fails or takes too long."""
        if time.monotonic() > self._ends_at:
            raise self._given.limits.exceeded("ocr")
        self._given.begin_again()
        settings = _settings(self._given.limits.size, self._language_data)
        try:
            image = image if isinstance(image, bytes) else rendered(image)
            return str(asked_of_xberg(image, mime_type, settings, self._given.limits).content).strip()
        except MemoryError as error:  # it costs this page, not the text of the others
            raise self._given.limits.exceeded("memory") from error


def extractor_name(data: LanguageData) -> str:
    """Return the program, the languages and the version."""
    return kinds.current_name(f"{OCR} {data.languages}") or "none"


def by_ocr(data: LanguageData) -> str:
    """Return the warning that a text was recognised."""
    return f"text by OCR ({data.languages}): words may be wrong"


def tiff_pages(data: bytes) -> Iterator[bytes]:
    """Yield a TIFF file with each page as the first one: xberg reads only that."""
    yield data
    order = "<" if data.startswith(b"II") else ">"
    seen = {0}
    try:
        (place,) = struct.unpack_from(f"{order}I", data, 4)
        while place not in seen:
            seen.add(place)
            (n_fields,) = struct.unpack_from(f"{order}H", data, place)
            (place,) = struct.unpack_from(f"{order}I", data, place + 2 + 12 * n_fields)
            if place not in seen:
                yield data[:4] + struct.pack(f"{order}I", place) + data[8:]
    except struct.error:  # a damaged end; the pages before it are there
        return


@lru_cache(maxsize=2)
def _settings(output_bytes: int, data: LanguageData) -> xberg.ExtractionConfig:
    import xberg

    languages = data.languages.split("+")
    return xberg.ExtractionConfig(
        use_cache=False,
        force_ocr=True,
        enable_quality_processing=False,
        output_format="plain",
        ocr=xberg.OcrConfig(
            backend="tesseract",
            language=languages,
            tessdata_path=data.folder,
            tesseract_config=xberg.TesseractConfig(
                language=languages, output_format="text", enable_table_detection=False, use_cache=False
            ),
        ),
        security_limits=xberg.SecurityLimits(max_content_size=max(output_bytes, _IMAGE_BYTES)),
        concurrency=xberg.ConcurrencyConfig(max_threads=1),
    )


def rendered(page: Any) -> bytes:
    """Return a page as a grey image in the format PGM."""
    width, height = page.get_size()
    scale = min(_DPI / _POINTS_PER_INCH, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    pixels = memoryview(bitmap.buffer).cast("B")
    starts = range(0, bitmap.height * bitmap.stride, bitmap.stride)
    image = b"P5 %d %d 255\n" % (bitmap.width, bitmap.height)
    image += b"".join(pixels[start : start + bitmap.width] for start in starts)
    bitmap.close()
    return image
