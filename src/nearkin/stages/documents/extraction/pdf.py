"""PDF: the text by pdfium; fields of forms and embedded files by pypdf."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.member_names import safe_name
from nearkin.stages.documents.extraction.reading import DocumentRead, ExtractionError, Given, Member

_NO_IMAGE_TEXT = "text in images is not recognised"


class Pdf:
    """A PDF file."""

    is_container = False

    def __init__(self, given: Given) -> None:
        self._given = given

    @property
    def name(self) -> str:
        """Program and version."""
        import pypdfium2

        return f"pypdfium2 {pypdfium2.version.PYPDFIUM_INFO.version}"

    @cached_property
    def _data(self) -> bytes:
        return self._given.blob.held(self._given.limits["output_bytes"])

    @cached_property
    def _opened(self) -> Any:
        """The file, opened by pdfium; ExtractionError if it cannot be."""
        import pypdfium2

        try:
            return pypdfium2.PdfDocument(self._data)
        except pypdfium2.PdfiumError as error:
            if "assword" in str(error):
                raise ExtractionError("encrypted", "encrypted with a password") from error
            raise ExtractionError("corrupt", f"damaged, or no PDF: {error}") from error

    def document(self) -> DocumentRead:
        """Return the text of all pages."""
        pages, n_images = [], 0
        for page in self._opened:
            text = _text_of_page(page)
            pages.append(text)
            n_images += not text.strip() and _has_image(page)
            page.close()
        text = "\n".join(pages)
        read = DocumentRead(text=text, extractor=self.name, n_pages=len(pages))
        if not n_images:
            return read
        if not text.strip():
            sentence = f"its pages are images; {_NO_IMAGE_TEXT}"
            return DocumentRead(
                text=None, extractor=self.name, n_pages=len(pages), exception="image only", sentence=sentence
            )
        what = "1 page is an image" if n_images == 1 else f"{n_images} pages are images"
        return read.lacking("image only", f"{what} of {len(pages)}; {_NO_IMAGE_TEXT}")

    def has_members(self) -> bool:
        """Whether files are embedded."""
        return self._opened.count_attachments() > 0

    def members(self) -> Iterator[Member]:
        """Yield the embedded files."""
        import pypdfium2

        for index in range(self._opened.count_attachments()):
            attachment = self._opened.get_attachment(index)
            name = safe_name(attachment.get_name()) or None
            try:
                yield Member(name=name, blob=Blob(bytes(attachment.get_data())))
            except pypdfium2.PdfiumError as error:
                yield Member(name=name, exception="corrupt", sentence=f"it cannot be taken out of the PDF: {error}")


def _text_of_page(page: Any) -> str:
    """Return the text of a page in the order in which it is written."""
    layer = page.get_textpage()
    text = layer.get_text_bounded()
    layer.close()
    return str(text).replace("\r\n", "\n").replace("\ufffe", "").replace("\x02", "").replace("\0", "")


def _has_image(page: Any) -> bool:
    """Whether a page shows an image."""
    import pypdfium2.raw as raw

    return any(True for _ in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=2))
