"""Plain text inside archives and mails, and files that cannot be read at all."""

from __future__ import annotations

from nearkin.stages.documents.encodings import (
    BYTE_ORDER_MARKS,
    WIDE,
    into_utf8,
    is_taken_as_utf8,
    looks_binary,
    looks_like_utf16,
    why_not_utf8,
    with_byte_order,
)
from nearkin.stages.documents.extraction import kinds
from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.html import decoded
from nearkin.stages.documents.extraction.reading import DocumentRead, ExtractionError, Given, Single
from nearkin.stages.documents.faults import reason_of, sentence_of
from nearkin.stages.documents.foreign import foreign


class PlainText(Single):
    """A plain text."""

    name = kinds.TEXT

    def __init__(self, given: Given) -> None:
        self._given = given

    def document(self) -> DocumentRead:
        """Return the text. Raises ExtractionError for binary data of an unknown kind."""
        data = self._given.blob.held(self._given.limits["output_bytes"])
        mark = next((mark for mark, _ in BYTE_ORDER_MARKS if data.startswith(mark)), b"")
        if (encoding := self._certain_encoding(data, mark)) is not None:
            content = into_utf8(data[len(mark) :], encoding)
            if (problem := why_not_utf8(content, encoding, mark)) is not None:
                raise ExtractionError(reason_of(problem), sentence_of(problem))
            return DocumentRead(text=content.decode(), extractor=kinds.TEXT)
        if looks_binary(data):
            raise ExtractionError("unsupported", "binary data of an unknown kind")
        found = decoded(data, None, self._given.encoding)
        return DocumentRead(text=found.text, extractor=kinds.TEXT, warnings=found.warnings)

    def _certain_encoding(self, data: bytes, mark: bytes) -> str | None:
        """Return the only encoding in which a text can be: that of its mark, or a wide one; None if it is guessed."""
        if mark:
            return dict(BYTE_ORDER_MARKS)[mark]
        if (advice := looks_like_utf16(data)) is not None:
            return advice.rpartition(" ")[2]
        named = with_byte_order(self._given.encoding)
        return named if named.startswith(WIDE) and not is_taken_as_utf8(data, named, is_all=True) else None


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
