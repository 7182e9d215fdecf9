"""OCR of image files and of PDF pages that are images, by the tesseract inside xberg."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nearkin.nouns import counted
from nearkin.stages.documents.extraction import kinds
from nearkin.stages.documents.extraction.language_data import LanguageData
from nearkin.stages.documents.extraction.limits import raised_by
from nearkin.stages.documents.extraction.office import event_loop
from nearkin.stages.documents.extraction.reading import DocumentRead, ExtractionError, Given, Single, too_much_memory

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


class OcrTimeError(ExtractionError):
    """The time for OCR of a document is over."""

    def __init__(self, limit_s: int) -> None:
        super().__init__("time-out", f"OCR was not finished within {counted(limit_s, 'second')}{raised_by('ocr')}")


class ImageReading:
    """OCR of the pages of one document; each page has the time limit of a document, and all pages share another limit.

    Parameters
    ----------
    given : Given
    data : LanguageData
    """

    def __init__(self, given: Given, data: LanguageData) -> None:
        self._given = given
        self._language_data = data
        self._ends_at = time.monotonic() + given.limits["ocr_s"]

    def text_of(self, image: bytes, mime_type: str) -> str:
        """Return the text in an image. Raises ExtractionError if OCR fails or takes too long."""
        self._begin()
        return recognised(image, mime_type, self._given, self._language_data)

    def text_of_page(self, page: Any) -> str:
        """Render a PDF page and return the text in its image; see `text_of`."""
        self._begin()
        return recognised(rendered(page), "image/png", self._given, self._language_data)

    def _begin(self) -> None:
        if time.monotonic() > self._ends_at:
            raise OcrTimeError(self._given.limits["ocr_s"])
        self._given.begin_again()


class ImageFile(Single):
    """An image."""

    def __init__(self, given: Given, data: LanguageData) -> None:
        self._given = given
        self._language_data = data

    @property
    def name(self) -> str:
        """See `extractor_name`."""
        return extractor_name(self._language_data)

    def document(self) -> DocumentRead:
        """Return the recognised text. Raises ExtractionError if there is none."""
        data = self._given.blob.held(self._given.limits["output_bytes"])
        kind = next((kind for magic, kind in _MIME_TYPES if data.startswith(magic)), None)
        if kind is None:
            raise ExtractionError("image only", "an image of a kind that OCR does not read")
        reading = ImageReading(self._given, self._language_data)
        pages = tiff_pages(data) if kind == "image/tiff" else [data]
        found = [reading.text_of(page, kind) for page in pages]
        text = "\n".join(one for one in found if one)
        if not text:
            raise ExtractionError("image only", f"an image; {NOTHING_RECOGNISED}")
        n_pages = len(found) if kind == "image/tiff" else None
        return DocumentRead(text=text, extractor=self.name, n_pages=n_pages, warnings=(by_ocr(self._language_data),))


NOTHING_RECOGNISED = "OCR recognised no text"


def extractor_name(data: LanguageData) -> str:
    """Return the program, the languages with digests of their data, and the version."""
    import xberg

    return f"{kinds.OCR} {data.in_words} {kinds.of_xberg(xberg.__version__)}"


def by_ocr(data: LanguageData, pages: str = "") -> str:
    """Return the warning that a text was recognised."""
    return f"text {pages}by OCR ({data.languages}): words may be wrong"


def tiff_pages(data: bytes) -> Iterator[bytes]:
    """Yield a TIFF file once for each page, with that page as the first one: xberg reads only the first page."""
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


def recognised(image: bytes, mime_type: str, given: Given, data: LanguageData) -> str:
    """Return the text in an image.

    Raises
    ------
    ExtractionError
        The image cannot be decoded, or is too large.
    """
    import xberg

    asked = xberg.ExtractInput(kind="bytes", bytes=image, mime_type=mime_type)
    config = _settings(given.limits["output_bytes"], data)
    try:
        result = event_loop().run(xberg.extract(asked, config))
    except Exception as error:
        raise _in_words(str(error), given) from error
    if result.errors and not result.results:
        raise _in_words(str(result.errors[0].message), given)
    return str(result.results[0].content).strip()


def _in_words(message: str, given: Given) -> ExtractionError:
    why = message.splitlines()[0][:300] if message else "no reason was given"
    if "memory" in why.lower():
        return ExtractionError("too large", too_much_memory(given.limits["memory_bytes"]))
    if "security_limits" in why:
        return ExtractionError("too large", f"an image of too many pixels{raised_by('size')}")
    if (failed := why.removeprefix("OCR error: ")) != why:
        return ExtractionError("image only", f"OCR failed: {failed}")
    return ExtractionError("damaged", f"an image that cannot be decoded: {why}")


@lru_cache(maxsize=2)
def _settings(output_bytes: int, data: LanguageData) -> xberg.ExtractionConfig:
    """Return the settings for xberg: unchanged lines, and no tables, caches or threads."""
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
    """Return a page as a grey PNG image that states its resolution: without it tesseract would guess."""
    width, height = page.get_size()
    scale = _DPI / _POINTS_PER_INCH
    scale = min(scale, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    held = memoryview(bitmap.buffer).cast("B")
    rows = b"".join(
        b"\0" + bytes(held[at : at + bitmap.width])
        for at in range(0, bitmap.height * bitmap.stride, bitmap.stride)
    )  # fmt: skip
    dots_per_metre = round(scale * _POINTS_PER_INCH / 0.0254)
    size = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, 0, 0, 0, 0)
    bitmap.close()
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            _chunk(b"IHDR", size),
            _chunk(b"pHYs", struct.pack(">IIB", dots_per_metre, dots_per_metre, 1)),
            _chunk(b"IDAT", zlib.compress(rows, 1)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
