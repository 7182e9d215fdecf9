"""Plain text inside archives and mails, and files that cannot be read at all."""

from __future__ import annotations

import codecs

from nearkin.stages.documents.encodings import looks_binary, looks_like_utf16
from nearkin.stages.documents.extraction import versions
from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.charsets import decoded
from nearkin.stages.documents.extraction.reading import DocumentRead, ExtractionError, Given, Single
from nearkin.stages.documents.foreign import foreign

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


class PlainText(Single):
    """A plain text."""

    name = versions.TEXT

    def __init__(self, given: Given) -> None:
        self._given = given

    def document(self) -> DocumentRead:
        """Return the text. Raises ExtractionError for binary data of an unknown kind."""
        data = self._given.blob.held(self._given.limits["output_bytes"])
        if looks_binary(data) and looks_like_utf16(data) is None and not data.startswith(_WIDE_MARKS):
            raise ExtractionError("unsupported", "binary data of an unknown kind")
        if (advice := looks_like_utf16(data)) is not None:
            found = decoded(data, "utf-16-le" if "utf-16" in advice else "utf-32-le")
        else:
            found = decoded(data, None, self._given.encoding)
        return DocumentRead(text=found.text, extractor=versions.TEXT, warnings=found.warnings)


class Unread(Single):
    """A file of a kind that is not read: images, programs, archives of other kinds."""

    name = "none"

    def __init__(self, given: Given) -> None:
        self._given = given

    def document(self) -> DocumentRead:
        """Raise ExtractionError."""
        raise why_unread(self._given.blob, self._given.kind, self._given.name)


def why_unread(blob: Blob, kind: str, name: str) -> ExtractionError:
    """Return the reason why a file of a kind that is not read has no text."""
    if kind == "image":
        known = foreign(blob.head, "")
        name = "an image" if known is None else known.name
        return ExtractionError("image only", f"{name}, whose text is not recognised; use --ocr LANGUAGES")
    known = foreign(blob.head, name)
    if known is None:
        return ExtractionError("unsupported", f"files of the kind {kind} are not read")
    sentence = known.problem if not known.is_text else f"{known.name}, which is not read"
    if "signed or encrypted" in known.name:
        return ExtractionError("encrypted", sentence)
    return ExtractionError("unsupported", sentence)
